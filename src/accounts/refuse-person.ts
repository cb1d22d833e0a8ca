/** Refuses somebody who is signed in and whose role is not enough. Whoever tries is on record before they hear of it. */
import { DomainError } from '../domain/errors.ts';
import { writeAudit } from './store/audit.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import type { RefusedAttempt, Session } from './people-views.ts';

/** FORBIDDEN, on record with who tried what. */
export async function refusePerson(
  db: AccountsDb,
  { person }: Session,
  { subject, requestId, wanted }: RefusedAttempt & { readonly wanted: string },
): Promise<never> {
  await writeAudit(db, {
    actor: person.email,
    action: 'ops.refuse',
    subject,
    detail: { role: person.role, wanted, requestId },
  });
  throw new DomainError('FORBIDDEN', `Your role ${person.role} may not ${wanted}`);
}
