/** Charges that a person pays on the hosted page, and how all charges are read. */
import type { GatewayContext } from '../context.ts';
import { invalid, notFound, optionalUrl, pageNumber, timeOf, type Params } from '../errors.ts';
import { timelineData, transactionData } from '../present/transaction.ts';
import {
  CHANNELS,
  channelsOf,
  isTransferable,
  noChannel,
  requireTransferable,
  type Channel,
  type Currency,
} from '../rules.ts';
import {
  begin,
  requireUnused,
  wantedIn,
  requireReference,
  requireTransaction,
  transactionById,
  type Operations,
} from './operation.ts';

const PER_PAGE = 50;
const MAX_PER_PAGE = 1000;
const MAX_PAGES = 1_000_000;

/** The channels asked for; all when none are. */
function wantedChannels(params: Params): readonly Channel[] {
  const channels = params['channels'] ?? CHANNELS;
  if (!Array.isArray(channels) || channels.length === 0) throw invalid('channels must be a list');
  const unknown = (channels as unknown[]).find((name) => !CHANNELS.some((channel) => channel === name));
  if (unknown !== undefined) throw invalid(`channels may hold ${CHANNELS.join(', ')}`);
  return channels as Channel[];
}

/** What the page will offer: asked for, served in this currency, and large enough for a transfer. */
function offered(context: GatewayContext, params: Params, currency: Currency, amount: number): Channel[] {
  const wanted = wantedChannels(params);
  const served = channelsOf(context.integration, currency).filter((channel) => wanted.includes(channel));
  if (served.length === 0) throw noChannel();
  if (served.every((channel) => channel === 'bank_transfer')) requireTransferable(amount, currency);
  return served.filter((channel) => channel !== 'bank_transfer' || isTransferable(amount, currency));
}

/** Page, size and time of a listing; a `to` that is only a day means its last moment. */
export function pageOf(query: URLSearchParams) {
  const perPage = pageNumber(query, 'perPage', PER_PAGE, MAX_PER_PAGE);
  const page = pageNumber(query, 'page', 1, MAX_PAGES);
  const fromMs = timeOf(query.get('from'), 'from') ?? 0;
  const to = query.get('to');
  const toMs = (timeOf(to, 'to') ?? Number.MAX_SAFE_INTEGER) + (to?.length === 10 ? 86_399_999 : 0);
  return { skipped: (page - 1) * perPage, perPage, page, fromMs, toMs };
}

function filterOf(query: URLSearchParams) {
  const [status, currency, customer] = ['status', 'currency', 'customer'].map(
    (name) => query.get(name) || undefined,
  );
  if (customer !== undefined && !/^\d{1,15}$/.test(customer)) throw invalid('customer must be a number');
  return { status, currency, customerId: customer === undefined ? undefined : Number(customer) };
}

export const transactions = {
  /** Verify says `abandoned` until the page is opened. */
  'transaction/initialize': (context, { body }) => {
    const wanted = wantedIn(context, body, 'Email Address is required');
    const callbackUrl = optionalUrl(body, 'callback_url') ?? null;
    const channels = offered(context, body, wanted.currency, wanted.requested);
    requireUnused(context, wanted.reference);
    const { accessCode, reference } = context.database.transact(() =>
      begin(context, wanted, () => ({
        origin: 'initialize',
        status: 'abandoned',
        channel: channels.length === 1 ? (channels[0] ?? null) : null,
        channels,
        callbackUrl,
      })),
    );
    const authorization_url = context.pageUrl(accessCode);
    const data = { authorization_url, access_code: accessCode, reference };
    return { message: 'Authorization URL created', data };
  },
  'transaction/verify': (context, { id }) => ({
    message: 'Verification successful',
    data: transactionData(context, requireReference(context, id)),
  }),
  'transaction/list': (context, { query }) => {
    const { skipped, perPage, page, fromMs, toMs } = pageOf(query);
    const where = { ...filterOf(query), createdAtMs: { from: fromMs, to: toMs } };
    const rows = context.transactions.list(where, { isNewestFirst: true, limit: perPage, offset: skipped });
    const total = context.transactions.count(where);
    return {
      message: 'Transactions retrieved',
      data: rows.map((row) => transactionData(context, row, null)),
      meta: {
        total,
        total_volume: context.transactions.sum('received', where),
        skipped,
        perPage,
        page,
        pageCount: Math.ceil(total / perPage),
        next: null,
        previous: null,
      },
    };
  },
  'transaction/fetch': (context, { id }) => {
    if (!/^\d+$/.test(id)) throw invalid('Transaction ID should be numeric.');
    const row = transactionById(context, id);
    if (row === undefined) throw notFound('Transaction not found', 'transaction_not_found');
    return { message: 'Transaction retrieved', data: transactionData(context, row) };
  },
  'transaction/timeline': (context, { id }) => ({
    message: 'Timeline retrieved',
    data: timelineData(requireTransaction(context, id)),
  }),
} satisfies Operations;
