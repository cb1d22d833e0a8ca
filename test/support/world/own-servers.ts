// A test file's own servers, to be stopped, killed and frozen without affecting others.
// Guarantees that close() leaves no process and no file behind.
import { rm } from 'node:fs/promises';
import type { PostgresOptions, RunningPostgres } from '../../../src/dev/postgres.ts';
import type { RunningRedis } from '../../../src/dev/redis.ts';
import type { RunningTemporal } from '../../../src/dev/temporal.ts';
import { applyMigrations } from './database.ts';
import { startTestPostgres, startTestRedis, startTestTemporal } from './services.ts';
import { makeTestFolder } from './test-folder.ts';

export interface OwnServer<Server> {
  readonly server: Server;
  close(): Promise<void>;
}

/** A Postgres with our schema; `durability: 'on'` to measure the cost of a commit. */
export async function ownPostgres(
  options: Pick<PostgresOptions, 'durability'> = {},
): Promise<OwnServer<RunningPostgres>> {
  const folder = await makeTestFolder();
  const server = await startTestPostgres(folder, options);
  await applyMigrations(server.url);
  return { server, close: () => end(() => server.remove(), folder) };
}

/** A Temporal server whose data survives it. */
export async function ownTemporal(): Promise<OwnServer<RunningTemporal>> {
  const folder = await makeTestFolder();
  const server = await startTestTemporal(folder, { persistent: true });
  return { server, close: () => end(() => server.stop(), folder) };
}

export async function ownRedis(): Promise<OwnServer<RunningRedis>> {
  const folder = await makeTestFolder();
  const server = await startTestRedis(folder);
  return { server, close: () => end(() => server.stop(), folder) };
}

async function end(stop: () => Promise<void>, folder: string): Promise<void> {
  await stop();
  await rm(folder, { recursive: true, force: true });
}
