// Two steps of one return at once, as after a worker that stalled: one of them has sent a cancellation that
// the other has not seen. Real rows; the supplier answers as each test says.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { followReturn } from '../../activities/purchases/follow-return.ts';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { makeId } from '../../src/domain/ids.ts';
import type { EsimSupplier } from '../../src/esims/port.ts';
import { ensureWallet, findWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { findReturn, insertReturn } from '../../src/purchases/store/returns.ts';
import { basePackage, profileFacts, purchaseInput, region } from '../support/money/facts.ts';
import { auditBooks, openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const NOW = new Date();
const FUNDS = { amountMinor: 1_000_000n, currency: 'USD' };
const books = await forFile(openBooks());
await replaceCatalogue(
  books.world,
  { supplier: 'esim-access', regions: [region()], packages: [basePackage()] },
  NOW,
);
/** It covers holds of which nothing was given back. */
const except = ['a hold was not booked once, or closed otherwise than its row says'];
afterEach(async () => expect(await auditBooks(books.owner, { except })).toEqual([]));

const newId = (kind: 'account' | 'return' | 'transaction') => makeId(kind, randomUUID().replaceAll('-', ''));

async function askedFor() {
  const [accountId, returnId, transactionId] = [newId('account'), newId('return'), newId('transaction')];
  await ensureWallet(books.world, accountId, 'USD');
  const funding = { operationKey: `fund:${accountId}`, accountId, amount: FUNDS, reason: 'a test' };
  await fundWallet(books.world, funding);
  const input = purchaseInput({ transactionId, accountId });
  await openPurchase(books.world, input, { now: NOW, keepRefusal: () => false });
  await settlePurchase(books.world, transactionId, {});
  const { esimId } = input;
  await books.owner.updateTable('esims').set({ esim_tran_no: returnId }).where('id', '=', esimId).execute();
  const asked = { id: returnId, accountId, esimId, windowDays: 30, feeMinor: 0n };
  const by = { reason: null, requestedBy: 'ada@merchant.example', batchId: null };
  expect(await insertReturn(books.world, { ...asked, ...by })).toBeNull();
  return { accountId, returnId };
}

type Script = Pick<EsimSupplier, 'profile' | 'cancel'>;

const step = (returnId: string, script: Script) =>
  followReturn(
    {
      db: books.world,
      supplier: { name: 'esim-access', effectTimeLimitMs: 60_000, ...script },
      returnReviewAfterMs: 3_600_000,
    } as unknown as ActivityDeps,
    returnId,
  );

function saying(facts: Parameters<typeof profileFacts>[0]): Script['profile'] {
  const profile = { ...profileFacts(facts), transactionId: '', packageCode: '', supplierStatus: '' };
  return () => Promise.resolve({ outcome: 'done', value: { state: 'ready', profile } });
}
const unused = saying({});
const refusing: Script['cancel'] = () =>
  Promise.resolve({ outcome: 'refused', reason: 'NOT_ALLOWED_IN_STATE', detail: '' });
const losing: Script['cancel'] = () => Promise.resolve({ outcome: 'unknown', detail: 'no answer' });
const cancelling: Script['cancel'] = () => Promise.resolve({ outcome: 'done', value: null });

/** A step that stalls as it reads the profile, until another one has sent a cancellation. */
async function beside(returnId: string, { profile, cancel }: Script): Promise<void> {
  const [reached, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const stalling: Script['profile'] = async (query) => {
    reached.resolve(undefined);
    await released.promise;
    return profile(query);
  };
  const first = step(returnId, { profile: stalling, cancel });
  await reached.promise;
  await step(returnId, { profile: unused, cancel: losing });
  released.resolve(undefined);
  expect(await first).toMatchObject({ line: expect.stringContaining('cannot arrive') as string });
}

describe('a step that another one has overtaken', () => {
  it.each([
    ['the supplier refuses its own cancellation', { profile: unused, cancel: refusing }],
    ['the supplier calls the eSIM installed', { profile: saying({ eid: '89049' }), cancel: refusing }],
  ] as const)('refuses nothing where %s', async (_name, script) => {
    const { accountId, returnId } = await askedFor();
    await beside(returnId, script);
    expect(await findReturn(books.world, returnId)).toMatchObject({ state: 'PENDING' });
    // The cancellation has arrived.
    await step(returnId, { profile: saying({ status: 'CANCELLED' }), cancel: cancelling });
    expect(await findReturn(books.world, returnId)).toMatchObject({ state: 'RETURNED' });
    expect((await findWallet(books.world, accountId))?.balance).toEqual(FUNDS);
  });
});

it('a cancellation that was not sent was never begun: a dispute still stops it', async () => {
  const { returnId } = await askedFor();
  const held: Script['cancel'] = () =>
    Promise.resolve({ outcome: 'unknown', detail: 'no slot', notSent: true });
  await step(returnId, { profile: unused, cancel: held });
  const begun = { state: 'PENDING', cancel_attempts: 0, cancel_settles_after: null };
  expect(await findReturn(books.world, returnId)).toMatchObject(begun);
  await sql`
    update purchases set needs_attention_since = now(), attention_reason = 'PAYMENT_DISPUTED'
      from returns where returns.transaction_id = purchases.transaction_id and returns.id = ${returnId}`.execute(
    books.owner,
  );
  await step(returnId, { profile: unused, cancel: cancelling });
  expect(await findReturn(books.world, returnId)).toMatchObject({ refusal: 'PAYMENT_DISPUTED' });
});

it('another step’s cancellation counts, where one was not sent beside it', async () => {
  const { returnId } = await askedFor();
  const beside: Script['cancel'] = async () => {
    await step(returnId, { profile: unused, cancel: losing });
    return { outcome: 'unknown', detail: 'no slot', notSent: true };
  };
  await step(returnId, { profile: unused, cancel: beside });
  expect(await findReturn(books.world, returnId)).toMatchObject({ cancel_attempts: 2 });
});

it('a step alone refuses what the supplier does not take back, after its own cancellation too', async () => {
  const { returnId } = await askedFor();
  await step(returnId, { profile: unused, cancel: losing });
  await sql`update returns set cancel_settles_after = clock_timestamp() where id = ${returnId}`.execute(
    books.owner,
  );
  await step(returnId, { profile: unused, cancel: refusing });
  const refused = { state: 'REFUSED', refusal: 'SUPPLIER_REFUSED', cancel_attempts: 2 };
  expect(await findReturn(books.world, returnId)).toMatchObject(refused);
});
