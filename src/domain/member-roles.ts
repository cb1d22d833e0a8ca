/**
 * What a user may do for an account, by the role that they have in it; docs/DASHBOARD.md prints this table. A
 * user may be a member of several accounts, with a role in each. Roles of the people who operate the service
 * are in operator-roles.ts.
 */
import type { Scope } from './account.ts';

export const MEMBER_ROLES = ['OWNER', 'DEVELOPER', 'FINANCE', 'SUPPORT'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** What routes require; `words` are for refusals and the documentation. */
const PERMISSION_TABLE = {
  read: { roles: MEMBER_ROLES, words: 'see everything of the account' },
  install: { roles: ['OWNER', 'DEVELOPER'], words: 'read what installs an eSIM' },
  purchase: { roles: ['OWNER', 'DEVELOPER'], words: 'buy and top up' },
  fund: { roles: ['OWNER', 'FINANCE'], words: 'fund the wallet, set its warning and whom papers name' },
  webhooks: { roles: ['OWNER', 'DEVELOPER'], words: 'change webhook endpoints, return hosts and the brand' },
  resend: { roles: ['OWNER', 'DEVELOPER', 'SUPPORT'], words: 'send webhook messages again' },
  requests: { roles: ['OWNER', 'DEVELOPER', 'SUPPORT'], words: 'see recent API requests' },
  keys: { roles: ['OWNER', 'DEVELOPER'], words: 'manage API keys' },
  members: { roles: ['OWNER'], words: 'manage members and the account' },
} as const satisfies Record<string, { readonly roles: readonly MemberRole[]; readonly words: string }>;

export type MemberPermission = keyof typeof PERMISSION_TABLE;
export const MEMBER_PERMISSIONS = Object.keys(PERMISSION_TABLE) as [MemberPermission, ...MemberPermission[]];

export const describeMemberPermission = (permission: MemberPermission): string =>
  PERMISSION_TABLE[permission].words;
export const memberRolesWith = (permission: MemberPermission): readonly MemberRole[] =>
  PERMISSION_TABLE[permission].roles;
export const memberMay = (role: MemberRole, permission: MemberPermission): boolean =>
  memberRolesWith(permission).includes(role);

/** What a key with this scope may do, as a permission; routes that mean less say so themselves. */
export const permissionOfScope = (scope: Scope | undefined): MemberPermission => scope ?? 'read';
