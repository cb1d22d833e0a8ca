// The API's connection to Temporal: closed by the server while it is idle, and closed by us while a call
// waits for its next attempt.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, inject, it, onTestFinished } from 'vitest';
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { until } from '../support/time/until.ts';

it('closing the connection ends calls that are being retried, and their retries', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): number => unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  let attempts = 0;
  const refusing = createServer((socket) => {
    attempts += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void refusing.close());
  await once(refusing, 'listening');
  const address = `127.0.0.1:${(refusing.address() as AddressInfo).port}`;
  const temporal = connectClient({ address, namespace: 'none' });
  const handle = temporal.client.workflow.getHandle('unknown');
  const called = Array.from({ length: 10 }, () => expect(handle.describe()).rejects.toThrow());
  await until(
    () => attempts,
    (count) => count > 0,
  );
  await setTimeout(300);
  // A busy process: when it is stopped, the pauses before all retries are over, and none has begun.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
  await temporal.close();
  await Promise.all(called);
  // Longer than the pause between two attempts.
  await setTimeout(1_000);
  expect(unhandled).toEqual([]);
});

it('a connection that the server closed is open again before the next call', async () => {
  const [host = '', port = ''] = inject('temporalAddress').split(':');
  const taken: Socket[] = [];
  const proxy = createServer((socket) => {
    taken.push(socket);
    const onward = connect(Number(port), host);
    socket.pipe(onward).pipe(socket);
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy());
    onward.on('error', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const temporal = connectClient({ address, namespace: 'none' });
  onTestFinished(async () => {
    await temporal.close();
    for (const socket of taken) socket.destroy();
    proxy.close();
  });
  expect(await temporal.isConnected(10_000)).toBe(true);
  taken[0]?.destroy();
  await until(
    () => taken.length,
    (count) => count === 2,
  );
  expect(await temporal.isConnected(10_000)).toBe(true);
  expect(taken.length).toBe(2);
});
