// The gateway's side of a payment in a test: events it sent and sends again, refunds that a test ends,
// reconciliation with its statement, and its money compared with our bookings. Changes things only through
// the gateway's control interface and our API.
import { createHmac, randomUUID } from 'node:crypto';
import { connectClient } from '../../../src/platform/temporal/connect.ts';
import { reconcileEngineOf } from './reconciling.ts';
import { buyThroughGateway, type Paid } from './payments.ts';
import type { Answer, Stack, TestAccount } from '../world/stack.ts';
import { until } from '../time/until.ts';

/** The key of the gateway in a stack: of its API, and of its events. */
const SECRET_KEY = 'sk_test_simulator';
const GATEWAY_ROUTE = '/webhooks/paystack/test';

interface GatewayEvent {
  readonly id: number;
  readonly event: string;
  readonly body: string;
  readonly deliveries: readonly { readonly state: string; readonly attempts: readonly unknown[] }[];
}

export interface Kept {
  readonly reference: string;
  readonly status: string;
  readonly requested: { readonly amountMinor: number; readonly currency: string };
  readonly received: { readonly amountMinor: number; readonly currency: string };
  readonly feesMinor: number;
}

/** How long a caller on a busy machine repeats a request. */
const BUY_WITHIN_MS = 90_000;

/**
 * Buys through the gateway as docs/API.md asks callers to: repeats a refused request with the same
 * Idempotency-Key.
 */
export async function buyThroughGatewayOnce(
  stack: Stack,
  account: TestAccount,
  options: Parameters<typeof buyThroughGateway>[2],
): Promise<Paid> {
  const headers = { 'Idempotency-Key': randomUUID() };
  const paid = await until(
    () => buyThroughGateway(stack, account, { ...options, headers }),
    ({ answer }) => ![409, 503].includes(answer.status),
    { what: 'an answer to buying', withinMs: BUY_WITHIN_MS, everyMs: 200 },
  );
  return paid.answer.status === 201 ? untilOpened(stack, paid) : paid;
}

/**
 * With the reference that can be paid: on a busy machine the answer may come before the gateway's
 * instructions, and a charge whose answer was lost is opened again with another one.
 */
export async function untilOpened(stack: Stack, paid: Paid): Promise<Paid> {
  const payment = await until(
    () =>
      stack.owner
        .selectFrom('payments')
        .select(['reference', 'status'])
        .where('transaction_id', '=', paid.transactionId)
        .orderBy('attempt', 'desc')
        .executeTakeFirst(),
    (row) => row !== undefined && row.status !== 'ASKED',
    { what: `${paid.transactionId} can be paid` },
  );
  return { answer: paid.answer, transactionId: paid.transactionId, reference: payment!.reference };
}

/** Events of a charge that the gateway has sent or dropped, oldest first. */
export async function eventsOf(stack: Stack, reference: string): Promise<GatewayEvent[]> {
  const answer = await fetch(`${stack.gatewayControlUrl}/webhooks?reference=${reference}`);
  return ((await answer.json()) as GatewayEvent[]).toReversed();
}

/**
 * The gateway sends it again, or for the first time if it was dropped: the same bytes by its usual delivery.
 */
export async function resend(stack: Stack, { id }: GatewayEvent): Promise<void> {
  await control(stack, `/webhooks/${id}/resend`);
}

/** Sends these bytes, signed with the key. */
export async function postEvent(
  stack: Stack,
  body: string | Uint8Array,
  { key = SECRET_KEY, headers }: { key?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const signed = headers ?? { 'x-paystack-signature': signatureOf(body, key) };
  const answer = await fetch(stack.apiUrl + GATEWAY_ROUTE, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signed },
    body: Buffer.from(body),
  });
  const { status, headers: answered } = answer;
  return { status, headers: answered, text: await answer.text(), body: {} as Answer['body'] };
}

export function signatureOf(body: string | Uint8Array, key = SECRET_KEY): string {
  return createHmac('sha512', key).update(body).digest('hex');
}

/**
 * Every event of a charge is accepted. After a refusal on a busy machine the gateway's next attempt would be
 * an hour later.
 */
export async function untilTaken(stack: Stack, reference: string): Promise<void> {
  await until(
    async () => {
      const events = await eventsOf(stack, reference);
      const left = events.filter(({ deliveries }) => !deliveries.some(({ state }) => state === 'delivered'));
      const turnedAway = left.filter(({ deliveries }) =>
        deliveries.every(({ state, attempts }) => state === 'dropped' || attempts.length > 0),
      );
      for (const event of turnedAway) await resend(stack, event);
      return left.length;
    },
    (left) => left === 0,
    { what: `every event of ${reference} taken` },
  );
}

/** Ends the refund of a charge, once it has been requested. */
export async function endRefund(
  stack: Stack,
  reference: string,
  how: 'process' | 'fail' | 'needs-attention',
): Promise<void> {
  await control(stack, `/refunds/${await untilRefundAsked(stack, reference)}/${how}`);
}

/** The gateway's id of a refund in progress. */
export async function untilRefundAsked(stack: Stack, reference: string): Promise<number> {
  const refund = await until(
    async () => {
      const answer = await fetch(`${stack.gatewayControlUrl}/charges/${reference}`);
      const { refunds } = (await answer.json()) as { refunds: { id: number; status: string }[] };
      return refunds.find(({ status }) => status === 'pending' || status === 'processing');
    },
    (found) => found !== undefined,
    { what: `a refund of ${reference} at the gateway` },
  );
  return refund!.id;
}

async function control(stack: Stack, path: string): Promise<void> {
  const answer = await fetch(stack.gatewayControlUrl + path, { method: 'POST' });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

/** Runs reconciliation now. */
export async function reconcileNow(stack: Stack): Promise<void> {
  const temporal = connectClient({
    address: stack.env['TEMPORAL_ADDRESS'] ?? '',
    namespace: stack.namespace,
  });
  try {
    await reconcileEngineOf(stack, temporal).reconcile({ askedBy: 'a test' });
  } finally {
    await temporal.close();
  }
}

/**
 * Every difference between the gateway's money and our bookings; charges that never reached the gateway are
 * left out.
 */
export async function dropped(stack: Stack): Promise<string[]> {
  const found: string[] = [];
  const payments = await stack.world.selectFrom('payments').selectAll().execute();
  for (const payment of payments) {
    const answer = await fetch(`${stack.gatewayControlUrl}/charges/${payment.reference}`);
    if (answer.status === 404) continue;
    const kept = (await answer.json()) as Kept;
    const netMinor = BigInt(netOf(kept));
    const { currency } = kept.received;
    const isCharged = currency === payment.charge_currency;
    const isTakenBackUnseen = kept.status === 'reversed' && !payment.has_money;
    const bookedMinor = isCharged
      ? payment.received_minor
      : await otherMinor(stack, payment.reference, currency);
    if (!isTakenBackUnseen && netMinor !== bookedMinor)
      found.push(`${payment.reference}: the gateway kept ${netMinor} ${currency}, we booked ${bookedMinor}`);
  }
  return found;
}

async function otherMinor(stack: Stack, reference: string, currency: string): Promise<bigint> {
  const refunds = await stack.world
    .selectFrom('refunds')
    .select('amount_minor')
    .where('reference', '=', reference)
    .where('currency', '=', currency)
    .execute();
  return refunds.reduce((sum, { amount_minor }) => sum + amount_minor, 0n);
}

/** Without the fee that the buyer paid on top. */
function netOf({ received, requested, feesMinor }: Kept): number {
  const isOnTop = received.amountMinor - feesMinor === requested.amountMinor;
  return isOnTop ? requested.amountMinor : received.amountMinor;
}
