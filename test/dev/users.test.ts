// Postgres under root and under a plain user: each from a checkout of its own, each twice with the same data.
import { execFile } from 'node:child_process';
import { chmod, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { makeCheckout, type Checkout } from './checkout.ts';
import { end, hold, isRoot, testFolder, type HoldOptions } from './support.ts';

const folder = await testFolder();

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Starts and stops Postgres twice from that checkout; returns all output. */
async function startTwice(checkout: Checkout, user?: User): Promise<string> {
  const { node, holdScript: script, postgresDir } = checkout;
  const options: HoldOptions = { node, script, ...user };
  const first = await hold('postgres', postgresDir, options);
  await query(first.started.url, 'CREATE TABLE kept AS SELECT 7 AS n');
  await end(first, 'SIGTERM');
  const second = await hold('postgres', postgresDir, options);
  expect(await query(second.started.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  await end(second, 'SIGTERM');
  return first.said() + second.said();
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function userNamed(name: string): Promise<User> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await promisify(execFile)('id', [flag, name])).stdout)),
  );
  return { uid: uid!, gid: gid! };
}

/**
 * Starts Postgres twice in a checkout, once for all tests that go on with it: copying a checkout takes longer
 * than most tests.
 */
function startedTwice(name: string, owner: () => Promise<User | undefined>) {
  let started: Promise<{ checkout: Checkout; output: string }> | undefined;
  return () =>
    (started ??= (async () => {
      const user = await owner();
      const checkout = await makeCheckout(join(folder, name), user);
      return { checkout, output: await startTwice(checkout, user) };
    })());
}

const plainUser = async () => (isRoot ? await userNamed('nobody') : undefined);
const ofPlainUser = startedTwice('plain', plainUser);
const ofRoot = startedTwice('open', () => Promise.resolve(undefined));

test('a plain user starts Postgres in a checkout of its own, data in the checkout', async () => {
  const { checkout } = await ofPlainUser();
  const cluster = await stat(join(checkout.postgresDir, 'cluster'));
  expect(cluster.uid).toBe((await plainUser())?.uid ?? process.getuid?.());
});

// Only root can act as another user: these tests exist where they can run.
if (isRoot) {
  test('root starts Postgres in an open checkout, as another user, data in the checkout', async () => {
    const { checkout, output } = await ofRoot();
    const cluster = await stat(join(checkout.postgresDir, 'cluster'));
    expect(cluster.uid).not.toBe(0);
    expect(output).not.toContain('cannot enter');
  });

  test('root starts Postgres in a checkout closed to others, with data and programs elsewhere, and says where', async () => {
    const checkout = await makeCheckout(join(folder, 'closed', 'checkout'));
    await chmod(join(folder, 'closed'), 0o700);
    const said = await startTwice(checkout);
    const spillDir = /its data is kept in (\/var\/tmp\/simway-[0-9a-f]+)\/postgres/.exec(said)?.[1];
    expect(spillDir).toBeDefined();
    onTestFinished(() => rm(spillDir!, { recursive: true, force: true }));
    expect(said.match(/copying the Postgres programs to/g)).toHaveLength(1);
    const cluster = await stat(join(spillDir!, 'postgres', 'cluster'));
    expect(cluster.uid).not.toBe(0);
    expect(cluster.mode & 0o777).toBe(0o700);
  });

  test('data made by a plain user stays usable for that user after root used it', async () => {
    const { checkout } = await ofPlainUser();
    const { node, holdScript: script, postgresDir } = checkout;
    for (const as of [undefined, await plainUser()]) {
      const holder = await hold('postgres', postgresDir, { node, script, ...as });
      expect(await query(holder.started.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
      await end(holder, 'SIGTERM');
    }
  });

  test('a plain user gets an error when the data belongs to another user', async () => {
    const { checkout } = await ofRoot();
    const { node, holdScript: script, postgresDir } = checkout;
    await expect(hold('postgres', postgresDir, { node, script, ...(await plainUser()) })).rejects.toThrow(
      /if an earlier start was by another user, start as that user/,
    );
  });
}
