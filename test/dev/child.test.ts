// Child processes: awaited until ready, ended with a deadline, never left running.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startChild, type ChildOptions } from '../../src/dev/child.ts';
import { end, hold, rememberingLog, runs, testFolder, until } from './support.ts';

const folder = await testFolder();
const log = rememberingLog();

function shell(script: string, options: Partial<ChildOptions> = {}) {
  return startChild({ name: 'shell', command: '/bin/sh', args: ['-c', script], log, ...options });
}

test('startChild waits for the ready line and returns it, also when it came before the wait', async () => {
  const child = await shell('echo starting; echo ready on 123; exec sleep 600');
  await until(() => child.tail().includes('ready'));
  expect(await child.untilReady({ line: /ready on \d+/, deadlineMs: 5_000 })).toBe('ready on 123');
  const late = await shell('sleep 0.2; echo ready; exec sleep 600');
  expect(await late.untilReady({ line: /^ready$/, deadlineMs: 5_000 })).toBe('ready');
  await Promise.all([child.stop(), late.stop()]);
});

test('startChild waits for the probe, whose errors mean "not yet"', async () => {
  const child = await shell('exec sleep 600');
  let asked = 0;
  const probe = () => {
    asked += 1;
    return asked === 2 ? Promise.reject(new Error('refused')) : Promise.resolve(asked > 3);
  };
  await child.untilReady({ probe, deadlineMs: 5_000 });
  expect(asked).toBe(4);
  await child.stop();
});

test('startChild reports, with its last lines, a child that ended before it was ready', async () => {
  const child = await shell('echo no such table >&2; exit 3');
  await expect(child.untilReady({ line: /never/, deadlineMs: 5_000 })).rejects.toThrow(
    /ended before.*\n.*no such table/,
  );
  expect(await child.exited).toEqual({ code: 3, signal: null });
});

test('startChild gives up at the deadline', async () => {
  const child = await shell('exec sleep 600');
  await expect(child.untilReady({ line: /never/, deadlineMs: 200 })).rejects.toThrow('not ready after 0.2 s');
  await child.stop();
});

test('startChild shows progress while it waits', async () => {
  const child = await shell('sleep 3.5; echo ready; exec sleep 600');
  await child.untilReady({ line: /ready/, deadlineMs: 10_000 });
  expect(log.lines).toContain('waiting for shell (3 s)');
  await child.stop();
});

test('startChild reports a program that cannot be started', async () => {
  await expect(startChild({ name: 'nothing', command: '/does/not/exist', args: [], log })).rejects.toThrow(
    /nothing could not be started: .*ENOENT/,
  );
});

test('startChild kills a child that ignores the stop signal, and the child’s own children', async () => {
  const child = await shell('trap "" TERM; sleep 600 & echo grandchild $!; wait; wait', {
    stopDeadlineMs: 300,
  });
  const line = await child.untilReady({ line: /grandchild/, deadlineMs: 5_000 });
  const grandchild = Number(line.split(' ')[1]);
  expect(await runs(grandchild)).toBe(true);
  await child.stop();
  expect(child.isRunning()).toBe(false);
  expect((await child.exited).signal).toBe('SIGKILL');
  await until(async () => !(await runs(grandchild)));
  await child.stop();
});

test('startChild keeps the output in a file that only its owner can read', async () => {
  const logFile = join(folder, 'shell.log');
  const child = await shell('echo one; echo two >&2', { logFile });
  await child.exited;
  await until(async () => (await readFile(logFile, 'utf8')).split('\n').length === 3);
  expect((await readFile(logFile, 'utf8')).split('\n').sort()).toEqual(['', 'one', 'two']);
  expect((await stat(logFile)).mode & 0o777).toBe(0o600);
});

test('a child ends when the process that started it is killed', async () => {
  const holder = await hold('child', folder);
  const { pid } = holder.started;
  expect(await runs(pid)).toBe(true);
  await end(holder, 'SIGKILL');
  await until(async () => !(await runs(pid)));
});
