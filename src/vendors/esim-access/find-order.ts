/**
 * Looks for an order among those that the vendor lists, since its wire knows no query by our id. Goes through the list by windows of time, oldest
 * first, small enough to be read to their end, and says how far it came where one call is not enough.
 */
import type { FindRequest, OrderSearch, Outcome } from '../../esims/port.ts';
import type { Client } from './client.ts';
import { questionFailure, wireTimeOf } from './map.ts';
import { readEsims, type WireEsim, type WireEsimPage } from './wire.ts';

/** The vendor's clock and ours may differ, and an order may be taken some time after it was sent. */
const SLACK_MS = 120_000;
/** The most that the vendor gives at once. */
const PAGE_SIZE = 500;
/** A window with more than five pages is halved: a list that grows while it is read repeats itself. */
const MOST_PER_WINDOW = 5 * PAGE_SIZE;
/** The vendor's times are whole seconds. */
const SMALLEST_WINDOW_MS = 1_000;
/** Five seconds of the vendor's 8 requests a second. The next search goes on where this one ended. */
const MOST_PAGES = 40;

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Never creates anything. `not-listed` proves nothing about an order that is still being allocated: the vendor lists it later. */
export async function findOrder(client: Client, request: FindRequest): Promise<Outcome<OrderSearch>> {
  const { transactionId, from, until } = request;
  const waiting: Window[] = [{ fromMs: from.getTime() - SLACK_MS, toMs: until.getTime() + SLACK_MS }];
  let pages = 0;
  for (let window = waiting.shift(); window; window = waiting.shift()) {
    let seen = 0;
    for (let pageNum = 1; ; pageNum += 1) {
      if (pages === MOST_PAGES) return done({ state: 'searching', searchedUntil: new Date(window.fromMs) });
      const page = await pageOf(client, window, pageNum);
      pages += 1;
      if (page.outcome !== 'done') return page;
      const { esims, total } = page.value;
      const ours = esims.find((esim) => esim.transactionId === transactionId && esim.orderNo !== '');
      if (ours) return done(found(ours));
      if (
        pageNum === 1 &&
        (total ?? 0) > MOST_PER_WINDOW &&
        window.toMs - window.fromMs > SMALLEST_WINDOW_MS
      ) {
        waiting.unshift(...halvesOf(window));
        break;
      }
      seen += esims.length;
      if (esims.length === 0 || (total !== null && seen >= total)) break;
    }
  }
  return done({ state: 'not-listed' });
}

const done = (value: OrderSearch): Outcome<OrderSearch> => ({ outcome: 'done', value });

const found = ({ orderNo, esimTranNo }: WireEsim): OrderSearch => ({ state: 'found', orderNo, esimTranNo });

/** They share a second, as the vendor counts both ends in. */
function halvesOf({ fromMs, toMs }: Window): [Window, Window] {
  const middleMs = fromMs + Math.ceil((toMs - fromMs) / 2);
  return [
    { fromMs, toMs: middleMs },
    { fromMs: middleMs, toMs },
  ];
}

async function pageOf(client: Client, window: Window, pageNum: number): Promise<Outcome<WireEsimPage>> {
  const times = {
    startTime: wireTimeOf(new Date(window.fromMs)),
    endTime: wireTimeOf(new Date(window.toMs)),
  };
  const body = { ...times, pager: { pageNum, pageSize: PAGE_SIZE } };
  const answer = await client.call('/esim/query', body, { question: true });
  if (answer.kind !== 'answered') return questionFailure(answer);
  try {
    return { outcome: 'done', value: readEsims(answer.obj) };
  } catch (error) {
    return { outcome: 'unknown', detail: `unreadable list: ${(error as Error).message}` };
  }
}
