// A breaking change of the API is a decision: it stands in docs/decisions, word for word, or this fails.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { breakingChanges, currentDocument, RELEASED, undecided, type Document } from './breaking.ts';

const released = (): Document => JSON.parse(readFileSync(RELEASED, 'utf8')) as Document;

it('nothing that a program relied on since the last release has gone, unless a decision says so', async () => {
  expect(undecided(await breakingChanges(released(), currentDocument()))).toEqual([]);
});

/** A copy with one thing changed. */
function changed(change: (copy: any) => void): Document {
  const copy = structuredClone(released());
  change(copy);
  return copy;
}

it.each<readonly [string, (copy: any) => void, string]>([
  [
    'a route',
    (copy) => delete copy.paths['/api/wallet/balance'],
    'GET /api/wallet/balance: API path removed without deprecation',
  ],
  [
    'a field of an answer',
    ({ components }) => {
      const { WalletBalance } = components.schemas;
      delete WalletBalance.properties.data.properties.onHold;
      WalletBalance.properties.data.required = ['balance', 'currency', 'owed', 'lastUpdated'];
    },
    'GET /api/wallet/balance: removed the required property data/onHold from the response with the 200 status',
  ],
  [
    'a value that a request may have',
    ({ paths }) => {
      const [parameter] = paths['/api/wallet/entries'].get.parameters.filter(
        (one: any) => one.name === 'kind',
      );
      parameter.schema.enum.shift();
    },
    'GET /api/wallet/entries: removed the enum value HOLD from the query request parameter kind',
  ],
])('tells that %s is gone', async (_what, change, line) => {
  const found = await breakingChanges(released(), changed(change));
  expect(found).toEqual([line]);
  expect(undecided(found)).toEqual([line]);
});

it('tells that a request must have what it need not have had', async () => {
  const stricter = changed(({ components }) =>
    components.schemas.QuoteRequest.required.push('paymentMethod'),
  );
  expect((await breakingChanges(released(), stricter)).join()).toMatch(
    /^POST \/api\/esim\/quotes: .*required/,
  );
});

it('takes new routes, new fields and new values of answers', async () => {
  const grown = changed(({ paths, components }) => {
    paths['/api/new'] = paths['/api/wallet/balance'];
    components.schemas.WalletBalance.properties.data.properties.new = { type: 'string' };
    components.schemas.ErrorCode?.enum.push('NEW_CODE');
  });
  expect(await breakingChanges(released(), grown)).toEqual([]);
});
