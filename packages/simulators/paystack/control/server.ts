/**
 * The gateway's control interface: what it may do to charges, refunds, webhooks, the clock and the faults. A
 * request that makes no sense is a ControlError and changes nothing.
 */
import { z } from 'zod';
import {
  AMOUNT,
  checked,
  ControlError,
  ControlText,
  createControlApp,
  found,
  oneOf,
  readLimit,
  whole,
  type Routes,
  faultRoutes,
} from '../../kit/control.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Stats } from '../../kit/server.ts';
import { abandon, decline, receive, reverse } from '../actions/charge.ts';
import { emitDispute, moveRefund, openDispute, resolveDispute } from '../actions/refund.ts';
import type { GatewayContext } from '../context.ts';
import type { DisputeRow, RefundRow, TransactionRow, EventRow } from '../storage.ts';
import { GatewayError, timeOf } from '../errors.ts';
import { FAULTS } from '../faults.ts';
import { CURRENCIES } from '../rules.ts';
import { iso, isoOrNull } from '../wire.ts';

const MAX_TIMES = 10;
const REASON = 'must be a text of 1 to 200 characters';
const POSITIVE = whole(1, Number.MAX_SAFE_INTEGER, 'must be a whole number from 1');

const PAY = z.strictObject({
  amountMinor: POSITIVE.optional(),
  currency: oneOf(CURRENCIES).optional(),
  feesMinor: AMOUNT.optional(),
  times: whole(1, MAX_TIMES, `must be a whole number from 1 to ${MAX_TIMES}`).default(1),
});
const FAIL = z.strictObject({ reason: z.string(REASON).min(1, REASON).max(200, REASON).default('Declined') });
const NOTHING = z.strictObject({});
const DISPUTE = z.strictObject({
  action: oneOf(['create', 'remind', 'resolve']).default('create'),
  amountMinor: POSITIVE.optional(),
  resolution: oneOf(['merchant-accepted', 'auto-accepted', 'declined']).default('merchant-accepted'),
});

/** The charge with this reference, or 404. */
function requireCharge({ transactions }: GatewayContext, reference: string): TransactionRow {
  return found(transactions.find({ reference }), 'no charge with this reference');
}

function refuseWhere(isWrong: boolean, row: TransactionRow, action: string): void {
  if (isWrong) throw new ControlError(409, [`the charge is ${row.status} and cannot be ${action}`]);
}

function openDisputeOf(context: GatewayContext, row: TransactionRow): DisputeRow {
  const open = context.disputes.list({ transactionId: row.id }).find(({ status }) => status !== 'resolved');
  if (open === undefined) throw new ControlError(409, ['the charge has no open dispute']);
  return open;
}

type Change = (context: GatewayContext, row: TransactionRow) => void;

/** `POST /charges/{reference}/{name}`: reads the body, and answers the change. */
const CHARGE_CHANGES: Record<string, (body: unknown) => Change> = {
  /** Money comes, `times` times. */
  pay: (body) => {
    const { times, ...payment } = checked(PAY, body);
    return (context, before) => {
      refuseWhere(before.status === 'reversed', before, 'paid');
      const { currency = before.paidCurrency } = payment;
      if (before.paidCurrency !== null && currency !== before.paidCurrency) {
        throw new ControlError(409, [`the charge has received ${before.paidCurrency} and takes no other`]);
      }
      let row = before;
      for (let i = 0; i < times; i += 1) row = receive(context, row, payment);
    };
  },
  fail: (body) => {
    const { reason } = checked(FAIL, body);
    return (context, row) => {
      refuseWhere(row.paidAtMs !== null, row, 'failed');
      decline(context, row, reason);
    };
  },
  abandon: (body) => {
    checked(NOTHING, body);
    return (context, row) => {
      refuseWhere(row.paidAtMs !== null, row, 'abandoned');
      abandon(context, row);
    };
  },
  /** What is left of the money is taken back. */
  reverse: (body) => {
    checked(NOTHING, body);
    return (context, row) => {
      refuseWhere(row.status !== 'success', row, 'reversed');
      reverse(context, row);
    };
  },
  dispute: (body) => {
    const { action, amountMinor, resolution } = checked(DISPUTE, body);
    return (context, row) => {
      if (action === 'remind') emitDispute(context, 'remind', openDisputeOf(context, row));
      else if (action === 'resolve') resolveDispute(context, openDisputeOf(context, row), resolution);
      else {
        refuseWhere(row.status !== 'success', row, 'disputed');
        const left = row.received - row.givenBack;
        const amount = amountMinor ?? left;
        if (amount > left) throw new ControlError(400, [`amountMinor must be at most ${left}`]);
        openDispute(context, row, amount);
      }
    };
  },
};

/** `POST /refunds/{id}/{name}`: how the refund ends. */
const REFUND_ENDS = {
  process: 'processed',
  fail: 'failed',
  'needs-attention': 'needs-attention',
} as const satisfies Record<string, RefundRow['outcome']>;

/** Ends a refund that is under way, also one that a fault holds. */
function endRefund(context: GatewayContext, id: string, status: RefundRow['outcome']): RefundRow {
  const refund = found(context.refunds.get(Number(id)), 'no refund with this id');
  if (refund.status !== 'pending' && refund.status !== 'processing') {
    throw new ControlError(409, [`the refund is ${refund.status} already`]);
  }
  return context.database.transact(() => moveRefund(context, refund, status));
}

/** Ten years: more than any schedule lasts. */
const LONGEST_SKIP_MS = 315_360_000_000;

interface ControlOptions {
  context: GatewayContext;
  clock: Clock;
  stats: Stats;
  runDue: () => void;
  advance: (byMs: number) => Promise<void>;
  /** Has the API listen, or refuse connections, as the faults say. */
  applyReach: () => Promise<void>;
  onBug: (error: unknown) => void;
}

/** `from` or `to` of a query. */
function momentOf(query: URLSearchParams, name: 'from' | 'to'): number | undefined {
  try {
    return timeOf(query.get(name), name);
  } catch (error) {
    if (error instanceof GatewayError) throw new ControlError(400, [`${name} must be an ISO time`]);
    throw error;
  }
}

const STATEMENT_COLUMNS = ['kind', 'reference', 'amountMinor', 'currency', 'feesMinor', 'at'] as const;

/**
 * Every movement of the merchant's balance in [from, to), as JSON or CSV. What was returned to its sender was
 * never the merchant's.
 */
function statementOf({ statement }: GatewayContext, query: URLSearchParams): unknown {
  const atMs = { from: momentOf(query, 'from'), before: momentOf(query, 'to') };
  const format = query.get('format') ?? 'json';
  if (format !== 'json' && format !== 'csv') throw new ControlError(400, ['format must be json or csv']);
  const rows = statement.list({ atMs }, { by: 'atMs' }).map((row) => ({ ...row, at: iso(row.atMs) }));
  const cells = rows.map((row) => STATEMENT_COLUMNS.map((column) => [column, row[column]] as const));
  if (format === 'json') return cells.map((line) => Object.fromEntries(line));
  // No value can hold a comma, a quote or a line break.
  const lines = [STATEMENT_COLUMNS, ...cells.map((line) => line.map(([, value]) => value)), []];
  return new ControlText('text/csv;charset=UTF-8', lines.map((line) => line.join(',')).join('\r\n'));
}

function chargeRoutes({ context }: ControlOptions): Routes {
  const view = (reference: string) => chargeView(context, requireCharge(context, reference));
  const changes = Object.entries(CHARGE_CHANGES).map(([name, changeOf]): [string, Routes[string]] => [
    `POST /charges/:id/${name}`,
    async ({ id, body }) => {
      const change = changeOf(await body({}));
      const row = requireCharge(context, id);
      context.database.transact(() => change(context, row));
      return view(id);
    },
  ]);
  const ends = Object.entries(REFUND_ENDS).map(([name, status]): [string, Routes[string]] => [
    `POST /refunds/:id/${name}`,
    ({ id }) => refundView(endRefund(context, id, status)),
  ]);
  return {
    'GET /charges': ({ query }) => {
      const [status, email, currency] = ['status', 'email', 'currency'].map(
        (name) => query.get(name) ?? undefined,
      );
      const createdAtMs = { from: momentOf(query, 'from'), to: momentOf(query, 'to') };
      const page = { isNewestFirst: true, limit: readLimit(query) };
      return context.transactions.list({ status, email, currency, createdAtMs }, page).map(chargeSummary);
    },
    'GET /charges/:id': ({ id }) => view(id),
    ...Object.fromEntries([...changes, ...ends]),
    'GET /statement': ({ query }) => statementOf(context, query),
  };
}

const WEB_ADDRESSES = 'must be a list of at most 10 http or https addresses';
const URLS = z.strictObject({
  urls: z
    .array(
      z
        .string(WEB_ADDRESSES)
        .refine((url) => /^https?:\/\/[^\s]+$/.test(url) && URL.canParse(url), WEB_ADDRESSES),
      WEB_ADDRESSES,
    )
    .max(10, WEB_ADDRESSES),
});

function webhookRoutes({ context }: ControlOptions): Routes {
  const urls = () => ({ urls: context.webhooks.urls() });
  return {
    'GET /webhooks': ({ query }) => {
      const where = {
        reference: query.get('reference') ?? undefined,
        event: query.get('event') ?? undefined,
      };
      const page = { isNewestFirst: true, limit: readLimit(query) };
      return context.events.list(where, page).map((event) => eventView(context, event));
    },
    'POST /webhooks/:id/resend': ({ id }) => {
      if (!context.webhooks.resend(Number(id))) throw new ControlError(404, ['no webhook with this id']);
      return { resent: Number(id) };
    },
    'GET /webhook-urls': urls,
    'PUT /webhook-urls': async ({ body }) => {
      context.webhooks.saveUrls(checked(URLS, await body()).urls);
      return urls();
    },
  };
}

const SKIP = z.strictObject({
  advanceMs: whole(0, LONGEST_SKIP_MS, `must be whole milliseconds from 0 to ${LONGEST_SKIP_MS}`),
});

function machineRoutes({ context, clock, advance, applyReach }: ControlOptions): Routes {
  const time = () => ({ now: iso(clock.now()), aheadMs: clock.aheadMs() });
  return {
    ...faultRoutes(FAULTS, context.faults, applyReach),
    'GET /clock': time,
    'POST /clock': async ({ body }) => {
      await advance(checked(SKIP, await body()).advanceMs);
      return time();
    },
  };
}

/** The control interface. */
export function createGatewayControl(options: ControlOptions) {
  const routes = { ...chargeRoutes(options), ...webhookRoutes(options), ...machineRoutes(options) };
  return createControlApp({ routes, stats: options.stats, onBug: options.onBug, before: options.runDue });
}

/** One event with its deliveries; `body` is what was signed, byte by byte. */
export function eventView(context: GatewayContext, { createdAtMs, ...row }: EventRow) {
  return {
    ...row,
    at: iso(createdAtMs),
    deliveries: context.deliveries.list({ eventId: row.id }).map(({ id, url, state, attempts, dueAtMs }) => ({
      id,
      url,
      state,
      attempts,
      nextAttemptAt: state === 'waiting' ? iso(dueAtMs) : null,
    })),
  };
}

function refundView(row: RefundRow) {
  return {
    id: row.id,
    status: row.status,
    amountMinor: row.amount,
    currency: row.currency,
    customerNote: row.customerNote,
    merchantNote: row.merchantNote,
    createdAt: iso(row.createdAtMs),
    refundedAt: isoOrNull(row.refundedAtMs),
  };
}

function instructionsView(context: GatewayContext, row: TransactionRow) {
  if (row.origin === 'initialize') {
    return { kind: 'redirect', paymentUrl: context.pageUrl(row.accessCode) };
  }
  if (row.account === null) return { kind: 'mobile-money', step: row.step };
  const { accountNumber, accountName, bank } = row.account;
  const expiresAt = isoOrNull(row.expiresAtMs);
  return { kind: 'bank-transfer', bankName: bank.name, accountNumber, accountName, expiresAt };
}

/** A charge in short. */
function chargeSummary(row: TransactionRow) {
  return {
    reference: row.reference,
    id: row.id,
    status: row.status,
    channel: row.channel,
    email: row.email,
    requested: { amountMinor: row.requested, currency: row.currency },
    received: { amountMinor: row.received, currency: row.paidCurrency ?? row.currency },
    feesMinor: row.fees,
    givenBackMinor: row.givenBack,
    scenario: row.scenario,
    createdAt: iso(row.createdAtMs),
    paidAt: isoOrNull(row.paidAtMs),
    requests: row.requests,
  };
}

/** A charge with all that belongs to it. */
export function chargeView(context: GatewayContext, row: TransactionRow) {
  return {
    ...chargeSummary(row),
    gatewayResponse: row.gatewayResponse,
    callbackUrl: row.callbackUrl,
    metadata: row.metadata,
    instructions: instructionsView(context, row),
    payments: context.payments
      .list({ transactionId: row.id })
      .map(({ amount, currency, fees, channel, state, atMs }) => ({
        amountMinor: amount,
        currency,
        feesMinor: fees,
        channel,
        state,
        at: iso(atMs),
      })),
    refunds: context.refunds.list({ transactionId: row.id }).map(refundView),
    disputes: context.disputes.list({ transactionId: row.id }).map(({ id, amount, status, resolution }) => ({
      id,
      amountMinor: amount,
      status,
      resolution,
    })),
    webhooks: context.events.list({ reference: row.reference }).map((event) => eventView(context, event)),
  };
}
