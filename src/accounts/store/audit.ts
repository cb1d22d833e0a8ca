import type { AccountsDb } from '../../platform/database/tables.ts';

export interface AuditEntry {
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  /** Never a key, a secret or an activation code. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Call it in the transaction of the change itself. */
export async function writeAudit(db: AccountsDb, { detail = {}, ...entry }: AuditEntry): Promise<void> {
  await db
    .insertInto('audit_log')
    .values({ ...entry, detail: JSON.stringify(detail) })
    .execute();
}
