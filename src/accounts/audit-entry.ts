/** What the audit log records of accounts and people, and whom each entry is mailed to. */
import type { NoticeKind } from '../domain/notice-kinds.ts';
import type { AuditFacts } from './audit-facts.ts';

export interface Rule {
  readonly kind: NoticeKind;
  /**
   * `subject`: the one whom it is about. `actor`: who did it. `owners`: those of the account. `other-admins`:
   * the administrators at work but for the subject.
   */
  readonly tells: 'subject' | 'owners' | 'owners-and-subject' | 'owners-and-actor' | 'other-admins';
}

const toSubject = (kind: NoticeKind): Rule => ({ kind, tells: 'subject' });
const toOwnersAndActor = (kind: NoticeKind): Rule => ({ kind, tells: 'owners-and-actor' });

const isOwner = (role: unknown): boolean => role === 'OWNER';

function ownersAfter(before: unknown, after: unknown): Rule | undefined {
  if (isOwner(before) === isOwner(after)) return undefined;
  if (isOwner(after)) return { kind: 'owner-added', tells: 'owners' };
  return { kind: 'owner-removed', tells: 'owners-and-subject' };
}

function personAfter({ role, disabled }: AuditFacts): Rule | undefined {
  if (disabled === 'false → true') return toSubject('disabled');
  return role === undefined ? undefined : toSubject('role-changed');
}

const NOBODY = undefined;

/**
 * Every action, with the decision whom a mail tells: an entry of another action does not compile. Nobody is
 * told of what gives no access, and of what its own mail or a later action tells.
 */
const WHO_IS_TOLD = {
  'user.change-password': () => toSubject('password-changed'),
  'user.reset-password': () => toSubject('password-reset'),
  'user.add-second-factor': () => toSubject('factor-added'),
  'user.remove-second-factor': () => toSubject('factor-removed'),
  'user.recover': () => toSubject('factor-removed'),
  'user.confirm': NOBODY,
  'person.create': () => toSubject('role-changed'),
  'person.change': personAfter,
  'person.reset-password': () => toSubject('password-given'),
  'person.confirm': NOBODY,
  'person.ask-removal': ({ accountId }) => ({
    kind: 'removal-asked',
    tells: accountId === undefined ? 'other-admins' : 'owners',
  }),
  'session.open': ({ newDevice }) => (newDevice === true ? toSubject('new-device') : undefined),
  'session.confirm': NOBODY,
  'session.refuse': NOBODY,
  'session.close': NOBODY,
  'session.end': NOBODY,
  'device-login.approve': NOBODY,
  'ops.refuse': NOBODY,
  'key.create': () => toOwnersAndActor('key-made'),
  'key.revoke': NOBODY,
  'key.change-budget': NOBODY,
  'endpoint.create': () => toOwnersAndActor('endpoint-made'),
  'endpoint.move': () => toOwnersAndActor('endpoint-moved'),
  'endpoint.rotate-secret': () => toOwnersAndActor('endpoint-secret-changed'),
  'return-hosts.change': () => toOwnersAndActor('return-hosts-changed'),
  'brand.change': NOBODY,
  'member.invite': NOBODY,
  'member.withdraw-invitation': NOBODY,
  'member.join': ({ role }) => ownersAfter(undefined, role),
  'member.change': ({ formerRole, role }) => ownersAfter(formerRole, role),
  'member.remove': ({ formerRole }) => ownersAfter(formerRole, undefined),
  'account.create': NOBODY,
  'account.change': ({ disabled }) =>
    disabled === 'false → true' ? { kind: 'account-disabled', tells: 'owners' } : undefined,
  'wallet.fund': NOBODY,
  'wallet.ask-adjustment': NOBODY,
  'wallet.adjust': NOBODY,
  'wallet.decline-adjustment': NOBODY,
  'esim.read-install': NOBODY,
  'rate.set': NOBODY,
  'rate.propose': NOBODY,
  'rate.confirm': NOBODY,
  'rate.decline': NOBODY,
  'supplier-price.confirm': NOBODY,
  'prices.set': NOBODY,
  'prices.propose': NOBODY,
  'prices.decline': NOBODY,
  'price-rule.set': NOBODY,
  'price-rule.propose': NOBODY,
  'price-rule.confirm': NOBODY,
  'price-rule.decline': NOBODY,
  'price-rule.end': NOBODY,
  'difference.close': NOBODY,
  'reconciliation.ask': NOBODY,
  'company.set': NOBODY,
  'account.set-tax': NOBODY,
  'month.ask-close': NOBODY,
  'month.withdraw-close': NOBODY,
  'month.close': NOBODY,
  'invoice.correct': NOBODY,
  'list.export': NOBODY,
  'alert-channel.create': NOBODY,
  'alert-channel.remove': NOBODY,
} as const satisfies Record<string, ((detail: AuditFacts) => Rule | undefined) | undefined>;

export type AuditAction = keyof typeof WHO_IS_TOLD;

/** For writers that cannot queue mails. */
export type UnmailedAction = {
  [Action in AuditAction]: (typeof WHO_IS_TOLD)[Action] extends undefined ? Action : never;
}[AuditAction];

/** A fact without words in AUDIT_FACTS does not compile. */
export interface AuditEntry<Action extends AuditAction = AuditAction, Facts extends AuditFacts = AuditFacts> {
  readonly actor: string;
  readonly action: Action;
  readonly subject: string;
  readonly detail?: Facts & { readonly [Name in Exclude<keyof Facts, keyof AuditFacts>]: never };
}

/** undefined: nobody is told. */
export const noticeOf = ({ action, detail = {} }: AuditEntry): Rule | undefined =>
  WHO_IS_TOLD[action]?.(detail);
