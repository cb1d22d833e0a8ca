/** The supplier's queries, by subject. */
import type { Database } from '../../support/database.ts';
import {
  DUE_EVENTS,
  ESIMS,
  ORDERS,
  TOPUPS,
  type DueEventRow,
  type EsimRow,
  type OrderRow,
  type OverrideRow,
  type TopUpRow,
} from './tables.ts';

export type OrderStore = ReturnType<typeof createOrderStore>;
export type AccountStore = ReturnType<typeof createAccountStore>;

/** Orders, eSIMs and top-ups. */
export function createOrderStore(database: Database) {
  const { one, all, run } = database;
  const reusableIccid = one<() => { iccid: string }>(
    "SELECT iccid FROM esims WHERE forcedStatus IN ('CANCEL', 'REVOKE') ORDER BY esimTranNo DESC LIMIT 1",
  );
  const freeOrder = run<(allocatedAtMs: number, orderNo: string) => void>(
    'UPDATE orders SET allocatedAtMs = ?, heldBy = NULL WHERE orderNo = ?',
  );
  const freeEsim = run<(allocatedAtMs: number, activatesAtMs: number | null, tranNo: string) => void>(
    'UPDATE esims SET allocatedAtMs = ?, activatesAtMs = ? WHERE esimTranNo = ?',
  );
  const esimsOfOrder = all<(orderNo: string) => EsimRow>(
    'SELECT * FROM esims WHERE orderNo = ? ORDER BY esimTranNo',
  );
  return {
    insertOrder: database.insert(ORDERS),
    insertEsim: database.insert(ESIMS),
    insertTopUp: database.insert(TOPUPS),
    orderByTransaction: one<(transactionId: string) => OrderRow>(
      'SELECT * FROM orders WHERE transactionId = ?',
    ),
    orderByNo: one<(orderNo: string) => OrderRow>('SELECT * FROM orders WHERE orderNo = ?'),
    recentOrders: all<(limit: number) => OrderRow>(
      'SELECT * FROM orders ORDER BY createdAtMs DESC, orderNo DESC LIMIT ?',
    ),
    countOrderRequest: run<(transactionId: string) => number>(
      'UPDATE orders SET requests = requests + 1 WHERE transactionId = ?',
    ),
    heldOrders: all<(heldBy: 'fault') => OrderRow>('SELECT * FROM orders WHERE heldBy = ?'),
    /** Profiles of a held order exist from `allocatedAtMs` on, and go into use when `activatesAtMs` says. */
    freeOrder: (orderNo: string, allocatedAtMs: number, activatesAtMs: (row: EsimRow) => number | null) => {
      freeOrder(allocatedAtMs, orderNo);
      for (const row of esimsOfOrder(orderNo)) freeEsim(allocatedAtMs, activatesAtMs(row), row.esimTranNo);
    },
    esimsOfOrder,
    esimByTranNo: one<(tranNo: string) => EsimRow>('SELECT * FROM esims WHERE esimTranNo = ?'),
    /** The newest eSIM with this ICCID, since a profile may be used again. */
    esimByIccid: one<(iccid: string) => EsimRow>(
      'SELECT * FROM esims WHERE iccid = ? ORDER BY esimTranNo DESC LIMIT 1',
    ),
    updateEsim: database.update(ESIMS, 'esimTranNo'),
    /** The ICCID of a cancelled or revoked eSIM, if any. */
    reusableIccid: () => reusableIccid()?.iccid,
    recentEsims: all<(limit: number) => { esimTranNo: string }>(
      'SELECT esimTranNo FROM esims ORDER BY esimTranNo DESC LIMIT ?',
    ),
    /** A page of eSIMs, oldest first, and how many match. */
    listEsims: database.pages(ESIMS, {
      conditions: {
        orderNo: 'orderNo = ?',
        iccid: 'iccid = ?',
        esimTranNo: 'esimTranNo = ?',
        createdFromMs: 'createdAtMs >= ?',
        createdToMs: 'createdAtMs <= ?',
        allocatedBy: 'allocatedAtMs <= ?',
      },
      orderBy: 'esimTranNo',
      totals: { total: 'count(*)' },
    }),
    topUpByTransaction: one<(transactionId: string) => TopUpRow>(
      'SELECT * FROM topups WHERE transactionId = ?',
    ),
    topUpsOfEsim: all<(tranNo: string) => TopUpRow>(
      'SELECT * FROM topups WHERE esimTranNo = ? ORDER BY createdAtMs, rowid',
    ),
    recentTopUps: all<(limit: number) => TopUpRow>(
      'SELECT * FROM topups ORDER BY createdAtMs DESC, rowid DESC LIMIT ?',
    ),
    countTopUpRequest: run<(transactionId: string) => number>(
      'UPDATE topups SET requests = requests + 1 WHERE transactionId = ?',
    ),
  };
}

export interface PackageOverride {
  price: number | null;
  withdrawn: boolean;
}

/** The newest order number, and the newest number of an eSIM or top-up. */
export function newestNumbers({ one }: Database) {
  const newest = (query: string) => one<() => { number: string | null }>(query)()?.number ?? undefined;
  return {
    orderNo: newest('SELECT max(orderNo) AS number FROM orders'),
    tranNo: newest(
      `SELECT max(number) AS number FROM (
         SELECT max(esimTranNo) AS number FROM esims UNION ALL SELECT max(topUpEsimTranNo) FROM topups)`,
    ),
  };
}

/** The account's own data: balance, package overrides, refused purchases, events to come. A new file starts with `initialBalance`. */
export function createAccountStore(database: Database, initialBalance: number) {
  const { one, all, run, meta } = database;
  if (meta.read('balance') === undefined) meta.write('balance', String(initialBalance));
  const putOverride = run<(packageCode: string, price: number | null, withdrawn: number) => void>(
    'INSERT OR REPLACE INTO overrides (packageCode, price, withdrawn) VALUES (?, ?, ?)',
  );
  const dropOverride = run<(packageCode: string) => void>('DELETE FROM overrides WHERE packageCode = ?');
  const overrides = new Map<string, PackageOverride>(
    all<() => OverrideRow>('SELECT * FROM overrides')().map(({ packageCode, price, withdrawn }) => [
      packageCode,
      { price, withdrawn: withdrawn === 1 },
    ]),
  );
  const tries = one<(transactionId: string) => { tries: number }>(
    'SELECT tries FROM attempts WHERE transactionId = ?',
  );
  const next = one<() => { atMs: number | null }>('SELECT min(atMs) AS atMs FROM dueEvents');
  const keepAction = run<(requestId: string) => number>(
    'INSERT INTO actions (requestId) VALUES (?) ON CONFLICT DO NOTHING',
  );
  return {
    balance: () => Number(meta.read('balance')),
    setBalance: (balance: number) => meta.write('balance', String(balance)),
    overrides: overrides as ReadonlyMap<string, PackageOverride>,
    setOverride: (packageCode: string, override: PackageOverride) => {
      putOverride(packageCode, override.price, override.withdrawn ? 1 : 0);
      overrides.set(packageCode, override);
    },
    clearOverride: (packageCode: string) => {
      dropOverride(packageCode);
      overrides.delete(packageCode);
    },
    /** How many calls with this transactionId were refused so far. */
    tries: (transactionId: string) => tries(transactionId)?.tries ?? 0,
    addTry: run<(transactionId: string) => void>(
      'INSERT INTO attempts (transactionId, tries) VALUES (?, 1) ON CONFLICT (transactionId) DO UPDATE SET tries = tries + 1',
    ),
    addEvent: database.insert(DUE_EVENTS),
    dueEvents: all<(nowMs: number) => DueEventRow>(
      'SELECT * FROM dueEvents WHERE atMs <= ? ORDER BY atMs, id LIMIT 200',
    ),
    nextEventAtMs: () => next()?.atMs ?? null,
    dropEvent: run<(id: number) => void>('DELETE FROM dueEvents WHERE id = ?'),
    /** Forgets what was planned about an eSIM or order for later than `afterMs`. */
    dropEventsAfter: run<(target: string, afterMs: number) => void>(
      'DELETE FROM dueEvents WHERE target = ? AND atMs > ?',
    ),
    /** Whether an action with this id came for the first time. */
    keepAction: (requestId: string) => keepAction(requestId) === 1,
  };
}
