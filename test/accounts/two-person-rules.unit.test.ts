// What takes two people: who may approve another's actions, and who may give and confirm access.
import { expect, it } from 'vitest';
import type { Role } from '../../src/domain/operator-roles.ts';
import {
  areIndependent,
  givesAccess,
  INDEPENDENT_AFTER_MS,
  refuseConfirmation,
  refuseOneself,
  type GivenAccess,
} from '../../src/accounts/operators/two-person-rules.ts';

const given = (email: string, givenBy: string, confirmedBy: string | null = null): GivenAccess => ({
  email,
  givenBy,
  confirmedBy,
});

it.each<[string, readonly GivenAccess[], boolean]>([
  ['nothing is recorded', [], true],
  ['the first gave the second access', [given('bo', 'ada')], false],
  ['the first confirmed the second', [given('bo', 'eve', ' ADA ')], false],
  ['the second gave the first access', [given('ada', 'Bo')], false],
  ['one person gave both access', [given('ada', 'eve'), given('bo', 'Eve')], false],
  [
    'one person gave one access and confirmed the other',
    [given('ada', 'eve'), given('bo', 'x', 'eve')],
    false,
  ],
  ['different people gave them access', [given('ada', 'x', 'y'), given('bo', 'v', 'w')], true],
  ['one of them gave a third person access', [given('chidi', 'ada'), given('dayo', 'ada')], true],
])('%s', (_what, recent, isIndependent) => {
  expect(areIndependent('ada', 'bo', recent)).toBe(isIndependent);
  expect(areIndependent('bo', ' Ada', recent)).toBe(isIndependent);
});

it('a person is never independent of themself, and “recent” means 24 hours', () => {
  expect(areIndependent('ada', ' ＡＤＡ', [])).toBe(false);
  expect(INDEPENDENT_AFTER_MS).toBe(86_400_000);
});

it.each<[string, [boolean, Role], [boolean, Role], boolean]>([
  ['another role', [false, 'SUPPORT'], [false, 'FINANCE'], true],
  ['being enabled', [true, 'SUPPORT'], [false, 'SUPPORT'], true],
  ['being disabled', [false, 'SUPPORT'], [true, 'SUPPORT'], false],
  ['another role while disabled', [true, 'SUPPORT'], [true, 'ADMIN'], false],
  ['the same role', [false, 'SUPPORT'], [false, 'SUPPORT'], false],
])('%s gives access: from %j to %j is %s', (_what, [wasDisabled, was], [isDisabled, role], gives) => {
  expect(givesAccess({ role: was, isDisabled: wasDisabled }, { role, isDisabled })).toBe(gives);
});

it('nobody changes their own access, confirms what they gave, or confirms another role than the person’s', () => {
  expect(() => refuseOneself('user-1', 'user-1')).toThrow('You cannot change your own role');
  expect(() => refuseOneself('user-1', 'user-2')).not.toThrow();
  const access = { givenBy: 'ada', role: 'FINANCE' } as const;
  expect(() => refuseConfirmation(access, { by: ' ADA', role: 'FINANCE' })).toThrow(
    'A different administrator',
  );
  expect(() => refuseConfirmation(access, { by: 'bo', role: 'ADMIN' })).toThrow('Invalid request');
  expect(() => refuseConfirmation(access, { by: 'bo', role: 'FINANCE' })).not.toThrow();
});
