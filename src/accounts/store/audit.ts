/** The audit log: who did what to whom, written beside the change it tells of. */
import type { AccountsDb } from '../../platform/database/tables.ts';

export interface AuditEntry {
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  /** Never a key, a secret or an activation code. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

export async function writeAudit(db: AccountsDb, entry: AuditEntry): Promise<void> {
  await db
    .insertInto('audit_log')
    .values({
      actor: entry.actor,
      action: entry.action,
      subject: entry.subject,
      detail: JSON.stringify(entry.detail ?? {}),
    })
    .execute();
}
