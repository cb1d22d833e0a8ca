/** Charges: opened by bank transfer or on a hosted page, and found by their reference. */
import type {
  ChargeRequest,
  GatewayCharge,
  GatewayOutcome,
  PaymentInstructions,
} from '../../payments/port.ts';
import {
  alertIfUnseen,
  failedEffect,
  readYes,
  requireMode,
  requireSameReference,
  type Context,
} from './answers.ts';
import { isNotFound } from './codes.ts';
import { isReference, refusalOf } from './limits.ts';
import { chargeStateOf, readFailure, toGatewayCharge, transferInstructionsOf, unknown } from './map.ts';
import * as wire from './wire.ts';

/** The vendor's own advice for a pending charge: wait 10 s or more before checking. */
const PENDING_RETRY_MS = 10_000;

type Charged = GatewayOutcome<PaymentInstructions>;

export async function charge(context: Context, request: ChargeRequest): Promise<Charged> {
  const { reference, method, amount } = request;
  const reason = isReference(reference) ? refusalOf(method, amount) : 'REQUEST_REFUSED';
  if (reason !== undefined)
    return { outcome: 'refused', reason, detail: 'not sent: the gateway does not take this' };
  return method === 'BANK_TRANSFER'
    ? chargeByTransfer(context, request)
    : openCheckout(context, request, CHANNELS[method]);
}

const CHANNELS = { CARD: 'card', APPLE_PAY: 'apple_pay', MOBILE_MONEY: 'mobile_money' } as const;

/** Undefined fields are not sent. */
const commonFields = ({ email, amount, reference, ...more }: ChargeRequest) => ({
  email,
  currency: amount.currency,
  reference,
  metadata: metadataOf(more),
});

function metadataOf({ scenario, shop, cancelUrl }: Pick<ChargeRequest, 'scenario' | 'shop' | 'cancelUrl'>) {
  const metadata = {
    ...(scenario === undefined ? {} : { sandbox_scenario: scenario }),
    ...(cancelUrl === undefined ? {} : { cancel_action: cancelUrl }),
    // Shown with the transaction, and on its receipt.
    ...(shop === undefined
      ? {}
      : { custom_fields: [{ display_name: 'Shop', variable_name: 'shop', value: shop }] }),
  };
  return Object.keys(metadata).length === 0 ? undefined : metadata;
}

async function openCheckout(context: Context, request: ChargeRequest, channel: string): Promise<Charged> {
  const body = {
    ...commonFields(request),
    // Within the limits, so far below what a JSON number holds exactly.
    amount: Number(request.amount.amountMinor),
    channels: [channel],
    callback_url: request.returnUrl,
  };
  const answer = await context.client.post('/transaction/initialize', body, request.fence);
  if (answer.kind !== 'answered') return failedEffect(context, 'initialize', answer);
  return readYes(context, 'initialize', wire.checkout, answer, ({ reference, authorization_url }) => {
    requireSameReference(request.reference, reference);
    return { outcome: 'done', value: { kind: 'redirect', paymentUrl: authorization_url } };
  });
}

async function chargeByTransfer(context: Context, request: ChargeRequest): Promise<Charged> {
  const body = {
    ...commonFields(request),
    amount: String(request.amount.amountMinor),
    bank_transfer: { account_expires_at: request.accountExpiresAt?.toISOString() ?? null },
  };
  const answer = await context.client.post('/charge', body, request.fence);
  if (answer.kind === 'answered')
    return readYes(context, 'charge', wire.charge, answer, (held) => instructionsIn(context, request, held));
  const outcome = failedEffect(context, 'charge', answer);
  const isRepeat = outcome.outcome === 'refused' && outcome.reason === 'REFERENCE_TAKEN';
  return isRepeat ? instructionsAgain(context, request) : outcome;
}

/** How the buyer pays the charge that the gateway holds under our reference. */
function instructionsIn(context: Context, request: ChargeRequest, held: wire.WireCharge): Charged {
  requireSameReference(request.reference, held.reference);
  const state = chargeStateOf(held.status);
  alertIfUnseen(context, 'charge status', 'charge', { state, gatewayStatus: held.status });
  // It came without an account, so it cannot be paid any more.
  if (state === 'failed')
    return { outcome: 'refused', reason: 'REQUEST_REFUSED', detail: 'the charge failed at once' };
  const detail = `the charge is ${held.status.slice(0, 40)}`;
  if (state !== 'waiting') return unknown(detail);
  const value = held.account && transferInstructionsOf(held.account, request.accountExpiresAt);
  return value ? { outcome: 'done', value } : unknown(`${detail}, without an account`, PENDING_RETRY_MS);
}

/**
 * A reference that was used before: by us, if it is the same charge and the vendor gives its account again.
 */
async function instructionsAgain(context: Context, request: ChargeRequest): Promise<Charged> {
  const answer = await context.client.get(`/charge/${encodeURIComponent(request.reference)}`);
  if (answer.kind !== 'answered') return readFailure(answer);
  return readYes(context, 'check charge', wire.charge, answer, (held) => {
    const outcome = instructionsIn(context, request, held);
    const state = chargeStateOf(held.status);
    // It may be paid: findCharge must say so before another charge is opened.
    if (state !== 'waiting' && state !== 'failed') return outcome;
    const isOurs = held.amount === null || held.amount === request.amount.amountMinor;
    if (outcome.outcome === 'done' && isOurs) return outcome;
    const detail = 'the reference is taken, without an account to pay into';
    return { outcome: 'refused', reason: 'REFERENCE_TAKEN', detail };
  });
}

/** Null: the gateway knows no charge with this reference. */
export async function findCharge(
  context: Context,
  reference: string,
): Promise<GatewayOutcome<GatewayCharge | null>> {
  if (!isReference(reference)) return { outcome: 'done', value: null };
  const answer = await context.client.get(`/transaction/verify/${encodeURIComponent(reference)}`);
  if (answer.kind === 'failed' && isNotFound(answer)) return { outcome: 'done', value: null };
  if (answer.kind !== 'answered') return readFailure(answer);
  return readYes(context, 'verify', wire.transaction, answer, (held) => {
    requireSameReference(reference, held.reference);
    requireMode(context, held.domain);
    const value = toGatewayCharge(held);
    alertIfUnseen(context, 'charge status', 'verify', value);
    return { outcome: 'done', value };
  });
}
