/**
 * The faults that may hit a purchase (order or top-up), from the board and from magic codes, in one order.
 * Guarantee: throws before anything is charged. Must not change orders.
 */
import { magicRule, type MagicRule } from '../catalogue/magic.ts';
import type { SupplierContext } from '../context.ts';
import { SupplierError } from '../errors.ts';

const OK: MagicRule = {};

/** The rule of the first magic code among those bought; an empty rule for ordinary packages. */
export function ruleOf(packageCodes: readonly string[]): MagicRule {
  for (const code of packageCodes) {
    const rule = magicRule(code);
    if (rule !== undefined) return rule;
  }
  return OK;
}

/** Throws what the board or the magic code has in store for a purchase not taken before; `tries` were refused so far. */
export function refuseIfTold(context: SupplierContext, rule: MagicRule, tries: number): void {
  if (rule.refuse !== undefined && tries < (rule.refuse.tries ?? Number.POSITIVE_INFINITY)) {
    throw new SupplierError(rule.refuse.code);
  }
  if (context.faults.hits('outOfStock')) throw new SupplierError('200011');
  if (context.faults.hits('priceChanged')) throw new SupplierError('200005');
  if (context.faults.hits('lowBalance')) throw new SupplierError('200007');
}

/** Takes `amount` from the account's balance or throws 200007; must run inside the purchase's transaction. */
export function charge(context: SupplierContext, amount: number): void {
  const balance = context.account.balance();
  if (balance < amount) throw new SupplierError('200007');
  context.account.setBalance(balance - amount);
}
