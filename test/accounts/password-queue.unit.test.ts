// Passwords wait in lanes, and within a lane each address has its turn.
import { expect, it } from 'vitest';
import { createPasswords, hashingFor, type Lane } from '../../src/accounts/users/passwords.ts';

const slow = { logN: 12, r: 8, p: 1 };

function ask(passwords: ReturnType<typeof createPasswords>, lane: Lane, from: string): Promise<string> {
  return hashingFor({ lane, from }, () => passwords.hash('x')).then(
    () => 'done',
    (error: unknown) => (error as { code: string }).code,
  );
}

it('60 addresses that guess keep neither operators nor known devices nor a new address waiting for all of them', async () => {
  const full: Lane[] = [];
  const passwords = createPasswords({ cost: slow, onFull: (lane) => full.push(lane) });
  const ended: string[] = [];
  const guesses = Array.from({ length: 200 }, (_, n) =>
    ask(passwords, 'usual', `attacker ${n % 40}`).then((end) => {
      ended.push('guess');
      return end;
    }),
  );
  const late = ask(passwords, 'usual', 'a customer').then(() => ended.length);
  expect(await ask(passwords, 'operator', 'office')).toBe('done');
  expect(await ask(passwords, 'known', 'home')).toBe('done');
  expect(ended.length).toBeLessThan(40);
  // After one round of the addresses, not after all their guesses.
  expect(await late).toBeLessThan(100);
  expect(new Set(await Promise.all(guesses))).toEqual(new Set(['done']));
  expect(full).toEqual([]);
});

it('an address has ten places, a lane fifty addresses; then it says so', async () => {
  const full: Lane[] = [];
  const passwords = createPasswords({ cost: slow, onFull: (lane) => full.push(lane) });
  const own = await Promise.all(Array.from({ length: 20 }, () => ask(passwords, 'known', 'one')));
  expect(own.filter((end) => end === 'SERVICE_UNAVAILABLE')).toHaveLength(9);
  const many = await Promise.all(Array.from({ length: 60 }, (_, n) => ask(passwords, 'known', `${n}`)));
  expect(many.filter((end) => end === 'SERVICE_UNAVAILABLE')).toHaveLength(9);
  expect(full).toHaveLength(18);
});
