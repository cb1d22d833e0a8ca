/**
 * What a traveller, the network and time do to one eSIM, on command. An action that the eSIM's state does not
 * allow is 409, and nothing is written. An eSIM is named by its esimTranNo, since an ICCID may be used again.
 */
import { z } from 'zod';
import { checked, ControlError, found, oneOf, whole, type Routes } from '../../kit/control.ts';
import type { SupplierContext } from '../context.ts';
import type { EsimRow, OrderRow, TopUpRow } from '../storage.ts';
import { SupplierError } from '../errors.ts';
import { withState, type FoundEsim } from '../esim-state.ts';
import { resumed, suspended } from '../operations/esims.ts';
import {
  INSTALL_STAGES,
  installation,
  dataUsage,
  esimStatus,
  type WireWebhook,
} from '../webhooks/messages.ts';
import { passedMessages } from '../webhooks/scheduler.ts';

const DAY_MS = 86_400_000;
/** The longest package lasts a year. */
const LONGEST_STEP_MS = 400 * DAY_MS;
/** Times stay far from what a date can hold, however often the clock is moved. */
const MAX_AHEAD_MS = 3_650 * DAY_MS;
const STAGES = [...INSTALL_STAGES, 'CONNECTED'] as const;

/** An id under which an action is carried out once, however often it is sent. */
const REQUEST_ID = z
  .string('must be a text')
  .min(1, 'must not be empty')
  .max(200, 'must have at most 200 characters');
const ONCE = { requestId: REQUEST_ID.optional() };
const PLAIN = z.strictObject(ONCE);
const INSTALL = z.strictObject({ ...ONCE, stage: oneOf(STAGES).default('CONNECTED') });
const USE = z.strictObject({
  ...ONCE,
  bytes: whole(1, Number.MAX_SAFE_INTEGER, 'must be a whole number from 1'),
});
const CLOCK = z.strictObject({
  ...ONCE,
  advanceMs: whole(1, LONGEST_STEP_MS, `must be whole milliseconds from 1 to ${LONGEST_STEP_MS}`),
});

function refused(why: string): ControlError {
  return new ControlError(409, [why]);
}

function requireLiving({ state }: FoundEsim): void {
  if (!['GOT_RESOURCE', 'IN_USE', 'USED_UP'].includes(state.esimStatus)) {
    throw refused(`the eSIM is ${state.esimStatus}`);
  }
}

/** `messages` replaces the messages that the change alone would send. */
function write(context: SupplierContext, before: EsimRow, after: EsimRow, messages?: WireWebhook[]): void {
  context.storage.esims.put(after);
  context.webhooks.esimChanged(before, after, messages);
}

function install(context: SupplierContext, esim: FoundEsim, stage: (typeof STAGES)[number]): void {
  requireLiving(esim);
  const { row, state, plan } = esim;
  const from = state.smdpStatus;
  const isConnected = from === 'ENABLED' && state.activatedAtMs !== null;
  const done = STAGES.findIndex((one) => one === (isConnected ? 'CONNECTED' : from));
  if (from === 'DISABLED' || from === 'DELETED' || done >= STAGES.indexOf(stage)) {
    throw refused(`the profile is ${from}`);
  }
  const nowMs = context.now();
  const isInstalled = stage !== 'DOWNLOAD';
  // Such a plan starts when it is installed, any other at its first connection.
  const starts = stage === 'CONNECTED' || (isInstalled && plan.activeType === 1);
  const after: EsimRow = {
    ...row,
    installedAtMs: isInstalled ? (row.installedAtMs ?? nowMs) : null,
    activatesAtMs: starts ? (state.activatedAtMs ?? nowMs) : null,
    forcedSmdp: stage === 'DOWNLOAD' || stage === 'INSTALLATION' ? stage : null,
  };
  const esimNow = withState(after, nowMs);
  const begins = state.activatedAtMs === null && starts;
  write(context, row, after, [
    ...installation(esimNow, from, nowMs),
    ...(begins ? [esimStatus(esimNow, nowMs)] : []),
  ]);
}

/** Uses data, at most what is left: the network cuts the rest. The first use is the first connection. */
function use(context: SupplierContext, esim: FoundEsim, bytes: number): void {
  requireLiving(esim);
  const { row, state } = esim;
  if (state.smdpStatus !== 'ENABLED') throw refused(`the profile is ${state.smdpStatus}, not ENABLED`);
  if (row.orderUsage >= row.totalVolume) throw refused('no data is left');
  const nowMs = context.now();
  const connected = { ...row, activatesAtMs: state.activatedAtMs ?? nowMs };
  const after: EsimRow = {
    ...connected,
    orderUsage: Math.min(row.totalVolume, row.orderUsage + bytes),
    laggingUsage: row.orderUsage,
    usageAtMs: nowMs,
  };
  const used = withState(after, nowMs);
  write(context, row, after, [
    ...(state.activatedAtMs === null ? [esimStatus(withState(connected, nowMs), nowMs)] : []),
    ...dataUsage(used, { usage: row.orderUsage, total: row.totalVolume }, nowMs),
    ...(used.state.esimStatus === 'USED_UP' ? [esimStatus(used, nowMs)] : []),
  ]);
}

/**
 * Moves the time of one eSIM. It is its past that moves back, since the rest of the environment keeps its
 * clock: the eSIM is as old afterwards as if it had been installed so much earlier. The webhooks of what
 * happens to it in that time are sent in order.
 */
function advance(context: SupplierContext, { row }: FoundEsim, byMs: number): void {
  const clockAheadMs = row.clockAheadMs + byMs;
  if (clockAheadMs > MAX_AHEAD_MS) throw refused('the clock of this eSIM is ten years ahead already');
  const earlier = (atMs: number | null) => (atMs === null ? null : atMs - byMs);
  const after: EsimRow = {
    ...row,
    clockAheadMs,
    allocatedAtMs: earlier(row.allocatedAtMs),
    activatesAtMs: earlier(row.activatesAtMs),
    installedAtMs: earlier(row.installedAtMs),
  };
  write(context, row, after, passedMessages(after, byMs, context.now()));
}

function expire(context: SupplierContext, esim: FoundEsim): void {
  requireLiving(esim);
  const { row, state } = esim;
  const ending = { ...row, activatesAtMs: state.activatedAtMs };
  advance(context, { ...esim, row: ending }, state.expiresAtMs - context.now());
}

function switchTo(context: SupplierContext, { row, state }: FoundEsim, to: 'ENABLED' | 'DISABLED'): void {
  const from = to === 'ENABLED' ? 'DISABLED' : 'ENABLED';
  const isPhones = to === 'DISABLED' || row.forcedSmdp === 'DISABLED';
  if (state.smdpStatus !== from || !isPhones)
    throw refused(`the profile is ${state.smdpStatus}, not ${from}`);
  write(context, row, { ...row, forcedSmdp: to === 'ENABLED' ? null : to });
}

function deleteProfile(context: SupplierContext, { row, state }: FoundEsim): void {
  if (state.smdpStatus === 'DELETED' || state.installedAtMs === null) {
    throw refused(`the profile is ${state.smdpStatus}, not installed`);
  }
  write(context, row, { ...row, forcedSmdp: 'DELETED' });
}

function changeAsVendor(context: SupplierContext, esim: FoundEsim, change: () => EsimRow): void {
  try {
    write(context, esim.row, change());
  } catch (error) {
    throw error instanceof SupplierError ? refused(`the eSIM is ${esim.state.esimStatus}`) : error;
  }
}

function requireDelivered(context: SupplierContext, tranNo: string): FoundEsim {
  const row = found(context.storage.esims.get(tranNo), 'no eSIM with this esimTranNo');
  const esim = withState(row, context.now());
  if (esim.state.esimStatus === 'GETTING_RESOURCE') throw refused('the eSIM is GETTING_RESOURCE');
  return esim;
}

/** Carries out an action of the schema's body, and answers the eSIM as it now stands. */
function acting<Schema extends typeof PLAIN>(
  context: SupplierContext,
  schema: Schema,
  act: (esim: FoundEsim, body: z.output<Schema>) => void,
): Routes[string] {
  return async ({ id, body }) => {
    const wanted = checked(schema, await body({}));
    const { requestId } = wanted;
    context.webhooks.sendDue();
    context.storage.database.transact(() => {
      const esim = requireDelivered(context, id);
      if (requestId === undefined || context.storage.keepAction(requestId)) act(esim, wanted);
    });
    return esimView(context, requireDelivered(context, id).row);
  };
}

/** `POST /esims/{esimTranNo}/<action>`: each answers the eSIM as it now stands. */
export function lifeRoutes(context: SupplierContext): Routes {
  const plain = (act: (esim: FoundEsim) => void) => acting(context, PLAIN, act);
  const actions: Routes = {
    install: acting(context, INSTALL, (esim, { stage }) => install(context, esim, stage)),
    use: acting(context, USE, (esim, { bytes }) => use(context, esim, bytes)),
    'use-up': plain((esim) => use(context, esim, Number.MAX_SAFE_INTEGER)),
    expire: plain((esim) => expire(context, esim)),
    suspend: plain((esim) => changeAsVendor(context, esim, () => suspended(esim))),
    resume: plain((esim) => changeAsVendor(context, esim, () => resumed(context, esim))),
    'switch-off': plain((esim) => switchTo(context, esim, 'DISABLED')),
    'switch-on': plain((esim) => switchTo(context, esim, 'ENABLED')),
    'delete-profile': plain((esim) => deleteProfile(context, esim)),
    clock: acting(context, CLOCK, (esim, { advanceMs }) => advance(context, esim, advanceMs)),
  };
  return Object.fromEntries(
    Object.entries(actions).map(([name, route]) => [`POST /esims/:id/${name}`, route]),
  );
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

export function esimView(context: SupplierContext, row: EsimRow) {
  const { plan, state } = withState(row, context.now());
  return {
    esimTranNo: row.esimTranNo,
    iccid: row.iccid,
    packageCode: plan.packageCode,
    esimStatus: state.esimStatus,
    smdpStatus: state.smdpStatus,
    orderUsage: row.orderUsage,
    totalVolume: row.totalVolume,
    totalDuration: row.totalDuration,
    activateTime: state.activatedAtMs === null ? null : iso(state.activatedAtMs),
    expiredTime: iso(state.expiresAtMs),
    clockAheadMs: row.clockAheadMs,
  };
}

/** `amount` is USD x 10,000. */
function orderView(context: SupplierContext, order: OrderRow) {
  const esims = context.storage.esims.list({ orderNo: order.orderNo });
  const isAllocated = order.allocatedAtMs !== null && order.allocatedAtMs <= context.now();
  return {
    kind: 'order',
    transactionId: order.transactionId,
    orderNo: order.orderNo,
    esimTranNo: esims[0]?.esimTranNo ?? '',
    esimTranNos: esims.map((row) => row.esimTranNo),
    packageCode: order.lines[0]?.packageCode ?? '',
    count: esims.length,
    amount: order.amount,
    status: isAllocated ? 'GOT_RESOURCE' : 'GETTING_RESOURCE',
    createdAt: iso(order.createdAtMs),
    requests: order.requests,
    esims: esims.map((row) => esimView(context, row)),
  };
}

function topUpView(context: SupplierContext, topUp: TopUpRow) {
  const esim = context.storage.esims.get(topUp.esimTranNo);
  return {
    kind: 'topup',
    transactionId: topUp.transactionId,
    orderNo: esim?.orderNo ?? '',
    esimTranNo: topUp.esimTranNo,
    esimTranNos: [topUp.esimTranNo],
    packageCode: topUp.plan.packageCode,
    count: 1,
    amount: topUp.amount,
    status: 'DONE',
    createdAt: iso(topUp.createdAtMs),
    requests: topUp.requests,
    esims: esim === undefined ? [] : [esimView(context, esim)],
  };
}

export function listPurchases(context: SupplierContext, transactionId: string | null, limit: number) {
  const { orders, topUps } = context.storage;
  const where = { transactionId: transactionId ?? undefined };
  const page = { isNewestFirst: true, limit };
  return [
    ...orders.list(where, page).map((order) => orderView(context, order)),
    ...topUps.list(where, page).map((topUp) => topUpView(context, topUp)),
  ]
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0))
    .slice(0, limit);
}
