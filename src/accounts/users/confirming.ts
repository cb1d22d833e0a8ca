/** The password again before what does most harm at a screen that was left open. */
import type { BrowserRequest, UserSession } from '../../domain/callers.ts';
import { DomainError } from '../../domain/errors.ts';
import { writeAudit } from '../store/audit.ts';
import { markConfirmed } from '../store/users.ts';
import { refuseOneTime, requirePassword, tokenOf, type UserDeps } from './better-auth-calls.ts';
import { requireOwnCode } from './second-factors.ts';
import { CONFIRMED_FOR_MS } from './sessions.ts';

/** Throws CONFIRMATION_REQUIRED where the password was given too long ago. */
export function requireConfirmed(
  { clock }: Pick<UserDeps, 'clock'>,
  { confirmedAt }: Pick<UserSession, 'confirmedAt'>,
  { isProgram }: Pick<BrowserRequest, 'isProgram'>,
): void {
  if (clock.now().getTime() - confirmedAt.getTime() < CONFIRMED_FOR_MS) return;
  const how = isProgram ? 'sign in again' : 'give your password again: POST /auth/sessions/confirm';
  const minutes = CONFIRMED_FOR_MS / 60_000;
  throw new DomainError(
    'CONFIRMATION_REQUIRED',
    `This needs your password from the last ${minutes} minutes: ${how}`,
  );
}

/** Takes a code too, once there is a second factor. Throws UNAUTHORIZED; VALIDATION_ERROR for the code. */
export async function confirmSession(
  deps: UserDeps,
  session: UserSession,
  { password, code }: { readonly password: string; readonly code?: string | undefined },
  browser: BrowserRequest,
): Promise<void> {
  refuseOneTime(session);
  const { user } = session;
  await requirePassword(deps, user, { password }, browser);
  if (user.hasSecondFactor) await requireOwnCode(deps, user, code, browser);
  const { db, clock, publicUrl } = deps;
  await db.transaction().execute(async (trx) => {
    await markConfirmed(trx, tokenOf(browser.cookie, publicUrl), clock.now());
    const detail = { address: browser.clientAddress };
    await writeAudit(trx, { actor: user.email, action: 'session.confirm', subject: user.userId, detail });
  });
}
