/** Disputes as reconciliation reads them. */
import { sql } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { DisputedPayment, OurDispute } from '../payment-rules.ts';

/** References of payments whose disputes may differ: open, settled since, or settled otherwise than the gateway last said. */
export async function findDisputedReferences(
  db: WorldDb,
  page: { readonly since: Date; readonly after: string; readonly limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ reference: string }>`
    select distinct reference from disputes
     where reference > ${page.after}
       and (settled_at is null or settled_at >= ${page.since} or gateway_state is distinct from lower(outcome))
     order by reference
     limit ${page.limit}`.execute(db);
  return rows.map((row) => row.reference);
}

export interface OurDisputes extends DisputedPayment {
  readonly openedAt: Date;
  readonly disputes: readonly OurDispute[];
}

/** Those of these payments; a reference that is none of ours is left out. */
export async function findOurDisputes(db: WorldDb, references: readonly string[]): Promise<OurDisputes[]> {
  const payments = await db
    .selectFrom('payments')
    .select(['reference', 'transaction_id', 'booked_currency', 'charge_currency', 'booked_minor'])
    .select(['reversed_minor', 'created_at'])
    .where('reference', 'in', references)
    .orderBy('reference')
    .execute();
  const disputes = await db
    .selectFrom('disputes')
    .selectAll()
    .where('reference', 'in', references)
    .orderBy('opened_at')
    .execute();
  return payments.map((payment) => ({
    reference: payment.reference,
    transactionId: payment.transaction_id,
    currency: payment.booked_currency ?? payment.charge_currency,
    heldMinor: payment.booked_minor - payment.reversed_minor,
    openedAt: payment.created_at,
    disputes: disputes
      .filter(({ reference }) => reference === payment.reference)
      .map((row) => ({
        disputeId: row.dispute_id,
        outcome: row.outcome,
        isSettled: row.settled_at !== null,
        lastMovedAt: row.settled_at ?? row.opened_at,
      })),
  }));
}
