// The exact permissions of each role, so that every change of a role shows here. docs/OPERATIONS.md prints the same.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  mayPerform,
  rolesFor,
  OPERATOR_ACTIONS,
  type OperatorAction,
} from '../../src/accounts/operators/action-table.ts';
import {
  may,
  describePermission,
  PERMISSIONS,
  ROLES,
  rolesWith,
  type Permission,
  type Role,
} from '../../src/accounts/operators/roles.ts';

const PERMISSIONS_OF: Record<Role, readonly Permission[]> = {
  SUPPORT: ['see', 'action'],
  OPERATIONS: ['see', 'action', 'replay'],
  FINANCE: ['see', 'action', 'replay', 'approve', 'reconcile', 'pricing', 'books', 'accounts', 'audit'],
  ADMIN: ['see', 'action', 'books', 'people', 'accounts', 'audit'],
};

const ACTIONS_OF: Record<Role, readonly OperatorAction[]> = {
  SUPPORT: ['check-gateway', 'check-supplier'],
  OPERATIONS: ['check-gateway', 'check-supplier', 'retry-delivery', 'deliver-other', 'cancel'],
  FINANCE: [
    'check-gateway',
    'check-supplier',
    'retry-delivery',
    'mark-paid',
    'refund-to-source',
    'credit-wallet',
    'cancel',
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

test('a replay makes no action that its role may not make by itself', () => {
  for (const role of rolesWith('replay'))
    for (const action of ['check-gateway', 'check-supplier', 'retry-delivery'] as const)
      expect(mayPerform(role, action)).toBe(true);
});

describe('docs/OPERATIONS.md', () => {
  const page = readFileSync(new URL('../../docs/OPERATIONS.md', import.meta.url), 'utf8');
  const section = /\n## People, roles and sessions over \/ops\n([\s\S]*?)(?=\n## )/.exec(page)?.[1] ?? '';
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[ -]+\|/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
  const granted = (cells: readonly string[]): Role[] =>
    ROLES.filter((_role, index) => cells[index] === 'yes');

  test('prints who has which permission', () => {
    for (const permission of PERMISSIONS.filter((one) => one !== 'action')) {
      const row = rows.find(([what]) => what === describePermission(permission));
      expect(granted(row?.slice(1) ?? []), permission).toEqual(rolesWith(permission));
    }
  });

  test('prints who makes which operator action', () => {
    for (const action of OPERATOR_ACTIONS) {
      const row = rows.find(([what]) => what === `\`${action}\``);
      expect(granted(row?.slice(1) ?? []), action).toEqual(rolesFor(action));
    }
  });
});
