/**
 * Faults of the API: lost answers, errors, trouble on the network, and answers that change their shape.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { NETWORK_KINDS } from '../../src/sandbox/gateway/faults.ts';
import {
  exchange,
  fresh,
  SECRET_KEY,
  startGateway,
  stopAll,
  type TestGateway,
} from './gateway-simulator.support.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  await gateway.control('DELETE', '/faults');
});
afterAll(stopAll);

const headers = { authorization: `Bearer ${SECRET_KEY}` };
const chargeBody = (reference: string) => ({
  email: 'a@example.com',
  amount: 500_000,
  reference,
  bank_transfer: {},
});
const charge = (reference: string) => gateway.call('POST', '/charge', chargeBody(reference));
/** One charge as it comes over the network: status and text, or why nothing came within a second. */
async function raw(reference: string) {
  const body = JSON.stringify(chargeBody(reference));
  return exchange(`${gateway.url}/charge`, 'POST', headers, body, AbortSignal.timeout(1000)).then(
    ({ status, text, headers: { 'content-type': type } }) => ({ status, text, type }),
    (error: unknown) => {
      const { name, code } = error as { name: string; code?: string };
      return { status: 0, text: name === 'AbortError' ? 'no answer' : String(code), type: undefined };
    },
  );
}
const isHeld = async (reference: string) =>
  (await gateway.control('GET', `/charges/${reference}`)).status === 200;

describe('the network', () => {
  it.each([
    [{ kind: 'timeout-before' }, 0, /^no answer$/, false],
    [{ kind: 'timeout-after' }, 0, /^no answer$/, true],
    [{ kind: 'connect-refused', next: 9 }, 0, /^ECONNRESET$/, false],
    [{ kind: 'reset' }, 0, /^ECONNRESET$/, true],
    [{ kind: 'reset', done: false }, 0, /^ECONNRESET$/, false],
    [{ kind: '429' }, 429, /"status":false,"message":"Please wait/, false],
    [{ kind: '500' }, 500, /"type":"api_error"/, false],
    [{ kind: '500', done: true }, 500, /"type":"api_error"/, true],
    [{ kind: 'html-502' }, 502, /^<html>/, false],
    [{ kind: 'html-502', done: true }, 502, /^<html>/, true],
    [{ kind: 'bad-json' }, 200, /^\{"status":true.*[^}]$/, true],
    [{ kind: 'failed-200' }, 200, /"status":true.*"data":\{"status":"failed","reference":"/, false],
    [{ kind: 'duplicate-reference' }, 400, /"code":"duplicate_reference"/, false],
    [{ kind: 'duplicate-reference', done: true }, 400, /"code":"duplicate_reference"/, true],
    [{ kind: 'trickle', trickleMs: 300 }, 200, /^\{"status":true.*\}$/, true],
    [{ kind: 'trickle', trickleMs: 30_000 }, 0, /^no answer$/, true],
  ])('%j answers %i, done or not', async (network, status, pattern, isDone) => {
    const reference = fresh();
    await gateway.setFaults({ network });
    const answer = await raw(reference);
    expect(answer.status).toBe(status);
    expect(answer.text).toMatch(pattern);
    expect(await isHeld(reference)).toBe(isDone);
    await gateway.control('DELETE', '/faults');
    const again = await charge(reference);
    expect(again.code).toBe(isDone ? 'duplicate_reference' : undefined);
  });

  it('nothing can connect while all of it is refused, and again after', async () => {
    await gateway.setFaults({ network: { kind: 'connect-refused' } });
    const reference = fresh();
    expect(await raw(reference)).toMatchObject({ status: 0, text: 'ECONNREFUSED' });
    expect(await isHeld(reference)).toBe(false);
    await gateway.setFaults({ network: null });
    expect((await raw(reference)).status).toBe(200);
  });

  it('hits one operation, for so many calls', async () => {
    await gateway.setFaults({ network: { kind: '500', operation: 'transaction/verify', next: 2 } });
    const reference = fresh();
    expect((await charge(reference)).status).toBe(200);
    const verify = async () => (await gateway.call('GET', `/transaction/verify/${reference}`)).status;
    expect([await verify(), await verify(), await verify()]).toEqual([500, 500, 200]);
    expect((await gateway.control('GET', '/faults')).body).toMatchObject({ network: { next: 0 } });
  });

  it('failed-200 says no in the way of each operation', async () => {
    const reference = await gateway.transfer();
    await gateway.pay(reference);
    await gateway.setFaults({ network: { kind: 'failed-200' } });
    const verify = await gateway.call('GET', `/transaction/verify/${reference}`);
    expect(verify).toMatchObject({ status: 200, ok: true, data: { status: 'failed', reference } });
    const refund = await gateway.call('POST', '/refund', { transaction: reference });
    expect(refund).toMatchObject({ status: 200, ok: false });
  });

  it('a share hits that share of the calls, alike for the same seed', async () => {
    const draw = async () => {
      const own = await startGateway({ seed: 42 });
      await own.setFaults({ network: { kind: '500', share: 0.3 } });
      const statuses: number[] = [];
      for (let i = 0; i < 200; i += 1) statuses.push((await own.call('GET', '/transaction')).status);
      return statuses;
    };
    const [first, second] = [await draw(), await draw()];
    expect(first).toEqual(second);
    const hits = first.filter((status) => status === 500).length;
    expect(hits).toBeGreaterThan(40);
    expect(hits).toBeLessThan(80);
  });

  it.each([
    {},
    { kind: 'earthquake' },
    { kind: 500 },
    { kind: '500', operation: 'esim/order' },
    { kind: '500', next: 1, share: 0.5 },
    { kind: '500', next: -1 },
    { kind: '500', share: 2 },
    { kind: '500', more: 1 },
    { kind: 'timeout-after', done: false },
    { kind: 'connect-refused', done: true },
    'reset',
    [],
  ])('PUT /faults refuses the network %j and changes nothing', async (network) => {
    const before = (await gateway.control('GET', '/faults')).body;
    expect((await gateway.control('PUT', '/faults', { network, latencyMs: 5 })).status).toBe(400);
    expect((await gateway.control('GET', '/faults')).body).toEqual(before);
  });

  it('every kind is tried above', () => {
    expect(NETWORK_KINDS).toHaveLength(11);
  });
});

describe('answers', () => {
  it('are lost after the deed: one charge, and its instructions are told again', async () => {
    const reference = fresh();
    await gateway.setFaults({ loseAnswer: { next: 1 } });
    expect((await gateway.call('GET', '/transaction')).status).toBe(200);
    expect(await raw(reference)).toMatchObject({ status: 0, text: 'ECONNRESET' });
    expect((await charge(reference)).code).toBe('duplicate_reference');
    const { data } = await gateway.call('GET', `/charge/${reference}`);
    expect(data).toMatchObject({ status: 'pending_bank_transfer', reference });
    expect(await gateway.held(reference)).toMatchObject({ requests: 2 });
  });
});

describe('shapes', () => {
  it('drift: ids of 64 bits, other empties, both cases, fields nobody knows; money and status stay', async () => {
    const seen = { metadata: new Set<string>(), plan: new Set<string>(), split: new Set<string>() };
    for (let i = 0; i < 30; i += 1) {
      const reference = await gateway.transfer();
      await gateway.pay(reference);
      const plain = await gateway.verify(reference);
      await gateway.setFaults({ shapeDrift: true });
      const drifted = await gateway.verify(reference);
      const { text } = await gateway.call('GET', `/transaction/verify/${reference}`);
      const id = /"id":(\d+)/.exec(text)?.[1] ?? '';
      expect(BigInt(id)).toBe(BigInt(String(plain['id'])) + 2n ** 63n);
      for (const name of Object.keys(seen) as (keyof typeof seen)[]) {
        seen[name].add(JSON.stringify(drifted[name]));
      }
      for (const name of ['status', 'reference', 'amount', 'requested_amount', 'currency', 'fees']) {
        expect(drifted[name]).toEqual(plain[name]);
      }
      expect(drifted).toMatchObject({ requestedAmount: 500_000, settlement_hints: {} });
      expect(await gateway.verify(reference)).toEqual(drifted);
      expect((await gateway.call('GET', `/transaction/${id}`)).data['reference']).toBe(reference);
      const refund = await gateway.call('POST', '/refund', { transaction: id, amount: 1000 });
      const refundId = /"data":\{"id":(\d+)/.exec(refund.text)?.[1] ?? '';
      expect(BigInt(refundId)).toBeGreaterThan(2n ** 63n);
      expect((await gateway.call('GET', `/refund/${refundId}`)).status).toBe(200);
      await gateway.setFaults({ shapeDrift: false });
      expect((await gateway.call('GET', `/refund/${refundId}`)).status).toBe(200);
    }
    expect([...seen.metadata].toSorted()).toEqual(['""', '0', 'null', '{}']);
    expect([...seen.plan].toSorted()).toEqual(['""', '0', 'null', '{}']);
    expect([...seen.split].toSorted()).toEqual(['""', 'null', '{}']);
  });

  it('metadata that was sent does not drift', async () => {
    await gateway.setFaults({ shapeDrift: true });
    const reference = await gateway.transfer({ metadata: { order: 7 } });
    expect((await gateway.verify(reference))['metadata']).toEqual({ order: 7 });
  });

  it('an unknown status is said everywhere, and nothing has changed underneath', async () => {
    await gateway.setFaults({ unknownStatus: 'quarantined' });
    const reference = await gateway.transfer();
    expect((await gateway.call('GET', `/charge/${reference}`)).data).toMatchObject({ status: 'quarantined' });
    await gateway.pay(reference);
    expect((await gateway.verify(reference))['status']).toBe('quarantined');
    const { data } = await gateway.call('POST', '/refund', { transaction: reference });
    expect(data['status']).toBe('quarantined');
    expect((await gateway.held(reference)).status).toBe('success');
    await gateway.setFaults({ unknownStatus: null });
    expect((await gateway.verify(reference))['status']).toBe('success');
  });
});
