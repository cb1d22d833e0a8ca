/**
 * The balance at the supplier: read on a schedule, after orders and on request, and shown with how long it
 * lasts. What may be sold is decided by the rows (migrations/world/baseline/availability.ts).
 */
import { HOUR_MS } from '../../domain/clock.ts';
import { Unavailable } from '../../domain/outcome.ts';
import { endProbedShortages } from '../../catalogue/store/shortages.ts';
import type { EsimSupplier } from '../../esims/port.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { balanceLevel, hoursLeft, spentPerHour, tightBelow, type BalanceLimits } from './balance-rules.ts';
import {
  beginBalanceCheck,
  countUncovered,
  isBalanceDue,
  keepBalance,
  listShortages,
  readBalances,
  readDearestCost,
  readSpent,
  type KeptBalance,
} from '../store/supplier-balances.ts';

export interface BalanceDeps {
  readonly db: WorldDb;
  readonly supplier: Pick<EsimSupplier, 'name' | 'balance'>;
}

/** `unread`: the supplier did not answer, so the last balance still counts. */
export type BalanceCheckOutcome = 'read' | 'not-due' | 'unread';

/** Reads the balance if it is due, or at once. Where two processes do, the later number counts. */
export async function checkBalance(
  { db, supplier }: BalanceDeps,
  { isForced = false } = {},
): Promise<BalanceCheckOutcome> {
  await endProbedShortages(db);
  if (!isForced && !(await isBalanceDue(db, supplier.name))) return 'not-due';
  const begun = await beginBalanceCheck(db, supplier.name);
  let balanceUsdE4: bigint;
  try {
    balanceUsdE4 = await supplier.balance();
  } catch (error) {
    if (error instanceof Unavailable) return 'unread';
    throw error;
  }
  const [spent, dearest] = await Promise.all([
    readSpent(db, supplier.name),
    readDearestCost(db, supplier.name),
  ]);
  await keepBalance(db, {
    ...begun,
    supplier: supplier.name,
    balance_usd_e4: balanceUsdE4,
    tight_below_usd_e4: tightBelow(spentPerHour(spent, begun.asked_at), dearest),
  });
  return 'read';
}

/** A supplier's balance, how fast it is used, and what it does not cover. */
export async function readSupplierBalances(db: WorldDb, limits: BalanceLimits) {
  return Promise.all((await readBalances(db)).map((kept) => describeBalance(db, kept, limits)));
}

export type SupplierBalance = Awaited<ReturnType<typeof readSupplierBalances>>[number];

async function describeBalance(db: WorldDb, kept: KeptBalance, limits: BalanceLimits) {
  const [spent, uncovered] = await Promise.all([readSpent(db, kept.supplier), countUncovered(db, kept)]);
  const perHour = spentPerHour(spent, kept.now);
  const hours = hoursLeft(kept.availableUsdE4, perHour);
  // Beyond a year nobody plans by it.
  const isFar = hours === null || hours > 365 * 24;
  return {
    ...kept,
    perDayUsdE4: BigInt(Math.trunc(perHour * 24)),
    hours,
    lastsUntil: isFar ? null : new Date(kept.now.getTime() + hours * HOUR_MS),
    level: balanceLevel(kept.availableUsdE4, hours, limits),
    uncovered,
  };
}

export type KnownAvailability = Awaited<ReturnType<typeof describeAvailability>>;

/** For operators. */
export async function describeAvailability(db: WorldDb, limits: BalanceLimits) {
  const [balances, shortages] = await Promise.all([readSupplierBalances(db, limits), listShortages(db)]);
  return { balances, shortages };
}
