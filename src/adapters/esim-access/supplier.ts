/**
 * The port esim-supplier on the vendor's HTTP API. Guarantee: an effect is done only on the vendor's own yes, refused only on a code
 * that is final by its table, and unknown in every other case; nothing is ever sent under an id that the caller did not give.
 * Must not log activation codes, PIN, PUK or keys.
 */
import type { Clock } from '../../ports/clock.ts';
import type { EsimSupplier, FindRequest, Outcome } from '../../ports/esim-supplier.ts';
import type { Pacer } from '../../ports/rate-limiter.ts';
import { answeredObj, createCatalogueReader, readable } from './catalogue.ts';
import { createClient, type Answer, type Client } from './client.ts';
import { CODE_WRONG_STATE, meaningOf } from './codes.ts';
import { silentLogger, type Logger } from './logger.ts';
import {
  CANCELLED_WITH_REFUND,
  effectFailure,
  isAllocating,
  isUnallocated,
  profileOf,
  questionFailure,
  topUpTotalsOf,
  usageOf,
  wireTimeOf,
} from './map.ts';
import { listOrders } from './order-list.ts';
import {
  readBalance,
  readEsims,
  readOrder,
  readTopUp,
  readUsages,
  type WireEsim,
  type WireEsimPage,
} from './wire.ts';

/** Five times the slowest answer that the vendor's pages lead one to expect. */
const DEFAULT_TIME_LIMIT_MS = 5000;
/** At 8 calls a second this is a queue of 40; a longer one is a caller's problem to spread. */
const DEFAULT_PACE_WITHIN_MS = 5000;
const DEFAULT_IMAGE_HOST = 'https://p.qrsim.net';
/** The vendor's clock and ours may differ, and an order may be taken some time after it was sent. */
const FIND_SLACK_MS = 120_000;
const FIND_PAGE_SIZE = 500;
/** 20,000 eSIMs in the window of one search: whoever sells that many needs a narrower one, and gets "unknown" rather than "none". */
const FIND_MAX_PAGES = 40;
/** The least that the vendor's reference allows. */
const LOOK_PAGE = { pageNum: 1, pageSize: 5 } as const;
const MAX_USAGE_QUERIES = 10;

export interface EsimAccessOptions {
  readonly baseUrl: string;
  readonly accessCode: string;
  /** Signing key; the access code where the account has no secret of its own. */
  readonly secretKey?: string | undefined;
  /** Sends the HMAC headers as well. */
  readonly sign: boolean;
  /** Shared by everything that calls under this account. */
  readonly pacer: Pacer;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  readonly timeLimitMs?: number | undefined;
  readonly paceWithinMs?: number | undefined;
  /** Where the vendor's image paths are served. */
  readonly imageHost?: string | undefined;
}

export interface EsimAccessSupplier extends EsimSupplier {
  /** Closes kept-alive connections when the process ends. */
  close(): void;
}

type Context = { readonly client: Client; readonly logger: Logger; readonly clock: Clock };

/** Makes the supplier of one account. Throws TypeError when `baseUrl` is no http or https URL. */
export function createEsimAccessSupplier(options: EsimAccessOptions): EsimAccessSupplier {
  const { clock, logger = silentLogger, imageHost = DEFAULT_IMAGE_HOST } = options;
  const client = createClient({
    baseUrl: options.baseUrl,
    credentials: { accessCode: options.accessCode, secretKey: options.secretKey, sign: options.sign },
    pacer: options.pacer,
    clock,
    timeLimitMs: options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
    paceWithinMs: options.paceWithinMs ?? DEFAULT_PACE_WITHIN_MS,
  });
  const context: Context = { client, logger, clock };
  return {
    name: 'esim-access',
    ...createCatalogueReader({ client, imageHost, logger }),
    ...createPurchases(context),
    ...createQuestions(context),
    cancel: (esimTranNo) => cancel(context, esimTranNo),
    close: () => client.close(),
  };
}

/** An effect's outcome: the value read from a yes (a yes that cannot be read is unknown), or what the failure means. */
function outcomeOf<T>(
  { logger }: Context,
  call: { readonly kind: 'order' | 'change'; readonly operation: string; readonly answer: Answer },
  read: (obj: unknown) => T,
): Outcome<T> {
  const { kind, operation, answer } = call;
  if (answer.kind === 'answered') {
    try {
      return { outcome: 'done', value: read(answer.obj) };
    } catch (error) {
      logger.warn(
        { operation, reason: (error as Error).message },
        'supplier said yes in a form that cannot be read',
      );
      return { outcome: 'unknown', detail: `unreadable yes: ${(error as Error).message}` };
    }
  }
  if (answer.kind === 'failed' && meaningOf(answer.code).kind === 'unseen') {
    logger.warn({ operation, code: answer.code }, 'supplier code never seen before');
  }
  return effectFailure(kind, answer);
}

/** An answer about another purchase than the one asked for proves nothing about ours. */
function requireSameId(wanted: string, answered: string): void {
  if (answered !== '' && answered !== wanted) throw new Error('the answer is about another transactionId');
}

function createPurchases(context: Context): Pick<EsimSupplier, 'order' | 'topUp'> {
  const { client } = context;
  return {
    order: async ({ transactionId, packageCode, costUsdE4 }) => {
      const price = Number(costUsdE4);
      const body = { transactionId, amount: price, packageInfoList: [{ packageCode, count: 1, price }] };
      const answer = await client.call('/esim/order', body);
      return outcomeOf(context, { kind: 'order', operation: 'order', answer }, (obj) => {
        const order = readOrder(obj);
        requireSameId(transactionId, order.transactionId);
        return { orderNo: order.orderNo };
      });
    },

    topUp: async ({ transactionId, packageCode, costUsdE4, esimTranNo }) => {
      const body = { esimTranNo, packageCode, transactionId, amount: costUsdE4.toString() };
      const answer = await client.call('/esim/topup', body);
      return outcomeOf(context, { kind: 'change', operation: 'topup', answer }, (obj) => {
        const topUp = readTopUp(obj);
        requireSameId(transactionId, topUp.transactionId);
        return topUpTotalsOf(topUp);
      });
    },
  };
}

function createQuestions(
  context: Context,
): Pick<EsimSupplier, 'findOrder' | 'findTopUp' | 'profile' | 'usage' | 'orders' | 'balance'> {
  const { client, logger } = context;
  return {
    findOrder: (request) => findOrder(context, request),

    findTopUp: async ({ transactionId, esimTranNo }) => {
      const looked = await queryEsims(client, { esimTranNo, pager: LOOK_PAGE });
      if (looked.outcome !== 'done') return looked;
      const esim = looked.value.esims.find((listed) => isAskedFor(listed, { esimTranNo }));
      if (esim === undefined) return notListed;
      return {
        outcome: 'done',
        value: { found: esim.packages.some((item) => item.transactionId === transactionId) },
      };
    },

    profile: async (query) => {
      const answer = await client.call('/esim/query', { ...query, pager: LOOK_PAGE }, { question: true });
      if (isAllocating(answer)) return { outcome: 'done', value: { state: 'allocating' } };
      const looked = readLook(answer);
      if (looked.outcome !== 'done') return looked;
      const esim = looked.value.esims.find((listed) => isAskedFor(listed, query));
      if (esim === undefined) return notListed;
      if (isUnallocated(esim)) return { outcome: 'done', value: { state: 'allocating' } };
      const profile = profileOf(esim);
      if (profile === null)
        return { outcome: 'unknown', detail: 'the listed eSIM lacks its ICCID, code or totals' };
      if (profile.status === null) {
        logger.warn({ esimStatus: profile.supplierStatus.slice(0, 40) }, 'supplier status never seen before');
      }
      return { outcome: 'done', value: { state: 'ready', profile } };
    },

    usage: async (esimTranNos) => {
      if (esimTranNos.length > MAX_USAGE_QUERIES)
        throw new RangeError(`at most ${MAX_USAGE_QUERIES} eSIMs a call`);
      if (esimTranNos.length === 0) return [];
      const body = { esimTranNoList: esimTranNos };
      const obj = answeredObj('usage', await client.call('/esim/usage/query', body, { question: true }));
      return readable('usage', () => readUsages(obj).map(usageOf));
    },

    orders: (from, to) => listOrders(client, from, to),

    balance: async () => {
      const obj = answeredObj('balance', await client.call('/balance/query', {}, { question: true }));
      return readable('balance', () => readBalance(obj));
    },
  };
}

type Look = Outcome<WireEsimPage>;
type EsimQuery = { readonly orderNo: string } | { readonly esimTranNo: string };

/** An eSIM that we bought and that is not listed: lagging, or worse; somebody must look, and no money moves on it. */
const notListed = { outcome: 'unknown', detail: 'the supplier lists no such eSIM' } as const;

/** A list that was not narrowed as asked must not pass another customer's eSIM for ours. */
function isAskedFor(listed: WireEsim, query: EsimQuery): boolean {
  return 'orderNo' in query ? listed.orderNo === query.orderNo : listed.esimTranNo === query.esimTranNo;
}

async function queryEsims(client: Client, body: object): Promise<Look> {
  return readLook(await client.call('/esim/query', body, { question: true }));
}

function readLook(answer: Answer): Look {
  if (answer.kind !== 'answered') return questionFailure(answer);
  try {
    return { outcome: 'done', value: readEsims(answer.obj) };
  } catch (error) {
    return { outcome: 'unknown', detail: `unreadable list: ${(error as Error).message}` };
  }
}

/**
 * Looks through the orders since we first asked, since the wire knows no query by our id. null means that none is listed: an order
 * whose profiles are still being allocated may not be listed yet, so null allows asking again under the same id (which the vendor
 * takes as the same request) but does not prove that giving the money back is safe.
 */
async function findOrder(
  { client, clock }: Context,
  { transactionId, askedAt }: FindRequest,
): Promise<Outcome<{ readonly orderNo: string; readonly esimTranNo: string } | null>> {
  // Asking may have gone on until now, so that is where the window ends.
  const lastAskedAtMs = Math.max(askedAt.getTime(), clock.now().getTime());
  const window = {
    startTime: wireTimeOf(new Date(askedAt.getTime() - FIND_SLACK_MS)),
    endTime: wireTimeOf(new Date(lastAskedAtMs + FIND_SLACK_MS)),
  };
  let seen = 0;
  for (let pageNum = 1; pageNum <= FIND_MAX_PAGES; pageNum += 1) {
    const page = await queryEsims(client, { ...window, pager: { pageNum, pageSize: FIND_PAGE_SIZE } });
    if (page.outcome !== 'done') return page;
    const { esims, total } = page.value;
    const ours = esims.find((esim) => esim.transactionId === transactionId);
    if (ours !== undefined && ours.orderNo !== '') {
      return { outcome: 'done', value: { orderNo: ours.orderNo, esimTranNo: ours.esimTranNo } };
    }
    seen += esims.length;
    if (esims.length === 0 || (total !== null && seen >= total)) return { outcome: 'done', value: null };
  }
  return { outcome: 'unknown', detail: `not among the first ${seen} eSIMs since it was asked for` };
}

/** Cancels; where the state forbids it, looks whether that is because it was cancelled (with its refund) before. */
async function cancel(context: Context, esimTranNo: string): Promise<Outcome<null>> {
  const answer = await context.client.call('/esim/cancel', { esimTranNo });
  const outcome = outcomeOf(context, { kind: 'change', operation: 'cancel', answer }, () => null);
  if (answer.kind !== 'failed' || answer.code !== CODE_WRONG_STATE) return outcome;
  const looked = await queryEsims(context.client, { esimTranNo, pager: LOOK_PAGE });
  if (looked.outcome !== 'done') return looked;
  const esim = looked.value.esims.find((listed) => isAskedFor(listed, { esimTranNo }));
  if (esim === undefined) return notListed;
  return esim.esimStatus === CANCELLED_WITH_REFUND ? { outcome: 'done', value: null } : outcome;
}
