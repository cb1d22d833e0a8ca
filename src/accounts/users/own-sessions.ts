/** Where a user is signed in, and ending it there. */
import type { BrowserRequest, UserSession } from '../../domain/callers.ts';
import { DomainError } from '../../domain/errors.ts';
import { writeAudit } from '../store/audit.ts';
import { endSession, endSessions, listSessionRows } from '../store/users.ts';
import { purposeOf, refuseOneTime, tokenOf, type UserDeps } from './better-auth-calls.ts';
import { SESSION_IDLE_MS, SESSION_MS } from './sessions.ts';

const PROGRAM = purposeOf({ isProgram: true });

/** The last used first. Never with a token. */
export async function listSessions(
  { db, clock, publicUrl }: Pick<UserDeps, 'db' | 'clock' | 'publicUrl'>,
  session: UserSession,
  { cookie }: BrowserRequest,
) {
  refuseOneTime(session);
  const now = clock.now();
  const open = { now, begunAfter: new Date(now.getTime() - SESSION_MS) };
  const rows = await listSessionRows(db, session.user.userId, tokenOf(cookie, publicUrl), open);
  return rows.map(({ purpose, device, expiresAt, ...row }) => ({
    ...row,
    device: device ?? (purpose === PROGRAM ? 'A program' : 'An unknown browser'),
    // Each request moves the end.
    lastUsedAt: new Date(expiresAt.getTime() - SESSION_IDLE_MS),
  }));
}

/** One of the user's own. Throws NOT_FOUND, also for one of others. */
export async function endOwnSession(
  { db }: Pick<UserDeps, 'db'>,
  { user, clientAddress: address }: UserSession,
  sessionId: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await endSession(trx, user.userId, sessionId)))
      throw new DomainError('NOT_FOUND', 'No such session');
    const detail = { address, which: 'one' };
    await writeAudit(trx, { actor: user.email, action: 'session.end', subject: user.userId, detail });
  });
}

/** All but the one that asks, and what commands were let in for. */
export async function endOtherSessions(
  { db, publicUrl }: Pick<UserDeps, 'db' | 'publicUrl'>,
  { user, clientAddress: address }: UserSession,
  { cookie }: BrowserRequest,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await endSessions(trx, user.userId, tokenOf(cookie, publicUrl));
    const detail = { address, which: 'others' };
    await writeAudit(trx, { actor: user.email, action: 'session.end', subject: user.userId, detail });
  });
}
