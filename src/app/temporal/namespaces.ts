/**
 * Prepares a Temporal server: our namespaces with our search attributes, by name and type. Repeating it
 * changes nothing. A namespace that exists keeps its retention and its other attributes; a type is never
 * changed, since what was indexed under the old one would no longer be found.
 */
import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../../workflows/search-attributes.ts';
import { connectionOptions, type TemporalServer } from '../../platform/temporal/connect.ts';
import { grpcCodeOf, insist } from '../../platform/temporal/errors.ts';
import { requireVersion } from '../../platform/temporal/version.ts';

/** As long as an Idempotency-Key is kept: the workflow of the purchase that it leads to can still be read. */
const RETENTION_DAYS = 30;
const DAY_SECONDS = 86_400;
const CONNECT_WITHIN_MS = 5_000;
const CALL_WITHIN_MS = 5_000;
/** Parts of a server learn of a new namespace, and of new attributes, up to a minute later. */
const KNOWN_WITHIN_MS = 90_000;
const CHECK_EVERY_MS = 100;

/** What no waiting mends; by the numbers of gRPC. */
const FINAL_CODES: ReadonlySet<number> = new Set([
  3 /* invalid argument */, 7 /* permission denied */, 12 /* unimplemented */, 16 /* unauthenticated */,
]);
const ALREADY_EXISTS = 6;

/**
 * The server's names of types; the place in this list is the number on its wire
 * (temporal.api.enums.v1.IndexedValueType).
 */
const TYPES = ['UNSPECIFIED', 'TEXT', 'KEYWORD', 'INT', 'DOUBLE', 'BOOL', 'DATETIME', 'KEYWORD_LIST'];

/**
 * Returns once every namespace knows our attributes; throws when one has another type under such a name, the
 * server is too old, or it refuses.
 */
export async function prepareNamespaces({
  namespaces,
  retentionDays = RETENTION_DAYS,
  log,
  ...server
}: TemporalServer & {
  readonly namespaces: readonly string[];
  /** How long a namespace made here keeps the histories of closed workflows. */
  readonly retentionDays?: number;
  /** Gets one line for each namespace: what was done. */
  readonly log?: (line: string) => void;
}): Promise<void> {
  const connection = await connect(server);
  try {
    await requireVersion(connection, server.address);
    for (const namespace of namespaces) {
      const isNew = await register(connection, namespace, retentionDays);
      const added = await ensureAttributes(connection, namespace);
      const done = [
        ...(isNew ? ['made'] : []),
        ...(added.length > 0 ? [`now knows ${added.join(', ')}`] : []),
      ];
      log?.(`namespace ${namespace}: ${done.join(', ') || 'up to date'}`);
    }
  } finally {
    await connection.close();
  }
}

async function connect(server: TemporalServer): Promise<Connection> {
  try {
    return await Connection.connect({ ...connectionOptions(server), connectTimeout: CONNECT_WITHIN_MS });
  } catch (cause) {
    throw new Error(`no Temporal at ${server.address}: ${(cause as Error).message}`, { cause });
  }
}

/** Whether the namespace had to be made. */
async function register(connection: Connection, namespace: string, retentionDays: number): Promise<boolean> {
  try {
    await within(connection, () =>
      connection.workflowService.registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: { seconds: (retentionDays * DAY_SECONDS) as never },
      }),
    );
    return true;
  } catch (error) {
    if (grpcCodeOf(error) === ALREADY_EXISTS) return false;
    throw error;
  }
}

/** The names of the attributes that had to be added. */
async function ensureAttributes(connection: Connection, namespace: string): Promise<readonly string[]> {
  const added = new Set<string>();
  const notYet = new Error(`${namespace} did not take our search attributes`);
  const addMissing = async (): Promise<void> => {
    const missing = await findMissing(connection, namespace);
    if (missing.length === 0) return;
    const searchAttributes = Object.fromEntries(missing.map(({ name, type }) => [name, TYPES.indexOf(type)]));
    await within(connection, () =>
      connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
    );
    for (const { name } of missing) added.add(name);
    throw notYet;
  };
  await insist(addMissing, {
    mayPass: (error) => {
      const code = grpcCodeOf(error);
      return error === notYet || (code !== undefined && !FINAL_CODES.has(code));
    },
    withinMs: KNOWN_WITHIN_MS,
    everyMs: CHECK_EVERY_MS,
  });
  return [...added];
}

async function findMissing(connection: Connection, namespace: string) {
  const { customAttributes } = await within(connection, () =>
    connection.operatorService.listSearchAttributes({ namespace }),
  );
  const others = SEARCH_ATTRIBUTES.flatMap(({ name, type }) => {
    const known = customAttributes[name];
    if (known === undefined || TYPES[known] === type) return [];
    return [`${name} is a ${TYPES[known] ?? String(known)} and has to be a ${type}`];
  });
  if (others.length > 0) {
    throw new Error(`namespace ${namespace} has search attributes of another type: ${others.join('; ')}`);
  }
  return SEARCH_ATTRIBUTES.filter(({ name }) => !(name in customAttributes));
}

function within<T>(connection: Connection, call: () => Promise<T>): Promise<T> {
  return connection.withDeadline(Date.now() + CALL_WITHIN_MS, call);
}
