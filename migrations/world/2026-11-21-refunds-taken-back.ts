/** Refunds may end because the payment was reversed before they were sent: one word more for how a refund stands. */
import { sql, type Kysely } from 'kysely';

const OPEN = ['DUE', 'ASKED', 'PENDING', 'NEEDS_ATTENTION', 'STUCK'];
const CLOSED = ['DONE', 'CREDITED', 'TAKEN_BACK'];

export async function up(db: Kysely<unknown>): Promise<void> {
  const any = sql.join([...OPEN, ...CLOSED].map((status) => sql.lit(status)));
  const closed = sql.join(CLOSED.map((status) => sql.lit(status)));
  await sql`
    alter table refunds
      drop constraint refunds_status_check,
      drop constraint refunds_check,
      add constraint refunds_status_check check (status in (${any})),
      add constraint refunds_check check ((status in (${closed})) = (closed_at is not null))`.execute(db);
}
