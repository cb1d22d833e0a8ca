/** Disputes at the vendor. Guarantee: a list that was not read to its end is never taken for a complete one. */
import {
  GatewayUnavailable,
  type GatewayCharge,
  type GatewayDispute,
  type GatewayOutcome,
  type PaymentGateway,
} from '../../payments/port.ts';
import type { Context } from './context.ts';
import { rowsOf } from './lists.ts';
import { unknown } from './map.ts';
import { readDispute, type WireDispute } from './wire.ts';
import type { DisputeState } from '../../payments/rules.ts';

type FindCharge = (reference: string) => Promise<GatewayOutcome<GatewayCharge | null>>;

/** Makes the disputes' part of the port. */
export function createDisputes(
  context: Context,
  findCharge: FindCharge,
): Pick<PaymentGateway, 'findDisputes' | 'disputed'> {
  return {
    findDisputes: async (reference) => {
      const charge = await findCharge(reference);
      if (charge.outcome !== 'done') return charge;
      if (charge.value === null) return { outcome: 'done', value: [] };
      return findDisputes(context, charge.value);
    },
    disputed: async function* (from, to) {
      for await (const row of disputes(context, { from: from.toISOString(), to: to.toISOString() })) {
        const isWithin = row.createdAt === null || (row.createdAt >= from && row.createdAt < to);
        if (isWithin && row.reference !== '') yield row.reference;
      }
    },
  };
}

const disputes = ({ client }: Context, query: Readonly<Record<string, string>>) =>
  rowsOf(client, { path: '/dispute', query, read: readDispute, keyOf: (row: WireDispute) => row.id });

/** A vendor that does not narrow its list by transaction is read to the end as well. */
async function findDisputes(
  context: Context,
  charge: GatewayCharge,
): Promise<GatewayOutcome<readonly GatewayDispute[]>> {
  if (charge.gatewayId === '') return unknown('the charge has no id to look for disputes by');
  const found: WireDispute[] = [];
  try {
    for await (const row of disputes(context, { transaction: charge.gatewayId }))
      if (row.reference === charge.reference) found.push(row);
  } catch (error) {
    if (error instanceof GatewayUnavailable) return unknown(error.message, error.retryAfterMs);
    throw error;
  }
  const value = found
    .toSorted((one, other) => (one.createdAt?.getTime() ?? 0) - (other.createdAt?.getTime() ?? 0))
    .map(lookOf);
  return { outcome: 'done', value };
}

function lookOf({ id, status, resolution, createdAt }: WireDispute): GatewayDispute {
  const gatewayStatus = [status, resolution].filter((word) => word !== '').join(': ');
  return { disputeId: id, state: stateOf(status, resolution), gatewayStatus, openedAt: createdAt };
}

const OPEN = ['awaiting-merchant-feedback', 'awaiting-bank-feedback', 'pending'];

/** The bank declines the buyer's claim: won. The claim is accepted, by us or because time ran out: lost. */
function stateOf(status: string, resolution: string): DisputeState {
  if (OPEN.includes(status)) return 'open';
  if (status !== 'resolved') return 'unknown';
  if (resolution === 'declined') return 'won';
  return resolution === 'merchant-accepted' || resolution === 'auto-accepted' ? 'lost' : 'unknown';
}
