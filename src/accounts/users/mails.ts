/** What users are mailed. Tokens stand behind `#`, which browsers send to no server, so no log holds them. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../domain/clock.ts';
import type { MemberRole } from '../../domain/member-roles.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { Events } from '../../platform/telemetry/events.ts';
import type { MailStops } from '../mail-stops.ts';
import type { Mailer, MailWords } from '../port.ts';
import { senderName } from '../sender-name.ts';
import { admitStrangerMail } from '../store/mail-turns.ts';
import { MAX_MAILS_AN_HOUR, takeMailTurn, type MailKind } from '../store/users.ts';

/** What a mail is made of. */
export type UserMail =
  | ({ readonly kind: 'confirm'; readonly to: string; readonly token: string } & SignedUp)
  | ({ readonly kind: 'known'; readonly to: string } & SignedUp)
  | { readonly kind: 'reset'; readonly to: string; readonly token: string }
  | ({ readonly kind: 'invitation'; readonly to: string; readonly token: string } & Invited);

interface SignedUp {
  /** The bucket of the address that asked for it. */
  readonly askedFrom: string;
}

interface Invited {
  readonly accountName: string;
  readonly role: MemberRole;
}

/** Shown in answers only where nothing can be delivered and no money moves (npm start). */
export interface SandboxMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly link: string;
}

/** The page of its link; and what it counts as: the limit does not reveal which of two answers a sign-up. */
const KINDS = {
  confirm: { page: 'confirm', countsAs: 'sign-up' },
  known: { page: '', countsAs: 'sign-up' },
  reset: { page: 'reset-password', countsAs: 'reset' },
  invitation: { page: 'invitation', countsAs: 'invitation' },
} as const satisfies Record<UserMail['kind'], { readonly page: string; readonly countsAs: MailKind }>;

/** The mail as its reader sees it. */
export function renderUserMail(mail: UserMail, { publicUrl, us }: MailWords): SandboxMail {
  const token = 'token' in mail ? `#token=${encodeURIComponent(mail.token)}` : '';
  const link = `${publicUrl}/dashboard/${KINDS[mail.kind].page}${token}`;
  const { subject, before, after } = wordsOf(mail, us);
  return { to: mail.to, subject, text: [before, link, after].join('\n\n'), link };
}

function wordsOf(mail: UserMail, us: string): { subject: string; before: string; after: string } {
  switch (mail.kind) {
    case 'confirm':
      return {
        subject: 'Confirm your e-mail address',
        before: 'Open this link within 24 hours to confirm your e-mail address and open your account:',
        after: 'If you did not sign up, ignore this mail: nothing happens.',
      };
    case 'known':
      return {
        subject: 'You have an account already',
        before:
          'Someone tried to sign up with this e-mail address, but it has an account already. Sign in here:',
        after: 'If you forgot your password, ask for a new one there. If this was not you, ignore this mail.',
      };
    case 'reset':
      return {
        subject: 'Choose a new password',
        before: 'Open this link within one hour to choose a new password:',
        after: 'If you did not ask for this, ignore this mail: your password stays as it is.',
      };
    case 'invitation': {
      const name = senderName(mail.accountName, us);
      const sender = name === undefined ? us : `${us}, on behalf of “${name}”,`;
      return {
        subject: 'An invitation to work with an account',
        before: `${sender} invites you to work with ${name === undefined ? 'an account' : 'them'}. Your role will be ${mail.role}. Open this link within 7 days:`,
        after: 'If you do not know the sender, ignore this mail: nothing happens.',
      };
    }
  }
}

/** After the first try; then the user asks for another mail. */
const TRY_AGAIN_AFTER_MS = [2_000, 15_000];

interface MailDeps {
  readonly db: AccountsDb;
  readonly clock: Clock;
  readonly events: Pick<Events, 'userMailNotSent' | 'strangerMailSent' | 'strangerMailHeld'>;
  /** undefined: no mail server is set. */
  readonly mailer: Mailer | undefined;
  readonly words: MailWords;
  readonly mailStops: Pick<MailStops, 'urlFor'>;
  /** Without a mail server, mails are shown in answers: anyone who requests one can read it. */
  readonly showsMails: boolean;
}

/** Lets the answer go first. */
const afterAnswer = <T>(make: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => setImmediate(() => void make().then(resolve, reject)));

/** Whoever is invited is not a user, or has not asked for it. */
async function isHeld(
  { db, clock, events }: Pick<MailDeps, 'db' | 'clock' | 'events'>,
  mail: UserMail,
  requestId: string,
): Promise<boolean> {
  const { kind, to } = mail;
  const refusal = kind === 'invitation' ? await admitStrangerMail(db, to, clock.now()) : undefined;
  if (refusal !== undefined) {
    events.strangerMailHeld({ kind: 'invitation', why: refusal });
    return true;
  }
  const askedFrom = 'askedFrom' in mail ? mail.askedFrom : undefined;
  if (await takeMailTurn(db, { kind: KINDS[kind].countsAs, to, askedFrom }, clock.now())) return false;
  const detail = `this address got ${MAX_MAILS_AN_HOUR} mails of this kind within an hour`;
  events.userMailNotSent({ kind, requestId, detail });
  return true;
}

/**
 * Mails hold a link that is worth a password, so no table has them: they are sent at once, tried again for a
 * few seconds, and otherwise lost. The caller does not wait, so that an answer takes as long for an unknown
 * address.
 */
export function createUserMails({ db, clock, events, mailer, words, mailStops, showsMails }: MailDeps) {
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  const deliver = async (via: Mailer, kind: UserMail['kind'], mail: SandboxMail, requestId: string) => {
    const { to, subject, text } = mail;
    const stopUrl = kind === 'invitation' ? mailStops.urlFor(to) : undefined;
    const stop = stopUrl === undefined ? '' : `\n\nIf you want no more such mail: ${stopUrl}`;
    for (const afterMs of [0, ...TRY_AGAIN_AFTER_MS]) {
      await pause(afterMs, undefined, { signal: closing.signal }).catch(() => undefined);
      const sent = await via.send({ id: `${kind}-${requestId}`, to, subject, text: text + stop, stopUrl });
      if (sent.outcome === 'done' && kind === 'invitation') events.strangerMailSent({ kind });
      if (sent.outcome === 'done') return;
      events.userMailNotSent({ kind, requestId, detail: sent.detail });
      if (sent.outcome === 'refused' || closing.signal.aborted) return;
    }
  };
  const admitAndDeliver = async (via: Mailer, mail: UserMail, rendered: SandboxMail, requestId: string) => {
    const { kind } = mail;
    const held = await isHeld({ db, clock, events }, mail, requestId).catch(() => {
      events.userMailNotSent({ kind, requestId, detail: 'mails cannot be counted' });
      return true;
    });
    if (!held) await deliver(via, kind, rendered, requestId);
  };
  const send = (mail: UserMail, requestId: string): SandboxMail | undefined => {
    const rendered = renderUserMail(mail, words);
    const { kind } = mail;
    if (mailer) {
      const sending = admitAndDeliver(mailer, mail, rendered, requestId).finally(() =>
        underWay.delete(sending),
      );
      underWay.add(sending);
    } else if (showsMails) return rendered;
    else events.userMailNotSent({ kind, requestId, detail: 'no mail server is set' });
    return undefined;
  };
  return {
    send,
    /**
     * For a mail that depends on who has the address: where mails are sent, the caller's answer does not wait
     * for the look-up, so that its time tells nothing.
     */
    sendLater: async (
      kind: UserMail['kind'],
      make: () => Promise<UserMail | undefined>,
      requestId: string,
    ): Promise<SandboxMail | undefined> => {
      const making = afterAnswer(make)
        .then((mail) => mail && send(mail, requestId))
        .catch((error: unknown) => {
          const detail = error instanceof Error ? error.message : String(error);
          events.userMailNotSent({ kind, requestId, detail });
          return undefined;
        });
      if (!mailer && showsMails) return making;
      const done = making.then(() => void underWay.delete(done));
      underWay.add(done);
      return undefined;
    },
    close: async (): Promise<void> => {
      closing.abort();
      // One that is made just now is sent, too.
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
