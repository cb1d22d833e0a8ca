/**
 * The hosted checkout page over HTTP: GET shows it, POST pays, fails or leaves, and the browser goes back to
 * the merchant. Redirects only to addresses that came with the charge.
 */
import type { Context } from 'koa';
import { answer, BodyTooLargeError, readBody } from '../../kit/server.ts';
import type { GatewayContext } from '../context.ts';
import { abandon, decline, receive, withMoment } from '../actions/charge.ts';
import { sessionTimeoutS } from '../operations/settings.ts';
import { isWebAddress, metadataObject } from '../params.ts';
import { HOSTED_TRANSFER_MS } from '../rules.ts';
import type { TransactionRow } from '../storage.ts';
import { policyOf, renderPage, type Page } from './page.ts';
import { channelWords, chosenMethod, methodsOf, type PayMethod } from './pay-methods.ts';

const FORM_LIMIT_BYTES = 10_000;

/** `NGN 1,234.50`. */
function amountWords(amountMinor: number, currency: string): string {
  const whole = String(Math.floor(amountMinor / 100)).replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return `${currency} ${whole}.${String(amountMinor % 100).padStart(2, '0')}`;
}

/** The merchant's page with the reference in its query, as the gateway sends browsers back. */
function callbackOf(row: TransactionRow): string | undefined {
  if (row.callbackUrl === null) return undefined;
  const url = new URL(row.callbackUrl);
  url.searchParams.set('trxref', row.reference);
  url.searchParams.set('reference', row.reference);
  return url.href;
}

/**
 * Where a customer who gives up is sent: `cancel_action` of the metadata, where it is an address, else back
 * to the merchant.
 */
function cancelOf(row: TransactionRow): string | undefined {
  const wanted = metadataObject(row.metadata)['cancel_action'];
  return typeof wanted === 'string' && isWebAddress(wanted) ? wanted : callbackOf(row);
}

function isTimedOut(context: GatewayContext, row: TransactionRow): boolean {
  const timeoutS = sessionTimeoutS(context);
  return timeoutS > 0 && row.openedAtMs !== null && context.now() > row.openedAtMs + timeoutS * 1000;
}

/** Whether something can still be paid on the page. */
function isOpen(context: GatewayContext, row: TransactionRow): boolean {
  return row.status !== 'success' && row.status !== 'reversed' && !isTimedOut(context, row);
}

function noticeOf(context: GatewayContext, row: TransactionRow): Pick<Page, 'notice' | 'isTrouble'> {
  if (isTimedOut(context, row) && row.status !== 'success')
    return { notice: 'The time to pay is over.', isTrouble: true };
  if (row.status === 'failed') return { notice: `Not paid: ${row.gatewayResponse}.`, isTrouble: true };
  const returned = context.payments.find({ transactionId: row.id, state: 'returned' }) !== undefined;
  if (returned && row.paidAtMs === null) {
    return { notice: 'The transfer was sent back: its amount is not the one asked for.', isTrouble: true };
  }
  if (row.status === 'success') return { notice: 'Paid. Thank you.' };
  return { notice: row.status === 'reversed' ? 'The money was given back.' : undefined };
}

function show(context: GatewayContext, koa: Context, row: TransactionRow): void {
  const { merchant } = context.integration;
  const html = renderPage({
    title: `Pay ${merchant}`,
    ...noticeOf(context, row),
    facts: [
      ['Amount', amountWords(row.requested, row.currency)],
      ['Merchant', merchant],
      ['E-mail', row.email],
      ['Channel', channelWords(row)],
      ['Reference', row.reference],
    ],
    methods: isOpen(context, row) ? methodsOf(row) : [],
    returnUrl: callbackOf(row),
  });
  sendHtml(koa, 200, html, policyOf([callbackOf(row), cancelOf(row)]));
}

function sendHtml(koa: Context, status: number, html: string, policy: string): void {
  koa.set({
    'content-security-policy': policy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  answer(koa, status, html, 'text/html; charset=utf-8');
}

function redirect(koa: Context, location: string): void {
  koa.set({ location, 'cache-control': 'no-store' });
  answer(koa, 303, '');
}

function sayOnly(koa: Context, status: number, title: string): void {
  sendHtml(koa, status, renderPage({ title, facts: [], methods: [] }), policyOf([]));
}

/** Opening the page starts the payment: verify says `ongoing` from now on. */
function opened(context: GatewayContext, row: TransactionRow): TransactionRow {
  if (row.status !== 'abandoned' || isTimedOut(context, row)) return row;
  const nowMs = context.now();
  return context.transactions.put({
    ...withMoment(row, 'open', 'Opened the payment page', nowMs),
    status: 'ongoing',
    openedAtMs: row.openedAtMs ?? nowMs,
  });
}

function payBy(context: GatewayContext, before: TransactionRow, method: PayMethod): TransactionRow {
  const nowMs = context.now();
  const { channel, payer, refundOutcome, declined } = method;
  const row: TransactionRow = {
    ...withMoment(before, 'action', `Attempted to pay with ${channel}`, nowMs),
    channel,
    payer: payer ?? before.payer,
    refundOutcome: refundOutcome ?? before.refundOutcome,
    openedAtMs: before.openedAtMs ?? nowMs,
  };
  if (channel === 'bank_transfer') row.expiresAtMs = (row.openedAtMs ?? nowMs) + HOSTED_TRANSFER_MS;
  if (declined !== undefined) return decline(context, row, declined);
  return receive(context, row, method.payment?.(row) ?? {});
}

/** What a pressed button does; undefined when the form makes no sense. */
function act(context: GatewayContext, row: TransactionRow, form: URLSearchParams) {
  switch (form.get('action')) {
    case 'fail':
      return decline(context, row, 'Declined');
    case 'abandon':
      return abandon(context, row);
    case 'pay': {
      const method = chosenMethod(row, form.get('way'));
      return method === undefined ? undefined : payBy(context, row, method);
    }
    default:
      return undefined;
  }
}

async function post(context: GatewayContext, koa: Context, accessCode: string): Promise<void> {
  const form = new URLSearchParams((await readBody(koa.req, FORM_LIMIT_BYTES)).toString('utf8'));
  // Read again: the button may have been pressed twice while the form was on its way.
  const row = context.transactions.find({ accessCode });
  if (row === undefined || !isOpen(context, row)) {
    redirect(koa, context.pageUrl(accessCode));
    return;
  }
  const after = context.database.transact(() => act(context, row, form));
  if (after === undefined) {
    sayOnly(koa, 400, 'This form was not understood');
    return;
  }
  const isLeft = form.get('action') === 'abandon';
  const target = isLeft ? cancelOf(after) : after.status === 'success' ? callbackOf(after) : undefined;
  // Without an address of the merchant's this answer says how it ended; the page itself would open again.
  if (isLeft && target === undefined) sayOnly(koa, 200, 'You have left the payment');
  else redirect(koa, target ?? context.pageUrl(accessCode));
}

/** Answers /checkout/{access code}. */
export function checkoutRoutes(context: GatewayContext) {
  return async (koa: Context): Promise<void> => {
    const accessCode = /^\/checkout\/([0-9a-z]{1,40})$/.exec(koa.path)?.[1];
    const row = accessCode === undefined ? undefined : context.transactions.find({ accessCode });
    const isRead = koa.method === 'GET' || koa.method === 'HEAD';
    try {
      if (row?.origin !== 'initialize') sayOnly(koa, 404, 'No such payment page');
      else if (isRead) show(context, koa, opened(context, row));
      else if (koa.method === 'POST') await post(context, koa, row.accessCode);
      else sayOnly(koa, 405, 'This page takes GET and POST');
    } catch (error) {
      if (!(error instanceof BodyTooLargeError)) throw error;
      sayOnly(koa, 413, 'This form is too large');
    }
  };
}
