/**
 * What keeps deliveries going and their tables small: messages that a crash or an outage left behind are handed over, old ones forgotten,
 * and secrets that are sealed with a key of yesterday sealed anew. Each may run twice or at once in two processes without harm.
 */
import {
  claimOverdue,
  forgetMessages,
  giveBack,
  listSealed,
  reseal,
} from '../src/store/webhook-deliveries.ts';
import type { OpsActivities } from '../workflows/contract.ts';
import type { ActivityDeps } from './deps.ts';

/** Longer than an attempt takes: whoever carries a message has moved it on by then. */
const OVERDUE_MS = 30_000;
/** A message that its workflow cannot get to, while no worker serves its queue, is handed over no more often than this. */
const AGAIN_AFTER_MS = 120_000;
const BATCH = 200;
/** Within the activity's two minutes. What is left comes next time. */
const RUNS_FOR_MS = 20_000;
/** Recovering reaches back 14 days; twice that leaves room to look into what went wrong. */
const KEEP_MESSAGES_MS = 30 * 24 * 3_600_000;

export function createWebhookChores(deps: ActivityDeps): Pick<OpsActivities, 'handOverDue' | 'tidyWebhooks'> {
  return {
    handOverDue: () => handOverDue(deps),
    tidyWebhooks: async () =>
      `${await forgetOld(deps)} messages forgotten, ${await resealOld(deps)} endpoints sealed anew`,
  };
}

async function handOverDue({ db, clock, webhooks }: ActivityDeps): Promise<string> {
  const endsAtMs = clock.now().getTime() + RUNS_FOR_MS;
  let handedOver = 0;
  for (;;) {
    const ids = await claimOverdue(db, { overdueMs: OVERDUE_MS, againAfterMs: AGAIN_AFTER_MS, limit: BATCH });
    const left = ids.length === 0 ? ids : await webhooks.sweeper.handOver(ids);
    await giveBack(db, left);
    handedOver += ids.length - left.length;
    const isOver = ids.length < BATCH || left.length > 0 || clock.now().getTime() > endsAtMs;
    if (isOver) return `${handedOver} messages handed over`;
  }
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

/** A seal that cannot be opened is left as it is: its key may come back. */
async function resealOld({ db, webhooks }: ActivityDeps): Promise<number> {
  const { secretBox } = webhooks;
  const anew = (sealed: Buffer, id: string): Buffer => {
    if (secretBox.isCurrent(sealed)) return sealed;
    try {
      return secretBox.seal(secretBox.open(sealed, id), id);
    } catch {
      return sealed;
    }
  };
  let resealed = 0;
  let after = '';
  for (;;) {
    const rows = await listSealed(db, { after, limit: BATCH });
    for (const { id, secret_sealed: secret, previous_secret_sealed: previous } of rows) {
      const sealed = { secret: anew(secret, id), previous: previous && anew(previous, id) };
      if (sealed.secret === secret && sealed.previous === previous) continue;
      await reseal(db, id, { secret, previous }, sealed);
      resealed += 1;
    }
    const last = rows.at(-1);
    if (rows.length < BATCH || !last) return resealed;
    after = last.id;
  }
}
