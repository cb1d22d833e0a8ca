import type { EsimRow } from './store/esims.ts';

const HIDDEN = {
  ac: '',
  qr_code_url: '',
  short_url: '',
  smdp_address: '',
  matching_id: '',
  pin: null,
  puk: null,
  iccid: '',
};

/** An eSIM order as its owner may see it: install data stays hidden until the purchase has settled. */
export function visibleEsim(row: EsimRow): EsimRow {
  return row.status === 'PENDING' || row.status === 'FAILED' ? { ...row, ...HIDDEN } : row;
}

const MS_PER_UNIT: Record<string, number> = { HOUR: 3_600_000, DAY: 86_400_000, MONTH: 30 * 86_400_000 };

/** Units left: all of them before activation, then down to the end, none once it is over. Started units count whole. */
export function remainingUnits(row: EsimRow): number {
  if (row.status === 'EXPIRED' || row.status === 'CANCELLED' || row.status === 'FAILED') return 0;
  if (row.activate_time === null || row.expired_time === null) return row.total_duration;
  const unitMs = MS_PER_UNIT[row.duration_unit] ?? 86_400_000;
  const leftMs = row.expired_time.getTime() - (row.looked_at ?? row.updated_at).getTime();
  return Math.min(row.total_duration, Math.max(0, Math.trunc((leftMs + unitMs - 1) / unitMs)));
}
