import { z } from 'zod';
import { openAgenda } from '../kit/clock.ts';
import { CHANCE, DURATION_MS, FLAG } from '../kit/control.ts';
import { WEBHOOK_MODE } from '../kit/events.ts';
import { openDatabase } from '../kit/storage.ts';
import type { PlanSnapshot } from './catalogue.ts';

export interface OrderLine {
  packageCode: string;
  count: number;
  price: number;
  periodNum: number;
}

export interface OrderRow {
  orderNo: string;
  transactionId: string;
  amount: number;
  lines: OrderLine[];
  createdAtMs: number;
  allocatedAtMs: number | null;
  heldBy: 'fault' | 'magic' | null;
  /** How many times this transactionId was received. */
  requests: number;
}

export interface EsimRow {
  esimTranNo: string;
  orderNo: string;
  transactionId: string;
  iccid: string;
  plan: PlanSnapshot;
  paid: number;
  createdAtMs: number;
  allocatedAtMs: number | null;
  /** When it goes into use; null when not by itself. */
  activatesAtMs: number | null;
  /** When the profile was installed without going into use; null before, and where both happened at once. */
  installedAtMs: number | null;
  /** How far its time was moved; the times above moved back by as much, those of its order did not. */
  clockAheadMs: number;
  totalVolume: number;
  totalDuration: number;
  orderUsage: number;
  /** What a lagging usage report still says. */
  laggingUsage: number;
  usageAtMs: number | null;
  forcedStatus: string | null;
  forcedSmdp: string | null;
}

export interface TopUpRow {
  transactionId: string;
  topUpEsimTranNo: string;
  esimTranNo: string;
  amount: number;
  plan: PlanSnapshot;
  createdAtMs: number;
  answersAtMs: number;
  requests: number;
  /** A repeat is answered unchanged. */
  reply: Record<string, unknown>;
}

/** What the control interface changed about a package; a null price means the catalogue's. */
interface PackageOverride {
  packageCode: string;
  price: number | null;
  withdrawn: boolean;
}

export type EventKind = 'ALLOCATED' | 'IN_USE' | 'VALIDITY' | 'EXPIRED';

export type Storage = ReturnType<typeof openStorage>;

export function openStorage(dataDir: string, initialBalance: number) {
  const database = openDatabase(dataDir, 'supplier.sqlite');
  const { meta } = database;
  if (meta.read('balance') === undefined) meta.write('balance', String(initialBalance));
  const refusals = database.collection<{ transactionId: string; tries: number }>('refusals', 'transactionId');
  const actions = database.collection<{ requestId: string }>('actions', 'requestId');
  const tries = (transactionId: string) => refusals.get(transactionId)?.tries ?? 0;
  return {
    database,
    orders: database.collection<OrderRow>('orders', 'orderNo', { indexes: ['transactionId', 'heldBy'] }),
    esims: database.collection<EsimRow>('esims', 'esimTranNo', {
      indexes: ['orderNo', 'iccid', 'createdAtMs', 'forcedStatus'],
    }),
    topUps: database.collection<TopUpRow>('topups', 'transactionId', { indexes: ['esimTranNo'] }),
    agenda: openAgenda<EventKind, string>(database),
    balance: () => Number(meta.read('balance')),
    setBalance: (balance: number) => meta.write('balance', String(balance)),
    overrides: database.collection<PackageOverride>('overrides', 'packageCode'),
    tries,
    addTry: (transactionId: string): void =>
      void refusals.put({ transactionId, tries: tries(transactionId) + 1 }),
    keepAction: (requestId: string): boolean => {
      const isNew = actions.get(requestId) === undefined;
      if (isNew) actions.put({ requestId });
      return isNew;
    },
  };
}

export const FAULTS = z.strictObject({
  latencyMs: DURATION_MS.default(0),
  allocationMs: DURATION_MS.default(0),
  outOfStock: CHANCE.default(0),
  priceChanged: CHANCE.default(0),
  lowBalance: CHANCE.default(0),
  busy: CHANCE.default(0),
  loseAnswer: CHANCE.default(0),
  commitLate: CHANCE.default(0),
  lateCommitMs: DURATION_MS.default(10_000),
  refusalsFirst: FLAG.default(false),
  cancelUnseen: CHANCE.default(0),
  neverAllocate: CHANCE.default(0),
  wrongSignature: CHANCE.default(0),
  rateLimit: FLAG.default(false),
  reuseIccid: CHANCE.default(0),
  usageLagMs: DURATION_MS.default(0),
  nullErrorCode: FLAG.default(false),
  omitTopUpEsimTranNo: FLAG.default(false),
  webhooks: WEBHOOK_MODE.default('deliver'),
});
export type SupplierFaults = z.output<typeof FAULTS>;
