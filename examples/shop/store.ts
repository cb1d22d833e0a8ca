/** The shop's orders in SQLite, and the settings that it made for itself. */
import { DatabaseSync } from 'node:sqlite';

export interface Order {
  /** Also the Idempotency-Key, and the secret part of the order page's address. */
  readonly id: string;
  readonly email: string;
  readonly packageName: string;
  readonly price: string;
  /** What is bought, as `intend` made it. */
  readonly intent: string;
  readonly status: 'NEW' | 'OPEN' | 'DELIVERED' | 'FAILED';
  readonly transactionId: string | null;
  readonly paymentUrl: string | null;
  readonly installUrl: string | null;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly mailedAt: number | null;
}

type NewOrder = Pick<Order, 'id' | 'email' | 'packageName' | 'price' | 'intent'>;

const SCHEMA = `
  create table if not exists orders (
    id text primary key, email text not null, packageName text not null, price text not null,
    intent text not null, status text not null default 'NEW', transactionId text unique, paymentUrl text,
    installUrl text, reason text, createdAt integer not null, mailedAt integer, nextAt integer not null
  ) strict;
  create index if not exists orders_due on orders (nextAt) where mailedAt is null;
  create table if not exists settings (name text primary key, value text not null) strict;`;

export type Store = ReturnType<typeof openStore>;

export function openStore(file: string) {
  const db = new DatabaseSync(file);
  // A second process would send every e-mail twice: it fails here. FULL: what is stored survives a power cut.
  db.exec(`pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full; ${SCHEMA}`);
  const findSetting = (name: string): string | undefined =>
    db.prepare('select value from settings where name = ?').get(name)?.['value'] as string | undefined;
  return {
    find: (id: string): Order | undefined =>
      db.prepare('select * from orders where id = ?').get(id) as Order | undefined,
    findByTransaction: (transactionId: string): Order | undefined =>
      db.prepare('select * from orders where transactionId = ?').get(transactionId) as Order | undefined,
    /** A repeat changes nothing. */
    add({ id, email, packageName, price, intent }: NewOrder): void {
      db.prepare(
        `insert into orders (id, email, packageName, price, intent, createdAt, nextAt)
         values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
      ).run(id, email, packageName, price, intent, Date.now(), Date.now());
    },
    set(id: string, values: Partial<Order> & { readonly nextAt?: number }): void {
      const columns = Object.keys(values).map((name) => `${name} = ?`);
      db.prepare(`update orders set ${columns.join()} where id = ?`).run(...Object.values(values), id);
    },
    due: (limit: number): Order[] =>
      db
        .prepare('select * from orders where mailedAt is null and nextAt <= ? order by nextAt limit ?')
        .all(Date.now(), limit) as unknown as Order[],
    countOpen: (): number =>
      Number(db.prepare('select count(*) as n from orders where mailedAt is null').get()?.['n']),
    findSetting,
    /** Made once and kept. */
    setting(name: string, make: () => string): string {
      db.prepare('insert into settings values (?, ?) on conflict do nothing').run(name, make());
      return findSetting(name) ?? '';
    },
  };
}
