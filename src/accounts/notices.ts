/**
 * What a person is told by mail after something about their access changed. An entry of the audit log is what
 * it is derived from (audit-entry.ts), so nothing that is recorded there goes untold. Holds no secret.
 */
import type { NoticeKind } from '../domain/notice-kinds.ts';
import { addressBucket } from '../platform/client-addresses.ts';
import { senderName } from './sender-name.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { MailWords } from './port.ts';

/** What its words are made of. */
export interface NoticeFacts {
  /** Who did it. */
  readonly by: string;
  /** Whom it is about; absent: a key. */
  readonly whom?: string | undefined;
  readonly accountName?: string | undefined;
  readonly address?: string | undefined;
  readonly device?: string | undefined;
  readonly role?: string | undefined;
  /** What somebody asked for (operators/removals.ts). */
  readonly change?: string | undefined;
  readonly environment?: string | undefined;
  /** Of a webhook endpoint. A path may be a secret of the merchant. */
  readonly host?: string | undefined;
}

interface Words {
  readonly subject: string;
  readonly says: (facts: NoticeFacts) => string;
  /** What to do if it was not them. */
  readonly otherwise: string;
}

const NEW_PASSWORD = 'choose a new password now, with "Forgot your password?" on the sign-in page';
const ASK_ADMIN = 'tell an administrator of this service at once';
const ASK_OWNERS = 'look at the members and API keys of the account now, and tell the other owners';
const REMOVE_ENDPOINT = 'delete the endpoint at once, on the page "Webhooks"';

/** By what two people agree on; else it is another role. */
const REMOVALS: Readonly<Record<string, string>> = {
  disable: 'disable the login of',
  reset: 'reset the password of',
  'second-factor': 'remove the second factor of',
};

const atHost = ({ host, accountName, environment }: NoticeFacts): string =>
  `at ${host ?? 'an unknown host'}, for ${accountName ?? 'your account'} in the ${environment ?? 'test'} environment`;

const WORDS = {
  'password-changed': {
    subject: 'Your password was changed',
    says: () => 'The password of your login was changed. All other sessions have ended.',
    otherwise: NEW_PASSWORD,
  },
  'password-reset': {
    subject: 'Your password was reset',
    says: () => 'A new password was chosen by a link in a mail to you. All sessions have ended.',
    otherwise: `make sure that nobody else reads your mail, then ${NEW_PASSWORD}`,
  },
  'password-given': {
    subject: 'You get a new one-time password',
    says: ({ by }) => `${by} reset your password. You get a one-time password from two administrators.`,
    otherwise: ASK_ADMIN,
  },
  'factor-added': {
    subject: 'A second factor was added',
    says: () => 'Signing in to your login now needs a code of an authenticator app.',
    otherwise: `${NEW_PASSWORD}; if you cannot sign in, ask us`,
  },
  'factor-removed': {
    subject: 'Your second factor was removed',
    says: () => 'Signing in to your login no longer needs a code of an authenticator app.',
    otherwise: `${NEW_PASSWORD}, then add the second factor again`,
  },
  'key-made': {
    subject: 'A new API key was made',
    says: ({ by, accountName, environment }) =>
      `${by} made an API key for ${accountName ?? 'your account'} in the ${environment ?? 'test'} environment.`,
    otherwise: 'revoke the key at once, on the page "API keys"',
  },
  'endpoint-made': {
    subject: 'A new webhook endpoint was made',
    says: (facts) => `${facts.by} made a webhook endpoint ${atHost(facts)}. It receives your events.`,
    otherwise: REMOVE_ENDPOINT,
  },
  'endpoint-moved': {
    subject: 'A webhook endpoint has a new address',
    says: (facts) => `${facts.by} changed the URL of a webhook endpoint, which is now ${atHost(facts)}.`,
    otherwise: REMOVE_ENDPOINT,
  },
  'endpoint-secret-changed': {
    subject: 'A webhook endpoint has a new signing secret',
    says: (facts) =>
      `${facts.by} made a new signing secret for the webhook endpoint ${atHost(facts)}. The earlier one also signs for 24 hours.`,
    otherwise: 'change the secret again on the page "Webhooks", and look at the members and API keys',
  },
  'return-hosts-changed': {
    subject: 'Where your buyers are sent back to has changed',
    says: ({ by, accountName, environment }) =>
      `${by} changed the hosts that buyers of ${accountName ?? 'your account'} may be sent back to after they paid, in the ${environment ?? 'test'} environment.`,
    otherwise: 'correct the list at once, on the page "Webhooks", and look at the members',
  },
  'owner-added': {
    subject: 'An account has a new owner',
    says: ({ whom, accountName }) =>
      `${whom ?? 'A user'} is now an owner of ${accountName ?? 'your account'}.`,
    otherwise: ASK_OWNERS,
  },
  'owner-removed': {
    subject: 'An account lost an owner',
    says: ({ whom, accountName }) =>
      `${whom ?? 'A user'} is no longer an owner of ${accountName ?? 'your account'}.`,
    otherwise: ASK_OWNERS,
  },
  'role-changed': {
    subject: 'Your role as an operator changed',
    says: ({ by, role }) => `${by} gave you the role ${role ?? ''}.`,
    otherwise: ASK_ADMIN,
  },
  disabled: {
    subject: 'Your login as an operator was disabled',
    says: ({ by }) => `${by} disabled your login. All sessions have ended.`,
    otherwise: ASK_ADMIN,
  },
  'account-disabled': {
    subject: 'Your account was disabled',
    says: ({ accountName }) =>
      `We disabled ${accountName ?? 'your account'}. Its keys and members are refused. Purchases that were begun continue.`,
    otherwise: 'ask us',
  },
  'removal-asked': {
    subject: 'A removal of access needs a second person',
    says: ({ by, whom, change = '' }) =>
      `${by} asked to ${REMOVALS[change] ?? `give the ${change} to`} ${whom ?? 'a user'}. It is done if another person asks for the same within 24 hours.`,
    otherwise: 'call the person who asked, and do not ask for the same',
  },
  'new-device': {
    subject: 'A sign-in from a new device',
    says: () => 'Somebody signed in with your password, in a browser or program that we do not know yet.',
    otherwise: `${NEW_PASSWORD}; this ends all sessions`,
  },
} as const satisfies Record<NoticeKind, Words>;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Without the names, which the caller looks up. */
export function factsOf({ actor, detail = {} }: AuditEntry): NoticeFacts {
  const address = textOf(detail['address']);
  return {
    by: textOf(detail['keyId']) === undefined ? actor : `An API key of ${actor}`,
    address: address === undefined ? undefined : addressBucket(address),
    device: textOf(detail['device']),
    role: textOf(detail['role']),
    change: textOf(detail['change']),
    environment: textOf(detail['environment']),
    host: textOf(detail['host']),
  };
}

export interface Notice {
  readonly kind: NoticeKind;
  readonly facts: NoticeFacts;
  readonly at: Date;
}

/** The mail as its reader sees it. */
export function renderNotice({ kind, facts, at }: Notice, { publicUrl, us }: MailWords) {
  const { subject, says, otherwise }: Words = WORDS[kind];
  const { accountName, address, device } = facts;
  const shownName = accountName === undefined ? undefined : senderName(accountName, us);
  const from = [address, device].filter((part) => part !== undefined).join(', ');
  const when = `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const text = [
    says({ ...facts, accountName: shownName }),
    [`When: ${when}`, ...(from === '' ? [] : [`From: ${from}`])].join('\n'),
    `If you did this, or expected it, there is nothing to do. If not: ${otherwise}.`,
    `${publicUrl}/dashboard`,
  ].join('\n\n');
  return { subject, text };
}
