/**
 * What people who have signed in do about differences between our books and the vendors'. Each refusal is a
 * DomainError.
 */
import type { Bound, Guarded } from '../platform/bind.ts';
import { readLedger, type Books, type LedgerView } from './books.ts';
import { createOverview } from './overview.ts';
import type { Session } from '../domain/callers.ts';
import { DomainError } from '../domain/errors.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import { pageOf, type Page, type PageQuery } from '../domain/page.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { inTime } from '../platform/circuit-breaker.ts';
import type { ReconcileEngine } from './engine.ts';
import type { DifferenceKind, ReconcileSummary } from './payment-rules.ts';
import type { Differences, ListedDifference } from './reconcile.ts';
import type { DifferenceFilter } from './store/reconciliation.ts';

interface OperatorDeps {
  readonly reconcile: ReconcileEngine['reconcile'];
  readonly differences: Differences;
  /** How long a caller waits for a run. */
  readonly reconcileWithinMs?: number;
}

type DifferenceQuery = PageQuery &
  Pick<DifferenceFilter, 'currency' | 'transactionId'> & {
    /** One difference, also a closed one. */
    readonly id?: bigint | undefined;
    readonly kind?: DifferenceKind | undefined;
  };

/** As long as a buyer waits for a purchase. */
const RECONCILE_WITHIN_MS = 8_000;

/** More than people close by hand. */
const MAX_DIFFERENCES = 10_000;

/** Bound to their dependencies in app/composition. */
export const differenceUseCases = { listDifferences, closeDifference, reconcile, readLedger: findLedger };

/** NOT_FOUND where the id leads to no ledger account and no purchase. */
async function findLedger(
  { db }: { readonly db: WorldDb },
  { id, limit }: { readonly id: string; readonly limit: number },
): Promise<LedgerView> {
  const view = await readLedger(db, id, limit);
  if (!view) throw new DomainError('NOT_FOUND', `No ledger account and no purchase found with the id ${id}`);
  return view;
}

/** The reports that people read. */
export const reportUseCases = ({
  books,
  ...deps
}: Parameters<typeof createOverview>[0] & { readonly books: Books }) => {
  const overview = createOverview({ ...deps, books });
  return {
    readOverview: ({ person }: Session) => overview(person.role),
    readTrialBalance: books.trialBalance,
    readDaily: books.daily,
    readByMerchant: books.byMerchant,
    readWaiting: books.waiting,
  };
};

export type ReconciliationCases = Bound<typeof differenceUseCases> &
  Guarded<ReturnType<typeof reportUseCases>> &
  Pick<Books, 'toCsv'>;

/** Open ones, oldest first; or the one with this id. */
async function listDifferences(
  { differences }: OperatorDeps,
  { page, limit, id, kind, currency, transactionId }: DifferenceQuery,
): Promise<Page<ListedDifference>> {
  if (id !== undefined) {
    const found = await differences.find(id);
    return pageOf(found ? [found] : [], { page, limit });
  }
  const kinds = kind === undefined ? undefined : [kind];
  const open = await differences.listOpen({ kinds, currency, transactionId, limit: MAX_DIFFERENCES });
  return pageOf(open, { page, limit });
}

/** NOT_FOUND; VALIDATION_ERROR where it is closed already. */
async function closeDifference(
  { differences }: OperatorDeps,
  { person }: Session,
  id: bigint,
  reason: string,
): Promise<void> {
  const closed = await differences.close(id, person.email, reason);
  if (closed.outcome === 'done') return;
  if (closed.code === 'NOT_FOUND') throw new DomainError('NOT_FOUND', 'No such difference');
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: CLOSE_REFUSALS[closed.code] });
}

const CLOSE_REFUSALS = {
  ALREADY_CLOSED: 'the difference is closed already',
  PERSON_NEEDED: 'who closes it is needed',
  REASON_NEEDED: 'reason: must have 3 to 500 characters',
} as const;

/**
 * Waits a while for the run's end. null: nothing to compare yet. SERVICE_UNAVAILABLE where it ended
 * unfinished.
 */
async function reconcile(
  { reconcile: compare, reconcileWithinMs = RECONCILE_WITHIN_MS }: OperatorDeps,
  { person }: Session,
  range: { readonly from: Date; readonly to: Date } | undefined,
): Promise<ReconcileSummary | 'running' | null> {
  const run = compare({ askedBy: person.email, range });
  try {
    // The run continues without the caller: Temporal and the list of differences show how it ends.
    const compared = await inTime(run, reconcileWithinMs);
    return compared.late ? 'running' : compared.value;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message =
      error instanceof EngineUnavailable
        ? 'Reconciliation is not available right now'
        : `The run ended unfinished: ${why}`;
    const refusal = new DomainError('SERVICE_UNAVAILABLE', message);
    refusal.cause = error;
    throw refusal;
  }
}
