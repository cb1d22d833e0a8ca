// The lock between processes: one holder, named to the others, gone with its holder.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LockHeldError, takeLock, waitForLock } from '../../src/dev/lock.ts';
import { end, hold, testFolder } from './support.ts';

const folder = await testFolder();

test('one process holds the lock; the refusal to another names it', async () => {
  const file = join(folder, 'one.lock');
  const holder = await hold('lock', file);
  expect(() => takeLock(file, 'the thing')).toThrow(`the thing is in use by process ${holder.process.pid!}`);
  await end(holder, 'SIGKILL');
  takeLock(file, 'the thing').release();
});

test('the same process cannot take the lock twice, and can after releasing it', () => {
  const file = join(folder, 'two.lock');
  const lock = takeLock(file, 'it');
  expect(() => takeLock(file, 'it')).toThrow(LockHeldError);
  lock.release();
  const again = takeLock(file, 'it');
  lock.release();
  expect(() => takeLock(file, 'it')).toThrow(LockHeldError);
  again.release();
});

test('a process waits for the holder of the lock, says so, and gives up at the deadline', async () => {
  const file = join(folder, 'three.lock');
  const lock = takeLock(file, 'it');
  const said: string[] = [];
  const onWait = (message: string) => {
    said.push(message);
    lock.release();
  };
  const waited = await waitForLock(file, 'it', { deadlineMs: 5_000, onWait });
  expect(said[0]).toContain(`it is in use by process ${process.pid}; waiting`);
  await expect(waitForLock(file, 'it', { deadlineMs: 100, onWait: () => undefined })).rejects.toThrow(
    LockHeldError,
  );
  waited.release();
});

test('the error for a lock names the folder when it cannot be written', () => {
  expect(() => takeLock(join(folder, 'missing', 'lock'), 'it')).toThrow(
    `cannot write to ${join(folder, 'missing')}`,
  );
});
