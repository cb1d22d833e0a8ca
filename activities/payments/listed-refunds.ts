/** What the gateway's list of refunds says of a payment. */
import type { GatewayOutcome, ListedRefund, PaymentGateway } from '../../src/payments/port.ts';

/** All refunds of a payment that have not failed, by whomever they were requested. */
export async function findSent(
  gateway: Pick<PaymentGateway, 'refundsOf'>,
  reference: string,
): Promise<GatewayOutcome<readonly ListedRefund[]>> {
  const listed = await gateway.refundsOf(reference);
  if (listed.outcome !== 'done') return listed;
  return { ...listed, value: listed.value.filter(({ state }) => state !== 'failed') };
}

export const sumOf = (refunds: readonly ListedRefund[]): bigint =>
  refunds.reduce((sum, { amount }) => sum + amount.amountMinor, 0n);
