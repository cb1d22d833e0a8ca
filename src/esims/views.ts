import type { EsimStatus } from '../domain/states.ts';
import type { Money } from '../domain/money.ts';
import type { PackageSnapshot } from '../catalogue/rules.ts';

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
