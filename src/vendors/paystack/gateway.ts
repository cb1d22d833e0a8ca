/**
 * The port payment-gateway on the vendor's HTTP API. Guarantee: an effect is done only on the vendor's own yes about our reference,
 * refused only on a no that is final by its pages, and unknown in every other case; nothing is ever sent under a reference that the
 * caller did not give. Must not log keys, bodies or account numbers.
 */
import type {
  GatewayCharge,
  ChargeRequest,
  GatewayOutcome,
  PaymentGateway,
  PaymentInstructions,
} from '../../payments/port.ts';
import { createClient } from './client.ts';
import { isNotFound } from './codes.ts';
import {
  alertIfUnseen,
  failedEffect,
  readYes,
  requireMode,
  requireSameReference,
  type Context,
  type Mode,
  type OnUnknown,
} from './context.ts';
import { isReference, limitsOf, refusalOf } from './limits.ts';
import { toGatewayCharge, chargeStateOf, questionFailure, transferInstructionsOf, unknown } from './map.ts';
import { createDisputes } from './disputes.ts';
import { createRefunds } from './refunds.ts';
import { statementOf, paidChargesOf } from './statement.ts';
import { verifyEvent } from './webhook.ts';
import { readCharge, readCheckout, readTransaction, type WireCharge } from './wire.ts';

const LIVE_BASE_URL = 'https://api.paystack.co';
/** A transfer account is made by a bank behind the vendor; longer than this nobody waits for it. */
const DEFAULT_TIME_LIMIT_MS = 10_000;
/** The vendor's own advice for a pending charge: wait 10 s or more before looking. */
const PENDING_RETRY_MS = 10_000;

export interface PaystackOptions {
  readonly baseUrl?: string | undefined;
  /** Signs in, and signs the events. */
  readonly secretKey: string;
  /** Keys that were replaced lately: their events still count, nothing is asked with them. */
  readonly previousSecretKeys?: readonly string[] | undefined;
  /** What this account's money is; answers and events of the other mode are never taken for ours. */
  readonly mode: Mode;
  /** Raises the alert for words never seen before. */
  readonly onUnknown?: OnUnknown | undefined;
  readonly timeLimitMs?: number | undefined;
}

export interface PaystackGateway extends PaymentGateway {
  /** Closes kept-alive connections when the process ends. */
  close(): void;
}

/** Makes the gateway of one account. Throws TypeError for a bad `baseUrl`, an empty key and a key of the other mode. */
export function createPaystackGateway(options: PaystackOptions): PaystackGateway {
  const { secretKey, previousSecretKeys = [], mode, onUnknown = () => undefined } = options;
  const secretKeys = [secretKey, ...previousSecretKeys];
  for (const key of secretKeys) requireKeyOf(mode, key);
  const client = createClient({
    baseUrl: options.baseUrl ?? LIVE_BASE_URL,
    secretKey,
    timeLimitMs: options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
  });
  const context: Context = { client, mode, onUnknown };
  return {
    name: 'paystack',
    limits: limitsOf,
    charge: (request) => charge(context, request),
    findCharge: (reference) => findCharge(context, reference),
    ...createRefunds(context, (reference) => findCharge(context, reference)),
    paidCharges: (from, to, page) => paidChargesOf(context, from, to, page),
    ...createDisputes(context, (reference) => findCharge(context, reference)),
    statement: (from, to) => statementOf(context, from, to),
    verifyWebhook: (rawBody, headers) => verifyEvent({ secretKeys, mode }, rawBody, headers),
    close: () => client.close(),
  };
}

/** An empty key would make everybody's signature right; one of the other mode would take play money for real money. */
function requireKeyOf(mode: Mode, key: string): void {
  if (key === '') throw new TypeError('a secret key is empty');
  if (key.startsWith(mode === 'live' ? 'sk_test_' : 'sk_live_'))
    throw new TypeError(`a secret key is not of mode ${mode}`);
}

async function charge(
  context: Context,
  request: ChargeRequest,
): Promise<GatewayOutcome<PaymentInstructions>> {
  const reason = isReference(request.reference)
    ? refusalOf(request.method, request.amount)
    : 'REQUEST_REFUSED';
  if (reason !== undefined)
    return { outcome: 'refused', reason, detail: 'not sent: the gateway does not take this' };
  return request.method === 'BANK_TRANSFER'
    ? chargeByTransfer(context, request)
    : openCheckout(context, request, CHANNELS[request.method]);
}

const CHANNELS = { CARD: 'card', APPLE_PAY: 'apple_pay', MOBILE_MONEY: 'mobile_money' } as const;

function metadataOf({ scenario }: ChargeRequest): object {
  return scenario === undefined ? {} : { metadata: { sandbox_scenario: scenario } };
}

async function openCheckout(
  context: Context,
  request: ChargeRequest,
  channel: string,
): Promise<GatewayOutcome<PaymentInstructions>> {
  const { reference, email, amount, returnUrl } = request;
  const answer = await context.client.post('/transaction/initialize', {
    email,
    // Within the limits, so far below what a JSON number holds exactly.
    amount: Number(amount.amountMinor),
    currency: amount.currency,
    reference,
    channels: [channel],
    ...(returnUrl === undefined ? {} : { callback_url: returnUrl }),
    ...metadataOf(request),
  });
  if (answer.kind !== 'answered') return failedEffect(context, 'initialize', answer);
  return readYes(context, 'initialize', () => {
    const checkout = readCheckout(answer.data);
    requireSameReference(reference, checkout.reference);
    return { outcome: 'done', value: { kind: 'redirect', paymentUrl: checkout.url } };
  });
}

async function chargeByTransfer(
  context: Context,
  request: ChargeRequest,
): Promise<GatewayOutcome<PaymentInstructions>> {
  const { reference, email, amount, accountExpiresAt } = request;
  const answer = await context.client.post('/charge', {
    email,
    amount: amount.amountMinor.toString(),
    currency: amount.currency,
    reference,
    bank_transfer: { account_expires_at: accountExpiresAt?.toISOString() ?? null },
    ...metadataOf(request),
  });
  if (answer.kind === 'answered') {
    return readYes(context, 'charge', () => instructionsIn(context, request, readCharge(answer.data)));
  }
  const outcome = failedEffect<PaymentInstructions>(context, 'charge', answer);
  const isRepeat = outcome.outcome === 'refused' && outcome.reason === 'REFERENCE_TAKEN';
  return isRepeat ? instructionsAgain(context, request) : outcome;
}

/** What a charge under our reference tells the buyer to do. */
function instructionsIn(
  context: Context,
  request: ChargeRequest,
  wire: WireCharge,
): GatewayOutcome<PaymentInstructions> {
  requireSameReference(request.reference, wire.reference);
  const state = chargeStateOf(wire.status);
  alertIfUnseen(
    context,
    { what: 'charge status', operation: 'charge' },
    { state, gatewayStatus: wire.status },
  );
  // No account was told, so nobody can pay into this one any more.
  if (state === 'failed')
    return { outcome: 'refused', reason: 'REQUEST_REFUSED', detail: 'the charge failed at once' };
  const detail = `the charge is ${wire.status.slice(0, 40)}`;
  if (state !== 'waiting') return unknown(detail);
  const told = wire.account === null ? null : transferInstructionsOf(wire.account, request.accountExpiresAt);
  return told === null
    ? unknown(`${detail}, without an account`, PENDING_RETRY_MS)
    : { outcome: 'done', value: told };
}

/** A reference that was used before: by us, when it is the same charge and the vendor tells its account again. */
async function instructionsAgain(
  context: Context,
  request: ChargeRequest,
): Promise<GatewayOutcome<PaymentInstructions>> {
  const answer = await context.client.get(`/charge/${encodeURIComponent(request.reference)}`);
  if (answer.kind !== 'answered') return questionFailure(answer);
  return readYes(context, 'check charge', () => {
    const wire = readCharge(answer.data);
    const outcome = instructionsIn(context, request, wire);
    const state = chargeStateOf(wire.status);
    // Paid, or nobody knows what: the truth is to be asked for, before another charge is opened.
    if (state !== 'waiting' && state !== 'failed') return outcome;
    const isOurs = wire.amount === null || wire.amount === request.amount.amountMinor;
    if (outcome.outcome === 'done' && isOurs) return outcome;
    return {
      outcome: 'refused',
      reason: 'REFERENCE_TAKEN',
      detail: 'the reference is taken, without an account to tell',
    };
  });
}

async function findCharge(
  context: Context,
  reference: string,
): Promise<GatewayOutcome<GatewayCharge | null>> {
  if (!isReference(reference)) return { outcome: 'done', value: null };
  const answer = await context.client.get(`/transaction/verify/${encodeURIComponent(reference)}`);
  if (answer.kind === 'failed' && isNotFound(answer)) return { outcome: 'done', value: null };
  if (answer.kind !== 'answered') return questionFailure(answer);
  return readYes(context, 'verify', () => {
    const wire = readTransaction(answer.data);
    requireSameReference(reference, wire.reference);
    requireMode(context, wire.domain);
    const look = toGatewayCharge(wire);
    alertIfUnseen(context, { what: 'charge status', operation: 'verify' }, look);
    return { outcome: 'done', value: look };
  });
}
