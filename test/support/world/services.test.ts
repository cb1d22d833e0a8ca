// The services that other tests rely on: separate databases, made from one migrated template, and services
// that answer.
import { Connection } from '@temporalio/client';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createTestDatabase, openSchema, type TestDatabase } from './database.ts';
import { TEST_NAMESPACES } from './services.ts';

async function migrated(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  return database;
}

async function rows(url: string, schema: string, query: ReturnType<typeof sql>): Promise<unknown[]> {
  const db = openSchema(url, schema);
  try {
    return (await query.execute(db)).rows;
  } finally {
    await db.destroy();
  }
}

test('databases made at the same time are migrated and separate', async () => {
  const [first, second] = await Promise.all([migrated(), migrated()]);
  expect(first.name).not.toBe(second.name);
  await rows(first.url, 'test', sql`create table only_here (n int)`);
  const found = sql`select to_regclass('only_here')::text as found`;
  expect(await rows(first.url, 'test', found)).toEqual([{ found: 'only_here' }]);
  expect(await rows(second.url, 'test', found)).toEqual([{ found: null }]);
  const schemas = sql`select schema_name from information_schema.schemata where schema_name in ('accounts', 'live', 'test')`;
  expect(await rows(second.url, 'test', schemas)).toHaveLength(3);
});

test('an empty database, or one with migrations of your own, on request', async () => {
  const empty = await createTestDatabase({ migrate: null });
  onTestFinished(() => empty.drop());
  const tables = sql`select table_name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema')`;
  expect(await rows(empty.url, 'public', tables)).toEqual([]);
  const own = await createTestDatabase({
    migrate: (url) => rows(url, 'public', sql`create table own (n int)`),
  });
  onTestFinished(() => own.drop());
  expect(await rows(own.url, 'public', tables)).toEqual([{ table_name: 'own' }]);
});

test('dropping a database closes open connections', async () => {
  const database = await createTestDatabase();
  const db = openSchema(database.url, 'test');
  await sql`select 1`.execute(db);
  await database.drop();
  await expect(sql`select 1`.execute(db)).rejects.toThrow();
  await db.destroy();
});

test('Temporal serves both namespaces, and Redis answers', async () => {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  for (const namespace of TEST_NAMESPACES) {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(Object.keys(customAttributes)).toContain('NeedsAttention');
  }
  const redis = new Redis(inject('redisUrl'));
  onTestFinished(() => {
    redis.disconnect();
  });
  expect(await redis.ping()).toBe('PONG');
});
