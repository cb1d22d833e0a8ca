import { DAY_MS } from '../../src/domain/clock.ts';
import {
  KEEP_NOTICES_MS,
  WARN_AFTER_MS,
  WARN_AGAIN_AFTER_MS,
  shouldDisable,
  noticeText,
  noticeWaitMs,
} from '../../src/webhooks/rules.ts';
import type { SecretBox } from '../../src/platform/secret-box.ts';
import {
  forgetNotices,
  leaseNotice,
  markNoticeSent,
  postponeNotice,
  type LeasedNotice,
} from '../../src/webhooks/store/notices.ts';
import { forgetMessages, takeBackOverdue as takeBack } from '../../src/webhooks/store/deliveries.ts';
import {
  disableEndpoint,
  listFailing,
  forgetSecrets,
  listSealed,
  reseal,
  warnOfFailing,
} from '../../src/webhooks/store/endpoints.ts';
import type { OpsActivities } from '../../workflows/contract.ts';
import type { MailOutcome } from '../../src/accounts/port.ts';
import type { ActivityDeps } from '../deps.ts';
import { resealInstallData } from '../esims/reseal-install-data.ts';

/** Longer than an attempt takes: a running workflow has moved its message on by then. */
const OVERDUE_MS = 30_000;
const BATCH = 200;
/** Within the activity's 45 s, one e-mail still being sent too. The next run continues. */
const RUNS_FOR_MS = 20_000;
/** Recovery reaches back 14 days; twice that leaves time to find out what went wrong. */
const KEEP_MESSAGES_MS = 30 * DAY_MS;

/** Each activity may run twice, or in two processes at once. */
export function createWebhookMaintenance(
  deps: ActivityDeps,
): Pick<OpsActivities, 'takeBackOverdue' | 'disableFailing' | 'tidyWebhooks'> {
  return {
    takeBackOverdue: () => takeBackOverdue(deps),
    disableFailing: () => disableFailing(deps),
    tidyWebhooks: async () =>
      [
        `${await deleteOldMessages(deps)} messages deleted`,
        `${await forgetNotices(deps.db, new Date(deps.clock.now().getTime() - KEEP_NOTICES_MS))} notices deleted`,
        `${await forgetSecrets(deps.db)} secrets deleted`,
        `${await resealSecrets(deps)} endpoints resealed`,
        await resealInstallData(deps),
      ].join(', '),
  };
}

async function takeBackOverdue({ db, clock }: ActivityDeps): Promise<string> {
  const endsAtMs = clock.now().getTime() + RUNS_FOR_MS;
  let taken = 0;
  for (;;) {
    const count = await takeBack(db, { overdueMs: OVERDUE_MS, limit: BATCH });
    taken += count;
    if (count < BATCH || clock.now().getTime() > endsAtMs) return `${taken} messages taken back`;
  }
}

/** For endpoints without pending messages, by the same rule as after a failed attempt. */
async function disableFailing({ db, clock, events, webhooks }: ActivityDeps): Promise<string> {
  const at = clock.now();
  const since = new Date(at.getTime() - webhooks.failingLimitMs);
  let disabled = 0;
  let after = '';
  for (;;) {
    const failing = await listFailing(db, { since, after, limit: BATCH });
    for (const endpoint of failing) {
      const failures = { ...endpoint, failingSinceMs: endpoint.failingSince.getTime() };
      if (!shouldDisable(failures, at.getTime(), webhooks.failingLimitMs)) continue;
      if (!(await disableEndpoint(db, endpoint, { reason: 'FAILING', at }))) continue;
      const { id: endpointId, accountId } = endpoint;
      events.webhookEndpointDisabled({ endpointId, accountId, reason: 'FAILING' });
      disabled += 1;
    }
    const last = failing.at(-1);
    if (failing.length < BATCH || !last) break;
    after = last.id;
  }
  const ago = (ms: number): Date => new Date(at.getTime() - ms);
  const told = { since: ago(WARN_AFTER_MS), toldBefore: ago(WARN_AGAIN_AFTER_MS), at };
  return `${disabled} endpoints disabled, ${await warnOfFailing(db, told)} owners warned`;
}

async function deleteOldMessages({ db, clock }: ActivityDeps): Promise<number> {
  const now = clock.now().getTime();
  let deleted = 0;
  for (;;) {
    const count = await forgetMessages(db, new Date(now - KEEP_MESSAGES_MS), BATCH);
    deleted += count;
    if (count < BATCH || clock.now().getTime() > now + RUNS_FOR_MS) return deleted;
  }
}

async function resealSecrets({ db, webhooks }: ActivityDeps): Promise<number> {
  let count = 0;
  let after = '';
  for (;;) {
    const rows = await listSealed(db, { after, limit: BATCH });
    for (const { id, sealed } of rows) {
      const changes = sealed.map((before) => ({ before, after: resealed(webhooks.secretBox, before, id) }));
      const changed = changes.filter((one) => one.after !== one.before);
      for (const one of changed) await reseal(db, id, one.before, one.after);
      if (changed.length > 0) count += 1;
    }
    const last = rows.at(-1);
    if (rows.length < BATCH || !last) return count;
    after = last.id;
  }
}

/** A secret that cannot be opened stays as it is: its key may come back. */
function resealed(secretBox: SecretBox, sealed: Buffer, endpointId: string): Buffer {
  if (secretBox.isCurrent(sealed)) return sealed;
  try {
    return secretBox.seal(secretBox.open(sealed, endpointId), endpointId);
  } catch {
    return sealed;
  }
}

/** Longer than a run takes. After that another sender repeats a notice whose sender died. */
const NOTICE_LEASE_MS = 120_000;

export function createNoticeActivities(deps: ActivityDeps): Pick<OpsActivities, 'sendNotices'> {
  return { sendNotices: () => sendNotices(deps) };
}

async function sendNotices(deps: ActivityDeps): Promise<string> {
  const { db, clock } = deps;
  const endsAtMs = clock.now().getTime() + RUNS_FOR_MS;
  let [sent, left] = [0, 0];
  while (clock.now().getTime() < endsAtMs) {
    const leased = await leaseNotice(db, NOTICE_LEASE_MS);
    if (!leased) break;
    if (await sendNotice(deps, leased)) sent += 1;
    else left += 1;
  }
  return `${sent} notices sent, ${left} not`;
}

async function sendNotice(deps: ActivityDeps, leased: LeasedNotice): Promise<boolean> {
  const { db, events } = deps;
  const { id, accountId, kind, facts, attempts } = leased;
  const fields = {
    noticeId: id,
    accountId,
    kind,
    about: 'number' in facts ? facts.number : facts.endpointId,
    attempts,
  };
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
