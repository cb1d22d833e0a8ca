import { emailWaitMs, installEmailText } from '../../src/purchases/batches/emails.ts';
import type { Mailer, MailOutcome } from '../../src/accounts/port.ts';
import {
  leaseEmail,
  closeEmail,
  postponeEmail,
  type LeasedEmail,
} from '../../src/purchases/store/batch-emails.ts';
import type { OpsActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';

/** Longer than one e-mail takes (15 s). After that another sender repeats one whose sender died. */
const LEASE_MS = 30_000;
/** A run with e-mails still being sent ends within the activity's 45 s. */
const RUNS_FOR_MS = 20_000;
/** Connections to the mail server: 500 e-mails of a second each take about two minutes. */
const EMAILS_AT_ONCE = 4;

export function createEmailActivities(deps: ActivityDeps): Pick<OpsActivities, 'sendInstallEmails'> {
  return { sendInstallEmails: () => sendInstallEmails(deps) };
}

async function sendInstallEmails(deps: ActivityDeps): Promise<string> {
  const { db, clock } = deps;
  const { mailer } = deps.notices;
  if (!mailer) return 'e-mails to travellers are not available';
  const endsAtMs = clock.now().getTime() + RUNS_FOR_MS;
  let [sent, left] = [0, 0];
  const sendNext = async (): Promise<void> => {
    while (clock.now().getTime() < endsAtMs) {
      const leased = await leaseEmail(db, clock.now(), LEASE_MS);
      if (!leased) return;
      if (await sendOne(deps, mailer, leased)) sent += 1;
      else left += 1;
    }
  };
  await Promise.all(Array.from({ length: EMAILS_AT_ONCE }, sendNext));
  return `${sent} e-mails sent, ${left} not`;
}

async function sendOne(deps: ActivityDeps, mailer: Mailer, leased: LeasedEmail): Promise<boolean> {
  const { db, clock, events } = deps;
  const { transactionId, attempts, dueAt } = leased;
  if (leased.isOver) {
    await closeEmail(db, leased, 'NOT_SENT', clock.now());
    return false;
  }
  const outcome = await mail(deps, mailer, leased);
  const now = clock.now();
  if (outcome.outcome === 'done') {
    await closeEmail(db, leased, 'SENT', now);
    events.installEmailSent({ transactionId, attempts });
    return true;
  }
  const waitMs = emailWaitMs(attempts, now.getTime() - dueAt.getTime());
  if (waitMs === undefined) await closeEmail(db, leased, 'FAILED', now);
  else await postponeEmail(db, leased, new Date(now.getTime() + waitMs));
  const isGivenUp = waitMs === undefined;
  events.installEmailNotSent({ transactionId, attempts, isGivenUp, ...outcome });
  return false;
}

/**
 * The same id every time, so that receivers can recognise a copy. Neither address nor link is in what is
 * returned.
 */
async function mail(
  { notices: { environment }, installUrl }: ActivityDeps,
  mailer: Mailer,
  leased: LeasedEmail,
): Promise<MailOutcome> {
  const { transactionId, email, esimId } = leased;
  let url: string;
  try {
    url = await installUrl(esimId);
  } catch (error) {
    return {
      outcome: 'unknown',
      detail: `no install link: ${error instanceof Error ? error.name : 'failed'}`,
    };
  }
  const id = `install-${transactionId}`;
  return mailer.send({ id, to: email, ...installEmailText({ ...leased, url }, environment) });
}
