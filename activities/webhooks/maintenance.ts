/**
 * What keeps deliveries going and their tables small: messages that a crash or an outage left behind are handed over, old ones forgotten;
 * endpoints that only fail are disabled; secrets that sign no more are wiped, and those that are sealed with a key of yesterday sealed anew.
 * Each may run twice or at once in two processes without harm.
 */
import { KEEP_NOTICES_MS } from '../../src/webhooks/notice-rules.ts';
import { isFailingForGood } from '../../src/webhooks/rules.ts';
import type { SecretBox } from '../../src/platform/secret-box-port.ts';
import { forgetNotices } from '../../src/webhooks/store/notices.ts';
import { forgetMessages, listOverdue, markSwept } from '../../src/webhooks/store/deliveries.ts';
import { disableEndpoint, listFailing } from '../../src/webhooks/store/disabling.ts';
import { newPendingMessages } from '../../src/webhooks/store/messages.ts';
import { forgetSecrets, listSealed, reseal } from '../../src/webhooks/store/secrets.ts';
import type { OpsActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';

/** Longer than an attempt takes: whoever carries a message has moved it on by then. */
const OVERDUE_MS = 30_000;
/** A message that its workflow cannot get to, while no worker serves its queue, is handed over no more often than this. */
const AGAIN_AFTER_MS = 120_000;
const BATCH = 200;
/** Within the activity's two minutes. What is left comes next time. */
const RUNS_FOR_MS = 20_000;
/** Recovering reaches back 14 days; twice that leaves room to look into what went wrong. */
const KEEP_MESSAGES_MS = 30 * 24 * 3_600_000;

export function createWebhookMaintenance(
  deps: ActivityDeps,
): Pick<OpsActivities, 'handOverDue' | 'disableFailing' | 'tidyWebhooks'> {
  return {
    handOverDue: () => handOverDue(deps),
    disableFailing: () => disableFailing(deps),
    tidyWebhooks: async () =>
      [
        `${await forgetOld(deps)} messages forgotten`,
        `${await forgetNotices(deps.db, new Date(deps.clock.now().getTime() - KEEP_NOTICES_MS))} notices forgotten`,
        `${await forgetSecrets(deps.db)} secrets wiped`,
        `${await resealOld(deps)} endpoints sealed anew`,
      ].join(', '),
  };
}

async function handOverDue({ db, clock, webhooks }: ActivityDeps): Promise<string> {
  const endsAtMs = clock.now().getTime() + RUNS_FOR_MS;
  let handedOver = 0;
  for (;;) {
    const ids = await listOverdue(db, { overdueMs: OVERDUE_MS, againAfterMs: AGAIN_AFTER_MS, limit: BATCH });
    const left = ids.length === 0 ? ids : await webhooks.sweeper.handOver(ids);
    const taken = ids.filter((id) => !left.includes(id));
    await markSwept(db, taken);
    handedOver += taken.length;
    const isOver = ids.length < BATCH || left.length > 0 || clock.now().getTime() > endsAtMs;
    if (isOver) return `${handedOver} messages handed over`;
  }
}

/** Endpoints that nothing is sent to any more, by the rule that every failed attempt is held to. */
async function disableFailing({ db, clock, events, webhooks }: ActivityDeps): Promise<string> {
  const at = clock.now();
  const since = new Date(at.getTime() - webhooks.failingLimitMs);
  const written = newPendingMessages();
  let disabled = 0;
  let after = '';
  for (;;) {
    const failing = await listFailing(db, { since, after, limit: BATCH });
    for (const endpoint of failing) {
      const failures = { ...endpoint, failingSinceMs: endpoint.failingSince.getTime() };
      if (!isFailingForGood(failures, at.getTime(), webhooks.failingLimitMs)) continue;
      if (!(await disableEndpoint(db, endpoint, { reason: 'FAILING', at }, written))) continue;
      const { id: endpointId, accountId } = endpoint;
      events.webhookEndpointDisabled({ endpointId, accountId, reason: 'FAILING' });
      disabled += 1;
    }
    const last = failing.at(-1);
    if (failing.length < BATCH || !last) break;
    after = last.id;
  }
  // What is not handed over now, the sweep finds.
  await webhooks.sweeper.handOver(written.ids);
  return `${disabled} endpoints disabled`;
}

async function forgetOld({ db, clock }: ActivityDeps): Promise<number> {
  const now = clock.now().getTime();
  let forgotten = 0;
  for (;;) {
    const count = await forgetMessages(db, new Date(now - KEEP_MESSAGES_MS), BATCH);
    forgotten += count;
    if (count < BATCH || clock.now().getTime() > now + RUNS_FOR_MS) return forgotten;
  }
}

async function resealOld({ db, webhooks }: ActivityDeps): Promise<number> {
  let resealed = 0;
  let after = '';
  for (;;) {
    const rows = await listSealed(db, { after, limit: BATCH });
    for (const { id, sealed } of rows) {
      const anew = sealed.map((before) => ({ before, after: sealAnew(webhooks.secretBox, before, id) }));
      const changed = anew.filter((one) => one.after !== one.before);
      for (const one of changed) await reseal(db, id, one.before, one.after);
      if (changed.length > 0) resealed += 1;
    }
    const last = rows.at(-1);
    if (rows.length < BATCH || !last) return resealed;
    after = last.id;
  }
}

/** A seal that cannot be opened is left as it is: its key may come back. */
function sealAnew(secretBox: SecretBox, sealed: Buffer, endpointId: string): Buffer {
  if (secretBox.isCurrent(sealed)) return sealed;
  try {
    return secretBox.seal(secretBox.open(sealed, endpointId), endpointId);
  } catch {
    return sealed;
  }
}
