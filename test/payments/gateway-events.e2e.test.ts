/**
 * The gateway's events through the whole service (promises G1 and G4): forged, altered, repeated and
 * unmatched events change nothing, every form of an event is understood, and no event gets a 5xx answer.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { closeUnpaid } from '../../src/purchases/store/purchases.ts';
import { timelineOf } from '../support/people/buyer.ts';
import { eventsOf, postEvent, signatureOf } from '../support/money/payers.ts';
import { countRows } from '../support/money/payment-books.ts';
import {
  atGateway,
  buyThroughGateway,
  clearGatewayFaults,
  gatewayFaults,
  untilStatus,
  type Paid,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

/** Only an event triggers our check early. */
const NEVER_MS = 3_600_000;

const stack = await soundStack({
  timings: { pollFirstMs: NEVER_MS, pollMaxMs: NEVER_MS },
  env: {
    SIMWAY_TEST_GATEWAY_PREVIOUS_SECRET_KEY: 'sk_test_before',
  },
});
const account = await stack.account({ fundsMinor: 0n, currency: 'NGN' });
/** A waiting, a delivered and a closed purchase, each with an event of its own. */
const [unpaid, delivered, closed] = [
  await buyThroughGateway(stack, account),
  await buyThroughGateway(stack, account),
  await buyThroughGateway(stack, account, { method: 'BANK_TRANSFER' }),
];
for (const { answer } of [unpaid, delivered, closed]) expect(answer.status, answer.text).toBe(201);
await closeUnpaid(stack.world, closed.transactionId, 'PAYMENT_NOT_OPENED');
await atGateway(stack, delivered.reference, 'pay');
await untilStatus(stack, delivered.transactionId, 'SUCCESS');
afterEach(() => clearGatewayFaults(stack));

const eventRows = async (): Promise<number> =>
  (await stack.world.selectFrom('gateway_events').select('id').execute()).length;

async function untilApplied(): Promise<void> {
  await until(
    () => stack.world.selectFrom('gateway_events').select('id').where('applied_at', 'is', null).execute(),
    (rows) => rows.length === 0,
    { what: 'every event applied' },
  );
}

/** An event as the gateway writes it, with a given fault. */
const event = (type: string, data: Record<string, unknown>, around: object = {}): string =>
  JSON.stringify({ event: type, data: { domain: 'test', id: 1, status: 'success', ...data }, ...around });

const success = (reference: unknown, given: Record<string, unknown> = {}): string =>
  event('charge.success', {
    reference,
    amount: 350_000,
    currency: 'NGN',
    requested_amount: 350_000,
    ...given,
  });

describe('an event that is not certainly the gateway’s gets 401 and is not stored', () => {
  const body = success('txn-1');
  const good = signatureOf(body);
  const flipped = (at: number): string =>
    good.slice(0, at) + (good[at] === '0' ? '1' : '0') + good.slice(at + 1);
  const CASES: [string, string, Record<string, string>][] = [
    ['no signature', body, {}],
    ['an empty signature', body, { 'x-paystack-signature': '' }],
    ['another header', body, { 'x-signature': good }],
    ['a word', body, { 'x-paystack-signature': 'trust me' }],
    ['upper case', body, { 'x-paystack-signature': good.toUpperCase() }],
    ['half a signature', body, { 'x-paystack-signature': good.slice(0, 64) }],
    ['a longer signature', body, { 'x-paystack-signature': `${good}00` }],
    ['two signatures', body, { 'x-paystack-signature': `${good}, ${good}` }],
    ['a prefix', body, { 'x-paystack-signature': `sha512=${good}` }],
    ['the first bit changed', body, { 'x-paystack-signature': flipped(0) }],
    ['the last bit changed', body, { 'x-paystack-signature': flipped(127) }],
    ['another key', body, { 'x-paystack-signature': signatureOf(body, 'sk_test_other') }],
    ['the live key', body, { 'x-paystack-signature': signatureOf(body, 'sk_live_x') }],
    ['an empty key', body, { 'x-paystack-signature': signatureOf(body, '') }],
    ['the signature of another body', `${body} `, { 'x-paystack-signature': good }],
    ['a changed amount', body.replace('350000', '350001'), { 'x-paystack-signature': good }],
    ['a changed reference', body.replace('txn-1', 'txn-2'), { 'x-paystack-signature': good }],
    ['a blank in front', ` ${body}`, { 'x-paystack-signature': good }],
    ['the other mode', success('txn-1', { domain: 'live' }), signed(success('txn-1', { domain: 'live' }))],
    [
      'the other mode of the customer',
      success('txn-1', { customer: { domain: 'live' } }),
      signed(success('txn-1', { customer: { domain: 'live' } })),
    ],
    ...[
      '',
      ' ',
      'null',
      '[]',
      '"charge.success"',
      '1',
      '{}',
      '{"event":1}',
      '{"data":{}}',
      '{"event":',
      '\0',
    ].map((text): [string, string, Record<string, string>] => [
      `signed, and no event: ${JSON.stringify(text)}`,
      text,
      signed(text),
    ]),
    ['signed, with an invalid name', event('charge success', {}), signed(event('charge success', {}))],
  ];

  it.each(CASES)('%s', async (_what, text, headers) => {
    const [rows, events] = [await countRows(stack.owner), await eventRows()];
    expect((await postEvent(stack, text, { headers })).status).toBe(401);
    expect(await eventRows()).toBe(events);
    expect(await countRows(stack.owner)).toEqual(rows);
  });

  it('5 MB get 401 unread', async () => {
    const large = Buffer.alloc(5 * 1024 * 1024, 0x61);
    const answer = await postEvent(stack, large).catch(() => undefined);
    expect([413, undefined]).toContain(answer?.status);
  });
});

function signed(text: string): Record<string, string> {
  return { 'x-paystack-signature': signatureOf(text) };
}

describe('a signed event without consequence is stored and checked, and changes nothing', () => {
  const refund = (reference: string): string =>
    event('refund.processed', { transaction_reference: reference, amount: '350000', currency: 'NGN' });
  const dispute = (reference: string): string =>
    event('charge.dispute.create', { transaction: { reference, domain: 'test' }, refund_amount: 350_000 });
  const CASES: [string, () => string][] = [
    ['an unknown reference', () => success(`txn-${randomUUID()}`)],
    ['the reference of another shop', () => success('shop_4711.x=1')],
    ['no reference', () => success(undefined)],
    ['a reference that is a number', () => success(4711)],
    ['a reference that is an object', () => success({ $ne: null })],
    ['a reference with a NUL', () => success(`${unpaid.reference}\0`)],
    ['a reference with a lone surrogate', () => success('txn-\ud800')],
    ['a reference of SQL', () => success("' or 1=1 --")],
    ['a very long reference', () => success('x'.repeat(100_000))],
    ['said to be paid', () => success(unpaid.reference)],
    ['said to be paid with the wrong amount', () => success(unpaid.reference, { amount: 1 })],
    ['said to be paid with no amount', () => success(unpaid.reference, { amount: null })],
    ['said to be paid with a negative amount', () => success(unpaid.reference, { amount: -350_000 })],
    ['said to be paid with a broken amount', () => success(unpaid.reference, { amount: '3500.00' })],
    ['said to be paid in dollars', () => success(unpaid.reference, { currency: 'USD' })],
    ['said to be paid, written twice', () => success(unpaid.reference).replace('{', '{"event":"x.y",')],
    ['said to have failed', () => event('charge.failed', { reference: unpaid.reference })],
    ['the same in upper case', () => success(unpaid.reference.toUpperCase())],
    ['what is closed, said to be paid', () => success(closed.reference)],
    ['what is delivered, said to be paid again', () => success(delivered.reference, { amount: 700_000 })],
    [
      'what is delivered, a year later',
      () => success(delivered.reference, { paid_at: '2020-01-01T00:00:00Z' }),
    ],
    ['a refund that we did not request', () => refund(delivered.reference)],
    ['a refund of what was never paid', () => refund(unpaid.reference)],
    ['a dispute of what was never paid', () => dispute(unpaid.reference)],
    ['a dispute of what is closed', () => dispute(closed.reference)],
    ['a dispute of an unknown payment', () => dispute('txn-unknown')],
    [
      'a rejected transfer of an unknown customer',
      () => event('bank.transfer.rejected', { customer: { email: 'unknown' } }),
    ],
    ['a rejected transfer of nothing', () => event('bank.transfer.rejected', {})],
    [
      'a rejected transfer with a NUL',
      () => event('bank.transfer.rejected', { customer: { email: 'a\0@test.example' } }),
    ],
    ['an unknown type of event', () => event('planet.aligned', { reference: unpaid.reference })],
    ['a list', () => '{"event":"subscription.expiring_cards","data":[{"reference":"txn-1"}]}'],
    ['polluted', () => `{"__proto__":{"event":"charge.success"},"event":"a.b","data":{"__proto__":{"x":1}}}`],
    [
      'deep',
      () =>
        `{"event":"charge.success","data":{"reference":"txn-1","x":${'['.repeat(2_000)}${']'.repeat(2_000)}}}`,
    ],
  ];

  it.each(CASES)('%s', async (_what, write) => {
    await untilApplied();
    const before = await countRows(stack.owner);
    const body = write();
    for (let times = 0; times < 2; times += 1) expect((await postEvent(stack, body)).status).toBe(200);
    await untilApplied();
    await expectChecksEnded();
    expect(await countRows(stack.owner)).toEqual(before);
  });
});

it('each of them led to a check, and all purchases are unchanged', async () => {
  const checkedAt = async ({ reference }: Paid): Promise<number> => {
    const { checked_at } = await stack.world
      .selectFrom('payments')
      .select('checked_at')
      .where('reference', '=', reference)
      .executeTakeFirstOrThrow();
    return checked_at?.getTime() ?? 0;
  };
  for (const paid of [unpaid, delivered, closed]) {
    const before = await checkedAt(paid);
    expect(before).toBeGreaterThan(0);
    expect((await postEvent(stack, success(paid.reference, { amount: 2 }))).status).toBe(200);
    await until(
      () => checkedAt(paid),
      (now) => now > before,
      { what: 'another check' },
    );
  }
  const rows = await stack.world.selectFrom('purchases').select(['transaction_id', 'status']).execute();
  const statusOf = ({ transactionId }: Paid) =>
    rows.find((row) => row.transaction_id === transactionId)?.status;
  expect([unpaid, delivered, closed].map(statusOf)).toEqual(['PENDING', 'SUCCESS', 'FAILED']);
  const wallet = await stack.call('GET', '/api/wallet/balance', { key: account.apiKey });
  expect(wallet.body).toMatchObject({ data: { balance: 0 } });
});

/** An event starts its check in the background: it must end before rows are compared. */
async function expectChecksEnded(): Promise<void> {
  await until(
    async () => {
      let running = 0;
      for (const paid of [unpaid, delivered, closed]) {
        const handle = stack.temporal.workflow.getHandle(`after-${paid.transactionId}`);
        const status = await handle.describe().then(
          (described) => described.status.name,
          () => 'NONE',
        );
        if (status === 'RUNNING') running += 1;
      }
      const { pendingActivities } = (await stack.temporal.workflow.getHandle(unpaid.transactionId).describe())
        .raw;
      return running + (pendingActivities?.length ?? 0);
    },
    (running) => running === 0,
    { what: 'the checks ended' },
  );
}

describe('an event about a payment', () => {
  async function paidWith(faults: object): Promise<Paid> {
    await gatewayFaults(stack, faults);
    const bought = await buyThroughGateway(stack, account);
    await atGateway(stack, bought.reference, 'pay');
    return bought;
  }

  it.each([
    { webhookBytes: 'compact' },
    { webhookBytes: 'pretty' },
    { webhookBytes: 'escaped' },
    { webhookBytes: 'reordered' },
    { shapeDrift: true },
    { webhooks: 'duplicate' },
  ])('is understood in this form: %j', async (faults) => {
    const { transactionId } = await paidWith(faults);
    await untilStatus(stack, transactionId, 'SUCCESS');
    expect(await timelineOf(stack, transactionId)).toEqual(['opened', 'payment-received', 'delivered']);
  });

  it('is accepted when signed with the key that is being replaced', async () => {
    const bought = await paidWith({ webhooks: 'drop' });
    const [sent] = await eventsOf(stack, bought.reference);
    const answer = await postEvent(stack, sent!.body, { key: 'sk_test_before' });
    expect(answer.status).toBe(200);
    await untilStatus(stack, bought.transactionId, 'SUCCESS');
  });

  it('that is replayed ten times, and again at the end, leads to one delivery', async () => {
    const bought = await paidWith({ webhooks: 'drop' });
    const [sent] = await eventsOf(stack, bought.reference);
    const replay = async (): Promise<number[]> =>
      (await Promise.all(Array.from({ length: 10 }, () => postEvent(stack, sent!.body)))).map(
        (answer) => answer.status,
      );
    expect(new Set(await replay())).toEqual(new Set([200]));
    await untilStatus(stack, bought.transactionId, 'SUCCESS');
    await untilApplied();
    const before = await countRows(stack.owner);
    expect(new Set(await replay())).toEqual(new Set([200]));
    await untilApplied();
    await expectChecksEnded();
    expect(await countRows(stack.owner)).toEqual(before);
    expect(await stack.supplierOrders(bought.transactionId)).toHaveLength(1);
  });
});
