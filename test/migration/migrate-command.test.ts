// `migrate` as operators run it, on a real Postgres and a real Temporal: one command prepares both for the
// service, and a second run changes nothing. Every test has its own prefix of namespaces.
import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { SEARCH_ATTRIBUTES, TRANSACTION_ID } from '../../workflows/search-attributes.ts';
import { runCommand, type CommandResult } from '../support/world/commands.ts';
import { createTestDatabase, type TestDatabase } from '../support/world/database.ts';
import { until } from '../support/time/until.ts';

const TYPES = proto.temporal.api.enums.v1.IndexedValueType;
const OURS = Object.fromEntries(
  SEARCH_ATTRIBUTES.map(({ name, type }) => [name, TYPES[`INDEXED_VALUE_TYPE_${type}`]]),
);
const DAY_SECONDS = 86_400;

let database: TestDatabase;
let connection: Connection;
beforeAll(async () => {
  database = await createTestDatabase();
  connection = await Connection.connect({ address: inject('temporalAddress') });
});
afterAll(async () => {
  await connection.close();
  await database.drop();
});

const newPrefix = (): string => `m-${randomBytes(5).toString('hex')}`;

function migrate(prefix: string, env: Record<string, string> = {}): Promise<CommandResult> {
  return runCommand(['migrate'], {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    SIMWAY_NAMESPACE_PREFIX: prefix,
    ...env,
  });
}

async function describeNamespace(namespace: string) {
  const { config, namespaceInfo } = await connection.workflowService.describeNamespace({ namespace });
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return {
    name: namespaceInfo?.name,
    retentionSeconds: Number(config?.workflowExecutionRetentionTtl?.seconds),
    customAttributes,
  };
}

/** A namespace made by another program before us: resolves once the server knows its settings. */
async function makeNamespace(namespace: string, attributes: Record<string, number>): Promise<void> {
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: (3 * DAY_SECONDS) as never },
  });
  await until(
    async () => {
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: attributes });
      return (await connection.operatorService.listSearchAttributes({ namespace })).customAttributes;
    },
    (known) => Object.keys(attributes).every((name) => name in known),
  );
}

const isThere = (namespace: string): Promise<boolean> =>
  connection.workflowService.describeNamespace({ namespace }).then(
    () => true,
    () => false,
  );

describe('migrate', () => {
  it('creates the namespace of the test environment with typed search attributes, and changes nothing when run again', async () => {
    const prefix = newPrefix();
    const first = await migrate(prefix);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain(`namespace ${prefix}-test: made`);
    const made = await describeNamespace(`${prefix}-test`);
    expect(made.name).toBe(`${prefix}-test`);
    expect(made.customAttributes).toMatchObject(OURS);
    // An Idempotency-Key is kept as long, so the workflow it leads to can still be read by then.
    expect(made.retentionSeconds).toBe(30 * DAY_SECONDS);
    expect(await isThere(`${prefix}-live`)).toBe(false);

    const second = await migrate(prefix);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toContain(`namespace ${prefix}-test: up to date`);
    expect(await describeNamespace(`${prefix}-test`)).toEqual(made);
  });

  it('leaves a namespace in which purchases can be started and found', async () => {
    const prefix = newPrefix();
    await migrate(prefix);
    const client = new Client({ connection, namespace: `${prefix}-test` });
    await client.workflow.start('purchase', {
      workflowId: prefix,
      taskQueue: 'no-worker',
      typedSearchAttributes: [{ key: TRANSACTION_ID, value: prefix }],
    });
    const found = await until(
      async () => {
        const ids: string[] = [];
        const query = `TransactionId = '${prefix}'`;
        for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
        return ids;
      },
      (ids) => ids.length > 0,
    );
    expect(found).toEqual([prefix]);
  });

  it('creates the live namespace, too, once the live environment is switched on', async () => {
    const prefix = newPrefix();
    const { code } = await migrate(prefix, { SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: 'live-access' });
    expect(code).toBe(0);
    for (const world of ['test', 'live'])
      expect((await describeNamespace(`${prefix}-${world}`)).customAttributes).toMatchObject(OURS);
  });

  it('adds missing attributes to an existing namespace and leaves its other attributes and its retention alone', async () => {
    const prefix = newPrefix();
    const others = { Theirs: TYPES.INDEXED_VALUE_TYPE_INT, Iccid: TYPES.INDEXED_VALUE_TYPE_KEYWORD };
    await makeNamespace(`${prefix}-test`, others);
    const { code, stdout } = await migrate(prefix);
    expect(code).toBe(0);
    const added = SEARCH_ATTRIBUTES.map(({ name }) => name).filter((name) => name !== 'Iccid');
    expect(stdout).toContain(`namespace ${prefix}-test: now knows ${added.join(', ')}\n`);
    const now = await describeNamespace(`${prefix}-test`);
    expect(now.customAttributes).toMatchObject({ ...OURS, ...others });
    expect(now.retentionSeconds).toBe(3 * DAY_SECONDS);
  });

  it('refuses an attribute of another type by name, and adds none of the others', async () => {
    const prefix = newPrefix();
    await makeNamespace(`${prefix}-test`, { NeedsAttention: TYPES.INDEXED_VALUE_TYPE_KEYWORD });
    const { code, stderr } = await migrate(prefix);
    expect(code).toBe(1);
    expect(stderr).toContain(`${prefix}-test`);
    expect(stderr).toContain('NeedsAttention is a KEYWORD and has to be a BOOL');
    const { customAttributes } = await describeNamespace(`${prefix}-test`);
    expect(Object.keys(customAttributes).filter((name) => name in OURS)).toEqual(['NeedsAttention']);
  });

  it('leaves Temporal alone where no address is given', async () => {
    const prefix = newPrefix();
    const { code, stdout } = await migrate(prefix, { TEMPORAL_ADDRESS: '' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'the database was up to date\n' });
    expect(await isThere(`${prefix}-test`)).toBe(false);
  });

  it.each([
    ['that is invalid', { TEMPORAL_ADDRESS: 'localhost' }, 'TEMPORAL_ADDRESS'],
    ['where no server listens', { TEMPORAL_ADDRESS: '127.0.0.1:1' }, 'no Temporal at 127.0.0.1:1'],
  ])('explains what is wrong with an address %s', async (_what, env, words) => {
    const { code, stderr } = await migrate(newPrefix(), env);
    expect(code).toBe(1);
    expect(stderr).toContain(words);
  });
});
