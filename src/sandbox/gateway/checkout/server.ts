/**
 * The hosted checkout page over HTTP: GET shows it, POST pays, fails or leaves, and the browser goes back to the merchant. Redirects only to
 * addresses that came with the charge.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyTooLargeError, readBody, sendText } from '../../support/http.ts';
import type { GatewayContext } from '../context.ts';
import { abandon, decline, receive, withMoment } from '../actions/charge.ts';
import { sessionTimeoutS } from '../operations/settings.ts';
import { isWebAddress, metadataObject } from '../params.ts';
import { HOSTED_TRANSFER_MS } from '../rules.ts';
import type { TransactionRow } from '../storage/tables.ts';
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

/** Where a customer who gives up is sent: `cancel_action` of the metadata, where it is an address, else back to the merchant. */
function cancelOf(row: TransactionRow): string | undefined {
  const metadata = row.metadata === null ? undefined : (JSON.parse(row.metadata) as unknown);
  const wanted = metadataObject(metadata)['cancel_action'];
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
  const returned = context.transactions.paymentsOf(row.id).some(({ state }) => state === 'returned');
  if (returned && row.paidAtMs === null) {
    return { notice: 'The transfer was sent back: its amount is not the one asked for.', isTrouble: true };
  }
  if (row.status === 'success') return { notice: 'Paid. Thank you.' };
  return { notice: row.status === 'reversed' ? 'The money was given back.' : undefined };
}

function show(context: GatewayContext, response: ServerResponse, row: TransactionRow): void {
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
  response.setHeader('content-security-policy', policyOf([callbackOf(row), cancelOf(row)]));
  sendHtml(response, 200, html);
}

function sendHtml(response: ServerResponse, status: number, html: string): void {
  response.setHeader('cache-control', 'no-store');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('x-content-type-options', 'nosniff');
  sendText(response, status, 'text/html; charset=utf-8', html);
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { location, 'content-length': 0, 'cache-control': 'no-store' }).end();
}

function sayOnly(response: ServerResponse, status: number, title: string): void {
  response.setHeader('content-security-policy', policyOf([]));
  sendHtml(response, status, renderPage({ title, facts: [], methods: [] }));
}

/** Opening the page starts the payment: verify says `ongoing` from now on. */
function opened(context: GatewayContext, row: TransactionRow): TransactionRow {
  if (row.status !== 'abandoned' || isTimedOut(context, row)) return row;
  const nowMs = context.now();
  const open: TransactionRow = {
    ...withMoment(row, 'open', 'Opened the payment page', nowMs),
    status: 'ongoing',
    openedAtMs: row.openedAtMs ?? nowMs,
  };
  context.transactions.update(open);
  return open;
}

function payBy(context: GatewayContext, before: TransactionRow, method: PayMethod): TransactionRow {
  const nowMs = context.now();
  const { channel, payer, refundOutcome, declined } = method;
  const row: TransactionRow = {
    ...withMoment(before, 'action', `Attempted to pay with ${channel}`, nowMs),
    channel,
    payer: payer === undefined ? before.payer : JSON.stringify(payer),
    refundOutcome: refundOutcome ?? before.refundOutcome,
    openedAtMs: before.openedAtMs ?? nowMs,
  };
  if (channel === 'bank_transfer') row.expiresAtMs = (row.openedAtMs ?? nowMs) + HOSTED_TRANSFER_MS;
  if (declined !== undefined) return decline(context, row, declined);
  return receive(context, row, method.payment?.(row) ?? {});
}

/** What a pressed button does; undefined when the form makes no sense. */
function act(
  context: GatewayContext,
  row: TransactionRow,
  form: URLSearchParams,
): TransactionRow | undefined {
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

/** The handler of /checkout/{access code}. */
export function createCheckout(context: GatewayContext) {
  const post = async (request: IncomingMessage, response: ServerResponse, accessCode: string) => {
    const form = new URLSearchParams((await readBody(request, FORM_LIMIT_BYTES)).toString('utf8'));
    // Read again: the button may have been pressed twice while the form was on its way.
    const row = context.transactions.byAccessCode(accessCode);
    if (row === undefined || !isOpen(context, row)) {
      redirect(response, context.pageUrl(accessCode));
      return;
    }
    const after = context.database.transact(() => act(context, row, form));
    if (after === undefined) {
      sayOnly(response, 400, 'This form was not understood');
      return;
    }
    const isLeft = form.get('action') === 'abandon';
    const target = isLeft ? cancelOf(after) : after.status === 'success' ? callbackOf(after) : undefined;
    // Without an address of the merchant's this answer says how it ended; the page itself would open again.
    if (isLeft && target === undefined) sayOnly(response, 200, 'You have left the payment');
    else redirect(response, target ?? context.pageUrl(accessCode));
  };
  return async (request: IncomingMessage, response: ServerResponse, target: URL): Promise<void> => {
    const code = /^\/checkout\/([0-9a-z]{1,40})$/.exec(target.pathname)?.[1];
    const row = code === undefined ? undefined : context.transactions.byAccessCode(code);
    if (row?.origin !== 'initialize') {
      sayOnly(response, 404, 'No such payment page');
      return;
    }
    if (request.method === 'GET' || request.method === 'HEAD') {
      show(context, response, opened(context, row));
      return;
    }
    if (request.method !== 'POST') {
      sayOnly(response, 405, 'This page takes GET and POST');
      return;
    }
    try {
      await post(request, response, row.accessCode);
    } catch (error) {
      if (!(error instanceof BodyTooLargeError)) throw error;
      sayOnly(response, 413, 'This form is too large');
    }
  };
}
