// Mandates for automatic top-ups: never overspent, by whatever comes together, is repeated, fails or dies.
import { randomUUID } from 'node:crypto';
import { sql, type Updateable } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { replaceCatalogue, replaceTopUps } from '../../src/catalogue/store/catalogue.ts';
import { makeId } from '../../src/domain/ids.ts';
import {
  endMandate,
  findMandate,
  insertMandate,
  leaseDueMandates,
  putOffMandate,
  renewLease,
  type MandateRow,
  type NewMandate,
} from '../../src/esims/store/mandates.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import { ensureWallet, findWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { openPurchase, type OpenOptions } from '../../src/purchases/store/opening.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { basePackage, purchaseInput, region } from '../support/money/facts.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { createRandom, seedOfRun } from '../support/time/size.ts';
import { webhookBody } from '../../src/webhooks/events.ts';
import { until } from '../support/time/until.ts';
import { auditBooks, openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const NOW = new Date();
const OPEN: OpenOptions = { now: NOW, keepRefusal: () => false };
const GB = 1_073_741_824n;

const books = await forFile(openBooks());
await replaceCatalogue(
  books.world,
  { supplier: 'esim-access', regions: [region()], packages: [basePackage()] },
  NOW,
);
const TOP_UP = basePackage({ packageCode: 'TOPUP_NG', packageType: 'TOPUP' });
await replaceTopUps(books.world, 'NG-5GB-30D', [TOP_UP], NOW);

afterEach(async () => {
  expect(await auditBooks(books.owner)).toEqual([]);
  // What each has spent is what its top-ups cost that did not fail.
  const { rows } = await sql<{ id: string; spent: bigint; cost: bigint; top_ups: number; count: number }>`
    select mandate.id, spent_minor as spent, top_ups,
           coalesce(sum(price_minor) filter (where status <> 'FAILED'), 0)::bigint as cost,
           count(*) filter (where status <> 'FAILED')::integer as count
      from top_up_mandates mandate left join purchases on mandate_id = mandate.id
     group by mandate.id`.execute(books.owner);
  for (const { id, spent, cost, top_ups: counted, count } of rows)
    expect([id, spent, counted]).toEqual([id, cost, count]);
});

async function esimOf(accountId: string, usedBytes = 0n): Promise<string> {
  const input = purchaseInput({ transactionId: transactionId(), accountId });
  await openPurchase(books.world, input, OPEN);
  await settlePurchase(books.world, input.transactionId, {});
  await books.owner
    .updateTable('esims')
    .set({
      status: 'ACTIVE',
      esim_tran_no: randomUUID(),
      total_volume_bytes: GB,
      order_usage_bytes: usedBytes,
    })
    .where('id', '=', input.esimId)
    .execute();
  return input.esimId;
}

const transactionId = () => makeId('transaction', randomUUID().replaceAll('-', ''));

async function mandateWith(changes: Partial<NewMandate> = {}, fundsMinor = 10_000_000n) {
  const accountId = makeId('account', randomUUID().replaceAll('-', ''));
  await ensureWallet(books.world, accountId, 'USD');
  const amount = { amountMinor: fundsMinor, currency: 'USD' };
  await fundWallet(books.world, { operationKey: `fund:${accountId}`, accountId, amount, reason: 'a test' });
  const esimId = changes.esim_id ?? (await esimOf(accountId));
  const id = makeId('mandate', randomUUID().replaceAll('-', ''));
  return insertMandate(books.world, {
    ...{ id, account_id: accountId, esim_id: esimId, package_code: 'TOPUP_NG' },
    ...{ agreed_by: 'TRAVELLER', caller: null, limit_minor: 3_000n, currency: 'USD' },
    ...{ max_top_ups: null, threshold_bytes: GB / 5n, expires_at: new Date(Date.now() + 86_400_000) },
    ...changes,
  });
}

const now = async ({ esim_id }: MandateRow) => (await findMandate(books.world, esim_id))!;

const topUpOf = (mandate: MandateRow, priceMinor = 1_000n, sequence = mandate.sequence): PurchaseInput => {
  const input = purchaseInput({
    transactionId: transactionId(),
    accountId: mandate.account_id,
    packageType: 'TOPUP',
    packageCode: 'TOPUP_NG',
    esimId: mandate.esim_id,
    mandate: { id: mandate.id, sequence },
  });
  return { ...input, quote: { ...input.quote, priceMinor: String(priceMinor) } };
};

const open = async (input: PurchaseInput): Promise<string> => {
  const answer = await openPurchase(books.world, input, OPEN);
  return answer.stage === 'failed' ? answer.refusal.reason : answer.stage;
};
/** What its shop was told of its mandates. */
const told = async ({ account_id }: MandateRow) => {
  const { rows } = await sql<{ body: string }>`
    select body from events where account_id = ${account_id} and event like 'mandate.%'`.execute(books.owner);
  return rows.map(({ body }) => body);
};
/** The next try of this one; no other is due. */
async function lease({ id }: MandateRow): Promise<MandateRow> {
  await sql`update top_up_mandates set due_at = case when id = ${id} then now() end`.execute(books.owner);
  const [leased] = await leaseDueMandates(books.world, 20);
  return leased!;
}
const deliver = (input: PurchaseInput) => settlePurchase(books.world, input.transactionId, {});
const fail = (input: PurchaseInput) =>
  failPurchase(books.world, input.transactionId, { reason: 'OUT_OF_STOCK', detail: '' });

describe('a mandate', () => {
  it('opens one of fifty top-ups that come together, whatever they cost', async () => {
    const random = createRandom(seedOfRun());
    const mandate = await mandateWith({ limit_minor: 2_500n });
    const inputs = Array.from({ length: 50 }, () => topUpOf(mandate, BigInt(500 + random.below(1_500))));
    const answers = await Promise.all(inputs.map(open));
    expect(answers.filter((answer) => answer === 'paid')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'MANDATE_NOT_VALID')).toHaveLength(49);
    const opened = inputs[answers.indexOf('paid')]!;
    expect(await now(mandate)).toMatchObject({
      spent_minor: BigInt(opened.quote.priceMinor),
      top_ups: 1,
      open_transaction_id: opened.transactionId,
      due_at: null,
    });
  });

  it(
    'is never overspent by random prices, deliveries, failures, repeats and crashes',
    { timeout: 60_000 },
    async () => {
      const seed = seedOfRun();
      const random = createRandom(seed);
      const mandate = await mandateWith({ limit_minor: 20_000n });
      for (let round = 0; round < 12; round += 1) {
        const { sequence } = await now(mandate);
        // Some come from a try that died and was followed by another.
        const inputs = Array.from({ length: 8 }, (_none, index) =>
          topUpOf(mandate, BigInt(100 + random.below(6_000)), index % 4 === 3 ? sequence - 1 : sequence),
        );
        const answers = await Promise.all([...inputs, ...inputs.slice(0, 2)].map(open));
        const opened = inputs.filter((_input, index) => answers[index] === 'paid');
        expect(opened.length, `seed ${seed}`).toBeLessThanOrEqual(1);
        for (const input of opened) {
          const end = random.below(10) < 4 ? fail : deliver;
          // Each step may run twice, also at once.
          await Promise.all([end(input), end(input)]);
          expect(await open(input), `seed ${seed}`).not.toBe('MANDATE_NOT_VALID');
        }
        const { spent_minor: spent, limit_minor: limit } = await now(mandate);
        expect(spent <= limit, `seed ${seed}`).toBe(true);
        await sql`update top_up_mandates set sequence = sequence + 1 where id = ${mandate.id}`.execute(
          books.owner,
        );
      }
    },
  );

  it('pays what its limit has left, to the cent, and not a price that was raised between', async () => {
    const mandate = await mandateWith({ limit_minor: 3_000n });
    const first = topUpOf(mandate, 1_500n);
    expect(await open(first)).toBe('paid');
    await deliver(first);
    expect(await open(topUpOf(mandate, 1_501n))).toBe('MANDATE_NOT_VALID');
    const wallet = await findWallet(books.world, mandate.account_id);
    expect(await open(topUpOf(mandate, 1_500n))).toBe('paid');
    const after = await findWallet(books.world, mandate.account_id);
    expect(wallet!.balance.amountMinor - after!.balance.amountMinor).toBe(1_500n);
    expect(await now(mandate)).toMatchObject({ spent_minor: 3_000n, top_ups: 2 });
  });

  it('gets the share of a top-up back that fails, once, and waits before the next try', async () => {
    const mandate = await mandateWith({ limit_minor: 1_000n });
    const input = topUpOf(mandate);
    expect(await open(input)).toBe('paid');
    expect(await open(topUpOf(mandate))).toBe('MANDATE_NOT_VALID');
    await fail(input);
    await fail(input);
    const given = await now(mandate);
    expect(given).toMatchObject({ spent_minor: 0n, top_ups: 0, open_transaction_id: null });
    expect(given.due_at!.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
    expect(given).toMatchObject({ refusal: 'OUT_OF_STOCK', tried_at: expect.any(Date) as Date });
    expect(await open(topUpOf(mandate))).toBe('paid');
  });

  it('opens no more top-ups than were agreed to, however cheap they are', async () => {
    const mandate = await mandateWith({ max_top_ups: 1 });
    const input = topUpOf(mandate, 10n);
    expect(await open(input)).toBe('paid');
    await deliver(input);
    expect(await open(topUpOf(mandate, 10n))).toBe('MANDATE_NOT_VALID');
  });

  it.each([
    ['has ended', (mandate: MandateRow) => endMandate(books.world, mandate.id, 'ENDED_BY_TRAVELLER'), {}],
    ['has expired', () => Promise.resolve(), { expires_at: new Date(Date.now() - 1_000) }],
    ['is in another currency', () => Promise.resolve(), { currency: 'NGN' }],
  ] as const)('opens nothing where it %s', async (_what, change, terms) => {
    const mandate = await mandateWith(terms);
    await change(mandate);
    expect(await open(topUpOf(mandate))).toBe('MANDATE_NOT_VALID');
    expect(await now(mandate)).toMatchObject({ spent_minor: 0n, open_transaction_id: null });
  });

  it('pays for its own eSIM and its own account only', async () => {
    const mine = await mandateWith();
    const { account_id } = mine;
    const ofSameAccount = await mandateWith({ account_id, esim_id: await esimOf(account_id) });
    for (const other of [await mandateWith(), ofSameAccount])
      expect(await open({ ...topUpOf(other), mandate: { id: mine.id, sequence: 0 } })).toBe(
        'MANDATE_NOT_VALID',
      );
    expect(await now(mine)).toMatchObject({ spent_minor: 0n });
  });

  it('reserves nothing where the wallet has too little', async () => {
    const mandate = await mandateWith({}, 1_300n);
    expect(await open(topUpOf(mandate))).toBe('INSUFFICIENT_BALANCE');
    expect(await now(mandate)).toMatchObject({ spent_minor: 0n, top_ups: 0, open_transaction_id: null });
  });

  it('opens nothing for an eSIM whose earlier mandate still has a top-up open', async () => {
    const earlier = await mandateWith();
    const input = topUpOf(earlier);
    expect(await open(input)).toBe('paid');
    await endMandate(books.world, earlier.id, 'SUPERSEDED');
    const later = await insertMandate(books.world, {
      ...earlier,
      id: makeId('mandate', randomUUID().replaceAll('-', '')),
    });
    expect(await open(topUpOf(later))).toBe('MANDATE_NOT_VALID');
    await deliver(input);
    expect(await open(topUpOf(later))).toBe('paid');
  });
});

describe('a mandate ends by itself', () => {
  const change = ({ esim_id }: MandateRow, changes: Updateable<WorldDatabase['esims']>) =>
    books.world.updateTable('esims').set(changes).where('id', '=', esim_id).execute();

  it.each([
    ['has expired', { status: 'EXPIRED' }],
    ['was cancelled or returned', { status: 'CANCELLED' }],
    ['was replaced', { replaced_by: 'esim-new' }],
  ] as const)('in the statement after which its eSIM %s, and its shop is told', async (_what, changes) => {
    const mandate = await mandateWith();
    await change(mandate, { status: 'SUSPENDED' });
    expect(await now(mandate)).toMatchObject({ state: 'ACTIVE' });
    await change(mandate, { ...changes, iccid: '89"1' });
    await change(mandate, { updated_at: new Date() });
    const ended = await now(mandate);
    expect(ended).toMatchObject({ state: 'ENDED', end_reason: 'ESIM_ENDED' });
    const esim = await books.owner
      .selectFrom('esims')
      .select(['id as esimId', 'transaction_id as transactionId', 'iccid'])
      .where('id', '=', mandate.esim_id)
      .executeTakeFirstOrThrow();
    const facts = { mandateId: mandate.id, ...esim, endReason: 'ESIM_ENDED' } as const;
    expect(await told(mandate)).toEqual([webhookBody('mandate.ended', facts, ended.ended_at!)]);
  });

  it.each([
    ['EXPIRED', 1],
    ['LIMIT_REACHED', 1],
    ['NOT_ALLOWED', 1],
    ['ENDED_BY_TRAVELLER', 0],
    ['ENDED_BY_MERCHANT', 0],
    ['SUPERSEDED', 0],
  ] as const)('as %s, of which its shop is told %i times', async (reason, times) => {
    const mandate = await mandateWith();
    await Promise.all([
      endMandate(books.world, mandate.id, reason),
      endMandate(books.world, mandate.id, reason),
    ]);
    expect(await told(mandate)).toHaveLength(times);
  });

  it('when it expires, also if data never runs low, and has ended then', async () => {
    const mandate = await mandateWith({ expires_at: new Date(Date.now() + 1_500) });
    for (const afterMs of [null, 3_600_000]) {
      await putOffMandate(books.world, await lease(mandate), { afterMs });
      expect((await now(mandate)).due_at).toEqual(mandate.expires_at);
    }
    await endMandate(books.world, mandate.id, 'EXPIRED');
    expect((await now(mandate)).ended_at).toEqual(mandate.expires_at);
  });
});

describe('a try that is refused', () => {
  it('is on the mandate until one buys, and told once a day for each reason', async () => {
    const mandate = await mandateWith();
    expect(mandate).toMatchObject({ tried_at: null, refusal: null });
    for (const refusal of ['INSUFFICIENT_BALANCE', 'INSUFFICIENT_BALANCE', 'INVALID_TOPUP'] as const) {
      await putOffMandate(books.world, await lease(mandate), { afterMs: 3_600_000, refusal });
      const after = await now(mandate);
      expect(after).toMatchObject({ refusal, tried_at: expect.any(Date) as Date });
      expect(after.due_at!.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
    }
    const bodies = (await told(mandate)).map((body) => JSON.parse(body) as { data: object });
    expect(bodies.map(({ data }) => data)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ mandateId: mandate.id, refusal: 'INSUFFICIENT_BALANCE' }),
        expect.objectContaining({ esimId: mandate.esim_id, refusal: 'INVALID_TOPUP' }),
      ]),
    );
    expect(bodies).toHaveLength(2);
    // Another day.
    await sql`update events set event_key = event_key || ' of yesterday'
      where account_id = ${mandate.account_id}`.execute(books.owner);
    await putOffMandate(books.world, await now(mandate), { afterMs: 1, refusal: 'INVALID_TOPUP' });
    expect(await told(mandate)).toHaveLength(3);
    const bought = topUpOf(await now(mandate));
    expect(await open(bought)).toBe('paid');
    expect(await now(mandate)).toMatchObject({ refusal: null });
  });

  it('leaves nothing where another try has begun, or the mandate has ended', async () => {
    const mandate = await mandateWith();
    const leased = await lease(mandate);
    const refused = { afterMs: 1, refusal: 'INVALID_TOPUP' } as const;
    await putOffMandate(books.world, { ...leased, sequence: 0 }, refused);
    await endMandate(books.world, mandate.id, 'ENDED_BY_MERCHANT');
    await putOffMandate(books.world, leased, refused);
    expect(await now(mandate)).toMatchObject({ refusal: null, tried_at: null });
    expect(await told(mandate)).toEqual([]);
  });
});

/** Transactions that wait for another's locks. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`.execute(books.owner);
  return rows[0]?.count ?? 0;
}

describe('a mandate is due', () => {
  const uses = (mandate: MandateRow, usedBytes: bigint) =>
    books.world
      .updateTable('esims')
      .set({ order_usage_bytes: usedBytes })
      .where('id', '=', mandate.esim_id)
      .execute();
  const clear = async () => {
    await sql`update top_up_mandates set due_at = null`.execute(books.owner);
  };

  it('once less data is left than its threshold, and not before', async () => {
    const mandate = await mandateWith();
    await clear();
    await uses(mandate, GB - GB / 5n);
    expect((await now(mandate)).due_at).toBeNull();
    await uses(mandate, GB - GB / 5n + 1n);
    expect((await now(mandate)).due_at).not.toBeNull();
  });

  it('for one try of many processes, each with a number of its own', async () => {
    await clear();
    const mandate = await mandateWith();
    const leased = (
      await Promise.all(Array.from({ length: 10 }, () => leaseDueMandates(books.world, 20)))
    ).flat();
    expect(leased.map(({ id, sequence }) => [id, sequence])).toEqual([[mandate.id, 1]]);
    // The one that was leased before opens nothing any more.
    await sql`update top_up_mandates set due_at = now() where id = ${mandate.id}`.execute(books.owner);
    const [second] = await leaseDueMandates(books.world, 20);
    expect(second).toMatchObject({ id: mandate.id, sequence: 2 });
    expect(await open(topUpOf(leased[0]!))).toBe('MANDATE_NOT_VALID');
    await putOffMandate(books.world, leased[0]!, { afterMs: null });
    expect((await now(mandate)).due_at).not.toBeNull();
    expect(await open(topUpOf(second!))).toBe('paid');
    expect(await leaseDueMandates(books.world, 20)).toEqual([]);
  });

  it.each([{ afterMs: null }, { afterMs: 3_600_000, refusal: 'INVALID_TOPUP' }] as const)(
    'still if a low figure came during the try that then says %j',
    async (outcome) => {
      const mandate = await mandateWith();
      const leased = await lease(mandate);
      await uses(mandate, GB);
      await putOffMandate(books.world, leased, outcome);
      expect((await leaseDueMandates(books.world, 20)).map(({ id }) => id)).toEqual([mandate.id]);
    },
  );

  it('for no try while a low figure is being written, which that try would not see', async () => {
    await clear();
    const mandate = await mandateWith();
    await books.world.transaction().execute(async (trx) => {
      await trx
        .updateTable('esims')
        .set({ order_usage_bytes: GB })
        .where('id', '=', mandate.esim_id)
        .execute();
      expect(await leaseDueMandates(books.world, 20)).toEqual([]);
    });
    expect(await leaseDueMandates(books.world, 20)).toHaveLength(1);
  });

  it('for no other try by the figure that its own has read, once that goes on', async () => {
    const mandate = await mandateWith();
    const leased = await lease(mandate);
    await uses(mandate, GB);
    expect(await renewLease(books.world, leased)).toBe(true);
    expect(await leaseDueMandates(books.world, 20)).toEqual([]);
    await putOffMandate(books.world, leased, { afterMs: 3_600_000 });
    expect((await now(mandate)).due_at!.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
    await lease(mandate);
    expect(await renewLease(books.world, leased)).toBe(false);
  });

  it('at the end of a delivery beside which another figure of its eSIM is written', async () => {
    const mandate = await mandateWith();
    const input = topUpOf(mandate);
    await open(input);
    const delivered = await books.world.transaction().execute(async (trx) => {
      const esim = trx.updateTable('esims').where('id', '=', mandate.esim_id);
      await esim.set({ updated_at: new Date() }).execute();
      const done = deliver(input);
      await until(waiting, (count) => count > 0, { what: 'a delivery that waits for the eSIM' });
      await esim.set({ order_usage_bytes: GB }).execute();
      return { done };
    });
    await delivered.done;
    expect(await now(mandate)).toMatchObject({ open_transaction_id: null });
    expect((await now(mandate)).due_at).not.toBeNull();
  });

  it('again at once after a delivery', async () => {
    await clear();
    const mandate = await mandateWith();
    const input = topUpOf(mandate);
    await open(input);
    await deliver(input);
    expect((await leaseDueMandates(books.world, 20)).map(({ id }) => id)).toEqual([mandate.id]);
  });
});
