import { sql, type Selectable } from 'kysely';
import type { AuditAction } from '../../accounts/audit-entry.ts';
import { writeWorldAudit } from '../../accounts/store/audit.ts';
import { DAY_MS } from '../../domain/clock.ts';
import { formatAmount } from '../../domain/money.ts';
import { countAndOldest } from '../../platform/database/summary.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { ruleText, type PriceRule, type RuleStatus, type RuleTerms, type Targeted } from '../price-rules.ts';
import type { CataloguePackage } from '../rules.ts';
import { bumpRevision } from './revisions.ts';
import type { PriceRulesTable } from './tables.ts';

/** A rule with who set it, and what became of it. */
export type StoredRule = PriceRule & {
  readonly status: RuleStatus;
  readonly by: string;
  readonly reason: string;
  readonly createdAt: Date;
  readonly validFrom: Date;
  /** As it was set: a rule that a person ended has an earlier end. */
  readonly validUntil: Date | null;
  /** The second person; null: none was needed, or it waits. */
  readonly confirmedBy: string | null;
  readonly closedAt: Date | null;
  readonly closedBy: string | null;
  readonly closedReason: string | null;
};

type Row = Selectable<PriceRulesTable>;

/** As of a rate and of markups: one that nobody confirmed for a day is judged by the prices of another. */
const PROPOSAL_AGE_MS = DAY_MS;

const endsAt = sql<Date | null>`least(valid_until, closed_at)`;

const isWaiting = sql<boolean>`
  waits and closed_at is null and created_at > clock_timestamp() - ${PROPOSAL_AGE_MS} * interval '1 ms'`;

const STATUS = sql<RuleStatus>`
  case when ${isWaiting} then 'WAITS'
       when waits and closed_at is not null then 'DECLINED'
       when waits then 'LAPSED'
       when ${endsAt} <= clock_timestamp() then 'ENDED'
       when valid_from > clock_timestamp() then 'SCHEDULED'
       else 'IN_FORCE' end`;

/** Those that apply now or later. */
export async function readPriceRules(db: WorldDb): Promise<PriceRule[]> {
  const rows = await db
    .selectFrom('price_rules')
    .selectAll()
    .where('waits', '=', false)
    .where((eb) => eb.or([eb(endsAt, 'is', null), eb(endsAt, '>', sql<Date>`clock_timestamp()`)]))
    .execute();
  return rows.map(toRule);
}

/** How many apply now or later: those are in memory. */
export async function countOpenRules(db: WorldDb): Promise<number> {
  const row = await db
    .selectFrom('price_rules')
    .select((eb) => eb.fn.countAll<bigint>().as('total'))
    .where('waits', '=', false)
    .where((eb) => eb.or([eb(endsAt, 'is', null), eb(endsAt, '>', sql<Date>`clock_timestamp()`)]))
    .executeTakeFirstOrThrow();
  return Number(row.total);
}

/** How many wait for a second person, and since when the first does; null: none. */
export const summariseWaitingRules = (db: WorldDb) =>
  db
    .selectFrom('price_rules')
    .select(countAndOldest('created_at'))
    .where(isWaiting)
    .executeTakeFirstOrThrow();

export interface RuleFilter {
  readonly status?: RuleStatus | undefined;
  readonly accountId?: string | undefined;
}

/** Newest first. */
export async function listPriceRules(
  db: WorldDb,
  filter: RuleFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<StoredRule[]> {
  const rows = await matching(db, filter)
    .selectAll()
    .select(STATUS.as('status'))
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return rows.map(toStored);
}

export async function countPriceRules(db: WorldDb, filter: RuleFilter): Promise<number> {
  const row = await matching(db, filter)
    .select((eb) => eb.fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow();
  return Number(row.total);
}

const matching = (db: WorldDb, { status, accountId }: RuleFilter) =>
  db
    .selectFrom('price_rules')
    .$if(status !== undefined, (query) => query.where(STATUS, '=', status ?? 'WAITS'))
    .$if(accountId !== undefined, (query) =>
      query.where('scope', '=', 'ACCOUNT').where('scope_id', '=', accountId ?? ''),
    );

export async function findPriceRule(db: WorldDb, id: bigint): Promise<StoredRule | undefined> {
  const row = await db
    .selectFrom('price_rules')
    .selectAll()
    .select(STATUS.as('status'))
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toStored(row);
}

export interface RuleTimes {
  /** null: at once. */
  readonly from: Date | null;
  /** null: until it is ended. */
  readonly until: Date | null;
}

/** When a rule begins by Postgres' clock: the later of `from` and now. `isOver`: it ends before. */
export async function settleTimes(db: WorldDb, { from, until }: RuleTimes) {
  const { rows } = await sql<{ from: Date }>`
    select greatest(${from}::timestamptz, date_trunc('milliseconds', clock_timestamp())) as "from"`.execute(
    db,
  );
  const [begins] = rows;
  if (!begins) throw new Error('Postgres told no time');
  return { from: begins.from, until, isOver: until !== null && until <= begins.from };
}

/**
 * A rule for the same buyers and the same target that applies at some time from `from` to `until`. Prices in
 * two currencies are for different buyers. Call it under the lock of pricing.
 */
export async function findOverlapping(
  trx: WorldDb,
  terms: RuleTerms,
  { from, until }: { readonly from: Date; readonly until: Date | null },
): Promise<StoredRule | undefined> {
  const currency = terms.kind === 'PRICE' ? terms.currency : null;
  const row = await trx
    .selectFrom('price_rules')
    .selectAll()
    .select(STATUS.as('status'))
    .where('waits', '=', false)
    .where('scope', '=', terms.scope)
    .where('scope_id', '=', terms.scopeId)
    .where('target', '=', terms.target)
    .where('target_id', '=', terms.targetId)
    .where(sql<boolean>`coalesce(currency = ${currency}::text, true)`)
    .where(sql<boolean>`valid_from < coalesce(${until}::timestamptz, 'infinity')`)
    .where(sql<boolean>`coalesce(${endsAt}, 'infinity') > ${from}`)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row && toStored(row);
}

/** Applies within a second, or waits. Returns its id. Call it under the lock of pricing. */
export async function insertPriceRule(
  trx: WorldDb,
  rule: RuleTerms & { readonly from: Date; readonly until: Date | null },
  who: { readonly by: string; readonly reason: string; readonly waits: boolean },
): Promise<bigint> {
  const { id } = await trx
    .insertInto('price_rules')
    .values({
      ...{ scope: rule.scope, scope_id: rule.scopeId, target: rule.target, target_id: rule.targetId },
      kind: rule.kind,
      markup_bps: rule.kind === 'MARKUP' ? rule.markupBps : null,
      price_minor: rule.kind === 'PRICE' ? rule.priceMinor : null,
      currency: rule.kind === 'PRICE' ? rule.currency : null,
      ...{ rounding: rule.rounding, valid_from: rule.from, valid_until: rule.until },
      ...{ set_by: who.by, reason: who.reason, waits: who.waits },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const action = who.waits ? 'price-rule.propose' : 'price-rule.set';
  await audit(trx, { action, actor: who.by, id, rule, facts: { reason: who.reason } });
  if (!who.waits) await bumpRevision(trx, 'pricing');
  return id;
}

/** Begins at the later of its time and now. Call it under the lock of pricing. */
export async function confirmPriceRule(
  trx: WorldDb,
  rule: StoredRule,
  { by, reason, from }: { readonly by: string; readonly reason: string; readonly from: Date },
): Promise<void> {
  await trx
    .updateTable('price_rules')
    .set({ waits: false, confirmed_by: by, valid_from: from })
    .where('id', '=', rule.id)
    .execute();
  const facts = { reason, proposedBy: rule.by, proposedReason: rule.reason };
  await audit(trx, { action: 'price-rule.confirm', actor: by, id: rule.id, rule, facts });
  await bumpRevision(trx, 'pricing');
}

/** Ends it now, or declines what waits. Call it under the lock of pricing. */
export async function closePriceRule(
  trx: WorldDb,
  rule: StoredRule,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> {
  await trx
    .updateTable('price_rules')
    .set({
      closed_at: sql`date_trunc('milliseconds', clock_timestamp())`,
      closed_by: by,
      closed_reason: reason,
    })
    .where('id', '=', rule.id)
    .execute();
  const action = rule.status === 'WAITS' ? 'price-rule.decline' : 'price-rule.end';
  await audit(trx, { action, actor: by, id: rule.id, rule, facts: { reason, proposedBy: rule.by } });
  await bumpRevision(trx, 'pricing');
}

async function audit(
  trx: WorldDb,
  entry: {
    readonly action: Extract<AuditAction, `price-rule.${string}`>;
    readonly actor: string;
    readonly id: bigint;
    readonly rule: RuleTerms;
    readonly facts: {
      readonly reason: string;
      readonly proposedBy?: string;
      readonly proposedReason?: string;
    };
  },
): Promise<void> {
  const { action, actor, id, rule, facts } = entry;
  const detail = { priceRule: ruleText(rule, amountText(rule)), ...facts };
  await writeWorldAudit(trx, { actor, action, subject: String(id), detail });
}

/** `markup 12.50 %` or `USD 4.50`. */
export const amountText = (rule: RuleTerms): string =>
  rule.kind === 'MARKUP'
    ? `markup ${formatAmount({ amountMinor: BigInt(rule.markupBps), currency: '' })} %`
    : `${rule.currency} ${formatAmount({ amountMinor: rule.priceMinor, currency: rule.currency })}`;

/** What a rule is judged by: every package on sale, top-ups included. */
export type JudgedPackage = Targeted & Pick<CataloguePackage, 'name' | 'packageType' | 'cost'>;

export const readJudgedPackages = (db: WorldDb): Promise<JudgedPackage[]> =>
  db
    .selectFrom('packages')
    .select(['package_code as packageCode', 'name', 'package_type as packageType', 'cost_usd_e4 as cost'])
    .select(['region_code as regionCode', 'location'])
    .where('withdrawn_at', 'is', null)
    .orderBy('package_code')
    .execute();

function toRule(row: Row): PriceRule {
  const [from, closed, until] = [row.valid_from, row.closed_at, row.valid_until].map(
    (at) => at?.getTime() ?? null,
  );
  const ends = [closed, until].filter((at) => typeof at === 'number');
  return {
    id: row.id,
    ...{ scope: row.scope, scopeId: row.scope_id, target: row.target, targetId: row.target_id },
    ...(row.kind === 'MARKUP'
      ? { kind: row.kind, markupBps: row.markup_bps ?? 0 }
      : { kind: row.kind, priceMinor: row.price_minor ?? 0n, currency: row.currency ?? 'USD' }),
    rounding: row.rounding,
    fromMs: from ?? 0,
    untilMs: ends.length === 0 ? null : Math.min(...ends),
  };
}

const toStored = (row: Row & { readonly status: RuleStatus }): StoredRule => ({
  ...toRule(row),
  status: row.status,
  ...{ by: row.set_by, reason: row.reason, createdAt: row.created_at, confirmedBy: row.confirmed_by },
  ...{ validFrom: row.valid_from, validUntil: row.valid_until },
  ...{ closedAt: row.closed_at, closedBy: row.closed_by, closedReason: row.closed_reason },
});
