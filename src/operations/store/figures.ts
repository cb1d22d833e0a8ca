import { sql } from 'kysely';
import { CONVERTED_CURRENCIES } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

export interface Figure {
  readonly figure:
    'open' | 'held' | 'refund' | 'messages' | 'messages-lag' | 'notices' | 'monitor-lag' | 'rate-age';
  readonly label: string;
  readonly value: number;
}

/** What is open in one environment, in one statement over small indexes. Lags and ages in seconds. */
export async function readFigures(db: WorldDb): Promise<Figure[]> {
  const { rows } = await sql<Omit<Figure, 'value'> & { readonly value: bigint }>`
    select 'open' as figure, status as label, count(*) as value
      from purchases where status in ('PENDING', 'PROCESSING') group by status
    union all
    select 'held', currency, sum(amount_minor)::bigint from holds where status = 'HELD' group by currency
    union all
    select 'refund', currency, sum(amount_minor)::bigint from refunds where closed_at is null group by currency
    union all
    select 'messages', '', count(*) from webhook_messages where status = 'PENDING'
    union all
    select 'messages-lag', '', greatest(0, extract(epoch from clock_timestamp() - min(next_attempt_at)))::bigint
      from webhook_messages where status = 'PENDING' and handed_over_at is null
    union all
    select 'notices', '', count(*) from notices where sent_at is null
    union all
    select 'monitor-lag', '', greatest(0, extract(epoch from clock_timestamp() - min(wanted_at)))::bigint
      from gateway_windows having count(*) > 0
    union all
    select 'rate-age', sold.currency, extract(epoch from clock_timestamp() - rate.observed_at)::bigint
      from unnest(${CONVERTED_CURRENCIES}::text[]) sold (currency), lateral (
           select observed_at from exchange_rates
            where currency = sold.currency and status = 'GOOD' order by observed_at desc limit 1) rate`.execute(
    db,
  );
  // A status without purchases has no row.
  const none = ['PENDING', 'PROCESSING'].filter((status) => !rows.some(({ label }) => label === status));
  return [
    ...rows.map((row) => ({ ...row, value: Number(row.value) })),
    ...none.map((label) => ({ figure: 'open' as const, label, value: 0 })),
  ];
}
