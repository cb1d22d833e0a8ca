// Which passwords are refused as easy to guess. The words come from public lists.
import { describe, expect, it } from 'vitest';
import { weaknessOf } from '../../src/accounts/users/common-passwords.ts';

const ada = { email: 'ada.obi@operator.example', name: 'Ada Obi' };

describe('a password is refused', () => {
  it.each([
    'password1234',
    'Password2024!',
    'P@ssw0rd!!!!',
    '!!!letmein!!!',
    'we1come-12345',
    '$unshine2026',
    'passwordpassword',
    'Password-Password',
    'qwertyuiop123',
    '1q2w3e4r5t6y7u',
    '123456123456password',
    'ｐａｓｓｗｏｒｄ1234',
    'p a s s w o r d 1 2',
  ])('as common: %s', (password) => {
    expect(weaknessOf(password, ada)).toContain('common password');
  });

  it.each([
    '111111111111',
    '121212121212',
    'abcabcabcabc',
    '123456789012345',
    '210987654321',
    'mlkjihgfedcba',
    'aabbaabbccaa',
    '----------------',
    '7ujm8ik9ol0p1qaz',
  ])('as a pattern or as common: %s', (password) => {
    expect(weaknessOf(password, ada)).toBeDefined();
  });

  it.each(['AdaObi-2026!!', 'obi.ada.operator', 'simway-ada-123', 'Ada4711password'])(
    'as the person’s own name: %s',
    (password) => {
      expect(weaknessOf(password, ada)).toBeDefined();
    },
  );
});

describe('a password is accepted', () => {
  it.each([
    'correct horse battery staple',
    'a password of my own',
    'another one of mine',
    'ada likes tall ships',
    'K7gh2-mQx4T-9PzWc',
    '739105862417',
    'zażółć gęślą jaźń',
    '长密码长长的一句话没有人知道',
  ])('%s', (password) => {
    expect(weaknessOf(password, ada)).toBeUndefined();
  });
});
