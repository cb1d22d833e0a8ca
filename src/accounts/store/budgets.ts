/** Budgets of API keys. They stand beside the holds that use them up, in the schema of their environment. */
import { sql, type RawBuilder } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { BudgetBreach, BudgetLeft, KeyBudget } from '../keys/budget-rules.ts';

export interface BudgetAndLeft {
  readonly keyId: string;
  readonly budget: KeyBudget;
  readonly left: BudgetLeft;
}

const LIMITS = [
  'daily_minor as dailyAmountMinor',
  'order_minor as orderAmountMinor',
  'max_price_minor as maxPriceMinor',
  'max_purchases as maxPurchases',
  'countries',
] as const;

/** Null where there is no such limit. Nothing where it was lowered below what is used. */
const left = (limit: string, used: RawBuilder<unknown>) =>
  sql<
    bigint | null
  >`case when ${sql.ref(limit)} is not null then greatest(${sql.ref(limit)} - ${used}, 0) end`;

/** Of these keys, and what is left of each. */
async function selectBudgets(db: WorldDb, which: RawBuilder<boolean>): Promise<BudgetAndLeft[]> {
  const rows = await db
    .selectFrom('key_budgets')
    .select(['key_id as keyId', ...LIMITS])
    .select(left('daily_minor', sql`key_spent_today(key_id)`).as('leftMinor'))
    .select(left('max_purchases', sql`key_purchases(key_id)`).as('leftPurchases'))
    .where(which)
    .execute();
  return rows.map(({ keyId, leftMinor, leftPurchases, ...budget }) => ({
    keyId,
    budget,
    left: {
      dailyAmountMinor: leftMinor,
      purchases: leftPurchases === null ? null : Number(leftPurchases),
    },
  }));
}

/** undefined: the key has none. */
export const findBudget = async (db: WorldDb, keyId: string): Promise<BudgetAndLeft | undefined> =>
  (await selectBudgets(db, sql<boolean>`key_id = ${keyId}`))[0];

/** By key. */
export async function listBudgets(db: WorldDb, accountId: string): Promise<Map<string, BudgetAndLeft>> {
  const found = await selectBudgets(db, sql<boolean>`account_id = ${accountId}`);
  return new Map(found.map((one) => [one.keyId, one]));
}

/** Returns what it was; null: none. What is used stays, since it is read from the holds. */
export async function replaceBudget(
  trx: WorldDb,
  key: { readonly keyId: string; readonly accountId: string; readonly changedBy: string },
  budget: KeyBudget | null,
): Promise<KeyBudget | null> {
  const before = await trx
    .selectFrom('key_budgets')
    .select(LIMITS)
    .where('key_id', '=', key.keyId)
    .forUpdate()
    .executeTakeFirst();
  if (!budget) await trx.deleteFrom('key_budgets').where('key_id', '=', key.keyId).execute();
  else {
    const row = {
      daily_minor: budget.dailyAmountMinor,
      order_minor: budget.orderAmountMinor,
      max_price_minor: budget.maxPriceMinor,
      max_purchases: budget.maxPurchases,
      countries: budget.countries && [...budget.countries],
      changed_at: sql<Date>`clock_timestamp()`,
      changed_by: key.changedBy,
    };
    await trx
      .insertInto('key_budgets')
      .values({ key_id: key.keyId, account_id: key.accountId, ...row })
      .onConflict((conflict) => conflict.column('key_id').doUpdateSet(row))
      .execute();
  }
  return before ?? null;
}

/** What an order would cost, before anything is held. Without purchases, nothing that is used up counts. */
interface Order {
  readonly totalMinor: bigint;
  readonly dearestMinor: bigint;
  readonly countries: readonly string[];
  readonly purchases: number;
}

/** The limit of the key's budget that an order breaks. The hold of each purchase is judged again. */
export async function findBreach(db: WorldDb, keyId: string, order: Order): Promise<BudgetBreach | null> {
  const { totalMinor, dearestMinor, countries, purchases } = order;
  const { rows } = await sql<{ breach: BudgetBreach | null }>`
    select key_budget_breach(${keyId}, ${totalMinor}, ${dearestMinor}, ${[...countries]}::text[],
                             ${purchases}::integer) as breach`.execute(db);
  return rows[0]?.breach ?? null;
}
