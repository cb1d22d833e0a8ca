import { noticeText, noticeWaitMs } from '../../src/webhooks/rules.ts';
import type { MailOutcome } from '../../src/accounts/port.ts';
import {
  leaseNotice,
  markNoticeSent,
  postponeNotice,
  type LeasedNotice,
} from '../../src/webhooks/store/notices.ts';
import type { OpsActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';

/** Longer than a run takes. After that another sender repeats a notice whose sender died. */
const LEASE_MS = 120_000;
/** A run with one mail still being sent ends within the activity's 45 s. */
const RUNS_FOR_MS = 20_000;

export function createNoticeActivities(deps: ActivityDeps): Pick<OpsActivities, 'sendNotices'> {
  return { sendNotices: () => sendNotices(deps) };
}

async function sendNotices(deps: ActivityDeps): Promise<string> {
  const { db, clock } = deps;
  const endsAtMs = clock.now().getTime() + RUNS_FOR_MS;
  let [sent, left] = [0, 0];
  while (clock.now().getTime() < endsAtMs) {
    const leased = await leaseNotice(db, LEASE_MS);
    if (!leased) break;
    if (await sendNotice(deps, leased)) sent += 1;
    else left += 1;
  }
  return `${sent} notices sent, ${left} not`;
}

async function sendNotice(deps: ActivityDeps, leased: LeasedNotice): Promise<boolean> {
  const { db, events } = deps;
  const { id, accountId, kind, facts, attempts } = leased;
  const fields = { noticeId: id, accountId, kind, about: facts.endpointId, attempts };
  const outcome = await mail(deps, leased);
  if (outcome.outcome === 'done') {
    await markNoticeSent(db, id);
    events.noticeSent(fields);
    return true;
  }
  await postponeNotice(db, id, noticeWaitMs(attempts));
  events.noticeNotSent({ ...fields, outcome: outcome.outcome, detail: outcome.detail });
  return false;
}

async function mail(
  { notices: { mailer, environment } }: ActivityDeps,
  notice: LeasedNotice,
): Promise<MailOutcome> {
  const { id, email } = notice;
  if (email === null) return { outcome: 'refused', detail: 'the account has no address' };
  if (!mailer) return { outcome: 'refused', detail: 'no mail server is configured: SIMWAY_SMTP_URL' };
  return mailer.send({ id, to: email, ...noticeText(notice, environment) });
}
