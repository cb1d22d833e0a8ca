import type { Environment } from '../domain/account.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/clock.ts';

/** Per account and environment: every event is stored once for each endpoint. */
export const MAX_ENDPOINTS = 16;
/** How long a replaced secret signs together with the new one, so that receivers lose no message. */
export const SECRET_OVERLAP_MS = 24 * HOUR_MS;
/** Replaced secrets that sign at a time: each adds a signature to the header of every message. */
export const MAX_PREVIOUS_SECRETS = 4;
/** How far back failed messages can be recovered. */
export const MAX_RECOVER_MS = 14 * 24 * HOUR_MS;

export const MESSAGE_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

export const DISABLED_REASONS = ['BY_OWNER', 'GONE', 'FAILING'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** The wait before each attempt; 75 h 35 min 5 s in all. Published in docs/WEBHOOKS.md. */
export const ATTEMPT_WAITS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/**
 * A message that waits so long is carried by a workflow, where people find it. A shorter wait is not worth
 * one: when an endpoint fails, each of its messages waits.
 */
export const HAND_OVER_FROM_MS = 30 * SECOND_MS;

/** Up to a fifth earlier or later, so that messages that failed together are not retried together. */
const JITTER_PARTS = 5;

/** A receiver's Retry-After can at most double a wait. */
const MAX_RETRY_AFTER_FACTOR = 2;

/** An endpoint without one success for this long is disabled. */
export const FAILING_LIMIT_MS = 5 * 24 * HOUR_MS;

/** The fourth attempt is half an hour after the first: longer than a restart takes. */
const MIN_FAILED_ATTEMPTS = 4;

/**
 * The time of the next attempt in epoch milliseconds, after `attempts` attempts of which the last ended at
 * `nowMs`; undefined after the last. `random` is in [0, 1). Not before a Retry-After, unless that is more
 * than twice the planned wait.
 */
export function nextAttempt(
  attempts: number,
  nowMs: number,
  random: number,
  retryAfterMs = 0,
  waitsMs: readonly number[] = ATTEMPT_WAITS_MS,
): number | undefined {
  const plannedMs = waitsMs[attempts];
  if (plannedMs === undefined) return undefined;
  const jitterMs = Math.trunc(plannedMs / JITTER_PARTS);
  const jitteredMs = plannedMs - jitterMs + Math.trunc(random * (2 * jitterMs + 1));
  return nowMs + Math.max(jitteredMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_FACTOR * plannedMs));
}

export interface EndpointFailures {
  /** The first failure since the last success, in epoch milliseconds. */
  readonly failingSinceMs: number;
  /** Of the current message; without one, of the message with the most since then. */
  readonly attempts: number;
}

/** Also several of one message: a single failure may follow an outage of ours and a long silence. */
export function shouldDisable(
  { failingSinceMs, attempts }: EndpointFailures,
  nowMs: number,
  limitMs = FAILING_LIMIT_MS,
): boolean {
  return attempts >= MIN_FAILED_ATTEMPTS && nowMs - failingSinceMs >= limitMs;
}

const QR_CODE_URL = /(?<="qrCodeUrl":)"(?:[^"\\]|\\.)+"/;

const LEFT_OUT = '(left out: it repeats the address of the QR code)';

/** A receiver that sends a message back must not put the address of a QR code into our rows. */
export function keptAnswer(answerStart: string, body: string): string {
  const [address = '""'] = QR_CODE_URL.exec(body) ?? [];
  const host = URL.parse(JSON.parse(address) as string)?.host;
  return host && answerStart.includes(host) ? LEFT_OUT : answerStart;
}

/** Of a request or an answer; the name is in lower case. */
export interface Header {
  readonly name: string;
  readonly value: string;
}

/** Enough of an answer for its merchant to recognise the server that answered. */
export const MAX_KEPT_HEADERS = 20;
const MAX_HEADER_NAME = 64;
const MAX_HEADER_VALUE = 200;
/** Of all kept headers together. */
const MAX_KEPT_CHARACTERS = 2_048;

const SECRET_HEADERS =
  /^(set-cookie2?|cookie|(proxy-)?authorization|www-authenticate|authentication-info)$|token|secret|api-?key/;

/** Without secrets, cut, and without the address of a QR code that a receiver sends back. */
export function keptAnswerHeaders(headers: readonly Header[], body: string): Header[] {
  const kept: Header[] = [];
  let characters = 0;
  for (const { name, value } of headers) {
    const header = {
      name: cut(name, MAX_HEADER_NAME),
      value: SECRET_HEADERS.test(name)
        ? '(hidden)'
        : cut(keptAnswer(storable(value), body), MAX_HEADER_VALUE),
    };
    characters += header.name.length + header.value.length;
    if (kept.length === MAX_KEPT_HEADERS || characters > MAX_KEPT_CHARACTERS) break;
    kept.push(header);
  }
  return kept;
}

/** A whole signature is not needed to see that there was one. */
export function keptRequestHeaders(headers: readonly Header[]): Header[] {
  return headers.map(({ name, value }) => ({
    name,
    value: name === 'webhook-signature' ? value.split(' ').map(startOfSignature).join(' ') : value,
  }));
}

const startOfSignature = (signature: string): string => signature.replace(/^(v\d+a?,.{8}).*$/, '$1…');

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** Postgres refuses NUL and half a surrogate pair in JSON. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed();

/** The last one repeats: a notice is sent within an hour of mail working again. */
const NOTICE_WAITS_MS: readonly number[] = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS];

/** Sent or not; as long as messages to endpoints. */
export const KEEP_NOTICES_MS = 30 * 24 * 60 * MINUTE_MS;

/** The owner is told after this long without a success, once for each outage and at most once a day. */
export const WARN_AFTER_MS = 60 * MINUTE_MS;
export const WARN_AGAIN_AFTER_MS = 24 * 60 * MINUTE_MS;

export function noticeWaitMs(attempts: number): number {
  return NOTICE_WAITS_MS[Math.min(attempts, NOTICE_WAITS_MS.length) - 1] ?? MINUTE_MS;
}

interface EndpointFacts {
  readonly endpointId: string;
  readonly host: string;
}

type FactsOf<Kind> = Extract<Notice, { readonly kind: Kind }>['facts'];

/** An e-mail to an account's owner. Its facts hold nothing that may be secret: of a URL only its host. */
export type Notice =
  | {
      readonly kind: 'endpoint-disabled';
      readonly facts: EndpointFacts & {
        readonly reason: Exclude<DisabledReason, 'BY_OWNER'>;
        /** The first failure since the last success; null: it had not failed before. */
        readonly failingSince: string | null;
        readonly disabledAt: string;
      };
    }
  | { readonly kind: 'endpoint-failing'; readonly facts: EndpointFacts & { readonly failingSince: string } }
  | { readonly kind: 'invoice-issued'; readonly facts: InvoiceFacts };

interface InvoiceFacts {
  readonly number: string;
  readonly month: string;
  readonly gross: string;
  readonly currency: string;
}

export function noticeText(notice: Notice, environment: Environment): { subject: string; text: string } {
  switch (notice.kind) {
    case 'endpoint-failing':
      return failingText(notice.facts, environment);
    case 'endpoint-disabled':
      return disabledText(notice.facts, environment);
    case 'invoice-issued':
      return invoiceText(notice.facts, environment);
  }
}

function invoiceText({ number, month, gross, currency }: InvoiceFacts, environment: Environment) {
  const what = number.startsWith('CN-') ? 'Credit note' : 'Invoice';
  return {
    subject: `${what} ${number} (${environment})`,
    text: `${[
      `Your ${what.toLowerCase()} for ${month} is ready.`,
      '',
      `Number:      ${number}`,
      `Total:       ${currency} ${gross}`,
      `Environment: ${environment}`,
      '',
      'The amounts are paid already: nothing is due.',
      `Download it in the dashboard, on the page "Wallet", or with your API key: GET /api/wallet/invoices/${number}`,
      '',
      'You get this mail because your billing details ask for papers by mail. Change them on the same page.',
    ].join('\n')}\n`,
  };
}

const aboutEndpoint = ({ endpointId, host }: EndpointFacts, environment: Environment): string[] => [
  `Endpoint:    ${endpointId}`,
  `Host:        ${host}`,
  `Environment: ${environment}`,
];

const whereListed = ({ endpointId }: EndpointFacts): string =>
  `GET /api/webhooks/messages?endpointId=${endpointId} lists what was sent there, with every attempt and its answer.`;

function failingText(facts: FactsOf<'endpoint-failing'>, environment: Environment) {
  const { endpointId, host, failingSince } = facts;
  return {
    subject: `Webhook endpoint fails: ${host} (${environment})`,
    text: `${[
      'One of your endpoints has taken no webhook for an hour or more.',
      '',
      ...aboutEndpoint(facts, environment),
      `Failing:     since ${failingSince}`,
      '',
      'We go on sending. After five days without a success we disable it.',
      '',
      whereListed(facts),
      'Once your receiver works again, we retry what is pending. Ask for the rest with your API key:',
      '',
      `POST /api/webhooks/endpoints/${endpointId}/recover with {"from": "${failingSince}"}, at most 14 days back`,
    ].join('\n')}\n`,
  };
}

function disabledText(facts: FactsOf<'endpoint-disabled'>, environment: Environment) {
  const { endpointId, host, reason, failingSince, disabledAt } = facts;
  const path = `/api/webhooks/endpoints/${endpointId}`;
  const why =
    reason === 'GONE'
      ? 'It answered 410 Gone, which asks us to send nothing more.'
      : `Every message to it has failed since ${failingSince ?? disabledAt}.`;
  const missed =
    reason === 'GONE'
      ? 'Events from now on are not kept for it; GET /api/events has those of the last 30 days. What had failed before can be sent again.'
      : 'New events are stored for it, so that nothing is lost: they can be sent later.';
  return {
    subject: `Webhook endpoint disabled: ${host} (${environment})`,
    text: `${[
      'We have stopped sending webhooks to one of your endpoints.',
      '',
      ...aboutEndpoint(facts, environment),
      `Disabled:    ${disabledAt}`,
      `Why:         ${reason}. ${why}`,
      '',
      missed,
      '',
      'Once your receiver works again, with your API key:',
      '',
      `1. PATCH ${path} with {"enabled": true}`,
      `2. POST ${path}/recover with {"from": "${failingSince ?? disabledAt}"}, at most 14 days back`,
      '',
      whereListed(facts),
    ].join('\n')}\n`,
  };
}
