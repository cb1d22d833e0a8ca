// Paying through the gateway on a stack: the payer's side at the gateway's control interface, and the state
// of a payment in our rows.
import type { Answer, Stack, TestAccount } from '../world/stack.ts';
import { until } from '../time/until.ts';

export type Paid = ReturnType<typeof paidOf>;

interface HeldCharge {
  readonly status: string;
  readonly requested: { readonly amountMinor: number; readonly currency: string };
  readonly received: { readonly amountMinor: number; readonly currency: string };
  readonly refunds: readonly { readonly id: number; readonly status: string; readonly amountMinor: number }[];
}

export type GatewayMethod = 'CARD' | 'BANK_TRANSFER' | 'MOBILE_MONEY' | 'APPLE_PAY';

/** Buys through the gateway: opened, not paid. */
export async function buyThroughGateway(
  stack: Stack,
  account: TestAccount,
  options: {
    method?: GatewayMethod;
    packageCode?: string;
    esimId?: string;
    headers?: Record<string, string>;
    reference?: string;
    metadata?: Record<string, string>;
  } = {},
): Promise<Paid> {
  const { method = 'CARD', packageCode = 'SIM-OK', esimId, headers, ...own } = options;
  const answer = await stack.call('POST', '/api/esim/buy', {
    key: account.apiKey,
    body: {
      ...own,
      packageCode,
      paymentMethod: method,
      ...(esimId === undefined ? { packageType: 'BASE' } : { packageType: 'TOPUP', esimId }),
    },
    ...(headers ? { headers } : {}),
  });
  return paidOf(answer);
}

/** The payment's fields in an answer to buying or funding. One that is not there fails who asks for it. */
export function paidOf(answer: Answer) {
  const body = answer.body as unknown as Record<string, string | undefined>;
  const given = (name: string, value = body[name]): string => {
    if (value === undefined) throw new Error(`no ${name} in the answer ${answer.status}: ${answer.text}`);
    return value;
  };
  return {
    answer,
    get transactionId() {
      return given('transactionId');
    },
    get reference() {
      return given('gatewayReference', body['gatewayReference'] ?? body['trackingReference']);
    },
  };
}

/** On a busy machine a charge is opened after the buyer's answer. */
export const untilCharged = (stack: Stack, reference: string) =>
  until(
    () => fetch(`${stack.gatewayControlUrl}/charges/${reference}`),
    ({ ok }) => ok,
    { what: `a charge ${reference} at the gateway` },
  );

/** Uses the gateway's control interface. */
export async function atGateway(
  stack: Stack,
  reference: string,
  deed: 'pay' | 'fail' | 'abandon' | 'reverse' | 'dispute',
  body: object = {},
): Promise<void> {
  await untilCharged(stack, reference);
  const url = `${stack.gatewayControlUrl}/charges/${reference}/${deed}`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${deed}: ${answer.status} ${await answer.text()}`);
}

export async function gatewayFaults(stack: Stack, faults: object): Promise<void> {
  const answer = await fetch(`${stack.gatewayControlUrl}/faults`, {
    method: 'PUT',
    body: JSON.stringify(faults),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

export async function clearGatewayFaults(stack: Stack): Promise<void> {
  await fetch(`${stack.gatewayControlUrl}/faults`, { method: 'DELETE' });
}

/** How many checks of charges the gateway has received so far. */
export async function gatewayChecks(stack: Stack): Promise<number> {
  const answer = await fetch(`${stack.gatewayControlUrl}/stats`);
  const { calls } = (await answer.json()) as { calls: Record<string, number> };
  return calls['transaction/verify'] ?? 0;
}

export async function chargeAt(stack: Stack, reference: string): Promise<HeldCharge> {
  const answer = await fetch(`${stack.gatewayControlUrl}/charges/${reference}`);
  return (await answer.json()) as HeldCharge;
}

export function confirm(stack: Stack, account: TestAccount, transactionId: string): Promise<Answer> {
  return stack.call('POST', '/api/esim/confirm-payment', { key: account.apiKey, body: { transactionId } });
}

/** The purchase's row once it has this status. */
export function untilStatus(stack: Stack, transactionId: string, status: string) {
  return until(
    () =>
      stack.owner
        .selectFrom('purchases')
        .selectAll()
        .where('transaction_id', '=', transactionId)
        .where('status', '=', status as never)
        .executeTakeFirst(),
    (row) => row !== undefined,
    { what: `${transactionId} is ${status}` },
  );
}
