// The pages of the dashboard, as its routes name them.
import { readFileSync } from 'node:fs';

type Part = 'merchant' | 'operators';

const routesOf = (part: Part): string =>
  readFileSync(new URL(`../../../dashboard/src/${part}/routes.tsx`, import.meta.url), 'utf8');

/** The paths of a part that have no parameter, below its own; the first page is ''. */
export const listedPaths = (part: Part): string[] =>
  Array.from(routesOf(part).matchAll(/\bpage\('(\/[^$']*)'/g), ([, path = '']) => (path === '/' ? '' : path));

/** The names in the list of pages. */
export const pageLabels = (part: Part): string[] =>
  Array.from(routesOf(part).matchAll(/label: '([^']+)'/g), ([, label = '']) => label);
