// Stuck payments on a stack, each class caused as in reality: vendors that misbehave, workers that are
// killed, merchants that do not answer. Where only time would cause it, the owner moves a row's time back.
// Everything else keeps running meanwhile.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import {
  APPLY_INBOX_WORKFLOW,
  SWEEP_WEBHOOKS_WORKFLOW,
  SWEEP_WORKFLOW,
} from '../../../workflows/contract.ts';
import type { StuckClass } from '../../../src/operations/stuck-rules.ts';
import { newBuyer } from '../people/buyer.ts';
import { fundThroughGateway } from './fundings.ts';
import { postEvent, untilOpened, untilTaken } from './payers.ts';
import {
  atGateway,
  buyThroughGateway,
  clearGatewayFaults,
  confirm,
  gatewayFaults,
  untilStatus,
  type GatewayMethod,
  type Paid,
} from './payments.ts';
import { createSemaphore } from '../time/concurrency.ts';
import type { Stack, TestAccount } from '../world/stack.ts';
import { until } from '../time/until.ts';
import type { Listener, Receiver } from '../people/webhook-receiver.ts';

/**
 * The pace that plants need: attention is needed soon, and abandoned work does not recover before an operator
 * acts.
 */
export const FIXTURE_PACE = {
  answerWithinMs: 2_500,
  checkFirstMs: 100,
  checkMaxMs: 300,
  attentionAfterMs: 5_000,
  slowCheckMs: 3_600_000,
  inFlightGraceMs: 200,
  // Paying takes a second or two, and much longer on a busy machine.
  checkoutMs: 20_000,
  pollFirstMs: 500,
  refundCheckFirstMs: 200,
  refundCheckMaxMs: 2_000,
};

export interface StuckFixture {
  readonly stack: Stack;
  readonly receiver: Receiver;
  /** Merchants whose endpoints answer errors until this is undone. */
  readonly failing: Listener[];
}

/** The planted ids that the list must show, by class. */
export type FixtureIds = Map<StuckClass, string[]>;

/** Sweeps that would repair some of them without an operator, as they do within the hour. */
export async function pauseSweeps({ temporal, owner }: Stack): Promise<void> {
  const sweeps = [APPLY_INBOX_WORKFLOW, SWEEP_WORKFLOW, SWEEP_WEBHOOKS_WORKFLOW];
  await Promise.all(sweeps.map((sweep) => temporal.schedule.getHandle(`${sweep}-schedule`).pause('a test')));
  // As if the gateway's list of the next hours had just been read, even if a process is reading it now.
  await sql`
    create or replace function read_tomorrow() returns trigger language plpgsql as $$
    begin
      new.wanted_at := now() + interval '1 day';
      new.due_at := new.wanted_at;
      return new;
    end $$`.execute(owner);
  await sql`
    create or replace trigger read_tomorrow before insert or update on gateway_windows for each row
    execute function read_tomorrow()`.execute(owner);
  await sql`
    insert into gateway_windows (starts_at, wanted_at, due_at)
    select starts_at, now(), now()
      from generate_series(date_bin('10 minutes', now(), 'epoch') - interval '1 hour', now() + interval '3 hours', '10 minutes') starts_at
    on conflict (starts_at) do update set wanted_at = excluded.wanted_at, due_at = excluded.due_at`.execute(
    owner,
  );
}

/** The inbox's sweep, once: a burst of events is more than is applied at once. */
export async function applyInbox({ temporal, owner }: Stack): Promise<void> {
  await temporal.schedule.getHandle(`${APPLY_INBOX_WORKFLOW}-schedule`).trigger();
  await until(
    () => owner.selectFrom('gateway_events').select('id').where('applied_at', 'is', null).execute(),
    (left) => left.length === 0,
    { what: 'every event is applied' },
  );
}

/** This many of each of fourteen classes. */
export async function plantStuck(fixture: StuckFixture, each: number): Promise<FixtureIds> {
  const planted: FixtureIds = new Map();
  const plant = async (stuckClass: StuckClass, make: () => Promise<string[]>): Promise<void> => {
    planted.set(stuckClass, await make());
  };
  // They wait for their time to be over while the supplier has its own faults.
  const late = times(each, () => byCard(fixture, 'SIM-PAY-NEVER'));
  await plant('paid-not-delivered', () =>
    stuckAtSupplier(fixture, each, { neverAllocate: 1 }, 'SUPPLIER_NEVER_ALLOCATED'),
  );
  await plant('workflow-gone', () => abandonedByWorkflow(fixture, each));
  await plant('supplier-unknown', () =>
    stuckAtSupplier(fixture, each, { loseAnswer: 1 }, 'SUPPLIER_OUTCOME_UNKNOWN'),
  );
  await plant('delivered-not-settled', () => notSettled(fixture, each));
  await plant('refund-not-done', () => refundForgotten(fixture, each));
  await Promise.all([
    plant('refund-needs-attention', () => refundWaits(fixture, each)),
    plant('payment-disputed', () => disputed(fixture, each)),
    plant('payment-reversed', () => reversed(fixture, each)),
  ]);
  await plant('late-money-unbooked', async () => paidUnseen(fixture, await late));
  await applyInbox(fixture.stack);
  await plant('inbox-without-purchase', () => eventOfAStranger(fixture, each));
  await Promise.all([
    plantUnknownCharges(fixture, each, planted),
    plant('inbox-unapplied', () => eventUnapplied(fixture, each)),
    plant('message-undelivered', () => messageGivenUp(fixture, each)),
  ]);
  return planted;
}

const times = <T>(each: number, make: (nth: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: each }, (_none, nth) => planting(() => make(nth))));

/** All at once would test the load and not the classes. */
const planting = createSemaphore(12);

async function fromWallet({ stack }: StuckFixture, each: number): Promise<string[]> {
  return times(each, async () => {
    const { body } = await (await newBuyer(stack)).buy('SIM-OK');
    return body.transactionId;
  });
}

async function byCard(
  { stack }: StuckFixture,
  packageCode: string,
  method: GatewayMethod = 'CARD',
): Promise<Paid & { readonly account: TestAccount }> {
  const account = await stack.account();
  return {
    ...(await untilOpened(stack, await buyThroughGateway(stack, account, { method, packageCode }))),
    account,
  };
}

/** The purchase or funding once it needs attention. */
async function untilCalled({ stack }: StuckFixture, transactionId: string, reason: string): Promise<string> {
  await until(
    async () => {
      const { rows } = await sql<{ reason: string | null }>`
        select attention_reason as reason from purchases where transaction_id = ${transactionId}
        union all select attention_reason from fundings where transaction_id = ${transactionId}`.execute(
        stack.owner,
      );
      return rows[0]?.reason;
    },
    (called) => called === reason,
    { what: `${transactionId} needs attention for ${reason}`, everyMs: 200 },
  );
  return transactionId;
}

const idsOf = (paid: readonly Paid[]): string[] => paid.map(({ transactionId }) => transactionId);

const called = (fixture: StuckFixture, ids: readonly string[], reason: string): Promise<string[]> =>
  Promise.all(ids.map((id) => untilCalled(fixture, id, reason)));

/** Moves the time of rows back, as if it had passed. */
async function makeOlder(
  { stack }: StuckFixture,
  table: string,
  columns: readonly string[],
  ids: readonly string[],
  by: string,
): Promise<void> {
  const changes = columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(column)} - ${by}::interval`);
  await sql`update ${sql.table(table)} set ${sql.join(changes)} where transaction_id = any(${[...ids]})`.execute(
    stack.owner,
  );
}

async function stuckAtSupplier(
  fixture: StuckFixture,
  each: number,
  faults: Record<string, unknown>,
  reason: string,
): Promise<string[]> {
  await fixture.stack.faults(faults);
  const ids = await called(fixture, await fromWallet(fixture, each), reason);
  await fixture.stack.clearFaults();
  return ids;
}

/** As if an operator had ended the workflow in Temporal. */
async function abandonedByWorkflow(fixture: StuckFixture, each: number): Promise<string[]> {
  const { stack } = fixture;
  await stack.faults({ neverAllocate: 1 });
  const ids = await fromWallet(fixture, each);
  await Promise.all(ids.map((id) => stack.temporal.workflow.getHandle(id).terminate('a test')));
  await makeOlder(fixture, 'purchases', ['created_at', 'updated_at'], ids, '5 minutes');
  await stack.clearFaults();
  return ids;
}

/** Our own database refuses to close purchases for a while, as a wrong constraint would. */
async function notSettled(fixture: StuckFixture, each: number): Promise<string[]> {
  const { owner } = fixture.stack;
  await sql`
    create function refuse_success() returns trigger language plpgsql as $$
    begin
      raise exception 'a test' using errcode = 'check_violation';
    end $$`.execute(owner);
  await sql`
    create trigger refuse_success before update on purchases for each row when (new.status = 'SUCCESS' and old.status <> 'SUCCESS')
    execute function refuse_success()`.execute(owner);
  const ids = await called(fixture, await fromWallet(fixture, each), 'SETTLE_FAILED');
  // Attention is needed at once, and the purchase keeps trying until its time limit.
  const patienceMs = FIXTURE_PACE.attentionAfterMs + 2_000;
  await until(
    async () => {
      const { rows } = await sql<{ ms: number }>`
        select (extract(epoch from min(now() - created_at)) * 1000)::float8 as ms from purchases
         where transaction_id = any(${[...ids]})`.execute(owner);
      return rows[0]?.ms ?? 0;
    },
    (ms) => ms > patienceMs,
    { what: 'the time limit is over', everyMs: 500 },
  );
  await sql`drop function refuse_success cascade`.execute(owner);
  return ids;
}

/** The gateway accepted no refund, and then no workflow was left to retry it. */
async function refundForgotten(fixture: StuckFixture, each: number): Promise<string[]> {
  const { stack } = fixture;
  await gatewayFaults(stack, { network: { kind: '500', operation: 'refund' } });
  const ids = idsOf(await times(each, () => byCard(fixture, 'SIM-PAY-REFUNDED')));
  await Promise.all(
    ids.map(async (id) => {
      await untilStatus(stack, id, 'FAILED');
      await untilRefund(stack, id, 'ASKED');
      await stack.temporal.workflow.getHandle(id).terminate('a test');
    }),
  );
  await makeOlder(fixture, 'refunds', ['created_at', 'sent_at'], ids, '1 hour');
  await untilNoRefundRuns(stack);
  await clearGatewayFaults(stack);
  return ids;
}

/** A step whose workflow was terminated goes on to its end. */
async function untilNoRefundRuns(stack: Stack): Promise<void> {
  const callsOf = async (): Promise<string> => {
    const answer = await fetch(`${stack.gatewayControlUrl}/stats`);
    const { calls } = (await answer.json()) as { calls: object };
    return Object.entries(calls)
      .filter(([operation]) => operation.startsWith('refund'))
      .join();
  };
  let before = '';
  await until(
    async () => {
      const now = await callsOf();
      const isSame = now === before;
      before = now;
      return isSame;
    },
    (isSame) => isSame,
    { what: 'no refund step running', everyMs: 4_000 },
  );
}

function untilRefund(stack: Stack, transactionId: string, status: string): Promise<unknown> {
  return until(
    () =>
      stack.owner
        .selectFrom('refunds')
        .select('status')
        .where('transaction_id', '=', transactionId)
        .executeTakeFirst(),
    (refund) => refund?.status === status,
    { what: `the refund of ${transactionId} is ${status}` },
  );
}

/** Paid after the end, more than three days ago; no event came, and the sweep's last check was skipped. */
async function paidUnseen(fixture: StuckFixture, opened: readonly Paid[]): Promise<string[]> {
  const { stack } = fixture;
  const ids = idsOf(opened);
  await Promise.all(ids.map((id) => untilStatus(stack, id, 'FAILED')));
  // Before it is paid, since a process that reads the gateway's list would find it at once.
  await makeOlder(fixture, 'payments', ['expires_at', 'checked_at', 'created_at'], ids, '80 hours');
  await gatewayFaults(stack, { webhooks: 'drop' });
  await Promise.all(opened.map(({ reference }) => atGateway(stack, reference, 'pay')));
  await clearGatewayFaults(stack);
  return ids;
}

async function refundWaits(fixture: StuckFixture, each: number): Promise<string[]> {
  const ids = idsOf(await times(each, () => byCard(fixture, 'SIM-PAY-REFUND-NEEDS-ATTENTION')));
  await Promise.all(ids.map((id) => untilRefund(fixture.stack, id, 'NEEDS_ATTENTION')));
  return ids;
}

async function disputed(fixture: StuckFixture, each: number): Promise<string[]> {
  // A dispute that comes before the delivery stops it.
  const paid = await times(each, () => byCard(fixture, 'SIM-PAY-NOW'));
  await Promise.all(idsOf(paid).map((id) => untilStatus(fixture.stack, id, 'SUCCESS')));
  await Promise.all(paid.map(({ reference }) => atGateway(fixture.stack, reference, 'dispute')));
  await Promise.all(paid.map(({ reference }) => untilTaken(fixture.stack, reference)));
  // Events that could not be applied at once are left to the inbox's schedule, which does not run here.
  await applyInbox(fixture.stack);
  return called(fixture, idsOf(paid), 'PAYMENT_DISPUTED');
}

async function reversed(fixture: StuckFixture, each: number): Promise<string[]> {
  const { stack } = fixture;
  const paid = await times(each, () => byCard(fixture, 'SIM-PAY-NOW'));
  return Promise.all(
    paid.map(async ({ transactionId, reference, account }) => {
      await untilStatus(stack, transactionId, 'SUCCESS');
      await atGateway(stack, reference, 'reverse');
      const confirmed = await confirm(stack, account, transactionId);
      if (confirmed.status !== 200) throw new Error(`confirm-payment: ${confirmed.status} ${confirmed.text}`);
      return untilCalled(fixture, transactionId, 'PAYMENT_REVERSED');
    }),
  );
}

/** Paid, and the gateway sends no event and does not answer until the time is over: purchases and wallets. */
async function plantUnknownCharges(fixture: StuckFixture, each: number, planted: FixtureIds): Promise<void> {
  const { stack } = fixture;
  await gatewayFaults(stack, {
    webhooks: 'drop',
    network: { kind: '500', operation: 'transaction/verify' },
  });
  const purchases = await times(each, () => byCard(fixture, 'SIM-OK'));
  const fundings = await times(each, async () =>
    untilOpened(
      stack,
      await fundThroughGateway(stack, await stack.account(), { amount: 50, method: 'CARD' }),
    ),
  );
  await Promise.all([...purchases, ...fundings].map(({ reference }) => atGateway(stack, reference, 'pay')));
  planted.set('charge-unknown', await called(fixture, idsOf(purchases), 'GATEWAY_OUTCOME_UNKNOWN'));
  planted.set('funding-stuck', await called(fixture, idsOf(fundings), 'GATEWAY_OUTCOME_UNKNOWN'));
  await clearGatewayFaults(stack);
}

/** Stored, and its process ended before it was applied. */
async function eventUnapplied(fixture: StuckFixture, each: number): Promise<string[]> {
  const { stack } = fixture;
  const opened = await times(each, () => byCard(fixture, 'SIM-OK', 'BANK_TRANSFER'));
  await stack.owner
    .insertInto('gateway_events')
    .values(
      opened.map(({ reference }) => ({
        gateway: 'paystack',
        event_key: randomUUID(),
        type: 'charge.success',
        about: 'charge',
        reference,
        received_at: sql<Date>`now() - interval '10 minutes'`,
      })),
    )
    .execute();
  return idsOf(opened);
}

async function eventOfAStranger(fixture: StuckFixture, each: number): Promise<string[]> {
  const { stack } = fixture;
  return times(each, async () => {
    const reference = `of-another-shop-${randomUUID()}`;
    const data = { id: 1, domain: 'test', status: 'success', reference, amount: 1_000, currency: 'NGN' };
    await postEvent(stack, JSON.stringify({ event: 'charge.success', data }));
    const row = await until(
      () =>
        stack.owner
          .selectFrom('gateway_events')
          .select(['id', 'applied_at'])
          .where('reference', '=', reference)
          .executeTakeFirst(),
      (event) => event?.applied_at !== null && event !== undefined,
      { what: `the event about ${reference} is applied` },
    );
    return `event-${row!.id}`;
  });
}

/** A merchant answered only 500 to the last message about a purchase, until the schedule was over. */
async function messageGivenUp({ stack, receiver, failing }: StuckFixture, each: number): Promise<string[]> {
  return times(each, async () => {
    const buyer = await newBuyer(stack);
    const listener = await receiver.listen(stack, buyer.account, {
      // On a busy machine a message that it is PROCESSING goes before.
      answer: (response, { data }) => response.writeHead(data['status'] === 'SUCCESS' ? 500 : 204).end(),
    });
    failing.push(listener);
    const { body } = await buyer.buy('SIM-OK');
    await until(() => listener.received.some(({ data }) => data['status'] === 'SUCCESS'), Boolean, {
      what: 'the last message is refused',
    });
    await sql`
      update webhook_messages set status = 'FAILED', next_attempt_at = null, closed_at = now()
       where subject = ${body.transactionId} and body::json->'data'->>'status' = 'SUCCESS'`.execute(
      stack.owner,
    );
    return body.transactionId;
  });
}
