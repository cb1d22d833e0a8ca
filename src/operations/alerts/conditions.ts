/** What is wrong now, by rows alone: one statement over small indexes, and the balances. */
import { sql } from 'kysely';
import type { AlertKind } from '../../domain/alerts.ts';
import { MINUTE_MS } from '../../domain/clock.ts';
import { CONVERTED_CURRENCIES, formatMinor } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { balanceLevel, type BalanceLevel, type BalanceLimits } from '../supplier/balance-rules.ts';
import { readSupplierBalances, type SupplierBalance } from '../supplier/balance.ts';
import type { Condition, OpenAlert } from './alert-rules.ts';

export interface ConditionLimits {
  readonly balance: BalanceLimits;
  /** A difference of this much, by currency: what one person may move. In another currency any difference. */
  readonly differenceMinor: Readonly<Record<string, bigint>>;
}

/** Six reads that failed. */
const UNREAD_AFTER_MS = 30 * MINUTE_MS;
/** Prometheus alerts at the same age of a rate, and earlier for the monitor (ops/prometheus/alerts.yml). */
const RATE_OLD_AFTER_SECONDS = 3 * 60 * 60;
const MONITOR_LATE_AFTER_SECONDS = 10 * 60;
/** A handful in half an hour, and a tenth of what is sold: one cause, not chance. */
const MIN_REFUSED = 5;
const REFUSED_SHARE = 0.1;

const SUPPLIER_REASONS = ['SUPPLIER_REFUSED', 'PACKAGE_UNAVAILABLE', 'PRICE_CHANGED', 'PACKAGE_WITHDRAWN'];
const REFUND_REASONS = ['REFUND_NEEDS_ATTENTION', 'REFUND_STUCK', 'UNDO_FAILED'];

interface Facts {
  readonly short: number;
  readonly short_codes: string | null;
  readonly refused: number;
  readonly delivered: number;
  readonly flagged: number;
  readonly refunds: number;
  readonly differences: number;
  readonly quarantined: number;
  readonly rate_age: number | null;
  readonly monitor_lag: number | null;
}

async function readFacts(db: WorldDb, { differenceMinor }: ConditionLimits): Promise<Facts> {
  // Of what the supplier is owed, amounts have four decimals.
  const usdE4 = differenceMinor['USD'] === undefined ? {} : { USD4: differenceMinor['USD'] * 100n };
  const limits = Object.fromEntries(
    Object.entries({ ...differenceMinor, ...usdE4 }).map(([currency, minor]) => [currency, String(minor)]),
  );
  const flagged = (table: 'purchases' | 'fundings') => sql`
    select attention_reason, needs_attention_since from ${sql.table(table)} where needs_attention_since is not null`;
  const { rows } = await sql<Facts>`
    with flagged as materialized (${flagged('purchases')} union all ${flagged('fundings')})
    select (select count(*)::integer from package_shortages) as short,
           (select string_agg(package_code, ', ') from (
              select package_code from package_shortages order by since limit 5) first) as short_codes,
           (select count(*)::integer from purchases where status = 'FAILED'
               and reason in (${sql.join(SUPPLIER_REASONS.map((reason) => sql.lit(reason)))})
               and closed_at > now() - interval '30 min') as refused,
           (select count(*)::integer from purchases where status = 'SUCCESS'
               and created_at > now() - interval '30 min') as delivered,
           (select count(*)::integer from flagged where needs_attention_since < now() - interval '1 h') as flagged,
           (select count(*)::integer from flagged where attention_reason = any(${REFUND_REASONS})
               and needs_attention_since < now() - interval '15 min') as refunds,
           (select count(*)::integer from reconciliation_differences where closed_at is null
               and abs(amount_minor) >= coalesce((${JSON.stringify(limits)}::jsonb ->> currency)::bigint, 0)) as differences,
           (select count(*)::integer from exchange_rates where status = 'QUARANTINED'
               and observed_at > now() - interval '1 day') as quarantined,
           (select max(extract(epoch from clock_timestamp() - rate.observed_at))::integer
              from unnest(${CONVERTED_CURRENCIES}::text[]) sold (currency), lateral (
                   select observed_at from exchange_rates where currency = sold.currency and status = 'GOOD'
                    order by observed_at desc limit 1) rate) as rate_age,
           (select extract(epoch from clock_timestamp() - min(wanted_at))::integer
              from gateway_windows) as monitor_lag`.execute(db);
  return rows[0] as Facts;
}

const dollars = (usdE4: bigint): string => `USD ${formatMinor(usdE4 / 100n)}`;
const many = (count: number, one: string, several: string): string =>
  `${count} ${count === 1 ? one : several}`;

/** `open`: alerts that are, since their end has a margin. */
export async function readConditions(
  db: WorldDb,
  limits: ConditionLimits,
  open: readonly OpenAlert[],
): Promise<Condition[]> {
  const [facts, balances] = await Promise.all([
    readFacts(db, limits),
    readSupplierBalances(db, limits.balance),
  ]);
  return [
    ...balances.flatMap((balance) => balanceConditions(balance, limits.balance, open)),
    ...factConditions(facts),
  ];
}

function balanceConditions(
  balance: SupplierBalance,
  limits: BalanceLimits,
  open: readonly OpenAlert[],
): Condition[] {
  const { supplier: subject, availableUsdE4, hours, perDayUsdE4, lastsUntil, now, readAt } = balance;
  const isOpen = (kind: AlertKind) => open.some((one) => one.kind === kind && one.subject === subject);
  const before: BalanceLevel = isOpen('supplier-balance-critical')
    ? 'critical'
    : isOpen('supplier-balance-low')
      ? 'low'
      : 'ok';
  const level = balanceLevel(availableUsdE4, hours, limits, before);
  const until = lastsUntil
    ? `it lasts until ${lastsUntil.toISOString().slice(0, 16).replace('T', ' ')} UTC`
    : 'it lasts for more than a year';
  const detail = `${dollars(availableUsdE4)} is left at ${subject}. At ${dollars(perDayUsdE4)} a day ${until}. Purchases that it does not cover are refused.`;
  const ageMs = now.getTime() - readAt.getTime();
  const unread = `The last answer of ${subject} about our balance is ${Math.trunc(ageMs / MINUTE_MS)} minutes old.`;
  return [
    ...(level === 'ok' ? [] : [{ kind: 'supplier-balance-low', subject, detail } as const]),
    ...(level === 'critical' ? [{ kind: 'supplier-balance-critical', subject, detail } as const] : []),
    ...(ageMs > UNREAD_AFTER_MS
      ? [{ kind: 'supplier-balance-unread', subject, detail: unread } as const]
      : []),
  ];
}

function factConditions(facts: Facts): Condition[] {
  const { short, short_codes, refused, delivered, flagged, refunds, differences, quarantined } = facts;
  const { rate_age, monitor_lag } = facts;
  const said: readonly (readonly [AlertKind, boolean, string])[] = [
    [
      'packages-unavailable',
      short > 0,
      `${many(short, 'package is', 'packages are')} not sold: ${short_codes ?? ''}${short > 5 ? ', …' : ''}.`,
    ],
    [
      'purchases-refused',
      refused >= MIN_REFUSED && refused >= (refused + delivered) * REFUSED_SHARE,
      `${refused} purchases of the last half hour were refused, and ${delivered} were delivered. Each is refunded.`,
    ],
    [
      'purchases-need-attention',
      flagged > 0,
      `${many(flagged, 'purchase or funding waits', 'purchases and fundings wait')} for a person.`,
    ],
    [
      'refunds-need-attention',
      refunds > 0,
      `${many(refunds, 'refund or hold is', 'refunds and holds are')} stuck.`,
    ],
    [
      'differences-open',
      differences > 0,
      `${many(differences, 'open difference is', 'open differences are')} above the limit.`,
    ],
    [
      'rates-quarantined',
      quarantined > 0,
      `${many(quarantined, 'rate waits', 'rates wait')}. Meanwhile the last good rate is used.`,
    ],
    [
      'rates-old',
      (rate_age ?? 0) > RATE_OLD_AFTER_SECONDS,
      `The newest good rate is ${Math.trunc((rate_age ?? 0) / 3_600)} hours old.`,
    ],
    [
      'payment-monitor-late',
      (monitor_lag ?? 0) > MONITOR_LATE_AFTER_SECONDS,
      `The gateway’s list of payments is read ${Math.trunc((monitor_lag ?? 0) / 60)} minutes late.`,
    ],
  ];
  return said.filter(([, isSo]) => isSo).map(([kind, , detail]) => ({ kind, subject: '', detail }));
}
