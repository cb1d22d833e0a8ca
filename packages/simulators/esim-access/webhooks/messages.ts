/**
 * The vendor's webhooks, message by message, unsigned. ORDER_STATUS has no ICCID; a revoked eSIM is spelled
 * REVOKED here (REVOKE in answers); times end in Z.
 */
import { randomUUID } from 'node:crypto';
import type { FoundEsim } from '../esim-state.ts';
import { eidOf } from '../numbers.ts';
import type { OrderRow } from '../storage.ts';
import { webhookTime } from '../wire.ts';

/** Shares of the allowance left at which DATA_USAGE is sent. */
const REMAIN_THRESHOLDS = [0.5, 0.2, 0.1];

export type WireWebhook = ReturnType<typeof message>;

function message(notifyType: string, content: Record<string, unknown>, nowMs: number) {
  return { notifyType, notifyId: randomUUID(), eventGenerateTime: webhookTime(nowMs), content };
}

/** A message about one eSIM. */
function aboutEsim(notifyType: string, { row }: FoundEsim, content: Record<string, unknown>, nowMs: number) {
  const { iccid, orderNo, esimTranNo, transactionId } = row;
  return message(notifyType, { iccid, orderNo, esimTranNo, transactionId, ...content }, nowMs);
}

/** Sent when a URL is saved. */
export function checkHealth(nowMs: number) {
  return message('CHECK_HEALTH', { orderNo: '1234567890', orderStatus: 'Test' }, nowMs);
}

/** Profiles of a new order are there. */
export function orderStatus({ orderNo, transactionId }: OrderRow, nowMs: number) {
  return message('ORDER_STATUS', { orderNo, transactionId, orderStatus: 'GOT_RESOURCE' }, nowMs);
}

/** The eSIM's status changed. */
export function esimStatus(esim: FoundEsim, nowMs: number) {
  const { esimStatus: status, smdpStatus } = esim.state;
  const { totalVolume, orderUsage } = esim.row;
  const remainVolume = Math.max(0, totalVolume - orderUsage);
  const shown = status === 'REVOKE' ? 'REVOKED' : status;
  const content = { esimStatus: shown, smdpStatus, totalVolume, orderUsage, remainVolume };
  return aboutEsim('ESIM_STATUS', esim, content, nowMs);
}

/** Something happened to the profile on the phone. */
export function smdpEvent(esim: FoundEsim, stage: { smdpStatus: string; esimStatus: string }, nowMs: number) {
  const content = {
    ...stage,
    eid: eidOf(esim.row.esimTranNo),
    timestamp: webhookTime(nowMs),
    seqNumber: null,
    notifyStatus: 'Executed-Success',
  };
  return aboutEsim('SMDP_EVENT', esim, content, nowMs);
}

/** What an installation goes through, in order. */
export const INSTALL_STAGES = ['DOWNLOAD', 'INSTALLATION', 'ENABLED'] as const;

/**
 * The messages of an installation after stage `from` (RELEASED: all of them) until the one that the eSIM is
 * in.
 */
export function installation(esim: FoundEsim, from: string, nowMs: number) {
  const { smdpStatus: until, esimStatus: status } = esim.state;
  const stages = INSTALL_STAGES.slice(
    INSTALL_STAGES.findIndex((stage) => stage === from) + 1,
    INSTALL_STAGES.findIndex((stage) => stage === until) + 1,
  );
  return stages.map((smdpStatus) =>
    smdpEvent(esim, { smdpStatus, esimStatus: smdpStatus === 'ENABLED' ? status : 'GOT_RESOURCE' }, nowMs),
  );
}

/** One message for each threshold passed between two usages. */
export function dataUsage(esim: FoundEsim, before: { usage: number; total: number }, nowMs: number) {
  const { totalVolume, orderUsage } = esim.row;
  const leftBefore = 1 - before.usage / before.total;
  const leftNow = 1 - orderUsage / totalVolume;
  const remain = Math.max(0, totalVolume - orderUsage);
  const lastUpdateTime = webhookTime(nowMs);
  return REMAIN_THRESHOLDS.filter((threshold) => leftBefore > threshold && leftNow <= threshold).map(
    (remainThreshold) => {
      const content = { totalVolume, orderUsage, remain, remainThreshold, lastUpdateTime };
      return aboutEsim('DATA_USAGE', esim, content, nowMs);
    },
  );
}

/** One day is left. */
export function validityUsage(esim: FoundEsim, nowMs: number) {
  const content = {
    remain: 1,
    totalDuration: esim.row.totalDuration,
    durationUnit: 'DAY',
    expiredTime: webhookTime(esim.state.expiresAtMs),
  };
  return aboutEsim('VALIDITY_USAGE', esim, content, nowMs);
}
