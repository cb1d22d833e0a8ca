// Promise G5: nothing is stuck silently. Stuck payments of fourteen classes are mixed with healthy ones: the
// list shows each under its class and nothing else; one command repairs each class; repeating it changes
// nothing; then the list is empty and the books are right.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { StuckClass } from '../../src/operations/stuck-rules.ts';
import { newBuyer } from '../support/people/buyer.ts';
import { commander, hereFinance, jsonOf, shellFinance } from '../support/people/finance.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { atGateway, buyThroughGateway, untilStatus } from '../support/money/payments.ts';
import { size } from '../support/time/size.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack } from '../support/world/stack.ts';
import {
  applyInbox,
  FIXTURE_PACE,
  plantStuck,
  pauseSweeps,
  type StuckFixture,
} from '../support/money/stuck-fixture.ts';
import { until } from '../support/time/until.ts';
import { answerStatus, startReceiver } from '../support/people/webhook-receiver.ts';
import { SWEEP_WEBHOOKS_WORKFLOW } from '../../workflows/contract.ts';

/** Of each of the fourteen classes: 56 in total, or 504. */
const EACH = size({ ci: 2, prove: 36 });
const HEALTHY_OF_EACH_KIND = size({ ci: 3, prove: 20 });
const WHY = ['--reason', 'a test puts it right'];
const EVIDENCE = ['--evidence', 'ticket 4711'];

interface StuckItem {
  readonly transactionId: string;
  readonly class: StuckClass;
  readonly ageSeconds: number;
  readonly amount: number | null;
  readonly reason: string;
  readonly nextAction: string;
}

/** The one command for each class, as the list shows it. */
const COMMANDS: Partial<Record<StuckClass, { readonly verb: string; readonly more: readonly string[] }>> = {
  'refund-needs-attention': { verb: 'credit', more: EVIDENCE },
  'payment-disputed': { verb: 'settle', more: [...EVIDENCE, '--outcome', 'won'] },
  'payment-reversed': { verb: 'settle', more: [...EVIDENCE, '--outcome', 'lost'] },
  'inbox-without-purchase': { verb: 'dismiss', more: [] },
};
const commandOf = (stuckClass: StuckClass) => COMMANDS[stuckClass] ?? { verb: 'replay', more: [] };

const stack = await forFile(startStack({ timings: FIXTURE_PACE }));
await pauseSweeps(stack);
const [ada, bo] = [await commander(stack), await commander(stack)];
const fixture: StuckFixture = { stack, receiver: await forFile(startReceiver()), failing: [] };
await growHealthy();
const planted = await plantStuck(fixture, EACH);

/** What must never be listed: delivered, waiting, abandoned, given back, refused, notified. */
async function growHealthy(): Promise<void> {
  const each = Array.from({ length: HEALTHY_OF_EACH_KIND });
  await Promise.all(
    each.map(async () => {
      const notified = await newBuyer(stack);
      await fixture.receiver.listen(stack, notified.account);
      await notified.buy('SIM-OK');
      await notified.buy('SIM-OUT-OF-STOCK');
      const account = await stack.account();
      await buyThroughGateway(stack, account, { packageCode: 'SIM-OK', method: 'BANK_TRANSFER' });
      const [paid, refunded, abandoned] = await Promise.all(
        ['SIM-PAY-NOW', 'SIM-PAY-REFUNDED', 'SIM-PAY-NEVER'].map((packageCode) =>
          buyThroughGateway(stack, account, { packageCode }),
        ),
      );
      await untilStatus(stack, paid!.transactionId, 'SUCCESS');
      await untilStatus(stack, refunded!.transactionId, 'FAILED');
      await untilStatus(stack, abandoned!.transactionId, 'FAILED');
    }),
  );
  // As if they had been so for hours: age alone makes nothing stuck.
  await sql`update purchases set created_at = created_at - interval '6 hours' where closed_at is not null`.execute(
    stack.owner,
  );
}

const finance = (line: string, more: readonly string[] = []) => hereFinance(ada.env, line, { more });
const listStuck = async (): Promise<StuckItem[]> => jsonOf(await finance('stuck --json')) as StuckItem[];
const namesOf = (items: readonly Pick<StuckItem, 'class' | 'transactionId'>[]): string[] =>
  items.map((item) => `${item.class} ${item.transactionId}`).toSorted();
const plantedNames = (): string[] =>
  [...planted].flatMap(([stuckClass, ids]) => ids.map((id) => `${stuckClass} ${id}`)).toSorted();

/** Everything that putting something right may do, counted. */
async function effects(): Promise<unknown> {
  const { rows } = await sql`
    select (select count(*) from ledger_transactions) as booked, (select count(*) from refunds where closed_at is not null) as refunds,
           (select count(*) from holds where status <> 'HELD') as holds_closed,
           (select count(*) from purchase_events where what in ('delivered', 'failed')) as ended,
           (select count(*) from gateway_events where applied_at is null) as unapplied,
           (select count(*) from webhook_messages where status = 'DELIVERED') as notified`.execute(
    stack.owner,
  );
  const orders = await fetch(`${stack.supplierControlUrl}/orders?limit=10000`);
  return { rows, supplierOrders: ((await orders.json()) as unknown[]).length };
}

it('the stuck list shows every stuck payment under its class, and nothing else', async () => {
  expect(planted.size).toBe(14);
  const items = jsonOf(await shellFinance(ada.env, 'stuck --json')) as StuckItem[];
  expect(namesOf(items)).toEqual(plantedNames());
  expect(items).toHaveLength(14 * EACH);
  for (const item of items) {
    expect(Object.keys(item).toSorted()).toEqual([
      'account',
      'ageSeconds',
      'amount',
      'class',
      'currency',
      'nextAction',
      'openedAt',
      'reason',
      'transactionId',
    ]);
    expect(item.ageSeconds).toBeGreaterThanOrEqual(0);
    expect(item.reason).not.toBe('');
    expect(item.nextAction).toMatch(new RegExp(`^${commandOf(item.class).verb}: `));
    if (item.class === 'inbox-without-purchase') expect(item.amount).toBeNull();
    else expect(item.amount).toBeGreaterThan(0);
  }
}, 120_000);

it('a batch is previewed without a change, and does nothing without a yes', async () => {
  const before = await effects();
  const preview = await finance('replay --class paid-not-delivered --dry-run');
  expect(preview.code).toBe(0);
  for (const id of planted.get('paid-not-delivered') ?? []) expect(preview.stdout).toContain(id);
  const unsaid = await finance('replay --class paid-not-delivered', WHY);
  expect(unsaid.code).toBe(2);
  expect(unsaid.stderr).toContain('--yes');
  expect(await effects()).toEqual(before);
  expect(namesOf(await listStuck())).toEqual(plantedNames());
}, 120_000);

interface Result {
  readonly transactionId: string;
  readonly outcome: string;
}

/** By one command; what becomes a batch repair is approved by another person. */
async function repairAll(stuckClass: StuckClass): Promise<Result[]> {
  const { verb, more } = commandOf(stuckClass);
  const made = jsonOf(
    await finance(`${verb} --class ${stuckClass} --yes --json`, [...WHY, ...more]),
  ) as readonly (Result & { readonly repairId?: string })[];
  const repairId = made[0]?.repairId;
  expect(repairId !== undefined, verb).toBe(['replay', 'credit'].includes(verb));
  if (repairId === undefined) return [...made];
  const approved = await hereFinance(bo.env, `approve ${repairId} --yes --json`, { more: WHY });
  const { items } = jsonOf(approved) as {
    readonly items: readonly { readonly transactionId: string; readonly status: string }[];
  };
  return items.map(({ transactionId, status }) => ({ transactionId, outcome: status.toLowerCase() }));
}

const winDispute = (reference: string) =>
  atGateway(stack, reference, 'dispute', { action: 'resolve', resolution: 'declined' });

it('one command repairs each class, and a repeat changes nothing', async () => {
  for (const listener of fixture.failing) listener.answerWith(answerStatus(204));
  for (const [stuckClass, ids] of planted) {
    if (stuckClass === 'payment-disputed') await Promise.all(ids.map(winDispute));
    const results = await repairAll(stuckClass);
    expect(results.map(({ transactionId }) => transactionId).toSorted(), stuckClass).toEqual(ids.toSorted());
    expect(new Set(results.map(({ outcome }) => outcome)), stuckClass).toEqual(new Set(['done']));
    await until(
      async () => (await listStuck()).filter((item) => ids.includes(item.transactionId)),
      (left) => left.length === 0,
      { what: `${stuckClass} is repaired`, everyMs: 500 },
    );
  }
  expect(await listStuck()).toEqual([]);
  await untilAllTold();
  await applyInbox(stack);
  const after = await effects();
  for (const [stuckClass, ids] of planted) {
    const { verb, more } = commandOf(stuckClass);
    for (const id of ids) {
      const { code, stderr } = await finance(`${verb} ${id} --json --yes`, [...WHY, ...more]);
      // A dismissed item leaves the list, and a batch repair left nothing to give back.
      expect({ code, stderr }, `${stuckClass} ${id}`).toEqual({
        code: ['dismiss', 'credit'].includes(verb) ? 1 : 0,
        stderr: '',
      });
    }
  }
  expect(await effects()).toEqual(after);
  expect(await listStuck()).toEqual([]);
}, 900_000);

/** Messages about purchases that were continued are being delivered: on a busy machine some by the sweep. */
async function untilAllTold(): Promise<void> {
  await until(
    async () => {
      await stack.temporal.schedule.getHandle(`${SWEEP_WEBHOOKS_WORKFLOW}-schedule`).trigger();
      const { rows } = await sql<{ left: string }>`
        select count(*) as left from webhook_messages where status <> 'DELIVERED'`.execute(stack.owner);
      return Number(rows[0]?.left);
    },
    (left) => left === 0,
    { what: 'every message is delivered', everyMs: 1_000 },
  );
}

it('the books balance at the end, and the audit log has who repaired what and why', async () => {
  await expectSoundBooks(stack);
  const { rows } = await sql<{ transaction_id: string }>`
    select distinct transaction_id from operator_actions
     where by_person = ${ada.email} and reason like 'a test puts it right%' and status = 'DONE'`.execute(
    stack.owner,
  );
  const recorded = new Set(rows.map((row) => row.transaction_id));
  const unrecorded = [...planted].flatMap(([stuckClass, ids]) =>
    ids.filter((id) => !recorded.has(id)).map((id) => `${stuckClass} ${id}`),
  );
  expect(unrecorded).toEqual([]);
}, 120_000);
