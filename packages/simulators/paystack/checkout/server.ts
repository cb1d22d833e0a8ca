/** The hosted checkout page. Redirects only to addresses that came with the charge. */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { answer, BodyTooLargeError, readBody } from '../../kit/server.ts';
import type { GatewayContext } from '../context.ts';
import type { TransactionRow, Payer } from '../storage.ts';
import { abandon, decline, receive, withMoment, shareOf, type Payment } from '../actions/charge.ts';
import { sessionTimeoutS } from '../operations/settings.ts';
import { isWebAddress, metadataObject } from '../errors.ts';
import { HOSTED_TRANSFER_MS, CHANNEL_NAMES } from '../rules.ts';

const FORM_LIMIT_BYTES = 10_000;

/** `NGN 1,234.50`. */
function amountWords(amountMinor: number, currency: string): string {
  const whole = String(Math.floor(amountMinor / 100)).replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return `${currency} ${whole}.${String(amountMinor % 100).padStart(2, '0')}`;
}

function callbackOf(row: TransactionRow): string | undefined {
  if (row.callbackUrl === null) return undefined;
  const url = new URL(row.callbackUrl);
  url.searchParams.set('trxref', row.reference);
  url.searchParams.set('reference', row.reference);
  return url.href;
}

function cancelOf(row: TransactionRow): string | undefined {
  const wanted = metadataObject(row.metadata)['cancel_action'];
  return typeof wanted === 'string' && isWebAddress(wanted) ? wanted : callbackOf(row);
}

function isTimedOut(context: GatewayContext, row: TransactionRow): boolean {
  const timeoutS = sessionTimeoutS(context);
  return timeoutS > 0 && row.openedAtMs !== null && context.now() > row.openedAtMs + timeoutS * 1000;
}

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

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 32rem; padding: 1rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
fieldset { border: 1px solid; border-radius: .5rem; margin: 1rem 0; padding: .5rem 1rem; }
label { display: block; padding: .25rem 0; }
button { border: 1px solid; border-radius: .5rem; font: inherit; margin: 0 .5rem .5rem 0; padding: .6rem 1.2rem; }
.note { border-left: .3rem solid; padding-left: .75rem; }
`;

interface Page {
  title: string;
  notice?: string | undefined;
  isTrouble?: boolean;
  facts: readonly (readonly [name: string, value: string])[];
  methods: readonly { value: string; label: string }[];
  returnUrl?: string | undefined;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter);
}

/** Browsers apply `form-action` to redirects after a form too, so the merchant's own origins are named. */
function policyOf(urls: readonly (string | null | undefined)[]): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const origins = urls.filter((url) => url != null).map((url) => new URL(url).origin);
  const actions = ["'self'", ...new Set(origins)].join(' ');
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    `form-action ${actions}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Posts to the page's own address, whatever stands in front of this server. */
function formOf({ methods }: Page): string {
  if (methods.length === 0) return '';
  const choices = methods.map(({ value, label }, index) => {
    const checked = index === 0 ? ' checked' : '';
    return `<label><input type="radio" name="way" value="${escapeHtml(value)}"${checked}> ${escapeHtml(label)}</label>`;
  });
  return `<form method="post">
<fieldset><legend>Pay with</legend>
${choices.join('\n')}
</fieldset>
<button type="submit" name="action" value="pay">Pay</button>
<button type="submit" name="action" value="fail">Fail (declined)</button>
<button type="submit" name="action" value="abandon">Abandon</button>
</form>`;
}

function renderPage(page: Page): string {
  const { title, notice, isTrouble, facts, returnUrl } = page;
  const role = isTrouble === true ? 'alert' : 'status';
  const note = notice === undefined ? '' : `<p class="note" role="${role}">${escapeHtml(notice)}</p>`;
  const list = facts.map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`);
  const back =
    returnUrl === undefined ? '' : `<p><a href="${escapeHtml(returnUrl)}">Return to the merchant</a></p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>This is a sandbox: no money moves.</p>
${note}
<dl>
${list.join('\n')}
</dl>
${formOf(page)}
${back}
</main>
</body>
</html>
`;
}

interface PayMethod {
  value: string;
  label: string;
  channel: string;
  declined?: string;
  refundOutcome?: TransactionRow['refundOutcome'];
  payer?: Payer;
  payment?: (row: TransactionRow) => Payment;
}

function card(name: string, label: string, last4: string, effect: Partial<PayMethod> = {}): PayMethod {
  const shown = { value: `card:${name}`, label: `Card ending ${last4}: ${label}` };
  return { ...shown, channel: 'card', payer: { last4 }, ...effect };
}

const CARDS: readonly PayMethod[] = [
  card('success', 'pays', '4081'),
  card('declined', 'declined', '5408', { declined: 'Declined' }),
  card('insufficient-funds', 'insufficient funds', '0037', { declined: 'Insufficient Funds' }),
  card('refund-fails', 'pays, a refund fails', '1803', { refundOutcome: 'failed' }),
  card('refund-needs-attention', 'pays, a refund needs attention', '1902', {
    refundOutcome: 'needs-attention',
  }),
];
const TRANSFERS: readonly PayMethod[] = [
  ['exact', 'the exact amount', 100] as const,
  ['short', '20 % too little', 80] as const,
  ['over', '20 % too much', 120] as const,
].map(([name, label, percent]) => ({
  value: `bank_transfer:${name}`,
  label: `Bank transfer: ${label}`,
  channel: 'bank_transfer',
  payment: shareOf(percent),
}));

function methodsOf(row: TransactionRow): PayMethod[] {
  return row.channels.flatMap((channel) => {
    if (channel === 'card') return CARDS;
    if (channel === 'bank_transfer') return TRANSFERS;
    return [{ value: channel, label: CHANNEL_NAMES[channel], channel }];
  });
}

/** The chosen method; the first one when nothing is chosen, undefined for what was not offered. */
function chosenMethod(row: TransactionRow, chosen: string | null): PayMethod | undefined {
  const methods = methodsOf(row);
  return chosen === null ? methods[0] : methods.find(({ value }) => value === chosen);
}

function channelWords(row: TransactionRow): string {
  return row.channels.map((channel) => CHANNEL_NAMES[channel]).join(', ');
}
