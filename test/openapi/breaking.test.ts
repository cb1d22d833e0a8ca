// A breaking change of the API is a decision: it stands in docs/decisions, word for word, or this fails.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { breakingChanges, currentDocument, RELEASED, undecided, type Document } from './breaking.ts';

const released = (): Document => JSON.parse(readFileSync(RELEASED, 'utf8')) as Document;

it('nothing that a program relied on since the last release has gone, unless a decision says so', async () => {
  expect(undecided(await breakingChanges(released(), currentDocument()))).toEqual([]);
});

type Change = (copy: Document) => void;

/** A copy with one thing changed. */
function changed(change: Change): Document {
  const copy = structuredClone(released());
  change(copy);
  return copy;
}

const schemaIn = ({ components }: Document, name: string) => {
  const schema = components.schemas[name];
  if (!schema) throw new Error(`no schema ${name}`);
  return schema;
};
const walletIn = (copy: Document) => schemaIn(copy, 'WalletBalance').properties['data']!;

it.each<readonly [string, Change, string]>([
  [
    'a route',
    ({ paths }) => delete paths['/api/wallet/balance'],
    'GET /api/wallet/balance: API path removed without deprecation',
  ],
  [
    'a field of an answer',
    (copy) => {
      const wallet = walletIn(copy);
      delete wallet.properties['onHold'];
      wallet.required = wallet.required.filter((name) => name !== 'onHold');
    },
    'GET /api/wallet/balance: removed the required property data/onHold from the response with the 200 status',
  ],
  [
    'a value that a request may have',
    ({ paths }) => {
      const { parameters } = paths['/api/wallet/entries']!['get']!;
      parameters.find(({ name }) => name === 'kind')!.schema.enum.shift();
    },
    'GET /api/wallet/entries: removed the enum value HOLD from the query request parameter kind',
  ],
])('tells that %s is gone', async (_what, change, line) => {
  const found = await breakingChanges(released(), changed(change));
  expect(found).toEqual([line]);
  expect(undecided(found)).toEqual([line]);
});

it('tells that a request must have what it need not have had', async () => {
  const stricter = changed((copy) => schemaIn(copy, 'QuoteRequest').required.push('paymentMethod'));
  expect((await breakingChanges(released(), stricter)).join()).toMatch(
    /^POST \/api\/esim\/quotes: .*required/,
  );
});

it('takes new routes, new fields and new values of answers', async () => {
  const grown = changed((copy) => {
    copy.paths['/api/new'] = copy.paths['/api/wallet/balance']!;
    walletIn(copy).properties['new'] = { properties: {}, required: [], enum: [] };
    schemaIn(copy, 'ErrorCode').enum.push('NEW_CODE');
  });
  expect(await breakingChanges(released(), grown)).toEqual([]);
});
