// The exact permissions of each role, so that every change of a role shows here.
import { describe, expect, test } from 'vitest';
import {
  mayPerform,
  rolesFor,
  OPERATOR_ACTIONS,
  type OperatorAction,
} from '../../src/accounts/operators/action-table.ts';
import {
  MEMBER_PERMISSIONS,
  memberMay,
  type MemberPermission,
  type MemberRole,
} from '../../src/domain/member-roles.ts';
import {
  may,
  PERMISSIONS,
  ROLES,
  rolesWith,
  type Permission,
  type Role,
} from '../../src/domain/operator-roles.ts';

const PERMISSIONS_OF: Record<Role, readonly Permission[]> = {
  SUPPORT: ['see', 'action'],
  OPERATIONS: ['see', 'action', 'replay'],
  FINANCE: [
    'see',
    'action',
    'replay',
    'approve',
    'reconcile',
    'pricing',
    'books',
    'closing',
    'wallets',
    'accounts',
    'audit',
  ],
  ADMIN: ['see', 'action', 'books', 'alerts', 'people', 'accounts', 'audit'],
};

const ACTIONS_OF: Record<Role, readonly OperatorAction[]> = {
  SUPPORT: ['check-gateway', 'check-supplier'],
  OPERATIONS: [
    'check-gateway',
    'check-supplier',
    'retry-delivery',
    'deliver-other',
    'cancel',
    'refuse-return',
    'grant-replacement',
    'refuse-replacement',
  ],
  FINANCE: [
    'check-gateway',
    'check-supplier',
    'retry-delivery',
    'mark-paid',
    'refund-to-source',
    'credit-wallet',
    'cancel',
    'grant-return',
    'refuse-return',
    'grant-replacement',
    'refuse-replacement',
    'settle-dispute',
  ],
  ADMIN: ['check-gateway', 'check-supplier'],
};

describe.each(ROLES)('%s', (role) => {
  test('has exactly these permissions', () => {
    expect(PERMISSIONS.filter((permission) => may(role, permission))).toEqual(PERMISSIONS_OF[role]);
    for (const permission of PERMISSIONS)
      expect(rolesWith(permission).includes(role)).toBe(may(role, permission));
  });

  test('makes exactly these operator actions', () => {
    expect(OPERATOR_ACTIONS.filter((action) => mayPerform(role, action))).toEqual(ACTIONS_OF[role]);
    for (const action of OPERATOR_ACTIONS)
      expect(rolesFor(action).includes(role)).toBe(mayPerform(role, action));
  });
});

test.each<[MemberRole, readonly MemberPermission[]]>([
  ['OWNER', MEMBER_PERMISSIONS],
  ['DEVELOPER', ['read', 'install', 'purchase', 'webhooks', 'resend', 'requests', 'keys']],
  ['FINANCE', ['read', 'fund']],
  ['SUPPORT', ['read', 'resend', 'requests']],
])('a member who is %s may do exactly %j', (role, permissions) => {
  expect(MEMBER_PERMISSIONS.filter((permission) => memberMay(role, permission))).toEqual(permissions);
});

test('a replay makes no action that its role may not make by itself', () => {
  for (const role of rolesWith('replay'))
    for (const action of ['check-gateway', 'check-supplier', 'retry-delivery'] as const)
      expect(mayPerform(role, action)).toBe(true);
});
