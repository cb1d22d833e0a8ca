// The API's connection to Temporal, closed while a call of it waits for its next try.
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { freePort } from '../../src/dev/ports.ts';

it('closing the connection ends a call that is being retried, and its retries', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): number => unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const temporal = connectClient({ address: `127.0.0.1:${await freePort()}`, namespace: 'none' });
  const called = expect(temporal.client.workflow.getHandle('nobody').describe()).rejects.toThrow();
  await setTimeout(50);
  await temporal.close();
  await called;
  // Longer than the pause between two tries.
  await setTimeout(1_000);
  expect(unhandled).toEqual([]);
});
