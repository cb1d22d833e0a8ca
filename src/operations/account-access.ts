/** Who acts for an account, its keys, and where its webhooks go, as operators see them. */
import { listKeys } from '../accounts/store/accounts.ts';
import { listMemberSignIns } from '../accounts/store/find-accounts.ts';
import { foreignCursor, requireAccount, type AccountDeps } from './accounts.ts';
import {
  isOwnMessage,
  listEndpointsOf,
  readMessages,
  type FoundEndpoint,
  type FoundMessages,
} from './store/account-webhooks.ts';

export type AccountMember = Awaited<ReturnType<typeof listMemberSignIns>>[number];
export type AccountKey = Awaited<ReturnType<typeof listKeys>>[number];

type AccessDeps = Pick<AccountDeps, 'accounts' | 'environment'> & {
  readonly stuck: Pick<AccountDeps['stuck'], 'db'>;
};

/** An account may have 16; more are deleted ones. */
export const MAX_LISTED_ENDPOINTS = 100;

/** All, the oldest first. NOT_FOUND. */
export async function listAccountMembers(
  { accounts }: AccessDeps,
  accountId: string,
): Promise<readonly AccountMember[]> {
  await requireAccount(accounts, accountId);
  return listMemberSignIns(accounts, accountId);
}

/** All of this environment, with revoked and expired ones, the newest first. NOT_FOUND. */
export async function listAccountKeys(
  { accounts, environment }: AccessDeps,
  accountId: string,
): Promise<readonly AccountKey[]> {
  await requireAccount(accounts, accountId);
  return (await listKeys(accounts, accountId)).filter((key) => key.environment === environment);
}

/** Of this environment: those that exist, then deleted ones, each newest first. NOT_FOUND. */
export async function listAccountEndpoints(
  { accounts, stuck: { db } }: AccessDeps,
  accountId: string,
): Promise<readonly FoundEndpoint[]> {
  await requireAccount(accounts, accountId);
  return listEndpointsOf(db, accountId, MAX_LISTED_ENDPOINTS);
}

/** Not delivered, newest first; or the one with this id. NOT_FOUND; VALIDATION_ERROR for a wrong cursor. */
export async function listUndeliveredMessages(
  { accounts, stuck: { db } }: AccessDeps,
  accountId: string,
  query: {
    readonly messageId?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<FoundMessages> {
  await requireAccount(accounts, accountId);
  if (query.after !== undefined && !(await isOwnMessage(db, accountId, query.after))) throw foreignCursor();
  return readMessages(db, { accountId, ...query });
}
