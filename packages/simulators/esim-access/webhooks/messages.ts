/** Unsigned. ORDER_STATUS has no ICCID; a revoked eSIM is REVOKED here, REVOKE in answers; times end in Z. */
import { randomUUID } from 'node:crypto';
import type { FoundEsim } from '../esim-state.ts';
import { eidOf, webhookTime } from '../numbers.ts';
import type { OrderRow } from '../storage.ts';

/** Shares of the allowance left at which DATA_USAGE is sent. */
const REMAIN_THRESHOLDS = [0.5, 0.2, 0.1];

export type WireWebhook = ReturnType<typeof message>;

function message(notifyType: string, content: Record<string, unknown>, nowMs: number) {
  return { notifyType, notifyId: randomUUID(), eventGenerateTime: webhookTime(nowMs), content };
}

function aboutEsim(notifyType: string, { row }: FoundEsim, content: Record<string, unknown>, nowMs: number) {
  const { iccid, orderNo, esimTranNo, transactionId } = row;
  return message(notifyType, { iccid, orderNo, esimTranNo, transactionId, ...content }, nowMs);
}

/** Sent when a URL is saved. */
export function checkHealth(nowMs: number) {
  return message('CHECK_HEALTH', { orderNo: '1234567890', orderStatus: 'Test' }, nowMs);
}

export function orderStatus({ orderNo, transactionId }: OrderRow, nowMs: number) {
  return message('ORDER_STATUS', { orderNo, transactionId, orderStatus: 'GOT_RESOURCE' }, nowMs);
}

export function esimStatus(esim: FoundEsim, nowMs: number) {
  const { esimStatus: status, smdpStatus } = esim.state;
  const { totalVolume, orderUsage } = esim.row;
  const remainVolume = Math.max(0, totalVolume - orderUsage);
  const shown = status === 'REVOKE' ? 'REVOKED' : status;
  const content = { esimStatus: shown, smdpStatus, totalVolume, orderUsage, remainVolume };
  return aboutEsim('ESIM_STATUS', esim, content, nowMs);
}

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

export const INSTALL_STAGES = ['DOWNLOAD', 'INSTALLATION', 'ENABLED'] as const;

/** The messages of an installation after stage `from` (RELEASED: all) until the one that the eSIM is in. */
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

export function validityUsage(esim: FoundEsim, nowMs: number) {
  const content = {
    remain: 1,
    totalDuration: esim.row.totalDuration,
    durationUnit: 'DAY',
    expiredTime: webhookTime(esim.state.expiresAtMs),
  };
  return aboutEsim('VALIDITY_USAGE', esim, content, nowMs);
}
