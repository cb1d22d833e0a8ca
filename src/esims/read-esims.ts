import { inList, type InstallReader, type Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import type { Page } from '../domain/page.ts';
import { MOVING_ESIM_STATUSES } from '../domain/states.ts';
import { inTime, orUndefined, type CircuitBreaker } from '../platform/circuit-breaker.ts';
import { visibleEsim, withoutInstallData, type EsimView } from './install-data.ts';
import type { InstallTokens } from './install-tokens.ts';
import type { EsimSupplier } from './port.ts';
import { refreshFromSupplier, type RefreshDeps } from './refresh.ts';
import { findEsim, findStaleEsims, type EsimRow } from './store/esims.ts';
import { listEsims as listStoredEsims, type EsimList, type EsimQuery } from './store/list-esims.ts';

/** What the use cases of eSIMs work with, in one environment. */
export interface EsimDeps extends RefreshDeps {
  readonly supplier: EsimSupplier;
  readonly installTokens: InstallTokens;
  readonly settings: {
    /** A read asks the supplier about an eSIM again when what we know is older. */
    readonly esimFreshMs: number;
  };
}

export type ReadDeps = EsimDeps & { readonly supplierReads: CircuitBreaker };

/**
 * A list refreshes at most this many eSIMs, so that it stays fast; the refresh-usage schedule does the rest.
 */
const MAX_REFRESHES_PER_LIST = 5;
/** The buyer of a top-up waits for this refresh, and must be answered after it. */
const REFRESH_BEFORE_TOP_UP_MS = 1_500;

export async function getEsim(deps: ReadDeps, principal: Principal, esimId: string): Promise<EsimView> {
  return visibleEsim(deps.installData, await readOwnEsim(deps, principal, esimId), principal);
}

/** An account's own eSIM, refreshed where what we know is old. Throws ESIM_NOT_FOUND and NOT_YOUR_ESIM. */
export async function readOwnEsim(deps: ReadDeps, principal: Principal, esimId: string): Promise<EsimRow> {
  const row = await requireOwnEsim(deps, principal, esimId);
  return isOld(deps, row) ? refreshInTime(deps, row) : row;
}

/** As stored. Throws ESIM_NOT_FOUND and NOT_YOUR_ESIM. */
export async function requireOwnEsim(
  { db }: Pick<ReadDeps, 'db'>,
  principal: Principal,
  esimId: string,
): Promise<EsimRow> {
  const row = await findEsim(db, esimId);
  if (!row)
    throw new DomainError('ESIM_NOT_FOUND', 'eSIM not found', { details: 'no eSIM order has this id' });
  if (row.account_id !== principal.account.id) {
    throw new DomainError('NOT_YOUR_ESIM', 'This eSIM belongs to another account', {
      details: 'the eSIM order is not yours',
    });
  }
  return row;
}

/** From the supplier; what we know where it does not answer in time. */
export async function refreshInTime(deps: ReadDeps, row: EsimRow): Promise<EsimRow> {
  return (await orUndefined(deps.supplierReads.run(() => refreshFromSupplier(deps, row)))) ?? row;
}

export type EsimPage = Page<EsimView> & Pick<EsimList, 'totalIsMinimum' | 'next'>;

/** Throws VALIDATION_ERROR for a cursor that is not of this account. */
export async function listEsims(
  deps: ReadDeps,
  principal: Principal,
  { expiresBefore, ...query }: Omit<EsimQuery, 'accountId' | 'expiring'> & { readonly expiresBefore?: Date },
): Promise<EsimPage> {
  const accountId = principal.account.id;
  const expiring = expiresBefore && { now: deps.clock.now(), by: expiresBefore };
  const which = { accountId, before: oldestFresh(deps), limit: MAX_REFRESHES_PER_LIST };
  const stale = await findStaleEsims(deps.db, which);
  const refresh = () => Promise.all(stale.map((row) => refreshFromSupplier(deps, row)));
  if (stale.length > 0) await orUndefined(deps.supplierReads.run(refresh));
  const listed = await listStoredEsims(deps.db, { accountId, ...query, ...(expiring && { expiring }) });
  if (!listed)
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
      details: 'after: must be the nextCursor of a page',
    });
  const { rows, ...rest } = listed;
  return {
    ...rest,
    items: rows.map((row) => listedEsim(deps, row, inList(principal))),
    page: query.page,
    limit: query.limit,
  };
}

/** One eSIM whose install data cannot be read must not hide the others: it is listed without. */
function listedEsim(
  { installData }: Pick<ReadDeps, 'installData'>,
  row: EsimRow,
  reader: InstallReader,
): EsimView {
  try {
    return visibleEsim(installData, row, reader);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return withoutInstallData(row);
  }
}

/**
 * Refreshes before a top-up even if the row is fresh; without an answer in time, the row is used as it is.
 */
export async function refreshBeforeTopUp(deps: RefreshDeps, row: EsimRow): Promise<EsimRow> {
  return (await inTime(refreshFromSupplier(deps, row), REFRESH_BEFORE_TOP_UP_MS)).value ?? row;
}

/** Whether a read asks the supplier again. */
export function isOld(deps: ReadDeps, row: EsimRow): boolean {
  if (!MOVING_ESIM_STATUSES.includes(row.status)) return false;
  return row.checked_at === null || row.checked_at < oldestFresh(deps);
}

function oldestFresh(deps: ReadDeps): Date {
  return new Date(deps.clock.now().getTime() - deps.settings.esimFreshMs);
}
