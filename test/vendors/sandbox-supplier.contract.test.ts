// The client of the sandbox's actions on an eSIM, on the real simulator and on servers that answer something
// else.
import { afterEach, describe, expect, it } from 'vitest';
import { createSandboxSupplier } from '../../src/vendors/sandbox-supplier/controls.ts';
import { onCleanup } from '../simulators/simulator.support.ts';
import { startSimulator, stopAll } from '../simulators/supplier-simulator.support.ts';
import { json, startAnsweringServer } from '../support/vendors/answering-server.ts';

afterEach(stopAll);

function controlsAt(controlUrl: string) {
  const controls = createSandboxSupplier({ controlUrl });
  onCleanup(() => {
    controls.close();
    return Promise.resolve();
  });
  return controls;
}

describe('the client of the sandbox’s actions', () => {
  it('carries out every action, once under an id', async () => {
    const simulator = await startSimulator();
    const { esimTranNo, read } = await simulator.buy('SIM-MANUAL-LIFE');
    const controls = controlsAt(simulator.controlUrl);
    const DONE = { outcome: 'done', value: null };
    for (const action of [
      { name: 'install', stage: 'CONNECTED' },
      { name: 'use', bytes: 7 },
      { name: 'switch-off' },
      { name: 'switch-on' },
      { name: 'suspend' },
      { name: 'resume' },
      { name: 'clock', advanceMs: 1000 },
    ] as const)
      expect([action, await controls.act({ esimTranNo, action })]).toEqual([action, DONE]);
    for (const requestId of ['one', 'one', 'two'])
      expect(await controls.act({ esimTranNo, action: { name: 'use', bytes: 1 }, requestId })).toEqual(DONE);
    expect(await read()).toMatchObject({ orderUsage: 9, esimStatus: 'IN_USE' });
    for (const name of ['use-up', 'delete-profile', 'expire'] as const)
      expect(await controls.act({ esimTranNo, action: { name } })).toEqual(DONE);
    expect(await controls.act({ esimTranNo, action: { name: 'expire' } })).toEqual({
      outcome: 'refused',
      reason: 'NOT_ALLOWED_IN_STATE',
      detail: 'the eSIM is USED_EXPIRED',
    });
    expect(await controls.act({ esimTranNo: '26010100000000', action: { name: 'expire' } })).toMatchObject({
      outcome: 'refused',
      detail: 'no eSIM with this esimTranNo',
    });
  });

  it.each([
    [404, 'not found'],
    [404, '{}'],
    [409, '{"error":{"message":7}}'],
    [400, '{"error":{"message":"no"}}'],
    [302, ''],
    [500, '{"error":{"message":"no"}}'],
  ])('has an unknown outcome after %i %j', async (status, body) => {
    const server = await startAnsweringServer();
    onCleanup(server.close);
    server.answerWith(json(body, status));
    const controls = controlsAt(server.baseUrl);
    expect(await controls.act({ esimTranNo: '1', action: { name: 'expire' } })).toMatchObject({
      outcome: 'unknown',
    });
  });

  it('has an unknown outcome at a closed port', async () => {
    const controls = controlsAt('http://127.0.0.1:1');
    expect(await controls.act({ esimTranNo: '1', action: { name: 'expire' } })).toMatchObject({
      outcome: 'unknown',
    });
  });
});
