/**
 * The supplier simulator answers any JSON in its own format, on both ports, and never with a fault of its
 * own.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { anyBody } from './simulator.support.ts';
import { sharedSimulator } from './supplier-simulator.support.ts';

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
  ...['pageNum', 'pageSize', 'orderNo', 'iccid', 'esimTranNo', 'startTime', 'endTime', 'message', 'type'],
  ...['slug', 'locationCode', 'dataType', 'esimTranNoList', '__proto__', 'constructor', 'toString'],
];
const CONTROL_NAMES = [
  ...['outOfStock', 'busy', 'neverAllocate', 'rateLimit', 'usageLagMs', 'webhooks', 'next', 'reuseIccid'],
  ...['esimStatus', 'smdpStatus', 'orderUsage', 'withdrawn', 'price', 'balance', '__proto__'],
  ...['stage', 'bytes', 'advanceMs', 'requestId'],
];

const simulator = sharedSimulator();
let known: string[];
const body = (names: readonly string[]) => anyBody(names, ['SIM-OK', 'TOPUP_SIM-OK', ...known]);

beforeAll(async () => {
  const { orderNo, iccid, esimTranNo } = await simulator.buy('SIM-OK', 'fuzz-known');
  known = ['fuzz-known', orderNo, iccid, esimTranNo];
});

describe('the supplier simulator, arbitrary input', () => {
  it('is answered by the API with a code of the table, never 000001', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...OPERATIONS), body(NAMES), async (operation, input) => {
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
      fc.asyncProperty(fc.constantFrom(...paths), body(CONTROL_NAMES), async (path, input) => {
        const reply = await simulator.control('PUT', path, input);
        expect([200, 400, 404]).toContain(reply.status);
        if (reply.status !== 200) expect(reply.body).toHaveProperty('error.message');
      }),
      { numRuns: 120, seed: 20_260_102 },
    );
    await simulator.control('DELETE', '/faults');
    const actions = ['install', 'use', 'use-up', 'suspend', 'resume', 'switch-off', 'switch-on', 'clock'];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...actions), body(CONTROL_NAMES), async (action, input) => {
        const reply = await simulator.control('POST', `/esims/${known[3] ?? ''}/${action}`, input);
        expect([200, 400, 409]).toContain(reply.status);
        if (reply.status !== 200) expect(reply.body).toHaveProperty('error.message');
      }),
      { numRuns: 120, seed: 20_260_103 },
    );
    expect((await simulator.call('location/list', {})).success).toBe(true);
  });
});
