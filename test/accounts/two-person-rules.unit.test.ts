// Which two people are independent enough to approve each other's actions.
import { expect, it } from 'vitest';
import {
  areIndependent,
  INDEPENDENT_AFTER_MS,
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
