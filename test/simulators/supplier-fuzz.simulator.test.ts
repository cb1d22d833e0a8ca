/**
 * The supplier simulator answers any JSON in its own format, on both ports, and never with a fault of its
 * own.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator, stopAll, type TestSimulator } from './supplier-simulator.support.ts';

const OPERATIONS = [
  'package/list',
  'location/list',
  'balance/query',
  'webhook/query',
  'esim/order',
  'esim/query',
  'esim/cancel',
  'esim/suspend',
  'esim/unsuspend',
  'esim/revoke',
  'esim/topup',
  'esim/sendSms',
  'esim/usage/query',
];
const NAMES = [
  ...['transactionId', 'packageInfoList', 'amount', 'packageCode', 'count', 'price', 'periodNum', 'pager'],
  ...[
    'pageNum',
    'pageSize',
    'orderNo',
    'iccid',
    'esimTranNo',
    'startTime',
    'endTime',
    'message',
    'type',
    'slug',
  ],
  ...['locationCode', 'dataType', 'esimTranNoList', '__proto__', 'constructor', 'toString'],
];
const CONTROL_NAMES = [
  ...['outOfStock', 'busy', 'neverAllocate', 'rateLimit', 'usageLagMs', 'webhooks', 'next', 'reuseIccid'],
  ...['esimStatus', 'smdpStatus', 'orderUsage', 'withdrawn', 'price', 'balance', '__proto__'],
  ...['stage', 'bytes', 'advanceMs', 'requestId'],
];

const scalar = (known: string[]) =>
  fc.oneof(
    fc.constantFrom(...known),
    fc.constantFrom<unknown>(
      null,
      '',
      0,
      1,
      -1,
      1.5,
      1e308,
      true,
      [],
      {},
      'SIM-OK',
      'TOPUP_SIM-OK',
      'x'.repeat(300),
    ),
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.integer(),
  );
const body = (names: string[], known: string[]) =>
  fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, scalar(known), tie('object'), fc.array(tie('value'), { maxLength: 3 })),
    object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 8 }),
  })).object;

let simulator: TestSimulator;
let known: string[];

beforeAll(async () => {
  simulator = await startSimulator();
  const { obj } = await simulator.order('fuzz-known');
  const { orderNo } = obj as { orderNo: string };
  const { iccid, esimTranNo } = (await simulator.esim(orderNo)) as { iccid: string; esimTranNo: string };
  known = ['fuzz-known', orderNo, iccid, esimTranNo];
});
afterAll(stopAll);

describe('the supplier simulator, arbitrary input', () => {
  it('is answered by the API with a code of the table, never 000001', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...OPERATIONS), body(NAMES, known), async (operation, input) => {
        const reply = await simulator.call(operation, input);
        expect(reply.status).toBe(200);
        expect(reply.errorCode).toMatch(/^(0|\d{6})$/);
        expect(reply.errorCode).not.toBe('000001');
        expect(reply.success).toBe(reply.errorCode === '0');
      }),
      { numRuns: 150, seed: 20_260_101 },
    );
  });

  it('is answered by the control interface with 200, 400, 404 or 409', async () => {
    const paths = ['/faults', '/balance', '/packages/SIM-OK', `/esims/${known[2] ?? ''}`, '/esims/none'];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), body(CONTROL_NAMES, known), async (path, input) => {
        const reply = await simulator.control('PUT', path, input);
        expect([200, 400, 404]).toContain(reply.status);
        if (reply.status !== 200) expect(reply.body).toHaveProperty('error.message');
      }),
      { numRuns: 120, seed: 20_260_102 },
    );
    await simulator.control('DELETE', '/faults');
    const actions = ['install', 'use', 'use-up', 'suspend', 'resume', 'switch-off', 'switch-on', 'clock'];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...actions), body(CONTROL_NAMES, known), async (action, input) => {
        const reply = await simulator.control('POST', `/esims/${known[3] ?? ''}/${action}`, input);
        expect([200, 400, 409]).toContain(reply.status);
        if (reply.status !== 200) expect(reply.body).toHaveProperty('error.message');
      }),
      { numRuns: 120, seed: 20_260_103 },
    );
    expect((await simulator.call('location/list', {})).success).toBe(true);
  });
});
