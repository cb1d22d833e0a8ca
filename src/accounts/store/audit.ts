import type { AccountsDb } from '../../platform/database/tables.ts';

/** Call it in the transaction of the change itself. `detail` must hold no key, secret or activation code. */
export async function writeAudit(
  db: AccountsDb,
  entry: { actor: string; action: string; subject: string; detail?: Readonly<Record<string, unknown>> },
): Promise<void> {
  await db
    .insertInto('audit_log')
    .values({ ...entry, detail: JSON.stringify(entry.detail ?? {}) })
    .execute();
}
