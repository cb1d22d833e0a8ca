// The examples of the reference match their routes: requests are valid, answers have the route's schema,
// refusals are possible ones. Each test that names an example compares it with what it gets
// (test/support/http/examples.ts).
import { describe, expect, test } from 'vitest';
import { renderError, STATUS_OF } from '../../src/platform/http/errors.ts';
import { DomainError, type ErrorCode } from '../../src/domain/errors.ts';
import { errorCodesOf, type ExamplesByOperation } from '../../src/platform/http/docs/openapi.ts';
import examples from '../../src/app/routes/examples.json' with { type: 'json' };
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import { parseJson } from '../../src/platform/http/json.ts';
import { startApi } from '../support/http/api.ts';
import { RECORD } from '../support/http/examples.ts';
import { forFile } from '../support/world/for-file.ts';

interface Media {
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}
interface Documented {
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

const table = createRouteTable({ version: '1.2.3', brand: 'simway' });
const routes = table.filter(
  (route) =>
    route.docs && /^\/(api|acp|\.well-known)\//.test(route.path) && route.path !== '/api/openapi.json',
);
/** Those for operators that have examples. */
const pricingRoutes = table.filter(({ path }) =>
  /^\/ops\/(rates|prices|price-rules|supplier-prices|on-sale)/.test(path),
);

const api = await forFile(startApi());
const { paths } = (await api.ask('/api/openapi.json')).json as {
  paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
};

const named = (media: Media | undefined) =>
  Object.entries(media?.examples ?? {}).map(([name, { value }]) => [name, value] as const);
const recorded: ExamplesByOperation = examples;

describe.each(
  [...routes, ...pricingRoutes].map((route) => [`${route.method} ${route.path}`, route] as const),
)('%s', (_name, route) => {
  const ours = recorded[route.docs?.operationId ?? ''];

  test('has example requests that its schema accepts', () => {
    const requests = Object.entries(ours?.request ?? {});
    expect(requests.length > 0, RECORD).toBe(route.body !== undefined);
    for (const [name, value] of requests) {
      expect(
        route.body?.safeParse(parseJson(JSON.stringify(value))).error,
        `${name}: ${RECORD}`,
      ).toBeUndefined();
      expect(route.missing?.({ query: new Map(), body: value as Record<string, unknown> })).toBeUndefined();
    }
  });

  test('has examples for every answer, with the fields of its schema and no others', () => {
    for (const [status, { schema }] of Object.entries(route.responses)) {
      const answers = Object.entries(ours?.[Number(status)] ?? {});
      expect(answers.length, `${status}: ${RECORD}`).toBeGreaterThan(0);
      for (const [name, value] of answers) expect(schema.parse(value), `${name}: ${RECORD}`).toEqual(value);
    }
  });
});

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_name, route) => {
    const documented = () => paths[route.path]![route.method.toLowerCase()]!;

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
    JSON.stringify(JSON.parse(body), (key, one: unknown) =>
      key === 'fields' || key === 'param' ? undefined : typeof one === 'string' ? '' : one,
    );
  return shapes.some((shape) => {
    const { body } = renderError(new DomainError(code, 'x', { details: 'y' }), shape);
    // Agents get other words.
    const said = shape === 'acp' ? (JSON.parse(body) as { code?: string }).code : undefined;
    return text.includes(`"${said ?? code}"`) && fields(body) === fields(text);
  });
}

test('no other operation has examples', () => {
  const ids = [...routes, ...pricingRoutes].map((route) => route.docs?.operationId);
  expect(Object.keys(recorded).sort(), RECORD).toEqual(ids.sort());
});

test('the example of wrong fields is what the service answers', async () => {
  const { json } = await api.ask('/api/esim/buy', { key: 'ngn', body: {} });
  const answers = paths['/api/esim/buy']?.['post']?.responses['400']?.content?.['application/json'];
  expect(new Map(named(answers)).get('VALIDATION_ERROR, BASE')).toEqual(json);
});
