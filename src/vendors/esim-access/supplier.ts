/**
 * The port esim-supplier on the vendor's HTTP API. Guarantee: an effect is done only on the vendor's own yes, refused only on a code
 * that is final by its table, and unknown in every other case; nothing is ever sent under an id that the caller did not give.
 * Must not log activation codes, PIN, PUK or keys.
 */
import type { Clock } from '../../domain/clock.ts';
import type { EsimSupplier, Outcome } from '../../esims/port.ts';
import type { Pacer } from '../../platform/rate-limiter.ts';
import { answeredObj, createCatalogueReader, readable } from './catalogue.ts';
import { createClient, type Answer, type Client } from './client.ts';
import { CODE_WRONG_STATE, meaningOf } from './codes.ts';
import { findOrder } from './find-order.ts';
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

type Context = { readonly client: Client; readonly logger: Logger };

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
  const context: Context = { client, logger };
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
    order: async ({ transactionId, packageCode, costUsdE4, sendBefore }) => {
      const price = Number(costUsdE4);
      const body = { transactionId, amount: price, packageInfoList: [{ packageCode, count: 1, price }] };
      const answer = await client.call('/esim/order', body, { sendBefore });
      return outcomeOf(context, { kind: 'order', operation: 'order', answer }, (obj) => {
        const order = readOrder(obj);
        requireSameId(transactionId, order.transactionId);
        return { orderNo: order.orderNo };
      });
    },

    topUp: async ({ transactionId, packageCode, costUsdE4, esimTranNo, sendBefore }) => {
      const body = { esimTranNo, packageCode, transactionId, amount: costUsdE4.toString() };
      const answer = await client.call('/esim/topup', body, { sendBefore });
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
    findOrder: (request) => findOrder(client, request),

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
