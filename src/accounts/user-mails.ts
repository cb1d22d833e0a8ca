/** What users are mailed. Tokens stand behind `#`, which browsers send to no server, so no log holds them. */

/** For the row of a log line and the id of the mail, never for its reader. */
export type UserMail =
  | { readonly kind: 'confirm'; readonly to: string; readonly userId: string; readonly token: string }
  | { readonly kind: 'known'; readonly to: string }
  | { readonly kind: 'reset'; readonly to: string; readonly token: string }
  | {
      readonly kind: 'invitation';
      readonly to: string;
      readonly token: string;
      readonly accountName: string;
      readonly invitedBy: string;
    };

/** Shown in answers only where nothing can be delivered and no money moves (npm start). */
export interface SandboxMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly link: string;
}

const PAGE = { confirm: 'confirm', known: '', reset: 'reset-password', invitation: 'invitation' } as const;

const linkOf = (mail: UserMail, publicUrl: string): string =>
  `${publicUrl}/dashboard/${PAGE[mail.kind]}${'token' in mail ? `#token=${encodeURIComponent(mail.token)}` : ''}`;

/** The mail as its reader sees it. */
export function renderUserMail(mail: UserMail, publicUrl: string): SandboxMail {
  const link = linkOf(mail, publicUrl);
  const { subject, before, after } = wordsOf(mail);
  return { to: mail.to, subject, text: [before, link, after].join('\n\n'), link };
}

function wordsOf(mail: UserMail): { subject: string; before: string; after: string } {
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
      const account = looksLikeLink(mail.accountName) ? 'an account' : mail.accountName;
      return {
        subject: `${mail.invitedBy} invites you to ${account}`,
        before: `${mail.invitedBy} invites you to work with ${account}. Open this link within 7 days:`,
        after: 'If you do not know the sender, ignore this mail: nothing happens.',
      };
    }
  }
}

/** The person who opened an account chose its name, and our mail must not carry their link to strangers. Mail programs make links of host names too. */
const looksLikeLink = (name: string): boolean => /:\/\/|@|www\.|[\p{L}\d]\.\p{L}{2,}/iu.test(name);
