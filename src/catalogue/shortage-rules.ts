/** Whether a package can be delivered: what its supplier has just refused is not sold. Pure. */
import type { PaymentMethod } from '../domain/states.ts';
import type { CostUsdE4 } from './pricing.ts';

/** When a purchase may try the package again: from a wallet, where it fails free of charge, and any. */
export interface Shortage {
  readonly probeAt: Date;
  readonly paidProbeAt: Date;
}

/** As this process knows it: the opening statement decides (migrations/world/baseline/availability.ts). */
export interface Availability {
  readonly shortages: ReadonlyMap<string, Shortage>;
  /** By supplier, where so little is left that it is counted, US dollars × 10,000. */
  readonly tightBalances: ReadonlyMap<string, bigint>;
}

interface Wanted {
  readonly packageCode: string;
  readonly cost: CostUsdE4;
  /** Absent where the caller does not know it: the opening statement does. */
  readonly supplier?: string;
}

/** `method`: absent where it is not chosen yet, which is judged as if a buyer paid. */
export function isDeliverable(
  { shortages, tightBalances }: Availability,
  { packageCode, cost, supplier = '' }: Wanted,
  method: PaymentMethod | undefined,
  now: Date,
): boolean {
  const shortage = shortages.get(packageCode);
  if (shortage && now < (method === 'WALLET' ? shortage.probeAt : shortage.paidProbeAt)) return false;
  const left = tightBalances.get(supplier);
  return left === undefined || left >= cost;
}
