import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { listedPaths, pageLabels } from '../support/world/dashboard-pages.ts';

const document = readFileSync(new URL('../../docs/DASHBOARD.md', import.meta.url), 'utf8');

it.each([
  ['merchant', '## The pages of a merchant'],
  ['operators', '### Their pages'],
] as const)('docs/DASHBOARD.md says what each page of the list shows: %s', (part, heading) => {
  const table = document.split(`\n${heading}\n`)[1]?.split('\n#')[0] ?? '';
  const described = Array.from(table.matchAll(/^\| ([^|]+?) +\|/gm), ([, names = '']) =>
    names.split(', '),
  ).flat();
  const labels = pageLabels(part);
  expect(labels.length).toBeGreaterThan(10);
  expect(labels.filter((label) => !described.includes(label))).toEqual([]);
  expect(listedPaths(part).length).toBeGreaterThanOrEqual(labels.length);
});
