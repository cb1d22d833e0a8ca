/** Sends the notices that wait (../notices.ts). Any number of processes may do so. */
import { MINUTE_MS } from '../../domain/clock.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { Events } from '../../platform/telemetry/events.ts';
import { renderNotice } from '../notices.ts';
import type { Mailer, MailWords } from '../port.ts';
import { deleteNotice, leaseUserNotice, postponeNotices, type LeasedNotice } from '../store/notices.ts';

interface NoticeDeps {
  readonly db: AccountsDb;
  readonly mailer: Mailer;
  readonly words: MailWords;
  readonly events: Pick<Events, 'userMailNotSent'>;
}

/** Longer than a mail takes. After that another sender repeats a notice whose sender died. */
const LEASE_MS = 2 * MINUTE_MS;
const MAX_WAIT_MS = 60 * MINUTE_MS;

/** All that are due; those that cannot be sent now are tried again, more and more rarely. */
export async function sendNotices(deps: NoticeDeps): Promise<void> {
  for (;;) {
    const notice = await leaseUserNotice(deps.db, LEASE_MS);
    if (!notice) return;
    await sendNotice(deps, notice);
  }
}

async function sendNotice({ db, mailer, words, events }: NoticeDeps, notice: LeasedNotice): Promise<void> {
  const { id, email, kind, attempts } = notice;
  const mailId = `user-notice-${id}`;
  const sent = await mailer.send({ id: mailId, to: email, ...renderNotice(notice, words) });
  if (sent.outcome !== 'done') events.userMailNotSent({ kind, requestId: mailId, detail: sent.detail });
  if (sent.outcome === 'unknown')
    await postponeNotices(db, [id], Math.min(MINUTE_MS * 2 ** (attempts - 1), MAX_WAIT_MS));
  else await deleteNotice(db, id);
}
