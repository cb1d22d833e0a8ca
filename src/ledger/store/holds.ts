import type { Money } from '../../domain/money.ts';
import { callFunction } from '../../platform/database/functions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** `id`: the purchase's transactionId. */
interface NewHold {
  readonly id: string;
  readonly accountId: string;
  readonly amount: Money;
}

/** What a function of a hold answers: done by this call, or the status that the hold has. */
export type HoldOutcome = 'done' | 'HELD' | 'POSTED' | 'VOIDED' | 'absent';

/**
 * Turns a hold into revenue and books the supplier's cost. Throws HoldConflict when it was voided or never
 * placed: a delivery without money is a bug.
 */
export async function postHold(
  db: WorldDb,
  id: string,
  { supplier, costUsdE4 }: { readonly supplier: string; readonly costUsdE4: bigint },
): Promise<'posted' | 'already'> {
  const args = { hold_id: id, supplier, cost_usd_e4: costUsdE4 };
  const { outcome } = await callFunction<{ outcome: HoldOutcome }>(db, 'post_hold', args);
  requireEnded(id, 'POSTED', outcome);
  return outcome === 'done' ? 'posted' : 'already';
}

/**
 * Returns a hold to its wallet. `already`: voided before, or never placed. Throws HoldConflict when it was
 * posted.
 */
export async function voidHold(db: WorldDb, id: string): Promise<'voided' | 'already'> {
  const { outcome } = await callFunction<{ outcome: HoldOutcome }>(db, 'void_hold', { hold_id: id });
  if (outcome !== 'absent') requireEnded(id, 'VOIDED', outcome);
  return outcome === 'done' ? 'voided' : 'already';
}

/** The hold of a payment through the gateway; the payment's own transfer has its entries. */
export async function placePaidHold(db: WorldDb, hold: NewHold): Promise<void> {
  const { amountMinor, currency } = hold.amount;
  await db
    .insertInto('holds')
    .values({ id: hold.id, account_id: hold.accountId, currency, amount_minor: amountMinor })
    .execute();
}

/** Throws HoldConflict where the hold ended neither now nor before as wanted. */
export function requireEnded(id: string, wanted: 'POSTED' | 'VOIDED', outcome: HoldOutcome): void {
  if (outcome !== 'done' && outcome !== wanted) throw new HoldConflict(id, wanted, outcome);
}

/** Two steps disagree about how a purchase's hold ended. */
export class HoldConflict extends Error {
  constructor(id: string, wanted: string, found: string) {
    super(`hold ${id} should be ${wanted} but is ${found}`);
    this.name = 'HoldConflict';
  }
}
