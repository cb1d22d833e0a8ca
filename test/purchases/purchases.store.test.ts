/**
 * A purchase's steps in Postgres: each takes effect once however often it runs, refusals are values, and
 * there is one end.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import type { Refusal } from '../../src/domain/refusals.ts';
import { replaceCatalogue, replaceTopUps } from '../../src/catalogue/store/catalogue.ts';
import { findEsim, refreshEsim } from '../../src/esims/store/esims.ts';
import { findIdempotencyKey } from '../../src/platform/idempotency/store.ts';
import { ensureWallet, findWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { HoldConflict } from '../../src/ledger/store/holds.ts';
import { findPurchase, findTimeline } from '../../src/purchases/store/reads.ts';
import { openPurchase, type OpenOptions } from '../../src/purchases/store/opening.ts';
import { flagAttention, settlePurchase, profileItem } from '../../src/purchases/store/purchases.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { auditBooks, openBooks, refusalOf, untilStatementWaits } from '../support/world/books.ts';
import { basePackage, profileFacts, purchaseInput, region } from '../support/money/facts.ts';
import { forFile } from '../support/world/for-file.ts';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const OPEN: OpenOptions = { now: NOW, keepRefusal: () => false };
const OUT_OF_STOCK: Refusal = { reason: 'OUT_OF_STOCK', detail: 'code 200007' };

const books = await forFile(openBooks());
const packages = [basePackage(), basePackage({ packageCode: 'GONE' })];
await replaceCatalogue(books.world, { supplier: 'esim-access', regions: [region()], packages }, NOW);
await replaceCatalogue(
  books.world,
  { supplier: 'esim-access', regions: [region()], packages: packages.slice(0, 1) },
  NOW,
);
const topUp = basePackage({ packageCode: 'TOPUP_NG', packageType: 'TOPUP' });
await replaceTopUps(books.world, 'NG-5GB-30D', [topUp], NOW);
afterEach(async () => {
  expect(await auditBooks(books.owner)).toEqual([]);
});

async function buyer(fundsMinor = 10_000n): Promise<string> {
  const accountId = `acc-${randomUUID()}`;
  await ensureWallet(books.world, accountId, 'USD');
  const amount = { amountMinor: fundsMinor, currency: 'USD' };
  if (fundsMinor > 0n)
    await fundWallet(books.world, { operationKey: `fund:${accountId}`, accountId, amount, reason: 'a test' });
  return accountId;
}

async function wanted(given: Partial<PurchaseInput> = {}): Promise<PurchaseInput> {
  const accountId = given.accountId ?? (await buyer());
  return purchaseInput({ transactionId: `txn-${randomUUID()}`.slice(0, 40), ...given, accountId });
}

async function opened(given: Partial<PurchaseInput> = {}): Promise<PurchaseInput> {
  const input = await wanted(given);
  expect(await openPurchase(books.world, input, OPEN)).toMatchObject({ stage: 'paid' });
  return input;
}

const balance = async (input: PurchaseInput) =>
  (await findWallet(books.world, input.accountId))?.balance.amountMinor;
const statusOf = async (input: PurchaseInput) =>
  (await findPurchase(books.world, input.transactionId))?.purchase.status;
const whatHappened = async (input: PurchaseInput) =>
  (await findTimeline(books.world, input.transactionId)).map((event) => event.what);
const keyed = (key: string): Partial<PurchaseInput> => ({
  idempotency: { key, path: '/api/esim/buy', fingerprint: 'f1' },
});

describe('openPurchase', () => {
  it('writes purchase, eSIM order and hold together', async () => {
    const input = await opened();
    expect(await balance(input)).toBe(8_750n);
    expect(await findPurchase(books.world, input.transactionId)).toMatchObject({
      purchase: {
        status: 'PROCESSING',
        reason: null,
        package_name: 'Nigeria 5GB 30Days',
        volume_bytes: 5_368_709_120n,
        price_minor: 1_250n,
        currency: 'USD',
        cost_usd_e4: 100_000n,
        settings_id: 'initial',
        rate_id: null,
        created_at: NOW,
        closed_at: null,
      },
      esim: {
        id: input.esimId,
        account_id: input.accountId,
        status: 'PENDING',
        supplier: 'esim-access',
        iccid: '',
        install_sealed: null,
        snapshot: { data: '5 GB', networkProviders: ['MTN', 'Airtel'] },
      },
    });
    expect(await whatHappened(input)).toEqual(['wallet-held']);
  });

  it('called twice opens one purchase', async () => {
    const input = await opened(keyed('twice'));
    expect(await openPurchase(books.world, input, OPEN)).toMatchObject({ stage: 'paid' });
    expect(await balance(input)).toBe(8_750n);
    expect(await whatHappened(input)).toEqual(['wallet-held']);
  });

  it.each([
    ['with a key', keyed('race')],
    ['without a key', {}],
  ])('called many times at once %s opens one, and every run finds it open', async (_how, more) => {
    const input = await wanted(more);
    const runs = Array.from({ length: 6 }, () => openPurchase(books.world, input, OPEN));
    expect(await Promise.all(runs)).toMatchObject(runs.map(() => ({ stage: 'paid' })));
    expect(await balance(input)).toBe(8_750n);
    expect(await whatHappened(input)).toEqual(['wallet-held']);
  });

  it('opens nothing against a refusal that another run is just storing under its key', async () => {
    const input = await wanted(keyed('refused meanwhile'));
    const refusing = Promise.withResolvers<undefined>();
    const other = books.owner.transaction().execute(async (trx) => {
      await trx
        .insertInto('idempotency_keys')
        .values({
          account_id: input.accountId,
          key: 'refused meanwhile',
          path: '/api/esim/buy',
          fingerprint: 'f1',
          transaction_id: input.transactionId,
          refusal_reason: 'INSUFFICIENT_BALANCE',
          refusal_detail: '',
          answer_status: null,
          answer_body: null,
        })
        .execute();
      await trx
        .insertInto('refused_transaction_ids')
        .values({ transaction_id: input.transactionId, reason: 'INSUFFICIENT_BALANCE', detail: '' })
        .execute();
      refusing.resolve(undefined);
      await untilStatementWaits(books.owner);
    });
    await refusing.promise;
    const blocked = openPurchase(books.world, input, OPEN);
    await other;
    expect(await blocked).toMatchObject({
      stage: 'failed',
      refusal: { reason: 'INSUFFICIENT_BALANCE' },
    });
    expect(await balance(input)).toBe(10_000n);
  });

  it('answers “delivered” after the purchase ended', async () => {
    const input = await opened();
    await settlePurchase(books.world, input.transactionId);
    expect(await openPurchase(books.world, input, OPEN)).toEqual({ stage: 'delivered' });
    expect(await balance(input)).toBe(8_750n);
  });

  it('reports to a repeat that the purchase failed since', async () => {
    const input = await opened();
    await failPurchase(books.world, input.transactionId, OUT_OF_STOCK);
    expect(await openPurchase(books.world, input, OPEN)).toMatchObject({
      stage: 'failed',
      refusal: { reason: 'OUT_OF_STOCK' },
    });
    expect(await balance(input)).toBe(10_000n);
  });
});

describe('openPurchase refuses', () => {
  const refusals: [string, string, () => Promise<Partial<PurchaseInput>>][] = [
    ['a wallet that is too small', 'INSUFFICIENT_BALANCE', async () => ({ accountId: await buyer(1_249n) })],
    ['an account without a wallet', 'INSUFFICIENT_BALANCE', () => Promise.resolve({ accountId: 'acc-none' })],
    ['a withdrawn package', 'PACKAGE_WITHDRAWN', () => Promise.resolve({ packageCode: 'GONE' })],
    ['an unknown package', 'PACKAGE_WITHDRAWN', () => Promise.resolve({ packageCode: 'NEVER' })],
    [
      'a top-up of an eSIM that is not there',
      'ESIM_NOT_ACTIVE',
      () => Promise.resolve({ packageCode: 'TOPUP_NG', packageType: 'TOPUP', esimId: 'esim-none' }),
    ],
    [
      'a top-up of an eSIM that is not in use yet',
      'ESIM_NOT_ACTIVE',
      async () => {
        const { accountId, esimId } = await opened();
        return { packageCode: 'TOPUP_NG', packageType: 'TOPUP', accountId, esimId };
      },
    ],
    [
      "a top-up of another account's eSIM",
      'ESIM_NOT_ACTIVE',
      async () => {
        const { esimId } = await opened();
        await sql`update esims set status = 'ACTIVE' where id = ${esimId}`.execute(books.owner);
        return { packageCode: 'TOPUP_NG', packageType: 'TOPUP', esimId };
      },
    ],
  ];

  it.each(refusals)('%s, writes no purchase, and leaves its key free', async (_name, reason, given) => {
    const input = await wanted({ ...(await given()), ...keyed(randomUUID()) });
    const before = await balance(input);
    const first = await openPurchase(books.world, input, OPEN);
    expect(first).toMatchObject({ stage: 'failed', refusal: { reason } });
    expect(await openPurchase(books.world, input, OPEN)).toEqual(first);
    const record = await findIdempotencyKey(books.world, input.accountId, input.idempotency!.key);
    expect(record).toMatchObject({
      refusal: { reason },
      transactionId: input.transactionId,
      path: '/api/esim/buy',
    });
    expect(await findPurchase(books.world, input.transactionId)).toBeUndefined();
    expect(await balance(input)).toBe(before);
  });

  it.each([
    ['with a key', keyed('poor')],
    ['that left no other row', {}],
  ])('a refusal %s stays the same when money arrives later', async (_name, more) => {
    const accountId = await buyer(0n);
    const input = await wanted({ accountId, ...more });
    const refusedBefore: Date[] = [];
    const open = () =>
      openPurchase(books.world, input, { ...OPEN, onRefusedBefore: (at) => refusedBefore.push(at) });
    const first = await open();
    expect(first).toMatchObject({ stage: 'failed', refusal: { reason: 'INSUFFICIENT_BALANCE' } });
    expect(refusedBefore).toEqual([]);
    const amount = { amountMinor: 10_000n, currency: 'USD' };
    await fundWallet(books.world, { operationKey: `late:${accountId}`, accountId, amount, reason: 'a test' });
    expect(await open()).toEqual(first);
    expect(refusedBefore).toEqual([expect.any(Date)]);
    expect(await balance(input)).toBe(10_000n);
    expect(await findPurchase(books.world, input.transactionId)).toBeUndefined();
  });

  it.each(refusals)('%s: stored as FAILED after the answer PROCESSING', async (_name, reason, given) => {
    const input = await wanted(await given());
    const before = await balance(input);
    const keep = { ...OPEN, keepRefusal: () => true };
    const failed = { stage: 'failed', refusal: { reason } };
    expect(await openPurchase(books.world, input, keep)).toMatchObject(failed);
    expect(await openPurchase(books.world, input, keep)).toMatchObject(failed);
    const record = await findPurchase(books.world, input.transactionId);
    expect(record?.purchase).toMatchObject({ status: 'FAILED', reason, closed_at: NOW });
    if (input.packageType === 'BASE' && record?.esim) expect(record.esim.status).toBe('FAILED');
    expect(await whatHappened(input)).toEqual(['refused']);
    expect(await balance(input)).toBe(before);
  });
});

describe('settlePurchase and failPurchase', () => {
  it.each([
    ['settle', 'settle'],
    ['fail', 'fail'],
    ['settle', 'fail'],
    ['fail', 'settle'],
    ['settle', 'settle', 'fail', 'settle'],
    ['fail', 'settle', 'fail', 'fail'],
  ] as const)('%s, then %s: the first one counts', async (...steps) => {
    const input = await opened();
    for (const step of steps) {
      const run =
        step === 'settle'
          ? settlePurchase(books.world, input.transactionId, profileItem(profileFacts(), NOW, {}))
          : failPurchase(books.world, input.transactionId, OUT_OF_STOCK);
      if (step === steps[0]) await run;
      else await expect(run).rejects.toThrow(HoldConflict);
    }
    const settled = steps[0] === 'settle';
    expect(await findPurchase(books.world, input.transactionId)).toMatchObject(
      settled
        ? { purchase: { status: 'SUCCESS', reason: null }, esim: { status: 'CREATED' } }
        : { purchase: { status: 'FAILED', reason: 'OUT_OF_STOCK' }, esim: { status: 'FAILED' } },
    );
    expect(await balance(input)).toBe(settled ? 8_750n : 10_000n);
    expect(await whatHappened(input)).toEqual([
      'wallet-held',
      ...(settled ? ['delivered'] : ['failed', 'hold-released']),
    ]);
  });

  it('refund nothing for a purchase that never opened', async () => {
    await failPurchase(books.world, 'txn-never', OUT_OF_STOCK);
    expect(await findPurchase(books.world, 'txn-never')).toBeUndefined();
  });

  it('throw when a purchase that never opened is settled', async () => {
    await expect(settlePurchase(books.world, 'txn-never')).rejects.toThrow();
  });

  it('leave the eSIM alone when a top-up fails', async () => {
    const base = await opened();
    await settlePurchase(books.world, base.transactionId, profileItem(profileFacts(), NOW, {}));
    await refreshEsim(books.world, base.esimId, profileFacts({ status: 'ACTIVE' }), NOW);
    const { accountId, esimId } = base;
    const topUp = await opened({ accountId, esimId, packageCode: 'TOPUP_NG', packageType: 'TOPUP' });
    expect(await balance(topUp)).toBe(7_500n);
    await failPurchase(books.world, topUp.transactionId, OUT_OF_STOCK);
    expect((await findEsim(books.world, esimId))?.status).toBe('ACTIVE');
    expect(await balance(topUp)).toBe(8_750n);
  });
});

describe('flagAttention', () => {
  const flags = async (input: PurchaseInput) => {
    const record = await findPurchase(books.world, input.transactionId);
    return [record?.purchase.attention_reason, record?.purchase.needs_attention_since !== null];
  };

  it('marks an open purchase and keeps the first reason', async () => {
    const input = await opened();
    await flagAttention(books.world, input.transactionId, 'SUPPLIER_NEVER_ALLOCATED');
    await flagAttention(books.world, input.transactionId, 'SETTLE_FAILED');
    expect(await flags(input)).toEqual(['SUPPLIER_NEVER_ALLOCATED', true]);
    expect(await whatHappened(input)).toEqual(['wallet-held', 'needs-attention']);
  });

  it('is cleared by the end, and never set after it', async () => {
    const input = await opened();
    await flagAttention(books.world, input.transactionId, 'SUPPLIER_NEVER_ALLOCATED');
    await settlePurchase(books.world, input.transactionId);
    expect(await flags(input)).toEqual([null, false]);
    await flagAttention(books.world, input.transactionId, 'SETTLE_FAILED');
    expect(await flags(input)).toEqual([null, false]);
  });
});

describe('the database', () => {
  it.each([
    ['SUCCESS', 'FAILED', "status = 'FAILED', reason = 'OUT_OF_STOCK'"],
    ['SUCCESS', 'PROCESSING', "status = 'PROCESSING', closed_at = null"],
    ['FAILED', 'SUCCESS', "status = 'SUCCESS', reason = null"],
    ['FAILED', 'PENDING', "status = 'PENDING', reason = null, closed_at = null"],
  ])('keeps %s from becoming %s, for the role and for the owner', async (ended, _next, change) => {
    const input = await opened();
    if (ended === 'SUCCESS') await settlePurchase(books.world, input.transactionId);
    else await failPurchase(books.world, input.transactionId, OUT_OF_STOCK);
    for (const db of [books.world, books.owner]) {
      const update = sql`update purchases set ${sql.raw(change)} where transaction_id = ${input.transactionId}`;
      expect(await refusalOf(update.execute(db))).toBe('purchase_ends_once');
    }
    expect(await statusOf(input)).toBe(ended);
  });

  it('allows no closed purchase without a time, and no reason without a failure', async () => {
    const input = await opened();
    for (const [change, constraint] of [
      ["status = 'SUCCESS'", 'purchases_check1'],
      ["reason = 'OUT_OF_STOCK'", 'purchases_check'],
    ] as const) {
      const update = sql`update purchases set ${sql.raw(change)} where transaction_id = ${input.transactionId}`;
      expect(await refusalOf(update.execute(books.world))).toBe(constraint);
    }
  });

  it('does not let the role delete a purchase, an eSIM or a timeline event', async () => {
    for (const table of ['purchases', 'esims', 'purchase_events'])
      expect(await refusalOf(sql`delete from ${sql.table(table)}`.execute(books.world))).toBe(
        'permission denied',
      );
    const rewritten = sql`update purchase_events set what = 'delivered'`.execute(books.world);
    expect(await refusalOf(rewritten)).toBe('permission denied');
  });
});
