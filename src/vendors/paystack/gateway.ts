/**
 * The port payment-gateway on the vendor's HTTP API. Guarantee: an effect is done only if the vendor says so
 * about our reference, and refused only if its pages call that answer final. Everything else is unknown.
 * Requests carry only references that the caller gave. Must not log keys, bodies or account numbers.
 */
import type { PaymentGateway } from '../../payments/port.ts';
import type { Pacer } from '../../platform/rate-limiter.ts';
import type { Context, Mode } from './answers.ts';
import { charge, findCharge } from './charges.ts';
import { createClient, type Client } from './client.ts';
import { NAME } from './codes.ts';
import { limitsOf } from './limits.ts';
import { disputed, findDisputes, findRefund, refund, refundsOf } from './refunds.ts';
import { paidChargesOf, statementOf } from './statement.ts';
import { mayBeEvent, verifyEvent } from './webhook.ts';

const LIVE_BASE_URL = 'https://api.paystack.co';
/** A bank behind the vendor makes transfer accounts; it may take seconds. */
const DEFAULT_TIME_LIMIT_MS = 10_000;

export interface PaystackOptions {
  readonly baseUrl?: string | undefined;
  /** Signs in, and signs the events. */
  readonly secretKey: string;
  /** Keys that were replaced lately: their events still count, requests do not use them. */
  readonly previousSecretKeys?: readonly string[] | undefined;
  /** What this account's money is; answers and events of the other mode are never taken for ours. */
  readonly mode: Mode;
  /** Raises the alert for words never seen before. */
  readonly onUnknown?: Context['onUnknown'] | undefined;
  readonly timeLimitMs?: number | undefined;
  /** Limits all requests together; without one there is no limit of ours. */
  readonly pacer?: Pacer | undefined;
  /** The same for requests on behalf of one account, which may take only a part. */
  readonly accountPacer?: ((accountId: string) => Pacer) | undefined;
}

export interface PaystackGateway extends PaymentGateway {
  /** The same gateway for another kind of work, which waits for its turn elsewhere. */
  pacedBy(pacer: Pacer): PaymentGateway;
  /** Closes kept-alive connections when the process ends. */
  close(): void;
}

/**
 * Makes the gateway of one account. Throws TypeError for a bad `baseUrl`, an empty key and a key of the other
 * mode.
 */
export function createPaystackGateway(options: PaystackOptions): PaystackGateway {
  const { secretKey, previousSecretKeys = [], mode, onUnknown = () => undefined } = options;
  const secretKeys = [secretKey, ...previousSecretKeys];
  for (const key of secretKeys) requireKeyOf(mode, key);
  const client = createClient({
    baseUrl: options.baseUrl ?? LIVE_BASE_URL,
    secretKey,
    timeLimitMs: options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
    pacer: options.pacer,
  });
  const { accountPacer } = options;
  const gatewayOn = (paced: Client): PaymentGateway => {
    const context: Context = { client: paced, mode, onUnknown };
    return {
      name: NAME,
      limits: limitsOf,
      forAccount: (accountId) =>
        accountPacer ? gatewayOn(client.pacedBy(accountPacer(accountId))) : gateway,
      charge: (request) => charge(context, request),
      findCharge: (reference) => findCharge(context, reference),
      refund: (request) => refund(context, request),
      findRefund: (request) => findRefund(context, request),
      refundsOf: (reference) => refundsOf(context, reference),
      paidCharges: (from, to, page) => paidChargesOf(context, from, to, page),
      findDisputes: (reference) => findDisputes(context, reference),
      disputed: (from, to) => disputed(context, from, to),
      statement: (from, to) => statementOf(context, from, to),
      mayBeEvent,
      verifyWebhook: (rawBody, headers) => verifyEvent({ secretKeys, mode }, rawBody, headers),
    };
  };
  const gateway = gatewayOn(client);
  return { ...gateway, pacedBy: (pacer) => gatewayOn(client.pacedBy(pacer)), close: () => client.close() };
}

/**
 * With an empty key every signature would be right; one of the other mode would take play money for real
 * money.
 */
function requireKeyOf(mode: Mode, key: string): void {
  if (key === '') throw new TypeError('a secret key is empty');
  if (key.startsWith(mode === 'live' ? 'sk_test_' : 'sk_live_'))
    throw new TypeError(`a secret key is not of mode ${mode}`);
}
