// The recorded examples of the reference, as documents show them. `npm run record:docs` writes them below
// their markers, a test compares them.
import examples from '../../src/app/routes/examples.json' with { type: 'json' };
import { createRouteTable } from '../../src/app/routes/route-table.ts';

const recorded: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>> =
  examples;
const routes = createRouteTable({ version: '', brand: 'simway' });

/** `<!-- example buy 201 new eSIM, WALLET, written by npm run record:docs -->` */
export const EXAMPLE =
  /(<!-- example (?<operation>\w+) (?<of>request|\d{3}) (?<name>[^>]+?), written by npm run record:docs -->\n)(?:(?!<!--)[^])*(<!-- end of the example -->)/g;

/** A line that says what it is, and the body. Throws if nothing was recorded under this name. */
export function exampleOf(operation: string, of: string, name: string): string {
  const value = recorded[operation]?.[of]?.[name];
  const route = routes.find(({ docs }) => docs?.operationId === operation);
  if (value === undefined || !route)
    throw new Error(`there is no example ${operation} ${of} ${name}: see src/app/routes/examples.json`);
  const what = `\`${route.method} ${route.path}\``;
  const lead = of === 'request' ? `Body of ${what} (${name}):` : `${what} answers ${of} (${name}):`;
  const isText = typeof value === 'string';
  return `${lead}\n\n\`\`\`${isText ? 'text' : 'json'}\n${isText ? value.trimEnd() : JSON.stringify(value)}\n\`\`\``;
}

export const examplesIn = (text: string): { readonly operation: string; readonly of: string }[] =>
  Array.from(text.matchAll(EXAMPLE), ({ groups }) => ({
    operation: groups?.['operation'] ?? '',
    of: groups?.['of'] ?? '',
  }));

/** Operations of the merchants' API. The sandbox's actions answer as `getEsim` does. */
export const DOCUMENTED_OPERATIONS: readonly string[] = routes
  .filter(({ path }) => path.startsWith('/api/') && !path.startsWith('/api/sandbox/'))
  .map(({ docs }) => docs?.operationId ?? '')
  .filter((id) => id in recorded);
