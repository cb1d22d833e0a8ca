import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createMailStops } from '../../src/accounts/mail-stops.ts';
import {
  admitStrangerMail,
  giveStrangerMailBack,
  insertMailStop,
  MAX_INSTALLATION_MAILS_A_DAY,
  MAX_STRANGER_MAILS_A_DAY,
} from '../../src/accounts/store/mail-turns.ts';
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
      takeMailTurn(
        books.accounts,
        { kind: 'reset', to: index % 2 === 0 ? 'ada@shop.example' : 'Ada@Shop.example' },
        NOW,
      ),
    ),
  );
  expect(turns.filter(Boolean)).toHaveLength(MAX_MAILS_AN_HOUR);
  expect(await takeMailTurn(books.accounts, { kind: 'reset', to: 'bo@shop.example' }, NOW)).toBe(true);
  expect(
    await takeMailTurn(books.accounts, { kind: 'reset', to: 'ada@shop.example' }, later(HOUR_MS - 1)),
  ).toBe(false);
  expect(
    await takeMailTurn(books.accounts, { kind: 'reset', to: 'ada@shop.example' }, later(HOUR_MS + 1)),
  ).toBe(true);
});

it('mails of one kind do not use up the limit of another: a stranger’s sign-ups do not block the owner’s password reset', async () => {
  for (let n = 0; n <= MAX_MAILS_AN_HOUR; n += 1)
    await takeMailTurn(books.accounts, { kind: 'sign-up', to: 'cy@shop.example' }, NOW);
  expect(await takeMailTurn(books.accounts, { kind: 'sign-up', to: 'cy@shop.example' }, NOW)).toBe(false);
  expect(await takeMailTurn(books.accounts, { kind: 'reset', to: 'cy@shop.example' }, NOW)).toBe(true);
});

it('mails about sign-ups are counted by who asked for them: a stranger does not keep the owner from signing up', async () => {
  const turn = (askedFrom: string) =>
    takeMailTurn(books.accounts, { kind: 'sign-up', to: 'di@shop.example', askedFrom }, NOW);
  for (let n = 0; n <= MAX_MAILS_AN_HOUR; n += 1) await turn('203.0.113.1');
  expect([await turn('203.0.113.1'), await turn('198.51.100.7')]).toEqual([false, true]);
});

it('mails to a stranger are limited a day, whatever account sends them, and given back where none was sent', async () => {
  const to = 'stranger@elsewhere.example';
  for (let n = 0; n < MAX_STRANGER_MAILS_A_DAY; n += 1)
    expect(await admitStrangerMail(books.world, to, NOW)).toBeUndefined();
  expect(await admitStrangerMail(books.accounts, to.toUpperCase(), NOW)).toBe('limited');
  await giveStrangerMailBack(books.world, to);
  await giveStrangerMailBack(books.world, to);
  expect(await admitStrangerMail(books.world, to, NOW)).toBeUndefined();
  expect(await admitStrangerMail(books.world, to, later(24 * HOUR_MS + 1))).toBeUndefined();
});

it('mails to strangers are limited for the installation', async () => {
  await sql`update accounts.mails_to set count = ${MAX_INSTALLATION_MAILS_A_DAY}
             where address_sha256 = sha256('strangers of the installation')`.execute(books.owner);
  expect(await admitStrangerMail(books.world, 'another@elsewhere.example', NOW)).toBe('limited');
});

it('mails are stopped by the link in them, which no one can make', async () => {
  const stops = createMailStops({ idSecret: Buffer.alloc(32, 1), publicUrl: 'https://s.example' });
  const token = stops.urlFor('Tired@elsewhere.example').slice('https://s.example/mails/stop/'.length);
  const forged = createMailStops({ idSecret: Buffer.alloc(32, 2), publicUrl: '' }).urlFor('a@b.example');
  expect([stops.read(forged.slice(-86)), stops.read('x')]).toEqual([undefined, undefined]);
  expect(await insertMailStop(books.accounts, stops.read(token)!)).toBe(true);
  expect(await insertMailStop(books.accounts, stops.read(token)!)).toBe(false);
  expect(await admitStrangerMail(books.world, 'tired@elsewhere.example', NOW)).toBe('stopped');
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
  await takeMailTurn(books.accounts, { kind: 'reset', to: 'eve@shop.example' }, NOW);
  const rows = await books.accounts.selectFrom('mails_to').selectAll().execute();
  expect(JSON.stringify(rows.map((row) => row.address_sha256.toString('utf8')))).not.toContain(
    'shop.example',
  );
  await deleteEndedSignIns(books.accounts, later(49 * HOUR_MS));
  expect(await books.accounts.selectFrom('mails_to').selectAll().execute()).toEqual([]);
});
