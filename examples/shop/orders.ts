/**
 * How an order goes on. It is stored with its intent before the API is called, and every step may run again:
 * so a process that is killed at any moment goes on where it was.
 */
import { intend, SimwayError, type BuyResponse, type Intent, type Simway } from 'simway-sdk';
import type { Order, Store } from './store.ts';

interface Wanted extends Pick<Order, 'id' | 'email' | 'packageName' | 'price'> {
  readonly packageCode: string;
  /** What the buyer saw. A higher price is refused. */
  readonly maxPrice: number;
  readonly currency: 'NGN' | 'USD';
}

const MAX_AT_ONCE = 10;
/** Above this the shop takes no new orders. */
const MAX_OPEN = 500;
const FIRST_CHECK_MS = 1_000;
const LAST_CHECK_MS = 60_000;

export function createOrders(store: Store, simway: Simway, mail: (order: Order) => Promise<unknown>) {
  const busy = new Set<string>();

  /** Buys under the stored intent. Sent again after a crash, it finds what was bought. */
  async function buy({ id, intent }: Order): Promise<void> {
    try {
      const { transactionId } = await simway.send(JSON.parse(intent) as Intent<BuyResponse>);
      store.set(id, { status: 'OPEN', transactionId });
    } catch (error) {
      // An error with its intent: nobody knows yet whether it was carried out, so it is sent again.
      if (!(error instanceof SimwayError) || error.intent) throw error;
      store.set(id, { status: 'FAILED', reason: error.code, transactionId: error.transactionId ?? null });
    }
  }

  async function read({ id, transactionId }: Order): Promise<void> {
    const now = await simway.getTransaction({ path: { transactionId: transactionId ?? '' } });
    const esim = 'esimDetails' in now ? now.esimDetails : undefined;
    const esimId = esim && 'esimId' in esim ? esim.esimId : undefined;
    if (now.status === 'FAILED') store.set(id, { status: 'FAILED', reason: now.reason ?? null });
    else if (now.status === 'SUCCESS' && esimId !== undefined) {
      const { installUrl } = await simway.getEsimInstall({ path: { esimId } });
      if (installUrl === '') throw new Error('This key may not read install links');
      store.set(id, { status: 'DELIVERED', installUrl });
    } else store.set(id, { paymentUrl: now.status === 'PENDING' ? (now.paymentUrl ?? null) : null });
  }

  /** Killed between these two lines, the e-mail comes twice: it has the same Message-ID. */
  async function tell(order: Order): Promise<void> {
    await mail(order);
    store.set(order.id, { mailedAt: Date.now() });
  }

  const STEPS = { NEW: buy, OPEN: read, DELIVERED: tell, FAILED: tell };

  /** Takes an order as far as it goes now. Never throws: what does not work is tried again later. */
  async function advance(id: string): Promise<void> {
    if (busy.has(id)) return;
    busy.add(id);
    let order = store.find(id);
    try {
      for (let before; order?.mailedAt === null && order.status !== before; order = store.find(id)) {
        before = order.status;
        await STEPS[order.status](order);
      }
    } catch (error) {
      console.error(`order ${id}:`, error instanceof Error ? error.message : error);
    } finally {
      const waitMs = Math.max(FIRST_CHECK_MS, (Date.now() - (order?.createdAt ?? 0)) / 10);
      store.set(id, { nextAt: Math.trunc(Date.now() + Math.min(LAST_CHECK_MS, waitMs)) });
      busy.delete(id);
    }
  }

  return {
    advance,
    /** Stores an order with its intent. Whether there is room for it. */
    add({ packageCode, maxPrice, currency: maxPriceCurrency, ...order }: Wanted): boolean {
      if (store.countOpen() >= MAX_OPEN && !store.find(order.id)) return false;
      const body = { packageCode, packageType: 'BASE', paymentMethod: 'CARD' } as const;
      const intent = intend('buy', { key: order.id, body: { ...body, maxPrice, maxPriceCurrency } });
      store.add({ ...order, intent: JSON.stringify(intent) });
      return true;
    },
    /** A webhook only says that it is time to read. */
    async advancePurchase(transactionId: string): Promise<void> {
      const order = store.findByTransaction(transactionId);
      if (order) await advance(order.id);
    },
    /** Orders that are due: after a start, and where no webhook came. */
    async advanceDue(): Promise<void> {
      await Promise.all(store.due(MAX_AT_ONCE).map(({ id }) => advance(id)));
    },
  };
}
