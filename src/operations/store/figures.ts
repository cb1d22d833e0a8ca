/**
 * What one world has open, for gauges: counts and sums over what has not ended, read from the small indexes that hold only that, in one
 * statement. Reads only.
 */
import { sql } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';

export interface Figures {
  readonly open: readonly { readonly status: string; readonly count: number }[];
  readonly waiting: readonly {
    readonly kind: string;
    readonly currency: string;
    readonly amountMinor: bigint;
  }[];
  readonly messagesPending: number;
  readonly noticesUnsent: number;
  /** By how much the watch over unpaid payments is late; null where nobody watches. */
  readonly watchLagSeconds: number | null;
  readonly rateAges: readonly { readonly currency: string; readonly seconds: number }[];
}

interface FigureRow {
  readonly figure: 'open' | 'held' | 'refund' | 'messages' | 'notices' | 'watch-lag' | 'rate-age';
  readonly label: string;
  readonly value: bigint;
}

/** The currency of accounts that prices are converted for. */
const SOLD_IN = 'NGN';

export async function readFigures(db: WorldDb): Promise<Figures> {
  const { rows } = await sql<FigureRow>`
    select 'open' as figure, status as label, count(*) as value
      from purchases where status in ('PENDING', 'PROCESSING') group by status
    union all
    select 'held', currency, sum(amount_minor)::bigint from holds where status = 'HELD' group by currency
    union all
    select 'refund', currency, sum(amount_minor)::bigint from refunds where closed_at is null group by currency
    union all
    select 'messages', '', count(*) from webhook_messages where status = 'PENDING'
    union all
    select 'notices', '', count(*) from notices where sent_at is null
    union all
    select 'watch-lag', '', greatest(0, extract(epoch from clock_timestamp() - min(wanted_at)))::bigint
      from gateway_windows having count(*) > 0
    union all
    (select 'rate-age', currency, extract(epoch from clock_timestamp() - observed_at)::bigint
       from exchange_rates where currency = ${SOLD_IN} and status = 'GOOD' order by observed_at desc limit 1)`.execute(
    db,
  );
  const of = (wanted: FigureRow['figure']) => rows.filter(({ figure }) => figure === wanted);
  const countOf = (wanted: FigureRow['figure'], label = '') =>
    Number(of(wanted).find((row) => row.label === label)?.value ?? 0n);
  return {
    open: ['PENDING', 'PROCESSING'].map((status) => ({ status, count: countOf('open', status) })),
    waiting: [...of('held'), ...of('refund')].map(({ figure, label, value }) => ({
      kind: figure,
      currency: label,
      amountMinor: value,
    })),
    messagesPending: countOf('messages'),
    noticesUnsent: countOf('notices'),
    watchLagSeconds: of('watch-lag').length === 0 ? null : countOf('watch-lag'),
    rateAges: of('rate-age').map(({ label, value }) => ({ currency: label, seconds: Number(value) })),
  };
}
