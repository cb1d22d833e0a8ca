/** eSIM orders → the documented shapes. Pure; what is not known yet is an empty string. */
import type { z } from 'zod';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import type { esimListItemSchema, esimPageSchema, esimSchema } from './schema.ts';
import { validityDays, type DurationUnit } from '../../catalogue/rules.ts';
import { remainingUnits, usageAsOf, type EsimView } from '../esim-view.ts';
import type { EsimPage } from '../read-esims.ts';

/** The subset of my-esims. */
function presentEsimListItem(esim: EsimView): Wire<z.output<typeof esimListItemSchema>> {
  const { coverage, networkProviders } = esim.snapshot;
  return { ...presentListed(esim), packageDetails: { coverage, networkProviders } };
}

/** The full shape of eSIM details. */
export function presentEsim(esim: EsimView): Wire<z.output<typeof esimSchema>> {
  const { coverage, networkProviders, dataType, speed } = esim.snapshot;
  return {
    ...presentListed(esim),
    orderNo: esim.order_no,
    esimTranNo: esim.esim_tran_no,
    imsi: esim.imsi,
    msisdn: esim.msisdn,
    ac: esim.ac,
    shortUrl: esim.short_url,
    smdpAddress: esim.smdp_address,
    matchingId: esim.matching_id,
    eid: esim.eid,
    smdpStatus: esim.smdp_status,
    activeType: esim.active_type,
    durationUnit: esim.duration_unit,
    totalDuration: esim.total_duration,
    validity_usage_remain: remainingUnits(esim),
    pin: esim.pin,
    puk: esim.puk,
    apn: esim.apn,
    smsStatus: esim.sms_status,
    dataType: esim.data_type,
    packageDetails: { coverage, networkProviders, dataType, speed },
    isActive: esim.status === 'ACTIVE',
    updatedAt: esim.updated_at.toISOString(),
  };
}

function presentListed(esim: EsimView) {
  const [totalVolume, orderUsage] = [Number(esim.total_volume_bytes), Number(esim.order_usage_bytes)];
  return {
    _id: esim.id,
    packageCode: esim.package_code,
    packageName: esim.package_name,
    transactionId: esim.transaction_id,
    iccid: esim.iccid,
    qrCodeUrl: esim.qr_code_url,
    activationCode: esim.ac,
    esimStatus: esim.status,
    data: esim.snapshot.data,
    totalVolume,
    orderUsage,
    data_usage_remain: Math.max(0, totalVolume - orderUsage),
    usageAsOf: usageAsOf(esim)?.toISOString() ?? '',
    validity: validityDays(esim.total_duration, esim.duration_unit as DurationUnit),
    activateTime: esim.activate_time?.toISOString() ?? '',
    expiredTime: esim.expired_time?.toISOString() ?? '',
    createdAt: esim.created_at.toISOString(),
    price: moneyJson(esim.price_minor),
    currency: esim.currency,
  };
}

/** The flat page of my-esims. */
export function presentEsimPage(page: EsimPage): Wire<z.output<typeof esimPageSchema>> {
  return {
    esims: page.items.map(presentEsimListItem),
    total: page.total,
    page: page.page,
    limit: page.limit,
    totalPages: Math.ceil(page.total / page.limit),
    totalIsMinimum: page.totalIsMinimum,
    nextCursor: page.next ?? '',
  };
}
