import type { Generated, JSONColumnType } from 'kysely';
import type { PackageSnapshot } from '../../catalogue/rules.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import type { EsimStatus } from '../../domain/states.ts';

export interface EsimsTable {
  id: string;
  account_id: string;
  transaction_id: string;
  package_code: string;
  package_name: string;
  status: EsimStatus;
  price_minor: bigint;
  currency: AccountCurrency;
  snapshot: JSONColumnType<PackageSnapshot>;
  supplier: string;
  order_no: Generated<string>;
  esim_tran_no: Generated<string>;
  iccid: Generated<string>;
  imsi: Generated<string>;
  msisdn: string | null;
  ac: Generated<string>;
  qr_code_url: Generated<string>;
  short_url: Generated<string>;
  smdp_address: Generated<string>;
  matching_id: Generated<string>;
  pin: string | null;
  puk: string | null;
  eid: Generated<string>;
  smdp_status: Generated<string>;
  active_type: Generated<string>;
  activate_time: Date | null;
  expired_time: Date | null;
  total_volume_bytes: bigint;
  order_usage_bytes: Generated<bigint>;
  total_duration: number;
  duration_unit: string;
  apn: Generated<string>;
  sms_status: Generated<number>;
  data_type: number;
  looked_at: Date | null;
  /** When the supplier was last asked for the usage alone, whether it answered or not. */
  usage_asked_at: Date | null;
  created_at: Date;
  updated_at: Generated<Date>;
}

export interface EsimTables {
  esims: EsimsTable;
}
