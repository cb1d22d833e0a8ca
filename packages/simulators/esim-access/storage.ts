/**
 * What the supplier simulator stores. Times are milliseconds since 1970, money USD x 10,000, volumes bytes.
 */
import { openAgenda } from '../kit/clock.ts';
import { openDatabase } from '../kit/storage.ts';
import type { PlanSnapshot } from './catalogue.ts';

/** One line of an order; `price` is the unit price that was charged. */
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
  /** Null while the order is held back. */
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
  /** What this eSIM cost, for the refund of a cancel. */
  paid: number;
  createdAtMs: number;
  allocatedAtMs: number | null;
  /** When it goes into use; null when not by itself. */
  activatesAtMs: number | null;
  /** When the profile was installed without going into use; null before, and where both happened at once. */
  installedAtMs: number | null;
  /**
   * How far the control interface moved the eSIM's time; the times above have moved back by as much, the
   * times of its order have not.
   */
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
  /** When the (synchronous) answer may be sent. */
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

/** What may happen later to an order (ALLOCATED) or to an eSIM. */
export type EventKind = 'ALLOCATED' | 'IN_USE' | 'VALIDITY' | 'EXPIRED';

export type Storage = ReturnType<typeof openStorage>;

/** Opens the storage; a new one starts with `initialBalance`. */
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
    /** How many calls with this transactionId were refused so far. */
    tries,
    addTry: (transactionId: string): void =>
      void refusals.put({ transactionId, tries: tries(transactionId) + 1 }),
    /** Whether an action with this id came for the first time; each is carried out once. */
    keepAction: (requestId: string): boolean => {
      const isNew = actions.get(requestId) === undefined;
      if (isNew) actions.put({ requestId });
      return isNew;
    },
  };
}
