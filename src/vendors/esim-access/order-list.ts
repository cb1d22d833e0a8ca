/**
 * What was ordered under the account, from the vendor's list of eSIMs, for reconciliation. Guarantee: every order and top-up once, none that
 * the vendor does not name; or SupplierUnavailable. Must not hand out activation codes, PIN or PUK.
 */
import { type ListedOrder } from '../../esims/port.ts';
import { SupplierUnavailable } from '../../catalogue/port.ts';
import { answeredObj, readable } from './catalogue.ts';
import type { Client } from './client.ts';
import { CANCELLED_WITH_REFUND, isoTimeOf, wireTimeOf } from './map.ts';
import { readEsims, type WireEsim, type WireEsimPage } from './wire.ts';

/** The most that the vendor gives at once. */
const PAGE_SIZE = 500;
/** Half of what the vendor numbers: more in one window is no list any more. */
const MAX_PAGES = 5_000;
/** Five hundred eSIMs are about a megabyte, and the vendor may take its time over them. */
const PAGE = { question: true, timeLimitMs: 20_000 } as const;

/** eSIMs made in [from, to), with their top-ups. */
export async function* listOrders(client: Client, from: Date, to: Date): AsyncGenerator<ListedOrder> {
  // The vendor's times are whole seconds, and it counts the last one in: whoever falls out of the window is left out here.
  const window = { startTime: wireTimeOf(from), endTime: wireTimeOf(new Date(to.getTime() + 999)) };
  const seen = new Set<string>();
  for (let pageNum = 1; pageNum <= MAX_PAGES; pageNum += 1) {
    const page = await pageOf(client, { ...window, pager: { pageNum, pageSize: PAGE_SIZE } });
    const before = seen.size;
    for (const esim of page.esims) {
      if (esim.esimTranNo === '') throw unreadable('an eSIM without its number');
      if (seen.has(esim.esimTranNo)) continue;
      seen.add(esim.esimTranNo);
      yield* ordersOf(esim, from, to);
    }
    if (isLast(page, seen.size)) return;
    if (seen.size === before) throw unreadable(`page ${pageNum} repeats, or is missing`);
  }
  throw new SupplierUnavailable(`orders: more than ${MAX_PAGES} pages`, { retryable: false });
}

function isLast({ esims, total }: WireEsimPage, seen: number): boolean {
  return total === null ? esims.length < PAGE_SIZE : seen >= total;
}

async function pageOf(client: Client, body: object): Promise<WireEsimPage> {
  const obj = answeredObj('orders', await client.call('/esim/query', body, PAGE));
  return readable('orders', () => readEsims(obj));
}

/** The order itself comes first, also where the vendor does not say what was in it. */
function* ordersOf(esim: WireEsim, from: Date, to: Date): Generator<ListedOrder> {
  const own = esim.packages.find((item) => item.transactionId === esim.transactionId) ?? esim.packages[0];
  const listedAt = timeOf(own?.createTime) ?? from;
  // Cut to whole seconds as the window was.
  if (listedAt.getTime() < Math.trunc(from.getTime() / 1000) * 1000 || listedAt >= to) return;
  const { orderNo, esimTranNo, transactionId } = esim;
  const isRefunded = esim.esimStatus === CANCELLED_WITH_REFUND;
  // Without a time it may have been ordered as late as the window's end.
  const shared = { orderNo, esimTranNo, isRefunded, listedAt };
  yield {
    ...shared,
    transactionId,
    packageCode: own?.packageCode ?? '',
    at: timeOf(own?.createTime) ?? to,
  };
  for (const item of esim.packages) {
    if (item === own) continue;
    const { transactionId: topUpId, packageCode } = item;
    yield { ...shared, transactionId: topUpId, packageCode, at: timeOf(item.createTime) ?? to };
  }
}

function timeOf(createTime: string | undefined): Date | null {
  const iso = isoTimeOf(createTime ?? '');
  return iso === null ? null : new Date(iso);
}

function unreadable(detail: string): SupplierUnavailable {
  return new SupplierUnavailable(`orders: ${detail}`, { retryable: true });
}
