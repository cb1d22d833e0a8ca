/** What orders and top-ups have in common: plans, periods, refusals and the charge. */
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import { magicRule, type MagicRule } from '../catalogue/magic.ts';
import { effective, type SupplierContext } from '../context.ts';
import { SupplierError } from '../errors.ts';
import type { PlanSnapshot } from '../esim-state.ts';
import { mandatoryText, optionalInteger, type Params } from '../params.ts';

export const LONGEST_TRANSACTION_ID = 50;
const planJson = new WeakMap<CatalogueEntry, string>();

/** What a bought package is remembered as, in JSON. */
export function snapshotJson(entry: CatalogueEntry): string {
  const known = planJson.get(entry);
  if (known !== undefined) return known;
  const { item } = entry;
  const plan: PlanSnapshot = {
    packageCode: item.packageCode,
    slug: item.slug,
    packageName: item.name,
    locationCode: item.locationCode,
    topUpGroup: entry.topUpGroup,
    volume: item.volume,
    duration: item.duration,
    dataType: item.dataType,
    smsStatus: item.smsStatus,
    activeType: item.activeType,
    unusedValidTime: item.unusedValidTime,
    ipExport: item.ipExport,
    supportTopUpType: item.supportTopUpType,
    fupPolicy: item.fupPolicy,
  };
  const json = JSON.stringify(plan);
  planJson.set(entry, json);
  return json;
}

/** The package of `packageCode` as it is sold now, or 310241. */
export function requirePackage(
  context: SupplierContext,
  params: Params,
  find: (code: string) => CatalogueEntry | undefined,
): CatalogueEntry {
  const code = mandatoryText(params, 'packageCode', 100);
  const known = find(code);
  const entry = known && effective(context, known);
  if (entry === undefined) throw new SupplierError('310241', `packageCode [${code}] does not exist`);
  return entry;
}

/** `periodNum` of a purchase: 1 to 365, and only day-passes may have more than 1. */
export function periodsOf(params: Params, entry: CatalogueEntry): number {
  const periods = optionalInteger(params, 'periodNum') ?? 1;
  if (periods < 1 || periods > 365) throw new SupplierError('200008', 'periodNum must be from 1 to 365');
  if (periods > 1 && entry.item.dataType === 1) {
    throw new SupplierError('200008', 'periodNum is for daily plans');
  }
  return periods;
}

/** Refuses an `amount` that is not the total. */
export function requireTotal(params: Params, total: number): void {
  const amount = optionalInteger(params, 'amount');
  if (amount !== undefined && amount !== total) throw new SupplierError('200006');
}

/** The rule of the first magic code among those bought; an empty rule for ordinary packages. */
export function ruleOf(packageCodes: readonly string[]): MagicRule {
  return packageCodes.map(magicRule).find((rule) => rule !== undefined) ?? {};
}

/** Throws what the faults or the magic code hold for a purchase that was not taken before; `tries` were refused so far. */
export function refuseByFault(context: SupplierContext, rule: MagicRule = {}, tries = 0): void {
  if (rule.refuse !== undefined && tries < (rule.refuse.tries ?? Number.POSITIVE_INFINITY)) {
    throw new SupplierError(rule.refuse.code);
  }
  if (context.faults.hits('outOfStock')) throw new SupplierError('200011');
  if (context.faults.hits('priceChanged')) throw new SupplierError('200005');
  if (context.faults.hits('lowBalance')) throw new SupplierError('200007');
}

/** Whether the answer to a purchase is lost: by the fault, or by a magic code on the first call. */
export function losesAnswer(context: SupplierContext, rule: MagicRule = {}, tries = 0): boolean {
  return context.faults.hits('loseAnswer') || (rule.loseAnswer === true && tries === 0);
}

/** Takes `amount` from the account's balance or throws 200007; must run inside the purchase's transaction. */
export function charge(context: SupplierContext, amount: number): void {
  const balance = context.account.balance();
  if (balance < amount) throw new SupplierError('200007');
  context.account.setBalance(balance - amount);
}
