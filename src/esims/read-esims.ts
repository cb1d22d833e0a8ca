import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { MOVING_ESIM_STATUSES } from '../domain/states.ts';
import {
  findEsim,
  findStaleEsims,
  listEsims as listStoredEsims,
  refreshEsim,
  type EsimQuery,
  type EsimRow,
} from './store/esims.ts';
import { visibleEsim } from './esim-view.ts';
import { inTime, orUndefined, type CircuitBreaker } from '../platform/circuit-breaker.ts';
import type { Clock } from '../domain/clock.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { Events } from '../platform/telemetry/events.ts';
import type { EsimSupplier } from './port.ts';
import type { Page } from '../domain/page.ts';

/** What the use cases of eSIMs work with, in one world. */
export interface EsimDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly supplier: EsimSupplier;
  readonly events: Events;
  readonly settings: {
    /** A read asks the supplier about an eSIM again when what we know is older. */
    readonly esimFreshMs: number;
  };
}

type RefreshDeps = Pick<EsimDeps, 'db' | 'supplier' | 'clock' | 'events'>;
type ReadDeps = EsimDeps & { readonly supplierReads: CircuitBreaker };

/** A list refreshes at most this many eSIMs, so that it stays fast; the refresh-usage schedule does the rest. */
const MAX_REFRESHES_PER_LIST = 5;
/** The buyer of a top-up waits for this refresh, and must be answered after it. */
const REFRESH_BEFORE_TOP_UP_MS = 1_500;

export async function getEsim(deps: ReadDeps, principal: Principal, esimId: string): Promise<EsimRow> {
  const row = await findEsim(deps.db, esimId);
  if (!row)
    throw new DomainError('ESIM_NOT_FOUND', 'eSIM not found', { details: 'no eSIM order has this id' });
  if (row.account_id !== principal.account.id) {
    throw new DomainError('NOT_YOUR_ESIM', 'This eSIM belongs to another account', {
      details: 'the eSIM order is not yours',
    });
  }
  const fresh = isOld(deps, row)
    ? await orUndefined(deps.supplierReads.run(() => refreshFromSupplier(deps, row)))
    : row;
  return visibleEsim(fresh ?? row);
}

export async function listEsims(
  deps: ReadDeps,
  principal: Principal,
  query: Omit<EsimQuery, 'accountId'>,
): Promise<Page<EsimRow>> {
  const accountId = principal.account.id;
  const which = { accountId, before: oldestFresh(deps), limit: MAX_REFRESHES_PER_LIST };
  const stale = await findStaleEsims(deps.db, which);
  const refresh = () => Promise.all(stale.map((row) => refreshFromSupplier(deps, row)));
  if (stale.length > 0) await orUndefined(deps.supplierReads.run(refresh));
  const { rows, total } = await listStoredEsims(deps.db, { accountId, ...query });
  return { items: rows.map(visibleEsim), total, page: query.page, limit: query.limit };
}

/** Refreshes before a top-up even if the row is fresh; without an answer in time, the row is used as it is. */
export async function refreshBeforeTopUp(deps: RefreshDeps, row: EsimRow): Promise<EsimRow> {
  return (await inTime(refreshFromSupplier(deps, row), REFRESH_BEFORE_TOP_UP_MS)).value ?? row;
}

/** Keeps the supplier's answer about one eSIM; without an answer the row stays as it is. */
async function refreshFromSupplier(deps: RefreshDeps, row: EsimRow): Promise<EsimRow> {
  const now = deps.clock.now();
  const look = await deps.supplier.profile({ esimTranNo: row.esim_tran_no });
  if (look.outcome !== 'done' || look.value.state !== 'ready') {
    const detail = look.outcome === 'done' ? look.value.state : look.detail;
    deps.events.esimCheckFailed({ esimId: row.id, detail });
    return row;
  }
  const { profile } = look.value;
  if (profile.status === null) {
    deps.events.unknownSupplierState({ esimId: row.id, supplierStatus: profile.supplierStatus });
  }
  return (await refreshEsim(deps.db, row.id, profile, now)) ?? row;
}

function isOld(deps: ReadDeps, row: EsimRow): boolean {
  if (!MOVING_ESIM_STATUSES.includes(row.status)) return false;
  return row.looked_at === null || row.looked_at < oldestFresh(deps);
}

function oldestFresh(deps: ReadDeps): Date {
  return new Date(deps.clock.now().getTime() - deps.settings.esimFreshMs);
}
