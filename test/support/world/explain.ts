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

/** Runs it under the environment's role, and returns its statements. */
export async function statementsOf(
  url: string,
  run: (db: WorldDb) => Promise<unknown>,
): Promise<CompiledQuery[]> {
  const statements: CompiledQuery[] = [];
  const common = { schema: 'test', role: 'simway_test', applicationName: 'simway-tests' };
  const pool = openPool({ ...common, url, maxConnections: 2, statementTimeoutMs: 120_000 });
  const spied = new Kysely<WorldDatabase>({
    dialect: new PostgresDialect({ pool }),
    log: (event) => void statements.push(event.query),
  });
  try {
    await run(spied);
  } finally {
    await spied.destroy();
  }
  return statements;
}

/** Runs it, then each of its statements again with EXPLAIN. */
export async function explain(books: Books, run: (db: WorldDb) => Promise<unknown>) {
  const statements = (await statementsOf(books.url, run)).filter(hasPlan);
  const scans: ScanNode[] = [];
  for (const { sql, parameters } of statements) {
    const { rows } = await books.world.executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      CompiledQuery.raw(`explain (analyze, format json) ${sql}`, [...parameters]),
    );
    scans.push(
      ...nodesOf(rows[0]!['QUERY PLAN'][0].Plan).filter((node) => node['Node Type'].includes('Scan')),
    );
  }
  return { statements: statements.length, scans };
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
