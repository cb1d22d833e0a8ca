/**
 * Orders in the vendor's list of eSIMs: one of ours, since the vendor cannot be asked by our id, and all of a
 * time, for reconciliation.
 */
import type { FindRequest, ListedOrder, OrderSearch, Outcome } from '../../esims/port.ts';
import { SupplierUnavailable } from '../../catalogue/port.ts';
import { ask, type Client } from './client.ts';
import { CANCELLED_WITH_REFUND, esimPageOf } from './map.ts';
import { readEsims, wireTimeOf, type WireEsim } from './wire.ts';

/** The most that the vendor gives at once. */
const PAGE_SIZE = 500;

/** The vendor's clock and ours may differ, and an order may be accepted some time after it was sent. */
const SLACK_MS = 120_000;
/** A window with more than five pages is split: a list that grows while it is read repeats itself. */
const MAX_PER_WINDOW = 5 * PAGE_SIZE;
/** What the first part of it would hold if the list were even. */
const WANTED_PER_WINDOW = 4 * PAGE_SIZE;
/** The vendor's times are whole seconds. */
const MIN_WINDOW_MS = 1_000;
/** A step has 15 s for it and a question about the order. The next search continues where this one ended. */
const SEARCH_MS = 8_000;
/** At the pace of one account, five and a half seconds. */
const ENOUGH_PAGES = 12;
/** Of a search that comes no further, as in a list that does not say how long it is. */
const MAX_SEARCH_PAGES = 40;

/**
 * Searches windows of time, oldest first, small enough to be read to their end, and says how far it came
 * where one call is not enough, or where a page is not answered. It ends only where the next search begins
 * later than this one did. Never creates anything. `not-listed` proves nothing about an order that is still
 * being allocated: the vendor lists it later.
 */
export async function findOrder(client: Client, request: FindRequest): Promise<Outcome<OrderSearch>> {
  const { transactionId, accountId, from, until } = request;
  const endsAtMs = performance.now() + SEARCH_MS;
  const waiting = [{ fromMs: from.getTime() - SLACK_MS, toMs: until.getTime() + SLACK_MS }];
  let pages = 0;
  const isEnough = (): boolean => pages >= ENOUGH_PAGES || performance.now() > endsAtMs;
  for (let window = waiting.shift(); window; window = waiting.shift()) {
    const { fromMs, toMs } = window;
    const isFurther = fromMs > from.getTime();
    const soFar = done({ state: 'searching', searchedUntil: new Date(fromMs) });
    const times = { startTime: wireTimeOf(new Date(fromMs)), endTime: wireTimeOf(new Date(toMs)) };
    let seen = 0;
    for (let pageNum = 1; ; pageNum += 1) {
      if (pages === MAX_SEARCH_PAGES || (isFurther && isEnough())) return soFar;
      const query = { ...times, pager: { pageNum, pageSize: PAGE_SIZE } };
      const page = esimPageOf(await client.call('/esim/query', query, { isIdempotent: true, accountId }));
      pages += 1;
      if (page.outcome !== 'done') return isFurther ? soFar : page;
      const { esims, total } = page.value;
      const ours = esims
        .map(({ profile }) => profile)
        .find((esim) => esim.transactionId === transactionId && esim.orderNo !== '');
      if (ours) return done({ state: 'found', orderNo: ours.orderNo, esimTranNo: ours.esimTranNo });
      const lengthMs = toMs - fromMs;
      if (pageNum === 1 && total !== null && total > MAX_PER_WINDOW && lengthMs > MIN_WINDOW_MS) {
        // Both parts have the second between them, as the vendor includes both ends.
        const firstMs = Math.ceil(lengthMs * Math.min(0.5, WANTED_PER_WINDOW / total));
        const middleMs = fromMs + Math.max(MIN_WINDOW_MS, firstMs);
        waiting.unshift({ fromMs, toMs: middleMs }, { fromMs: middleMs, toMs });
        break;
      }
      seen += esims.length;
      if (esims.length === 0 || (total !== null && seen >= total)) break;
    }
  }
  return done({ state: 'not-listed' });
}

const done = (value: OrderSearch): Outcome<OrderSearch> => ({ outcome: 'done', value });

/** Half of the pages that the vendor numbers: a longer list is an error. */
const MAX_PAGES = 5_000;
/** Five hundred eSIMs are about a megabyte, and the vendor may be slow to list them. */
const PAGE = { timeLimitMs: 20_000 } as const;

/**
 * eSIMs made in [from, to), with their top-ups: every order and top-up once, none that the vendor does not
 * name; or SupplierUnavailable. Must not hand out activation codes, PIN or PUK.
 */
export async function* listOrders(client: Client, from: Date, to: Date): AsyncGenerator<ListedOrder> {
  // The vendor's times are whole seconds, and it includes the last one: what is outside the window is left
  // out here.
  const window = { startTime: wireTimeOf(from), endTime: wireTimeOf(new Date(to.getTime() + 999)) };
  const seen = new Set<string>();
  for (let pageNum = 1; pageNum <= MAX_PAGES; pageNum += 1) {
    const query = { ...window, pager: { pageNum, pageSize: PAGE_SIZE } };
    const { esims, total } = await ask(client, 'orders', ['/esim/query', query, PAGE], readEsims);
    const before = seen.size;
    for (const esim of esims) {
      const { esimTranNo } = esim.profile;
      if (esimTranNo === '') throw unreadable('an eSIM without its number');
      if (seen.has(esimTranNo)) continue;
      seen.add(esimTranNo);
      yield* ordersOf(esim, from, to);
    }
    if (total === null ? esims.length < PAGE_SIZE : seen.size >= total) return;
    if (seen.size === before) throw unreadable(`page ${pageNum} repeats, or is missing`);
  }
  throw new SupplierUnavailable(`orders: more than ${MAX_PAGES} pages`, { retryable: false });
}

/** The order itself comes first, also where the vendor does not say what was in it. */
function* ordersOf({ profile, packageList }: WireEsim, from: Date, to: Date): Generator<ListedOrder> {
  const { orderNo, esimTranNo, transactionId, esimStatus } = profile;
  const own = packageList.find((item) => item.transactionId === transactionId) ?? packageList[0];
  const listedAt = new Date(own?.createTime ?? from);
  // Cut to whole seconds as the window was.
  if (listedAt.getTime() < Math.trunc(from.getTime() / 1000) * 1000 || listedAt >= to) return;
  const isRefunded = esimStatus === CANCELLED_WITH_REFUND;
  const shared = { orderNo, esimTranNo, isRefunded, listedAt };
  // Without a time it may have been ordered as late as the window's end.
  const at = new Date(own?.createTime ?? to);
  yield { ...shared, transactionId, packageCode: own?.packageCode ?? '', at };
  for (const { createTime, ...item } of packageList.filter((listed) => listed !== own))
    yield { ...shared, ...item, at: new Date(createTime ?? to) };
}

function unreadable(detail: string): SupplierUnavailable {
  return new SupplierUnavailable(`orders: ${detail}`, { retryable: true });
}
