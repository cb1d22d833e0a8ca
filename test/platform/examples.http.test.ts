// The examples of the reference match their routes: requests are valid, answers have the route's schema, refusals are possible ones.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderError, STATUS_OF } from '../../src/platform/http/errors.ts';
import { DomainError, type ErrorCode } from '../../src/domain/errors.ts';
import { errorCodesOf } from '../../src/platform/http/docs/openapi.ts';
import { EXAMPLES } from '../../src/app/routes/examples.ts';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import { parseJson } from '../../src/platform/http/json.ts';
import { startApi, type TestApi } from '../support/http/api.ts';

interface Media {
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}
interface Documented {
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

const table = createRouteTable({ version: '1.2.3', brand: 'simway' });
const routes = table.filter(
  (route) => route.docs && route.path.startsWith('/api/') && route.path !== '/api/openapi.json',
);
let api: TestApi;
let paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
beforeAll(async () => {
  api = await startApi();
  paths = ((await api.ask('/api/openapi.json')).json as { paths: typeof paths }).paths;
});
afterAll(() => api.close());

const named = (media: Media | undefined) =>
  Object.entries(media?.examples ?? {}).map(([name, { value }]) => [name, value] as const);

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_name, route) => {
    const documented = () => paths[route.path]![route.method.toLowerCase()]!;

    test('has example requests that its schema accepts', () => {
      const examples = named(documented().requestBody?.content['application/json']);
      expect(examples.length > 0).toBe(route.body !== undefined);
      for (const [name, value] of examples) {
        expect(route.body?.safeParse(parseJson(JSON.stringify(value))).error, name).toBeUndefined();
        expect(route.missing?.({ query: new Map(), body: value as Record<string, unknown> })).toBeUndefined();
      }
    });

    test('has examples for every answer, with the fields of its schema and no others', () => {
      for (const [status, { schema, contentType = 'application/json' }] of Object.entries(route.responses)) {
        const examples = named(documented().responses[status]?.content?.[contentType]);
        expect(examples.length, status).toBeGreaterThan(0);
        for (const [name, value] of examples) expect(schema.parse(value), name).toEqual(value);
      }
    });

    test('has an example for every code it can refuse with, under its status, in one of its own shapes', () => {
      for (const code of errorCodesOf(route)) {
        const media = documented().responses[String(STATUS_OF[code])]?.content?.['application/json'];
        const mine = named(media).filter(([name]) => name === code || name.startsWith(`${code}, `));
        expect(mine.length, code).toBeGreaterThan(0);
        for (const [name, value] of mine) expect(isBodyOf(value, code, route.shapes), name).toBe(true);
      }
    });
  },
);

/** Whether the body is the code in one of these shapes. */
function isBodyOf(value: unknown, code: ErrorCode, shapes: (typeof routes)[number]['shapes']): boolean {
  const text = JSON.stringify(value);
  const fields = (body: string): string =>
    JSON.stringify(JSON.parse(body), (_key, one: unknown) => (typeof one === 'string' ? '' : one));
  return shapes.some(
    (shape) =>
      text.includes(`"${code}"`) &&
      fields(renderError(new DomainError(code, 'x', { details: 'y' }), shape).body) === fields(text),
  );
}

test('no other operation has examples, except some under /ops, which their own tests check', () => {
  const idsOf = (of: typeof routes) => of.map((route) => route.docs?.operationId);
  const ops = table.filter(({ path }) => path.startsWith('/ops/'));
  const others = Object.keys(EXAMPLES).filter((id) => !idsOf(ops).includes(id));
  expect(others.sort()).toEqual(idsOf(routes).sort());
});
