/** An eSIM order as its owner may see it. Install data stays hidden until the purchase has settled. */
import { validityDays, type DurationUnit, type PackageSnapshot } from '../catalogue/rules.ts';
import type { EsimRow } from './store/esims.ts';
import type { EsimStatus } from '../domain/states.ts';
import type { Money } from '../domain/money.ts';

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

export function esimView(row: EsimRow): EsimView {
  const shown = row.status === 'PENDING' || row.status === 'FAILED' ? { ...row, ...HIDDEN } : row;
  return {
    esimId: shown.id,
    accountId: shown.account_id,
    transactionId: shown.transaction_id,
    packageCode: shown.package_code,
    packageName: shown.package_name,
    status: shown.status,
    price: { amountMinor: shown.price_minor, currency: shown.currency },
    snapshot: shown.snapshot,
    orderNo: shown.order_no,
    esimTranNo: shown.esim_tran_no,
    iccid: shown.iccid,
    imsi: shown.imsi,
    msisdn: shown.msisdn,
    ac: shown.ac,
    qrCodeUrl: shown.qr_code_url,
    shortUrl: shown.short_url,
    smdpAddress: shown.smdp_address,
    matchingId: shown.matching_id,
    pin: shown.pin,
    puk: shown.puk,
    eid: shown.eid,
    smdpStatus: shown.smdp_status,
    activeType: shown.active_type,
    activateTime: shown.activate_time,
    expiredTime: shown.expired_time,
    totalVolumeBytes: Number(shown.total_volume_bytes),
    orderUsageBytes: Number(shown.order_usage_bytes),
    validityDays: validityDays(shown.total_duration, shown.duration_unit as DurationUnit),
    durationUnit: shown.duration_unit,
    totalDuration: shown.total_duration,
    validityRemaining: remainingUnits(shown),
    apn: shown.apn,
    smsStatus: shown.sms_status,
    dataType: shown.data_type,
    createdAt: shown.created_at,
    updatedAt: shown.updated_at,
  };
}

const MS_PER_UNIT: Record<string, number> = { HOUR: 3_600_000, DAY: 86_400_000, MONTH: 30 * 86_400_000 };

/** Units left: all of them before activation, then down to the end, none once it is over. Started units count whole. */
function remainingUnits(row: EsimRow): number {
  if (row.status === 'EXPIRED' || row.status === 'CANCELLED' || row.status === 'FAILED') return 0;
  if (row.activate_time === null || row.expired_time === null) return row.total_duration;
  const unitMs = MS_PER_UNIT[row.duration_unit] ?? 86_400_000;
  const leftMs = row.expired_time.getTime() - (row.looked_at ?? row.updated_at).getTime();
  return Math.min(row.total_duration, Math.max(0, Math.trunc((leftMs + unitMs - 1) / unitMs)));
}

export interface EsimView {
  readonly esimId: string;
  readonly accountId: string;
  readonly transactionId: string;
  readonly packageCode: string;
  readonly packageName: string;
  readonly status: EsimStatus;
  readonly price: Money;
  readonly snapshot: PackageSnapshot;
  readonly orderNo: string;
  readonly esimTranNo: string;
  readonly iccid: string;
  readonly imsi: string;
  readonly msisdn: string | null;
  /** Install data: empty strings until known. Secret: never logged. */
  readonly ac: string;
  readonly qrCodeUrl: string;
  readonly shortUrl: string;
  readonly smdpAddress: string;
  readonly matchingId: string;
  readonly pin: string | null;
  readonly puk: string | null;
  readonly eid: string;
  readonly smdpStatus: string;
  readonly activeType: string;
  readonly activateTime: Date | null;
  readonly expiredTime: Date | null;
  readonly totalVolumeBytes: number;
  readonly orderUsageBytes: number;
  readonly validityDays: number;
  readonly durationUnit: string;
  readonly totalDuration: number;
  readonly validityRemaining: number;
  readonly apn: string;
  readonly smsStatus: number;
  readonly dataType: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
