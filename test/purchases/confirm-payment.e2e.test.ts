/** confirm-payment with everything that it does not apply to: a clear answer, no change, and never a 5xx. */
import { describe, expect, it } from 'vitest';
import { closeUnpaid } from '../../src/purchases/store/purchases.ts';
import { countRows } from '../support/money/payment-books.ts';
import { atGateway, buyThroughGateway, gatewayFaults, untilStatus } from '../support/money/payments.ts';
import type { Answer } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const NEVER_MS = 3_600_000;
const UNKNOWN = 'txn-00000000000000000000000000000000';
const ids: Record<'card' | 'transfer' | 'wallet' | 'closed' | 'delivered' | 'funding', string> = {
  card: '',
  transfer: '',
  wallet: '',
  closed: '',
  delivered: '',
  funding: '',
};

const stack = await soundStack({
  timings: { pollFirstMs: NEVER_MS, pollMaxMs: NEVER_MS },
});
await gatewayFaults(stack, { webhooks: 'drop' });
const own = await stack.account();
const other = await stack.account();
function post(path: string, body: unknown, account = own): Promise<Answer> {
  return stack.call('POST', path, { key: account.apiKey, body });
}
const confirm = (body: unknown, account = own) => post('/api/esim/confirm-payment', body, account);
ids.card = (await buyThroughGateway(stack, own)).transactionId;
ids.transfer = (await buyThroughGateway(stack, own, { method: 'BANK_TRANSFER' })).transactionId;
ids.closed = (await buyThroughGateway(stack, own)).transactionId;
await closeUnpaid(stack.world, ids.closed, 'PAYMENT_NOT_OPENED');
const wallet = await post('/api/esim/buy', {
  packageCode: 'SIM-OK',
  packageType: 'BASE',
  paymentMethod: 'WALLET',
});
ids.wallet = wallet.body.transactionId;
const funding = await post('/api/wallet/fund', { amount: 10, paymentMethod: 'CARD' });
ids.funding = funding.body.transactionId;
ids.delivered = (await buyThroughGateway(stack, own)).transactionId;
await atGateway(stack, ids.delivered, 'pay');
await confirm({ transactionId: ids.delivered });
await untilStatus(stack, ids.delivered, 'SUCCESS');

/** Calls once and then four times at once; answers all bodies. No row may show the calls afterwards. */
async function askAbout(body: unknown, account = own): Promise<Answer[]> {
  const before = await countRows(stack.owner);
  const answers = [
    await confirm(body, account),
    ...(await Promise.all(Array.from({ length: 4 }, () => confirm(body, account)))),
  ];
  await until(
    async () => {
      let running = 0;
      for await (const { workflowId } of stack.temporal.workflow.list({
        query: `ExecutionStatus = 'Running'`,
      }))
        if (workflowId.startsWith('after-')) running += 1;
      return running;
    },
    (running) => running === 0,
    { what: 'no check in progress' },
  );
  expect(await countRows(stack.owner)).toEqual(before);
  return answers;
}

const NAMES = ['transactionId', 'gatewayReference', 'trackingReference'] as const;

describe.each(NAMES)('by %s', (name) => {
  it.each(['card', 'transfer', 'closed', 'delivered', 'funding', 'wallet'] as const)(
    "another account's %s payment is not found",
    async (which) => {
      for (const { status, body } of await askAbout({ [name]: ids[which] }, other)) {
        expect(status).toBe(404);
        expect(body).toMatchObject({ error: { code: 'TRANSACTION_NOT_FOUND' } });
      }
    },
  );

  it.each([
    UNKNOWN,
    `${UNKNOWN}-2`,
    'txn-x',
    '../../etc/passwd',
    "' or 1=1 --",
    '%00',
    '',
    'x'.repeat(5_000),
  ])('an invalid id is not found: %s', async (id) => {
    for (const { status, body } of await askAbout({ [name]: id })) {
      expect([400, 404]).toContain(status);
      expect(body).toMatchObject({ success: false });
    }
  });
});

describe('one of the account’s payments without anything to confirm', () => {
  it.each([
    ['card', 'PENDING'],
    ['transfer', 'PENDING'],
    ['funding', 'PENDING'],
    ['closed', 'FAILED'],
    ['delivered', 'SUCCESS'],
    ['wallet', 'SUCCESS'],
  ] as const)('%s: answers 200, still %s', async (which, wanted) => {
    for (const { status, body, text } of await askAbout({ transactionId: ids[which] }))
      expect([status, body.status], text).toEqual([200, wanted]);
  });

  it('a WALLET purchase has no reference at the gateway', async () => {
    for (const { status } of await askAbout({ gatewayReference: ids.wallet })) expect(status).toBe(404);
  });

  it('gets the stored state while the gateway does not answer', async () => {
    await gatewayFaults(stack, { error: 1 });
    for (const which of ['card', 'delivered', 'closed'] as const) {
      const { status } = await confirm({ transactionId: ids[which] });
      expect(status).toBe(200);
    }
    await gatewayFaults(stack, { error: 0 });
  });
});

it.each([
  ['nothing', {}],
  ['two names', { transactionId: UNKNOWN, gatewayReference: UNKNOWN }],
  ['a number', { transactionId: 1 }],
  ['a list', { transactionId: [UNKNOWN] }],
  ['an object', { gatewayReference: { $ne: '' } }],
  ['null', { trackingReference: null }],
  ['a NUL', { gatewayReference: 'txn-\0' }],
  ['a lone surrogate', { gatewayReference: 'txn-\ud800' }],
  ['a text', '"txn"'],
  ['no JSON', '{'],
])('%s gets 400', async (_what, body) => {
  const before = await countRows(stack.owner);
  const { status, body: answer } = await confirm(body);
  expect([400, 404]).toContain(status);
  expect(answer).toMatchObject({ success: false });
  expect(await countRows(stack.owner)).toEqual(before);
});
