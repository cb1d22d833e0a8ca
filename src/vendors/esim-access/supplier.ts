/**
 * The port esim-supplier on the vendor's HTTP API. Guarantee: an effect is done only if the vendor says so,
 * and refused only on a code that its table calls final. Everything else is unknown. Requests carry only ids
 * that the caller gave. Must not log activation codes, PIN, PUK or keys.
 */
import type { EsimSupplier, Outcome, SupplierEventSource } from '../../esims/port.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { createCatalogueReader } from './catalogue.ts';
import { ask, createClient, type Answer, type Client, type ClientOptions, type Pacing } from './client.ts';
import { CODE_WRONG_STATE, meaningOf, NAME } from './codes.ts';
import {
  CANCELLED_WITH_REFUND,
  esimStatusOf,
  effectFailure,
  isAllocating,
  isUnallocated,
  profileOf,
  totalsOf,
  esimPageOf,
} from './map.ts';
import { findOrder, listOrders } from './orders.ts';
import { readBalance, readEventsUrl, readOrder, readTopUp, readUsages, type WireEsim } from './wire.ts';
import { readEvent } from './webhook.ts';

const DEFAULT_IMAGE_HOST = 'https://p.qrsim.net';
/** The smallest page that the vendor's reference allows. */
const SMALL_PAGE = { pageNum: 1, pageSize: 5 } as const;
const MAX_USAGE_QUERIES = 10;
/** The vendor calls the address before it answers. */
const SAVE = { timeLimitMs: 15_000 } as const;

export interface EsimAccessOptions extends ClientOptions {
  readonly logger?: Pick<Logger, 'warn'> | undefined;
  /** Where the vendor's image paths are served. */
  readonly imageHost?: string | undefined;
}

interface PacedSupplier extends EsimSupplier, SupplierEventSource {}

export interface EsimAccessSupplier extends PacedSupplier {
  /** The same supplier for another kind of work, which waits for its turn elsewhere. */
  pacedBy(pacing: Pacing): PacedSupplier;
  /** Closes kept-alive connections when the process ends. */
  close(): void;
}

type Context = Pick<EsimAccessOptions, 'logger'> & { readonly client: Client };

/** Makes the supplier of one account. Throws TypeError when `baseUrl` is no http or https URL. */
export function createEsimAccessSupplier(options: EsimAccessOptions): EsimAccessSupplier {
  const { logger, imageHost = DEFAULT_IMAGE_HOST } = options;
  const client = createClient(options);
  const supplierOn = (paced: Client): PacedSupplier => {
    const context: Context = { client: paced, logger };
    return {
      name: NAME,
      // The vendor's reference promises it of orders alone.
      repeats: { order: 'same-request', topUp: 'unknown' },
      effectTimeLimitMs: paced.timeLimitMs,
      ...createCatalogueReader(paced, imageHost, logger),
      ...createEffects(context),
      ...createReads(context),
      ...createEventSource(paced),
    };
  };
  return {
    ...supplierOn(client),
    pacedBy: (pacing) => supplierOn(client.pacedBy(pacing)),
    close: () => client.close(),
  };
}

/**
 * An effect's outcome: the value read from a yes (a yes that cannot be read is unknown), or what the failure
 * means.
 */
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
      logger?.warn(
        { operation, reason: (error as Error).message },
        'supplier said yes in a form that cannot be read',
      );
      return { outcome: 'unknown', detail: `unreadable yes: ${(error as Error).message}` };
    }
  }
  if (answer.kind === 'failed' && meaningOf(answer.code).kind === 'unseen') {
    logger?.warn({ operation, code: answer.code }, 'supplier code never seen before');
  }
  return effectFailure(kind, answer);
}

/** An answer about another purchase than the one asked for proves nothing about ours. */
function requireSameId(wanted: string, answered: string): void {
  if (answered !== '' && answered !== wanted) throw new Error('the answer is about another transactionId');
}

function createEffects(context: Context): Pick<EsimSupplier, 'order' | 'topUp' | 'cancel' | 'revoke'> {
  const { client } = context;
  return {
    order: async ({ transactionId, accountId, packageCode, costUsdE4 }, fence) => {
      const price = Number(costUsdE4);
      const body = { transactionId, amount: price, packageInfoList: [{ packageCode, count: 1, price }] };
      const answer = await client.call('/esim/order', body, { fence, accountId });
      return outcomeOf(context, { kind: 'order', operation: 'order', answer }, (obj) => {
        const order = readOrder(obj);
        requireSameId(transactionId, order.transactionId);
        return { orderNo: order.orderNo };
      });
    },

    topUp: async ({ transactionId, accountId, packageCode, costUsdE4, esimTranNo }, fence) => {
      const body = { esimTranNo, packageCode, transactionId, amount: costUsdE4.toString() };
      const answer = await client.call('/esim/topup', body, { fence, accountId });
      return outcomeOf(context, { kind: 'change', operation: 'topup', answer }, (obj) => {
        const { transactionId: answeredId, ...totals } = readTopUp(obj);
        requireSameId(transactionId, answeredId);
        return totals;
      });
    },

    // Where the state forbids it, checks whether that is because it was cancelled, with its refund, before.
    cancel: async ({ esimTranNo, accountId }, fence) => {
      const answer = await client.call('/esim/cancel', { esimTranNo }, { fence, accountId });
      const outcome = outcomeOf(context, { kind: 'change', operation: 'cancel', answer }, () => null);
      if (answer.kind !== 'failed' || answer.code !== CODE_WRONG_STATE) return outcome;
      const listed = await readEsim(client, { esimTranNo, accountId });
      if (listed.outcome !== 'done') return listed;
      const isRefunded = listed.value.profile.esimStatus === CANCELLED_WITH_REFUND;
      return isRefunded ? { outcome: 'done', value: null } : outcome;
    },

    // The same: whether it has ended already is asked.
    revoke: async ({ esimTranNo, accountId }, fence) => {
      const answer = await client.call('/esim/revoke', { esimTranNo }, { fence, accountId });
      const outcome = outcomeOf(context, { kind: 'change', operation: 'revoke', answer }, () => null);
      if (answer.kind !== 'failed' || answer.code !== CODE_WRONG_STATE) return outcome;
      const listed = await readEsim(client, { esimTranNo, accountId });
      if (listed.outcome !== 'done') return listed;
      const status = esimStatusOf(listed.value.profile.esimStatus);
      return status === 'CANCELLED' || status === 'EXPIRED' ? { outcome: 'done', value: null } : outcome;
    },
  };
}

function createReads({
  client,
  logger,
}: Context): Pick<EsimSupplier, 'findOrder' | 'findTopUp' | 'profile' | 'usage' | 'orders' | 'balance'> {
  return {
    findOrder: (request) => findOrder(client, request),

    findTopUp: async ({ transactionId, esimTranNo, accountId }) => {
      const listed = await readEsim(client, { esimTranNo, accountId });
      if (listed.outcome !== 'done') return listed;
      const { profile, packageList } = listed.value;
      const held = packageList.find((item) => item.transactionId === transactionId);
      if (!held) return { outcome: 'done', value: { found: false } };
      const totals = totalsOf(profile);
      if (totals === null) return { outcome: 'unknown', detail: 'the listed eSIM lacks its ICCID or totals' };
      return { outcome: 'done', value: { found: true, packageCode: held.packageCode, totals } };
    },

    profile: async (query) => {
      const answer = await queryEsim(client, query);
      if (isAllocating(answer)) return { outcome: 'done', value: { state: 'allocating' } };
      const listed = listedEsim(query, answer);
      if (listed.outcome !== 'done') return listed;
      if (isUnallocated(listed.value.profile)) return { outcome: 'done', value: { state: 'allocating' } };
      const profile = profileOf(listed.value);
      if (profile === null)
        return { outcome: 'unknown', detail: 'the listed eSIM lacks its ICCID, code or totals' };
      if (profile.status === null) {
        logger?.warn(
          { esimStatus: profile.supplierStatus.slice(0, 40) },
          'supplier status never seen before',
        );
      }
      return { outcome: 'done', value: { state: 'ready', profile } };
    },

    usage: async (esimTranNos) => {
      if (esimTranNos.length > MAX_USAGE_QUERIES)
        throw new RangeError(`at most ${MAX_USAGE_QUERIES} eSIMs a call`);
      if (esimTranNos.length === 0) return [];
      return ask(client, 'usage', ['/esim/usage/query', { esimTranNoList: esimTranNos }], readUsages);
    },

    orders: (from, to) => listOrders(client, from, to),

    balance: () => ask(client, 'balance', ['/balance/query'], readBalance),
  };
}

function createEventSource(client: Client): SupplierEventSource {
  return {
    readEvent,
    eventsUrl: () => ask(client, 'events URL', ['/webhook/query'], readEventsUrl),
    // Saving the same URL twice changes nothing.
    saveEventsUrl: (webhook) =>
      ask(client, 'events URL', ['/webhook/save', { webhook }, SAVE], () => undefined),
  };
}

type EsimQuery = Parameters<EsimSupplier['profile']>[0];

const queryEsim = (client: Client, { accountId, ...query }: EsimQuery): Promise<Answer> =>
  client.call('/esim/query', { ...query, pager: SMALL_PAGE }, { isIdempotent: true, accountId });

const readEsim = async (client: Client, query: EsimQuery): Promise<Outcome<WireEsim>> =>
  listedEsim(query, await queryEsim(client, query));

/**
 * The eSIM that was asked for: a list that was not narrowed as asked must not pass another customer's eSIM
 * for ours.
 */
function listedEsim(query: EsimQuery, answer: Answer): Outcome<WireEsim> {
  const page = esimPageOf(answer);
  if (page.outcome !== 'done') return page;
  const esim = page.value.esims.find(({ profile }) =>
    'orderNo' in query ? profile.orderNo === query.orderNo : profile.esimTranNo === query.esimTranNo,
  );
  // We bought it and it is not listed: the list lags, or worse. A person must find out, and no money moves on
  // it.
  return esim
    ? { outcome: 'done', value: esim }
    : { outcome: 'unknown', detail: 'the supplier lists no such eSIM' };
}
