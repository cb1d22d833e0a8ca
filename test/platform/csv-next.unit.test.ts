// Every CSV that has an end says where the next one begins: nobody sums half a list without knowing it.
import { expect, it } from 'vitest';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import { CSV, NEXT_HEADER } from '../../src/platform/http/answer-fields.ts';
import type { Answer } from '../../src/platform/http/errors.ts';
import type { Route } from '../../src/platform/http/route.ts';

const routes = createRouteTable({ version: '1.2.3', brand: 'simway' });
const hasCsv = ({ responses }: Route): boolean => responses[200]?.alsoAs?.[CSV] !== undefined;
const inParts = routes.filter(
  (route) => route.method === 'GET' && hasCsv(route) && route.query && 'after' in route.query.shape,
);
const accounts = routes.filter(({ docs }) => docs?.operationId === 'listAccounts');

/** Its handler, where every file is cut, or none is. */
async function fileOf({ handle }: Route, next: string | undefined): Promise<Answer> {
  // At whatever depth of the use cases.
  const file: object = new Proxy(() => Promise.resolve({ csv: '', lines: [], next }), { get: () => file });
  const input = {
    ...{ cases: file, allCases: [], query: {}, params: {}, session: {}, principal: {} },
    visitor: { preferredType: () => CSV },
  };
  return handle(input as never);
}

it('has such files', () => {
  expect(inParts.map(({ docs }) => docs?.operationId)).toEqual(
    expect.arrayContaining(['listWalletEntries', 'getStatement', 'getStatementOf', 'listPurchaseLines']),
  );
});

it.each([...inParts, ...accounts].map((route) => [route.docs?.operationId ?? '', route] as const))(
  '%s says that its CSV is cut, and only then',
  async (_name, route) => {
    expect((await fileOf(route, 'the-last')).headers).toMatchObject({ [NEXT_HEADER]: 'the-last' });
    expect((await fileOf(route, undefined)).headers).not.toHaveProperty(NEXT_HEADER);
  },
);
