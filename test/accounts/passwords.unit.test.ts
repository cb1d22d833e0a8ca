import { expect, it } from 'vitest';
import { createPasswords } from '../../src/accounts/users/passwords.ts';

it('a password is hashed with three passes of 32 MiB by default, and hashes with another cost can still be checked', async () => {
  const usual = createPasswords();
  const cheap = createPasswords({ cost: { logN: 5, r: 8, p: 1 } });
  const stored = await usual.hash('correct horse battery staple');
  expect(stored).toMatch(/^scrypt\$ln=15,r=8,p=3\$[\w-]{22}\$[\w-]{43}$/);
  expect(await cheap.isRight(stored, 'correct horse battery staple')).toBe(true);
  expect(await cheap.isRight(stored, 'Correct horse battery staple')).toBe(false);
  expect(await usual.isRight(await cheap.hash('another one'), 'another one')).toBe(true);
});
