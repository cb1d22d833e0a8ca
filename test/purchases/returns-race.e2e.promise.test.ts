// Promise M14: returns that race the installation of their eSIM at random instants, while the supplier loses
// answers and is busy, end in one of two ways: cancelled at the supplier and paid back once, or installed and
// paid. Never both, never neither.
import { expect, it } from 'vitest';
import { sql } from 'kysely';
import { findPurchaseRow, newBuyer, untilClosed } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { runConcurrently } from '../support/time/concurrency.ts';
import { createRandom, size, withSeed } from '../support/time/size.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack } from '../support/world/stack.ts';

const RETURNS = size({ ci: 60, prove: 1_000 });
const AT_ONCE = 8;
const LIMIT_MS = size({ ci: 300_000, prove: 3_600_000 });
/** Eight returns at a time take some 300 ms each: installations come before, during and after theirs. */
const WITHIN_MS = 900;
const STAGES = ['DOWNLOAD', 'INSTALLATION', 'ENABLED', 'CONNECTED'] as const;

const stack = await forFile(
  startStack({
    supplier: { activateAfterMs: null },
    timings: { inFlightGraceMs: 500 },
  }),
);
const buyer = await newBuyer(stack, { fundsMinor: BigInt(RETURNS) * 10_000n });
const key = buyer.account.apiKey;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function race(seed: number): Promise<string> {
  const random = createRandom(seed);
  const { esim_id: esimId, transaction_id: transactionId } = await until(
    async () => untilClosed(stack, (await buyer.buy('SIM-MANUAL-LIFE')).body.transactionId),
    ({ status }) => status === 'SUCCESS',
    { what: 'an eSIM to return' },
  );
  const stage = random.pick(STAGES);
  const install = () => stack.call('POST', `/api/sandbox/esims/${esimId}/install`, { key, body: { stage } });
  const giveBack = () => stack.call('POST', `/api/esim/${esimId}/returns`, { key, body: {} });
  const [installsAfterMs, returnsAfterMs] = [random.below(WITHIN_MS), random.below(WITHIN_MS / 9)];
  await Promise.all([
    sleep(installsAfterMs).then(install),
    sleep(returnsAfterMs).then(giveBack),
    // A second request for the same, somewhere beside it.
    ...(random.below(3) === 0 ? [sleep(random.below(WITHIN_MS)).then(giveBack)] : []),
  ]);
  return transactionId;
}

/** How one ended, at the supplier and with us. */
async function endOf(transactionId: string): Promise<string> {
  const [order] = await stack.supplierOrders(transactionId);
  const isCancelled = order?.esims[0]?.esimStatus === 'CANCEL';
  const purchase = await findPurchaseRow(stack, transactionId);
  const returns = await stack.owner
    .selectFrom('returns')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .execute();
  const states = returns.map(({ state, refusal }) => refusal ?? state);
  const { rows } = await sql<{ back: bigint }>`
    select coalesce(sum(e.amount_minor), 0)::int8 as back
      from ledger_transactions t join ledger_entries e on e.ledger_transaction_id = t.id
     where t.transaction_id = ${transactionId} and t.kind = 'return' and e.ledger_account_id like 'wallet:%'`.execute(
    stack.owner,
  );
  const backMinor = BigInt(String(rows[0]?.back ?? 0));
  const isPaidBack = backMinor === BigInt(String(purchase?.price_minor));
  if (isCancelled && isPaidBack && states.filter((state) => state === 'RETURNED').length === 1)
    return 'returned';
  if (!isCancelled && backMinor === 0n && !states.includes('RETURNED')) return 'installed';
  return `${transactionId}: cancelled ${isCancelled}, back ${backMinor}, ${states.join(' ')}`;
}

it(
  'ends each return that races an installation once: cancelled and paid back, or installed and paid',
  () =>
    withSeed(async (seed) => {
      await stack.faults({ loseAnswer: 0.15, busy: 0.1 });
      const transactionIds: string[] = [];
      const seeds = Array.from({ length: RETURNS }, (_, nth) => seed + nth);
      await runConcurrently(seeds, AT_ONCE, async (one) => {
        transactionIds.push(await race(one));
      });
      await stack.clearFaults();
      await until(
        () => stack.owner.selectFrom('returns').select('id').where('closed_at', 'is', null).execute(),
        (open) => open.length === 0,
        { what: 'no return open', withinMs: 120_000, everyMs: 500 },
      );
      const ends = await Promise.all(transactionIds.map(endOf));
      const counts = Object.fromEntries(
        [...Map.groupBy(ends, (end) => end)].map(([end, all]) => [end, all.length]),
      );
      console.log(JSON.stringify(counts));
      expect(ends.filter((end) => end !== 'returned' && end !== 'installed')).toEqual([]);
      // Both ends were raced for.
      expect(counts['returned'] ?? 0).toBeGreaterThan(RETURNS / 20);
      expect(counts['installed'] ?? 0).toBeGreaterThan(RETURNS / 20);
      await expectSoundBooks(stack);
    }),
  LIMIT_MS,
);
