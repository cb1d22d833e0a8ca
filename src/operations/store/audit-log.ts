/** Operator actions as rows of the audit log, each range of an index from its newest row. */
import { sql, type RawBuilder } from 'kysely';
import { microsOf, momentOf, type AuditFilters, type LogPlace } from '../../accounts/store/audit.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { ActionRow } from './tables.ts';

export type LoggedAction = Pick<
  ActionRow,
  'id' | 'transaction_id' | 'by_person' | 'reason' | 'evidence' | 'amount_minor' | 'currency'
> &
  Pick<ActionRow, 'status' | 'refusal' | 'detail' | 'approved_by' | 'decision_reason' | 'created_at'> & {
    /** An action of an operator, or a repair of an event or a message. */
    readonly action: string;
    readonly atMicros: bigint;
  };

/** Newest first. `actor`: the person who requested the action, or who approved it. */
export async function listLoggedActions(
  db: WorldDb,
  { actor, action, subject, from, to }: AuditFilters,
  { before, limit }: { readonly before: LogPlace<string> | undefined; readonly limit: number },
): Promise<LoggedAction[]> {
  const common = [
    ...(action === undefined ? [] : [sql`action = ${action}`]),
    ...(subject === undefined ? [] : [sql`transaction_id = ${subject}`]),
    ...(from === undefined ? [] : [sql`created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`created_at < ${to}`]),
    ...(before === undefined ? [] : [sql`(created_at, id) < (${momentOf(before.atMicros)}, ${before.id})`]),
  ];
  const newest = (conditions: readonly RawBuilder<unknown>[]) => sql`
    (select id, created_at from operator_actions where ${sql.join([sql`true`, ...conditions], sql` and `)}
      order by created_at desc, id desc limit ${limit})`;
  // Each of the two has its index. A person cannot approve their own action, so no row is in both.
  const sources =
    actor === undefined
      ? [newest(common)]
      : [newest([sql`by_person = ${actor}`, ...common]), newest([sql`approved_by = ${actor}`, ...common])];
  const { rows } = await sql<LoggedAction>`
    select actions.id, transaction_id, action, by_person, reason, evidence, amount_minor, currency, status, refusal, detail, approved_by,
           decision_reason, actions.created_at, ${microsOf('actions.created_at')} as "atMicros"
      from (${sql.join(sources, sql` union all `)}) newest join operator_actions actions on actions.id = newest.id
     order by newest.created_at desc, newest.id desc limit ${limit}`.execute(db);
  return rows;
}
