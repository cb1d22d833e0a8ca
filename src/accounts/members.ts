/** What members manage, each let in by role before (platform/http): the account, its members, its keys. */
import type { Bound } from '../platform/bind.ts';
import { hash, randomBytes } from 'node:crypto';
import type { Member } from '../domain/callers.ts';
import type { Environment } from '../domain/account.ts';
import { DAY_MS, type Clock } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { inEnvironment } from '../platform/database/transactions.ts';
import { changeBrand, changeLogo, readBrand, removeLogo } from './brand.ts';
import { revoke } from './keys/manage-keys.ts';
import { recoverMember } from './operators/recovery.ts';
import type { MemberRole } from '../domain/member-roles.ts';
import { noAccount } from './manage-accounts.ts';
import { budgetText, type KeyBudget } from './keys/budget-rules.ts';
import {
  findAccountRow,
  listKeys,
  lockAccountRow,
  readDatabaseTime,
  revokeKeys,
  updateAccount,
} from './store/accounts.ts';
import { writeAudit } from './store/audit.ts';
import { findBudget, listBudgets, replaceBudget } from './store/budgets.ts';
import { findReturnHosts, replaceReturnHosts } from './store/return-hosts.ts';
import { listRequestRows, type RequestsQuery } from './store/request-log.ts';
import * as store from './store/users.ts';
import type { InvitationRow } from './store/users.ts';
import { refuseField } from './users/better-auth-calls.ts';
import type { SandboxMail, UserMail } from './users/mails.ts';

export interface MemberDeps {
  readonly db: AccountsDb;
  readonly clock: Clock;
  /** Throws VALIDATION_ERROR if no web server answers there, outside private networks. */
  readonly requireWebsite: (environment: Environment, url: string) => Promise<void>;
  /** Ends the webhook endpoints that this person or keys of theirs made, in this transaction; how many. */
  readonly endEndpoints: (
    trx: AccountsDb,
    accountId: string,
    createdBy: string,
    now: Date,
  ) => Promise<number>;
  readonly sendMail: (mail: UserMail, requestId: string) => SandboxMail | undefined;
  /** Whether a batch may name travellers' addresses. */
  readonly sendsTravellerEmails: boolean;
}

/** Each is a way in, for a week. */
const MAX_INVITATIONS = 50;
const INVITATION_MS = 7 * DAY_MS;
const TOKEN_BYTES = 32;

export const memberUseCases = {
  read: readOwnAccount,
  change: changeAccount,
  listMembers: ({ db }: MemberDeps, { account }: Member) => store.memberRows(db, account.id).execute(),
  changeMember,
  removeMember,
  recoverMember,
  listInvitations: async ({ db, clock }: MemberDeps, { account }: Member) =>
    (await store.listInvitationRows(db, account.id, clock.now())).map(toInvitation),
  invite,
  withdrawInvitation,
  listKeys: listKeysAndBudgets,
  listKeysOfMember,
  changeBudget,
  readReturnHosts,
  changeReturnHosts,
  readBrand,
  changeBrand,
  changeLogo,
  removeLogo,
  revokeKey,
  listRequests,
};

export type MemberCases = Bound<typeof memberUseCases>;

async function readOwnAccount(
  { db, sendsTravellerEmails }: Pick<MemberDeps, 'db' | 'sendsTravellerEmails'>,
  { account }: Member,
) {
  const found = await findAccountRow(db, account.id);
  if (!found) throw noAccount(account.id);
  return { ...found, accountId: found.id, sendsTravellerEmails };
}

/** Throws VALIDATION_ERROR. */
async function changeAccount(
  { db, requireWebsite, sendsTravellerEmails }: MemberDeps,
  member: Member,
  environment: Environment,
  changes: { readonly name?: string | undefined; readonly websiteUrl?: string | undefined },
) {
  const { account, email } = member;
  if (changes.websiteUrl !== undefined) await requireWebsite(environment, changes.websiteUrl);
  await db.transaction().execute(async (trx) => {
    await updateAccount(trx, account.id, { name: changes.name, website_url: changes.websiteUrl });
    const detail = { ...changes };
    await writeAudit(trx, { actor: email, action: 'account.change', subject: account.id, detail });
  });
  return readOwnAccount({ db, sendsTravellerEmails }, member);
}

/** Voids invitations of a former owner. Throws NOT_FOUND; VALIDATION_ERROR for the last owner. */
async function changeMember(
  { db }: MemberDeps,
  { account, email, clientAddress: address }: Member,
  userId: string,
  role: MemberRole,
) {
  await db.transaction().execute(async (trx) => {
    const owners = await store.lockOwners(trx, account.id);
    if (role !== 'OWNER') keepOneOwner(owners, userId);
    const member = await requireMember(trx, account.id, userId);
    await store.updateMemberRole(trx, account.id, userId, role);
    if (role !== 'OWNER') await store.deleteInvitationsBy(trx, account.id, member.email);
    const detail = { accountId: account.id, role, formerRole: member.role, address };
    await writeAudit(trx, { actor: email, action: 'member.change', subject: userId, detail });
  });
  return requireMember(db, account.id, userId);
}

/**
 * At once, since every request looks the membership up, and with their keys and endpoints. Otherwise as
 * changeMember.
 */
async function removeMember(
  { db, clock, endEndpoints }: MemberDeps,
  { account, email, clientAddress: address }: Member,
  userId: string,
  { keepKeys }: { readonly keepKeys: boolean },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    keepOneOwner(await store.lockOwners(trx, account.id), userId);
    const member = await requireMember(trx, account.id, userId);
    await store.deleteMember(trx, account.id, userId);
    await store.deleteInvitationsBy(trx, account.id, member.email);
    const whose = { accountId: account.id, createdBy: member.email };
    const revoked = keepKeys ? 0 : await revokeKeys(trx, whose);
    const ended = keepKeys ? 0 : await endEndpoints(trx, account.id, member.email, clock.now());
    const detail = {
      accountId: account.id,
      revokedKeys: revoked,
      endedEndpoints: ended,
      formerRole: member.role,
      address,
    };
    await writeAudit(trx, { actor: email, action: 'member.remove', subject: userId, detail });
  });
}

function keepOneOwner(owners: readonly string[], userId: string): void {
  if (owners.length > 1 || !owners.includes(userId)) return;
  refuseField('role', 'the last owner of an account stays one: make another user an owner first');
}

async function requireMember(db: AccountsDb, accountId: string, userId: string) {
  const member = await store.findMemberRow(db, accountId, userId);
  if (!member) throw new DomainError('NOT_FOUND', 'No such member');
  return member;
}

/** In place of an earlier one of the same address. Throws VALIDATION_ERROR for a member, and for too many. */
async function invite(
  { db, clock, sendMail }: MemberDeps,
  { account, email: invitedBy }: Member,
  request: { readonly email: string; readonly role: MemberRole },
  { requestId }: { readonly requestId: string },
) {
  const email = request.email.toLowerCase();
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const now = clock.now();
  const row: InvitationRow = {
    id: makeId('invitation', randomBytes(16).toString('hex')),
    account_id: account.id,
    email,
    role: request.role,
    token_sha256: hash('sha256', token, 'buffer'),
    invited_by: invitedBy,
    created_at: now,
    expires_at: new Date(now.getTime() + INVITATION_MS),
  };
  await db.transaction().execute(async (trx) => {
    // Concurrent requests wait for each other.
    await store.lockOwners(trx, account.id);
    const members = await store.memberRows(trx, account.id).execute();
    if (members.some((one) => one.email === email)) refuseField('email', 'is a member already');
    const open = await store.listInvitationRows(trx, account.id, now);
    if (open.filter((one) => one.email !== email).length >= MAX_INVITATIONS)
      refuseField('email', `at most ${MAX_INVITATIONS} invitations may be open`);
    // Withdrawn ones count too: each has sent a mail.
    if (!(await store.takeInvitationTurn(trx, account.id, now)))
      refuseField('email', `at most ${store.MAX_INVITATIONS_A_DAY} invitations may be sent within 24 hours`);
    await store.replaceInvitation(trx, row);
    const detail = { accountId: account.id, email, role: request.role };
    await writeAudit(trx, { actor: invitedBy, action: 'member.invite', subject: row.id, detail });
  });
  const { role } = request;
  const mail = { kind: 'invitation', to: email, token, accountName: account.name, role } as const;
  return { invitation: toInvitation(row), sandboxMail: sendMail(mail, requestId) };
}

/** Throws NOT_FOUND. */
async function withdrawInvitation({ db }: MemberDeps, { account, email }: Member, id: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await store.deleteInvitation(trx, account.id, id)))
      throw new DomainError('NOT_FOUND', 'No such invitation');
    const detail = { accountId: account.id };
    await writeAudit(trx, { actor: email, action: 'member.withdraw-invitation', subject: id, detail });
  });
}

function toInvitation({ id: invitationId, email, role, ...row }: InvitationRow) {
  const { invited_by: invitedBy, created_at: createdAt, expires_at: expiresAt } = row;
  return { invitationId, email, role, invitedBy, createdAt, expiresAt };
}

async function listOwnKeys({ db }: Pick<MemberDeps, 'db'>, { account }: Member, environment: Environment) {
  const keys = await listKeys(db, account.id);
  return keys
    .filter((key) => key.environment === environment)
    .map(({ company, ...key }) => ({ ...key, companyName: company }));
}

/** With what is left of each budget. */
async function listKeysAndBudgets({ db }: Pick<MemberDeps, 'db'>, member: Member, environment: Environment) {
  const { id, currency } = member.account;
  const keys = await listOwnKeys({ db }, member, environment);
  const budgets = await inEnvironment(db, environment, (world) => listBudgets(world, id));
  return keys.map((key) => {
    const { budget = null, left = null } = budgets.get(key.keyId) ?? {};
    return { ...key, budget, left, currency };
  });
}

/** Working keys that the member made, in both environments: those that end with their removal. NOT_FOUND. */
async function listKeysOfMember({ db }: Pick<MemberDeps, 'db'>, { account }: Member, userId: string) {
  const { email } = await requireMember(db, account.id, userId);
  const now = await readDatabaseTime(db);
  const keys = await listKeys(db, account.id);
  return keys.filter(
    ({ createdBy, revokedAt, expiresAt }) =>
      createdBy === email && revokedAt === null && (expiresAt === null || expiresAt > now),
  );
}

/** null: the key may spend what the wallet has. Counts for its next purchase. Throws NOT_FOUND. */
async function changeBudget(
  { db }: Pick<MemberDeps, 'db'>,
  member: Member,
  environment: Environment,
  keyId: string,
  budget: KeyBudget | null,
) {
  const { account, email, clientAddress: address } = member;
  await requireOwnKey(db, member, environment, keyId);
  await db.transaction().execute(async (trx) => {
    // Concurrent changes wait for each other, so each entry has what was before.
    await lockAccountRow(trx, account.id);
    const key = { keyId, accountId: account.id, changedBy: email };
    const before = await inEnvironment(trx, environment, (world) => replaceBudget(world, key, budget));
    const change = { before: budgetText(before), after: budgetText(budget) };
    const detail = { accountId: account.id, environment, ...change, address };
    await writeAudit(trx, { actor: email, action: 'key.change-budget', subject: keyId, detail });
  });
  const changed = await inEnvironment(db, environment, (world) => findBudget(world, keyId));
  const { budget: now = null, left = null } = changed ?? {};
  return { budget: now, left, currency: account.currency };
}

function readReturnHosts(
  { db }: Pick<MemberDeps, 'db'>,
  { account }: Member,
  environment: Environment,
): Promise<readonly string[]> {
  return inEnvironment(db, environment, (world) => findReturnHosts(world, account.id));
}

/** In place of the earlier ones. The owners get a mail: buyers are sent there after they paid. */
async function changeReturnHosts(
  { db }: Pick<MemberDeps, 'db'>,
  { account, email, clientAddress: address }: Member,
  environment: Environment,
  hosts: readonly string[],
): Promise<readonly string[]> {
  await db.transaction().execute(async (trx) => {
    await lockAccountRow(trx, account.id);
    const before = await inEnvironment(trx, environment, async (world) => {
      const known = await findReturnHosts(world, account.id);
      await replaceReturnHosts(world, { accountId: account.id, changedBy: email }, hosts);
      return known;
    });
    if (before.join() === hosts.join()) return;
    const change = { before: before.join(', '), after: hosts.join(', ') };
    const detail = { accountId: account.id, environment, ...change, address };
    await writeAudit(trx, { actor: email, action: 'return-hosts.change', subject: account.id, detail });
  });
  return hosts;
}

async function requireOwnKey(
  db: AccountsDb,
  member: Member,
  environment: Environment,
  keyId: string,
): Promise<void> {
  const keys = await listOwnKeys({ db }, member, environment);
  if (!keys.some((key) => key.keyId === keyId)) throw new DomainError('NOT_FOUND', 'No such key');
}

/** Throws NOT_FOUND. A key that was revoked before stays so. */
async function revokeKey(
  { db }: MemberDeps,
  member: Member,
  environment: Environment,
  keyId: string,
): Promise<void> {
  await requireOwnKey(db, member, environment, keyId);
  await revoke(db, { keyId }, member.email);
}

/** The newest first. */
async function listRequests(
  { db }: MemberDeps,
  { account }: Member,
  environment: Environment,
  query: RequestsQuery,
) {
  const { limit } = query;
  const rows = await listRequestRows(
    db,
    { accountId: account.id, environment },
    { ...query, limit: limit + 1 },
  );
  const items = rows.slice(0, limit);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}
