/**
 * The account's side of the storage: balance, webhook URL, faults, package overrides, refused attempts, events to come.
 * Guarantee: no business rule here besides "a value that was set is there after a restart".
 */
import { createMeta, type Database } from '../../support/database.ts';
import type { DueEventRow } from './rows.ts';

/** What the control interface changed about a package; null price means the catalogue's. */
export interface PackageOverride {
  price: number | null;
  withdrawn: boolean;
}

export type AccountStore = ReturnType<typeof createAccountStore>;

/** The statements over the account's own data; a new file starts with `initialBalance`. */
export function createAccountStore(database: Database, initialBalance: number) {
  const { sql } = database;
  const meta = createMeta(database);
  if (meta.read('balance') === undefined) meta.write('balance', String(initialBalance));

  const allOverrides = sql.prepare('SELECT packageCode, price, withdrawn FROM overrides');
  const putOverride = sql.prepare(
    `INSERT INTO overrides (packageCode, price, withdrawn) VALUES (?, ?, ?)
     ON CONFLICT (packageCode) DO UPDATE SET price = excluded.price, withdrawn = excluded.withdrawn`,
  );
  const dropOverride = sql.prepare('DELETE FROM overrides WHERE packageCode = ?');
  const overrides = new Map<string, PackageOverride>();
  for (const row of allOverrides.all()) {
    overrides.set(String(row['packageCode']), {
      price: row['price'] === null ? null : Number(row['price']),
      withdrawn: row['withdrawn'] === 1,
    });
  }

  const getTries = sql.prepare('SELECT tries FROM attempts WHERE transactionId = ?');
  const addTry = sql.prepare(
    'INSERT INTO attempts (transactionId, tries) VALUES (?, 1) ON CONFLICT (transactionId) DO UPDATE SET tries = tries + 1',
  );
  const addEvent = sql.prepare('INSERT INTO dueEvents (atMs, kind, target) VALUES (?, ?, ?)');
  const dueEvents = sql.prepare('SELECT * FROM dueEvents WHERE atMs <= ? ORDER BY atMs, id LIMIT 200');
  const nextEvent = sql.prepare('SELECT min(atMs) AS atMs FROM dueEvents');
  const dropEvent = sql.prepare('DELETE FROM dueEvents WHERE id = ?');
  return {
    meta,
    balance: () => Number(meta.read('balance')),
    setBalance: (balance: number) => meta.write('balance', String(balance)),
    overrides: overrides as ReadonlyMap<string, PackageOverride>,
    setOverride: (packageCode: string, override: PackageOverride) => {
      putOverride.run(packageCode, override.price, override.withdrawn ? 1 : 0);
      overrides.set(packageCode, override);
    },
    clearOverride: (packageCode: string) => {
      dropOverride.run(packageCode);
      return overrides.delete(packageCode);
    },
    /** How many calls with this transactionId were refused so far. */
    tries: (transactionId: string) =>
      (getTries.get(transactionId) as { tries: number } | undefined)?.tries ?? 0,
    addTry: (transactionId: string) => void addTry.run(transactionId),
    addEvent: (kind: DueEventRow['kind'], target: string, atMs: number) =>
      void addEvent.run(atMs, kind, target),
    dueEvents: (nowMs: number) => dueEvents.all(nowMs) as unknown as DueEventRow[],
    nextEventAtMs: () => (nextEvent.get() as { atMs: number | null }).atMs,
    dropEvent: (id: number) => void dropEvent.run(id),
  };
}
