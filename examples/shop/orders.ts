/**
 * The shop's orders in SQLite. An order is stored with its intent before the API is called, and every step may
 * run again: so a process that is killed at any moment goes on where it was.
 */
import { DatabaseSync } from 'node:sqlite';
import { intend, SimwayError, type BuyResponse, type Intent, type Simway } from 'simway-sdk';

export interface Order {
  /** Also the Idempotency-Key, and the secret part of the order page's address. */
  readonly id: string;
  readonly email: string;
  readonly packageName: string;
  readonly price: string;
  readonly intent: string;
  readonly status: 'NEW' | 'OPEN' | 'DELIVERED' | 'FAILED';
  readonly transactionId: string | null;
  readonly paymentUrl: string | null;
  readonly installUrl: string | null;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly mailedAt: number | null;
}

export type NewOrder = Pick<Order, 'id' | 'email' | 'packageName' | 'price'> & {
  readonly packageCode: string;
  readonly maxPrice: number;
  readonly currency: string;
};

const SCHEMA = `
  create table if not exists orders (
    id text primary key, email text not null, packageName text not null, price text not null,
    intent text not null, status text not null default 'NEW', transactionId text unique, paymentUrl text,
    installUrl text, reason text, createdAt integer not null, mailedAt integer, nextAt integer not null
  ) strict;
  create index if not exists orders_due on orders (nextAt) where mailedAt is null;
  create table if not exists settings (name text primary key, value text not null) strict;`;
const MAX_AT_ONCE = 10;
/** Above this the shop takes no new orders. */
const MAX_OPEN = 500;
const FIRST_CHECK_MS = 1_000;
const LAST_CHECK_MS = 60_000;

export function openOrders(file: string, simway: Simway, mail: (order: Order) => Promise<unknown>) {
  const db = new DatabaseSync(file);
  // A second process would send every e-mail twice: it fails here. FULL: what is stored survives a power cut.
  db.exec(`pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full; ${SCHEMA}`);
  const busy = new Set<string>();
  const find = (id: string): Order | undefined =>
    db.prepare('select * from orders where id = ?').get(id) as Order | undefined;
  const set = (id: string, values: Partial<Order> & { readonly nextAt?: number }): unknown =>
    db
      .prepare(
        `update orders set ${Object.keys(values)
          .map((name) => `${name} = ?`)
          .join()} where id = ?`,
      )
      .run(...Object.values(values), id);

  /** Buys under the stored intent. Sent again after a crash, it finds what was bought. */
  const buy = async ({ id, intent }: Order): Promise<void> => {
    try {
      const bought = await simway.send(JSON.parse(intent) as Intent<BuyResponse>);
      set(id, { status: 'OPEN', transactionId: bought.transactionId });
    } catch (error) {
      // An error with its intent: nobody knows yet whether it was carried out, so it is sent again.
      if (!(error instanceof SimwayError) || error.intent) throw error;
      set(id, { status: 'FAILED', reason: error.code, transactionId: error.transactionId ?? null });
    }
  };
  const read = async ({ id, transactionId }: Order): Promise<void> => {
    const now = await simway.getTransaction({ path: { transactionId: transactionId ?? '' } });
    if (now.status === 'FAILED') set(id, { status: 'FAILED', reason: now.reason ?? null });
    else if (now.status === 'PENDING') set(id, { paymentUrl: now.paymentUrl ?? null });
    else if (now.status === 'SUCCESS' && now.esimDetails) {
      const { installUrl } = await simway.getEsimInstall({ path: { esimId: now.esimDetails.esimId } });
      if (installUrl === '') throw new Error('This key may not read install links');
      set(id, { status: 'DELIVERED', installUrl });
    } else set(id, { paymentUrl: null });
  };
  /** Killed between these two lines, the e-mail comes twice: it has the same Message-ID. */
  const tell = async (order: Order): Promise<void> => {
    await mail(order);
    set(order.id, { mailedAt: Date.now() });
  };
  const STEPS = { NEW: buy, OPEN: read, DELIVERED: tell, FAILED: tell };

  /** Takes an order as far as it goes now. Never throws: what does not work is tried again later. */
  async function advance(id: string): Promise<void> {
    if (busy.has(id)) return;
    busy.add(id);
    try {
      for (let order = find(id); order?.mailedAt === null;) {
        await STEPS[order.status](order);
        const after = find(id);
        if (after?.status === order.status) break;
        order = after;
      }
    } catch (error) {
      console.error(`order ${id}:`, error instanceof Error ? error.message : error);
    } finally {
      const age = Date.now() - (find(id)?.createdAt ?? 0);
      set(id, { nextAt: Date.now() + Math.min(LAST_CHECK_MS, Math.max(FIRST_CHECK_MS, age / 10)) });
      busy.delete(id);
    }
  }

  return {
    find,
    advance,
    /** Stores an order. Whether there is room; a repeat changes nothing. */
    add({ id, email, packageName, price, packageCode, maxPrice, currency }: NewOrder): boolean {
      const open = db.prepare('select count(*) as n from orders where mailedAt is null').get() as {
        n: number;
      };
      if (open.n >= MAX_OPEN && !find(id)) return false;
      const body = { packageCode, packageType: 'BASE', paymentMethod: 'CARD' } as const;
      const limit = { maxPrice, maxPriceCurrency: currency as 'NGN' | 'USD' };
      const intent = JSON.stringify(intend('buy', { key: id, body: { ...body, ...limit } }));
      db.prepare(
        `insert into orders (id, email, packageName, price, intent, createdAt, nextAt)
         values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
      ).run(id, email, packageName, price, intent, Date.now(), Date.now());
      return true;
    },
    /** A webhook only says that it is time to read. */
    async advancePurchase(transactionId: string): Promise<void> {
      const row = db.prepare('select id from orders where transactionId = ?').get(transactionId);
      if (row) await advance(String(row['id']));
    },
    /** Orders that are due: after a start, and where no webhook came. */
    async advanceDue(): Promise<void> {
      const due = db
        .prepare('select id from orders where mailedAt is null and nextAt <= ? order by nextAt limit ?')
        .all(Date.now(), MAX_AT_ONCE);
      await Promise.all(due.map(({ id }) => advance(String(id))));
    },
    /** A setting that is made once and kept. */
    setting(name: string, make: () => string): string {
      db.prepare('insert into settings values (?, ?) on conflict do nothing').run(name, make());
      return this.findSetting(name) ?? '';
    },
    findSetting(name: string): string | undefined {
      return db.prepare('select value from settings where name = ?').get(name)?.['value'] as
        string | undefined;
    },
    close: (): void => db.close(),
  };
}
