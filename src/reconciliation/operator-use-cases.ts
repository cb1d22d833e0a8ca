/** What operators do about differences between our books and the vendors'. */
import type { Bound, Guarded } from '../platform/bind.ts';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../domain/reasons.ts';
import type { StuckDeps } from '../operations/stuck.ts';
import {
  readByMerchant,
  readDaily,
  readLedger,
  readTrialBalance,
  readWaiting,
  readWalletBalances,
} from './books.ts';
import { createOverview } from './overview.ts';
import type { Session } from '../domain/callers.ts';
import { DomainError } from '../domain/errors.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import { pageOf, type Page, type PageQuery } from '../domain/page.ts';
import { inTime } from '../platform/circuit-breaker.ts';
import type { ReconcileEngine } from './engine.ts';
import type { DifferenceKind, ReconcileSummary } from './payment-rules.ts';
import {
  closeDifference as markClosed,
  findDifference,
  listOpenDifferences,
  type DifferenceFilter,
  type ListedDifference,
} from './store/reconciliation.ts';

interface OperatorDeps extends Pick<StuckDeps, 'db' | 'clock'> {
  readonly reconcile: ReconcileEngine['reconcile'];
  /** How long a caller waits for a run. */
  readonly reconcileWithinMs?: number;
}

type DifferenceQuery = PageQuery &
  Pick<DifferenceFilter, 'currency' | 'transactionId'> & {
    /** One difference, also a closed one. */
    readonly id?: bigint | undefined;
    readonly kind?: DifferenceKind | undefined;
  };

/** Longer than most runs take, and less than an API that stops gives its requests (20 s). */
const RECONCILE_WITHIN_MS = 18_000;

/** More than people close by hand. */
const MAX_DIFFERENCES = 10_000;

/** Bound to their dependencies in app/composition. */
export const reconciliationUseCases = {
  listDifferences,
  closeDifference,
  reconcile,
  readLedger,
  readTrialBalance,
  readWalletBalances,
  readDaily,
  readByMerchant,
  readWaiting,
};

/** One for each environment. */
export const overviewUseCases = (deps: { readonly stuck: StuckDeps }) => {
  const overview = createOverview(deps);
  return { readOverview: ({ person }: Session) => overview(person.role) };
};

export type ReconciliationCases = Bound<typeof reconciliationUseCases> &
  Guarded<ReturnType<typeof overviewUseCases>>;

/** Open ones, oldest first; or the one with this id. */
async function listDifferences(
  { db }: Pick<OperatorDeps, 'db'>,
  { page, limit, id, kind, currency, transactionId }: DifferenceQuery,
): Promise<Page<ListedDifference>> {
  if (id !== undefined) {
    const found = await findDifference(db, id);
    return pageOf(found ? [found] : [], { page, limit });
  }
  const kinds = kind === undefined ? undefined : [kind];
  const open = await listOpenDifferences(db, { kinds, currency, transactionId, limit: MAX_DIFFERENCES });
  return pageOf(open, { page, limit });
}

/** It stays closed while the facts are the same. NOT_FOUND; VALIDATION_ERROR where it is closed already. */
async function closeDifference(
  { db, clock }: Pick<OperatorDeps, 'db' | 'clock'>,
  { person }: Pick<Session, 'person'>,
  id: bigint,
  why: string,
): Promise<void> {
  const refused = (details: string) => new DomainError('VALIDATION_ERROR', 'Invalid request', { details });
  const reason = why.trim();
  if (reason.length < MIN_REASON_CHARACTERS || reason.length > MAX_REASON_CHARACTERS)
    throw refused('reason: must have 3 to 500 characters');
  const closed = await markClosed(db, { id, by: person.email, reason, now: clock.now() });
  if (closed === 'NOT_FOUND') throw new DomainError('NOT_FOUND', 'No such difference');
  if (closed === 'ALREADY_CLOSED') throw refused('the difference is closed already');
}

/** Waits a while for the end. null: nothing to compare. SERVICE_UNAVAILABLE: it ended unfinished. */
async function reconcile(
  { reconcile: compare, reconcileWithinMs = RECONCILE_WITHIN_MS }: Omit<OperatorDeps, 'db' | 'clock'>,
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
