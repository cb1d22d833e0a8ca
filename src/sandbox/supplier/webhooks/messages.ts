/**
 * The webhooks of the vendor, message by message. Guarantee: pure; ORDER_STATUS has no ICCID, a revoked eSIM is spelled REVOKED here
 * (REVOKE in answers), times end in Z.
 */
import { randomUUID } from 'node:crypto';
import { eidOf } from '../numbers.ts';
import type { FoundEsim } from '../operations/find-esim.ts';
import type { OrderRow } from '../storage/rows.ts';
import { webhookTime, type NotifyType, type WireWebhook } from '../wire.ts';

/** Shares of the allowance left at which DATA_USAGE is sent. */
export const REMAIN_THRESHOLDS = [0.5, 0.2, 0.1] as const;

function message(notifyType: NotifyType, content: Record<string, unknown>, nowMs: number): WireWebhook {
  return { notifyType, notifyId: randomUUID(), eventGenerateTime: webhookTime(nowMs), content };
}

function identity({ row }: FoundEsim): Record<string, unknown> {
  const { iccid, orderNo, esimTranNo, transactionId } = row;
  return { iccid, orderNo, esimTranNo, transactionId };
}

/** Sent when a URL is saved. */
export function checkHealth(nowMs: number): WireWebhook {
  return message('CHECK_HEALTH', { orderNo: '1234567890', orderStatus: 'Test' }, nowMs);
}

/** Profiles of a new order are there. */
export function orderStatus(order: OrderRow, nowMs: number): WireWebhook {
  const { orderNo, transactionId } = order;
  return message('ORDER_STATUS', { orderNo, transactionId, orderStatus: 'GOT_RESOURCE' }, nowMs);
}

/** The eSIM's status changed. */
export function esimStatus(esim: FoundEsim, nowMs: number): WireWebhook {
  const { row, state } = esim;
  return message(
    'ESIM_STATUS',
    {
      ...identity(esim),
      esimStatus: state.esimStatus === 'REVOKE' ? 'REVOKED' : state.esimStatus,
      smdpStatus: state.smdpStatus,
      totalVolume: row.totalVolume,
      orderUsage: row.orderUsage,
      remainVolume: Math.max(0, row.totalVolume - row.orderUsage),
    },
    nowMs,
  );
}

/** Something happened to the profile on the phone. */
export function smdpEvent(esim: FoundEsim, stage: { smdpStatus: string; esimStatus: string }, nowMs: number) {
  return message(
    'SMDP_EVENT',
    {
      ...identity(esim),
      ...stage,
      eid: eidOf(esim.row.esimTranNo),
      timestamp: webhookTime(nowMs),
      seqNumber: null,
      notifyStatus: 'Executed-Success',
    },
    nowMs,
  );
}

/** The messages of an installation, in order. */
export function installation(esim: FoundEsim, nowMs: number): WireWebhook[] {
  return [
    smdpEvent(esim, { smdpStatus: 'DOWNLOAD', esimStatus: 'GOT_RESOURCE' }, nowMs),
    smdpEvent(esim, { smdpStatus: 'INSTALLATION', esimStatus: 'GOT_RESOURCE' }, nowMs),
    smdpEvent(esim, { smdpStatus: 'ENABLED', esimStatus: 'IN_USE' }, nowMs),
    esimStatus(esim, nowMs),
  ];
}

/** One message for each threshold passed between two usages. */
export function dataUsage(esim: FoundEsim, before: { usage: number; total: number }, nowMs: number) {
  const { row } = esim;
  const leftBefore = 1 - before.usage / before.total;
  const leftNow = 1 - row.orderUsage / row.totalVolume;
  return REMAIN_THRESHOLDS.filter((threshold) => leftBefore > threshold && leftNow <= threshold).map(
    (remainThreshold) =>
      message(
        'DATA_USAGE',
        {
          ...identity(esim),
          totalVolume: row.totalVolume,
          orderUsage: row.orderUsage,
          remain: Math.max(0, row.totalVolume - row.orderUsage),
          remainThreshold,
          lastUpdateTime: webhookTime(nowMs),
        },
        nowMs,
      ),
  );
}

/** One day is left. */
export function validityUsage(esim: FoundEsim, nowMs: number): WireWebhook {
  return message(
    'VALIDITY_USAGE',
    {
      ...identity(esim),
      remain: 1,
      totalDuration: esim.row.totalDuration,
      durationUnit: 'DAY',
      expiredTime: webhookTime(esim.state.expiresAtMs),
    },
    nowMs,
  );
}
