/** eSIM orders and purchases → the specification's shapes. Pure; what is not known yet is an empty string. */
import type { z } from 'zod';
import type { AccountCurrency } from '../../domain/money.ts';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import { presentPayment } from '../../payments/http/present.ts';
import type {
  basePurchaseSchema,
  esimListItemSchema,
  esimPageSchema,
  esimSchema,
  topUpPurchaseSchema,
  transactionSchema,
} from './schema.ts';
import type { Page } from '../../domain/page.ts';
import type { PurchaseView } from '../views.ts';
import { presentTimeline } from '../../platform/http/answer-fields.ts';
import type { EsimView } from '../../esims/esim-view.ts';

/** The subset of my-esims. */
export function presentEsimListItem(view: EsimView): Wire<z.output<typeof esimListItemSchema>> {
  const { coverage, networkProviders } = view.snapshot;
  return { ...presentListed(view), packageDetails: { coverage, networkProviders } };
}

/** The full shape of eSIM details. */
export function presentEsim(view: EsimView): Wire<z.output<typeof esimSchema>> {
  const { coverage, networkProviders, dataType, speed } = view.snapshot;
  return {
    ...presentListed(view),
    orderNo: view.orderNo,
    esimTranNo: view.esimTranNo,
    imsi: view.imsi,
    msisdn: view.msisdn,
    ac: view.ac,
    shortUrl: view.shortUrl,
    smdpAddress: view.smdpAddress,
    matchingId: view.matchingId,
    eid: view.eid,
    smdpStatus: view.smdpStatus,
    activeType: view.activeType,
    durationUnit: view.durationUnit,
    totalDuration: view.totalDuration,
    validity_usage_remain: view.validityRemaining,
    pin: view.pin,
    puk: view.puk,
    apn: view.apn,
    smsStatus: view.smsStatus,
    dataType: view.dataType,
    packageDetails: { coverage, networkProviders, dataType, speed },
    isActive: view.status === 'ACTIVE',
    updatedAt: view.updatedAt.toISOString(),
  };
}

function presentListed(view: EsimView) {
  return {
    _id: view.esimId,
    packageCode: view.packageCode,
    packageName: view.packageName,
    transactionId: view.transactionId,
    iccid: view.iccid,
    qrCodeUrl: view.qrCodeUrl,
    activationCode: view.ac,
    esimStatus: view.status,
    data: view.snapshot.data,
    totalVolume: view.totalVolumeBytes,
    orderUsage: view.orderUsageBytes,
    data_usage_remain: remainingBytes(view),
    validity: view.validityDays,
    activateTime: isoOrEmpty(view.activateTime),
    expiredTime: isoOrEmpty(view.expiredTime),
    createdAt: view.createdAt.toISOString(),
    price: moneyJson(view.price.amountMinor),
    currency: view.price.currency as AccountCurrency,
  };
}

/** The flat page of my-esims. */
export function presentEsimPage(page: Page<EsimView>): Wire<z.output<typeof esimPageSchema>> {
  return {
    esims: page.items.map(presentEsimListItem),
    total: page.total,
    page: page.page,
    limit: page.limit,
    totalPages: Math.ceil(page.total / page.limit),
  };
}

/** The purchase result, as buy answers it. */
export function presentPurchase(
  view: PurchaseView,
): Wire<z.output<typeof basePurchaseSchema>> | Wire<z.output<typeof topUpPurchaseSchema>> {
  return view.packageType === 'BASE' ? presentBasePurchase(view) : presentTopUpPurchase(view);
}

/** The purchase result as it now stands, with its timeline. */
export function presentTransaction(view: PurchaseView): Wire<z.output<typeof transactionSchema>> {
  const timeline = presentTimeline(view.timeline);
  return view.packageType === 'BASE'
    ? { ...presentBasePurchase(view), timeline }
    : { ...presentTopUpPurchase(view), timeline };
}

function presentBasePurchase(view: PurchaseView): Wire<z.output<typeof basePurchaseSchema>> {
  const { esim, package: bought } = view;
  return {
    ...presentOutcome(view),
    package: {
      packageCode: bought.packageCode,
      packageName: bought.packageName,
      price: moneyJson(bought.price.amountMinor),
      currency: bought.price.currency as AccountCurrency,
    },
    ...presentPayment(view, bought.price),
    ...(view.status === 'SUCCESS' && esim ? { esimDetails: presentInstallDetails(esim) } : {}),
  };
}

function presentInstallDetails(esim: EsimView) {
  return {
    esimId: esim.esimId,
    iccid: esim.iccid,
    qrCodeUrl: esim.qrCodeUrl,
    activationCode: esim.ac,
    smdpAddress: esim.smdpAddress,
    matchingId: esim.matchingId,
  };
}

function presentTopUpPurchase(view: PurchaseView): Wire<z.output<typeof topUpPurchaseSchema>> {
  const { topUp, package: bought } = view;
  return {
    ...presentOutcome(view),
    ...(view.status === 'SUCCESS' ? { message: 'Top-up successful' } : {}),
    package: {
      packageCode: bought.packageCode,
      name: bought.packageName,
      price: moneyJson(bought.price.amountMinor),
      currencyCode: bought.price.currency as AccountCurrency,
      volume: bought.volumeBytes,
      duration: bought.duration,
    },
    ...presentPayment(view, bought.price),
    ...(view.status === 'SUCCESS' && topUp
      ? {
          esimDetails: {
            iccid: topUp.iccid,
            totalVolume: topUp.totalVolumeBytes,
            dataRemaining: topUp.dataRemainingBytes,
          },
        }
      : {}),
  };
}

function presentOutcome(view: PurchaseView) {
  return {
    transactionId: view.transactionId,
    status: view.status,
    ...(view.status === 'FAILED' && view.reason !== null ? { reason: view.reason } : {}),
  };
}

function remainingBytes(view: EsimView): number {
  return Math.max(0, view.totalVolumeBytes - view.orderUsageBytes);
}

function isoOrEmpty(time: Date | null): string {
  return time === null ? '' : time.toISOString();
}
