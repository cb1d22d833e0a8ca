import { NO_INSTALL_DATA, type InstallData, type OpenInstallData } from './install-data.ts';
import type { EsimRow } from './store/esims.ts';

/** An eSIM order as its owner may see it: with install data, where that is shown. */
export type EsimView = Omit<EsimRow, 'install_sealed'> &
  OpenInstallData & { readonly install_sealed?: undefined };

/**
 * Install data stays hidden until the purchase has settled. Throws SERVICE_UNAVAILABLE if it cannot be read.
 */
export function visibleEsim(installData: Pick<InstallData, 'open'>, row: EsimRow): EsimView {
  const isSettled = row.status !== 'PENDING' && row.status !== 'FAILED';
  return isSettled
    ? { ...row, ...installData.open(row), install_sealed: undefined }
    : { ...withoutInstallData(row), iccid: '' };
}

export function withoutInstallData(row: EsimRow): EsimView {
  return { ...row, ...NO_INSTALL_DATA, install_sealed: undefined };
}

/** When the usage of this row was true at the supplier; null while nothing is known of it. */
export function usageAsOf(row: Pick<EsimRow, 'usage_as_of' | 'checked_at'>): Date | null {
  return row.usage_as_of ?? row.checked_at;
}

const MS_PER_UNIT: Record<string, number> = { HOUR: 3_600_000, DAY: 86_400_000, MONTH: 30 * 86_400_000 };

/**
 * Units left: all of them before activation, then down to the end, none once it is over. Started units count
 * whole.
 */
export function remainingUnits(row: EsimView): number {
  if (row.status === 'EXPIRED' || row.status === 'CANCELLED' || row.status === 'FAILED') return 0;
  if (row.activate_time === null || row.expired_time === null) return row.total_duration;
  const unitMs = MS_PER_UNIT[row.duration_unit] ?? 86_400_000;
  const leftMs = row.expired_time.getTime() - (row.checked_at ?? row.updated_at).getTime();
  return Math.min(row.total_duration, Math.max(0, Math.trunc((leftMs + unitMs - 1) / unitMs)));
}
