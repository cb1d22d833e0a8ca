/** Whether a person may take an action, beside the permission that its route names. */
import { refusePerson } from '../accounts/operators/sessions.ts';
import { findPerson } from '../accounts/store/people.ts';
import type { Session } from '../domain/callers.ts';
import { DomainError } from '../domain/errors.ts';
import type { Role } from '../domain/operator-roles.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import type { RequestContext } from '../platform/telemetry/subject.ts';

export interface Requirement {
  readonly roles: readonly Role[];
  /** What it is about, for the audit log. */
  readonly subject: string;
  /** What the role must allow, after "may not". */
  readonly wanted: string;
}

/** The person's e-mail address. Throws FORBIDDEN unless their role is one of `roles`, and records that. */
export async function requireRole(
  accounts: AccountsDb,
  session: Session,
  { roles, subject, wanted }: Requirement,
  { requestId }: RequestContext,
): Promise<string> {
  const { role, email } = session.person;
  if (!roles.includes(role)) {
    const words = `${wanted} (requires ${roles.join(' or ')})`;
    await refusePerson(accounts, session, { subject, requestId, wanted: words });
  }
  return email;
}

/** Throws FORBIDDEN if the person who asked lacks the permission by now. */
export async function requireAsker(accounts: AccountsDb, email: string, mayStill: (role: Role) => boolean) {
  const asker = await findPerson(accounts, { email: email.toLowerCase() });
  if (!asker || asker.disabled_at !== null || !mayStill(asker.role))
    throw new DomainError('FORBIDDEN', `${email}, who asked for it, may not do so any more: decline it`);
}
