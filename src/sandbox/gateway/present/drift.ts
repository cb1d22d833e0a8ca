/**
 * The shapes that the gateway's answers are known to drift into: null here, {} or "" or 0 there, camel and snake case side by side, fields
 * that nobody has documented. Guarantee: the same transaction always drifts the same way; no amount, status or reference changes.
 */
import { hash32 } from '../../support/seeded.ts';

const VARIANTS: Record<string, readonly unknown[]> = {
  plan: [null, {}, '', 0],
  split: [{}, null, ''],
  subaccount: [{}, null, ''],
  plan_object: [{}, null],
  log: [null, {}, ''],
  fees_split: [null, {}, ''],
  fees_breakdown: [null, [], ''],
  order_id: [null, '', 0],
  source: [null, {}, 'api'],
};
const NO_METADATA: readonly unknown[] = ['', null, 0, {}];

/** The same answer in one of the shapes it may have. */
export function drifted(data: Record<string, unknown>, id: number): Record<string, unknown> {
  const pick = (name: string, variants: readonly unknown[]) =>
    variants[hash32(`${name}:${id}`) % variants.length];
  const varied = Object.entries(VARIANTS).map(([name, variants]) => [name, pick(name, variants)]);
  const isBare = data['metadata'] === '' || data['metadata'] === null;
  return {
    ...data,
    ...(Object.fromEntries(varied) as Record<string, unknown>),
    metadata: isBare ? pick('metadata', NO_METADATA) : data['metadata'],
    requestedAmount: data['requested_amount'],
    gatewayResponse: data['gateway_response'],
    ipAddress: data['ip_address'],
    settlement_hints: { batch: null, window: [1, 2], label: 'a field of tomorrow' },
    risk: 0.25,
  };
}
