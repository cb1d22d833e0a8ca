// The sandbox's routes: what each requests from the simulator, and how callers are refused. The simulated
// lives: sandbox-life.e2e.test.ts.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PLAIN_SANDBOX_ACTIONS } from '../../src/esims/sandbox-port.ts';
import { startApi, type Ask, type TestApi, type Reply } from '../support/http/api.ts';
import { generalError } from '../support/http/error-bodies.ts';

let api: TestApi;
let esimId: string;
beforeEach(async () => {
  api = await startApi({ live: true });
  const body = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
  const bought = await api.ask('/api/esim/buy', { key: 'ngn', body });
  esimId = (bought.json as { esimDetails: { esimId: string } }).esimDetails.esimId;
});
afterEach(() => api.close());

const act = (action: string, { id = esimId, ...ask }: Ask & { readonly id?: string } = {}): Promise<Reply> =>
  api.ask(`/api/sandbox/esims/${id}/${action}`, { key: 'ngn', method: 'POST', ...ask });

const BODIES: Readonly<Record<string, object>> = { use: { bytes: 5 }, clock: { advanceSeconds: 60 } };
const ALL = ['install', 'use', 'clock', ...PLAIN_SANDBOX_ACTIONS];

describe('requests to the simulator', () => {
  test.each([
    ['install', undefined, { name: 'install', stage: 'CONNECTED' }, undefined],
    ['install', { stage: 'CONNECTED' }, { name: 'install', stage: 'CONNECTED' }, 'all the way'],
    ['install', { stage: 'DOWNLOAD' }, { name: 'install', stage: 'DOWNLOAD' }, 'broken off'],
    ['use', { bytes: 234_881_024 }, { name: 'use', bytes: 234_881_024 }, 'some data'],
    ['use', { bytes: 1_099_511_627_776 }, { name: 'use', bytes: 1_099_511_627_776 }, undefined],
    ['clock', { advanceSeconds: 86_400 }, { name: 'clock', advanceMs: 86_400_000 }, 'one day'],
    ['clock', { advanceSeconds: 34_560_000 }, { name: 'clock', advanceMs: 34_560_000_000 }, undefined],
    ...PLAIN_SANDBOX_ACTIONS.map((name) => [name, undefined, { name }, `after ${name}`] as const),
  ] as const)('%s with %j', async (action, body, asked, example) => {
    const before = (await api.ask(`/api/esim/${esimId}`, { key: 'ngn' })).json as { esimTranNo: string };
    const reply = await act(action, { body, example });
    expect(reply.status).toBe(200);
    expect(Object.keys(reply.json as object).toSorted()).toEqual(Object.keys(before).toSorted());
    expect(api.shop.vendors.acted).toEqual([
      { esimTranNo: api.idOf(before.esimTranNo), action: asked, requestId: undefined },
    ]);
  });

  test('a repeat with the same Idempotency-Key has the same id; another body or account has another', async () => {
    const headers = { 'Idempotency-Key': 'step-1' };
    for (const bytes of [5, 5, 6]) await act('use', { headers, body: { bytes } });
    await act('use', { body: { bytes: 5 } });
    const ids = api.shop.vendors.acted.map(({ requestId }) => requestId);
    expect(ids[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
    expect(ids[3]).toBeUndefined();
    for (const { answer_status } of await api.shop.storedAnswers()) expect(answer_status).not.toBe(200);
  });
});

describe('refusals', () => {
  test.each(ALL)('a live key gets FORBIDDEN before anything is read: %s', async (action) => {
    for (const body of [BODIES[action], { bytes: 'x' }]) {
      const reply = await act(action, { key: 'live/ngn', body });
      const words = 'This works with test keys only: nothing simulates a live eSIM';
      expect([reply.status, reply.json]).toEqual([403, generalError(403, 'FORBIDDEN', words)]);
    }
    expect(api.shop.vendors.acted).toEqual([]);
    expect(api.shop.calls).not.toContain('controlSandboxEsim');
  });

  test('the live environment has no simulator to send a request to', async () => {
    const { live } = api.shop.useCases.worlds;
    const principal = await api.shop.useCases.accounts.authenticate(
      `simway_live_${'ngn'.padEnd(38, '0')}`,
      () => Promise.resolve(),
    );
    const command = {
      esimId: api.idOf(esimId),
      action: { name: 'expire' },
      idempotency: undefined,
    } as const;
    await expect(live!.esims.controlSandboxEsim(principal, command)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(api.shop.vendors.acted).toEqual([]);
  });

  test.each(ALL)(
    'another account’s eSIM, an unknown one, an impossible id and a read-only key are refused: %s',
    async (action) => {
      const body = BODIES[action];
      const codes = [];
      for (const ask of [
        { key: 'usd' },
        { id: `esim-${'f'.repeat(32)}` },
        { id: 'x' },
        { key: 'readonly' },
      ]) {
        const reply = await act(action, { body, ...ask });
        codes.push([reply.status, (reply.json as { error: { code: string } }).error.code]);
      }
      expect(codes).toEqual([
        [403, 'NOT_YOUR_ESIM'],
        [404, 'ESIM_NOT_FOUND'],
        [404, 'ESIM_NOT_FOUND'],
        [403, 'FORBIDDEN'],
      ]);
      expect(api.shop.vendors.acted).toEqual([]);
    },
  );

  const USE = 'bytes: must be a whole number from 1 to 1099511627776';
  const CLOCK = 'advanceSeconds: must be a whole number from 1 to 34560000';
  test.each([
    ['use', {}, 'bytes: is required'],
    ...[-1, 0, 1.5, '5', null, 1_099_511_627_777, 1e300].map((bytes) => ['use', { bytes }, USE] as const),
    ['clock', {}, 'advanceSeconds: is required'],
    ...[-86_400, 0, 0.5, '60', 34_560_001].map(
      (advanceSeconds) => ['clock', { advanceSeconds }, CLOCK] as const,
    ),
    ['install', { stage: 'RELEASED' }, 'stage: must be one of DOWNLOAD, INSTALLATION, ENABLED, CONNECTED'],
  ] as const)('%s with %j', async (action, body, why) => {
    const reply = await act(action, { body });
    expect([reply.status, reply.json]).toEqual([400, generalError(400, 'VALIDATION_ERROR', why)]);
    expect(api.shop.vendors.acted).toEqual([]);
  });

  test('a byte count written as 1e3, and a body that is not JSON, are refused', async () => {
    expect(
      (await act('use', { rawBody: '{"bytes":1e3}', headers: { 'content-type': 'application/json' } }))
        .status,
    ).toBe(400);
    expect((await act('use', { rawBody: '{', headers: { 'content-type': 'application/json' } })).status).toBe(
      400,
    );
    expect(api.shop.vendors.acted).toEqual([]);
  });

  test('an action that the state does not allow is refused with the reason; an unreachable simulator is no refusal', async () => {
    api.shop.vendors.sandbox = 'refuses';
    const refused = await act('use-up');
    const words = 'Not possible now: no data is left. Nothing was changed';
    expect([refused.status, refused.json]).toEqual([409, generalError(409, 'SANDBOX_ACTION_REFUSED', words)]);
    api.shop.vendors.sandbox = 'is away';
    const away = await act('use-up');
    expect([away.status, (away.json as { error: { code: string } }).error.code]).toEqual([
      503,
      'SERVICE_UNAVAILABLE',
    ]);
  });

  test('an eSIM that is not delivered is refused', async () => {
    api.shop.vendors.supplier = 'is allocating';
    const body = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
    await api.ask('/api/esim/buy', { key: 'ngn', body });
    const list = await api.ask('/api/esim/my-esims?status=PENDING', { key: 'ngn' });
    const [pending] = (list.json as { esims: { _id: string }[] }).esims;
    const reply = await act('install', { id: pending!._id });
    expect([reply.status, (reply.json as { error: { code: string } }).error.code]).toEqual([
      409,
      'SANDBOX_ACTION_REFUSED',
    ]);
    expect(api.shop.vendors.acted).toEqual([]);
  });
});
