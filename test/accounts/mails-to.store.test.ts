import { expect, it } from 'vitest';
import {
  deleteEndedSignIns,
  MAX_INVITATIONS_A_DAY,
  MAX_MAILS_AN_HOUR,
  takeInvitationTurn,
  takeMailTurn,
} from '../../src/accounts/store/users.ts';
import { HOUR_MS } from '../../src/domain/clock.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());

const NOW = new Date('2026-03-01T10:00:00.000Z');
const later = (ms: number): Date => new Date(NOW.getTime() + ms);

it('mails to an address are limited within an hour, whatever triggers them; the next hour starts at zero', async () => {
  const turns = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      takeMailTurn(books.accounts, 'reset', index % 2 === 0 ? 'ada@shop.example' : 'Ada@Shop.example', NOW),
    ),
  );
  expect(turns.filter(Boolean)).toHaveLength(MAX_MAILS_AN_HOUR);
  expect(await takeMailTurn(books.accounts, 'reset', 'bo@shop.example', NOW)).toBe(true);
  expect(await takeMailTurn(books.accounts, 'reset', 'ada@shop.example', later(HOUR_MS - 1))).toBe(false);
  expect(await takeMailTurn(books.accounts, 'reset', 'ada@shop.example', later(HOUR_MS + 1))).toBe(true);
});

it('mails of one kind do not use up the limit of another: a stranger’s sign-ups do not block the owner’s password reset', async () => {
  for (let n = 0; n <= MAX_MAILS_AN_HOUR; n += 1)
    await takeMailTurn(books.accounts, 'sign-up', 'cy@shop.example', NOW);
  expect(await takeMailTurn(books.accounts, 'sign-up', 'cy@shop.example', NOW)).toBe(false);
  expect(await takeMailTurn(books.accounts, 'reset', 'cy@shop.example', NOW)).toBe(true);
});

it('mails with invitations are counted by account for a day', async () => {
  const turns: boolean[] = [];
  for (let n = 0; n <= MAX_INVITATIONS_A_DAY; n += 1)
    turns.push(await takeInvitationTurn(books.accounts, 'acc-1', later(n)));
  expect(turns.filter(Boolean)).toHaveLength(MAX_INVITATIONS_A_DAY);
  // Cleaning up removes none of them too early.
  await deleteEndedSignIns(books.accounts, later(23 * HOUR_MS));
  expect(await takeInvitationTurn(books.accounts, 'acc-1', later(23 * HOUR_MS))).toBe(false);
  expect(await takeInvitationTurn(books.accounts, 'acc-2', NOW)).toBe(true);
  expect(await takeInvitationTurn(books.accounts, 'acc-1', later(24 * HOUR_MS + 1))).toBe(true);
});

it('counts of mails contain no address, and are deleted when they are no longer needed', async () => {
  await takeMailTurn(books.accounts, 'reset', 'eve@shop.example', NOW);
  const rows = await books.accounts.selectFrom('mails_to').selectAll().execute();
  expect(JSON.stringify(rows.map((row) => row.address_sha256.toString('utf8')))).not.toContain(
    'shop.example',
  );
  await deleteEndedSignIns(books.accounts, later(49 * HOUR_MS));
  expect(await books.accounts.selectFrom('mails_to').selectAll().execute()).toEqual([]);
});
