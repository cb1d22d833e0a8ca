/** EXPLAIN ANALYZE for a function of the store: the scans of its statements, and how many rows they read. */
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { openPool } from '../../../src/platform/database/database.ts';
import type { WorldDatabase, WorldDb } from '../../../src/platform/database/tables.ts';
import type { Books } from './books.ts';

interface ScanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
}

interface PlanNode extends ScanNode {
  readonly Plans?: readonly PlanNode[];
}

interface Explained {
  readonly statements: number;
  readonly scans: readonly ScanNode[];
}

/** Runs it under the environment's role, then each of its statements again with EXPLAIN. */
export async function explain(
  books: Books,
  run: (db: WorldDb) => Promise<unknown>,
  { statementTimeoutMs }: { readonly statementTimeoutMs: number },
): Promise<Explained> {
  const statements: CompiledQuery[] = [];
  const pool = openPool({
    url: books.url,
    schema: 'test',
    role: 'simway_test',
    maxConnections: 2,
    statementTimeoutMs,
    applicationName: 'simway-tests',
  });
  const spied = new Kysely<WorldDatabase>({
    dialect: new PostgresDialect({ pool }),
    log: (event) => void statements.push(event.query),
  });
  await run(spied).finally(() => spied.destroy());
  const scans: ScanNode[] = [];
  for (const { sql, parameters } of statements.filter(hasPlan)) {
    const { rows } = await books.world.executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      CompiledQuery.raw(`explain (analyze, format json) ${sql}`, [...parameters]),
    );
    scans.push(
      ...nodesOf(rows[0]!['QUERY PLAN'][0].Plan).filter((node) => node['Node Type'].includes('Scan')),
    );
  }
  return { statements: statements.filter(hasPlan).length, scans };
}

/** The beginning and the end of a transaction have no plan. */
const hasPlan = ({ sql }: CompiledQuery): boolean => !/^(begin|commit)\b/.test(sql);

/** The rows that these scans read, kept or not. */
export function rowsReadBy(scans: readonly ScanNode[]): number {
  return scans.reduce(
    (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    0,
  );
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
