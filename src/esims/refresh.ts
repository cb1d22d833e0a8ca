import type { Clock } from '../domain/clock.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { Events } from '../platform/telemetry/events.ts';
import type { InstallData } from './install-data.ts';
import { isMoving, nextStatus } from './life-rules.ts';
import type { EsimSupplier } from './port.ts';
import { type EsimRow, refreshEsim } from './store/esims.ts';

export interface RefreshDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly supplier: Pick<EsimSupplier, 'name' | 'profile'>;
  readonly installData: InstallData;
  readonly events: Events;
  /** Starts the deliveries of what merchants are notified of. */
}

/** Keeps the supplier's answer about one eSIM; without an answer the row stays as it is. */
export async function refreshFromSupplier(deps: RefreshDeps, row: EsimRow): Promise<EsimRow> {
  return (await checkEsim(deps, row)).row;
}

/** The same, and whether the supplier answered. Another supplier's eSIM is not asked about. */
export async function checkEsim(
  deps: RefreshDeps,
  row: EsimRow,
): Promise<{ readonly row: EsimRow; readonly isAnswered: boolean }> {
  if (row.supplier !== deps.supplier.name) return { row, isAnswered: false };
  const askedAt = deps.clock.now();
  const answer = await deps.supplier.profile({ esimTranNo: row.esim_tran_no, accountId: row.account_id });
  if (answer.outcome !== 'done' || answer.value.state !== 'ready') {
    const isHeldBack = answer.outcome === 'unknown' && answer.notSent === true;
    const detail = answer.outcome === 'done' ? answer.value.state : answer.detail;
    if (!isHeldBack) deps.events.esimCheckFailed({ esimId: row.id, detail });
    return { row, isAnswered: false };
  }
  const { profile } = answer.value;
  if (profile.status === null) {
    deps.events.unknownSupplierState({ esimId: row.id, supplierStatus: profile.supplierStatus });
  } else if (isMoving(row) && nextStatus(row.status, profile.status) !== profile.status) {
    const { status: from } = row;
    deps.events.illegalStatusChange({ esimId: row.id, from, supplierStatus: profile.supplierStatus });
  }
  const install = deps.installData.changes(row, profile);
  const fresh = await refreshEsim(deps.db, row.id, profile, askedAt, install);
  return { row: fresh ?? row, isAnswered: true };
}
