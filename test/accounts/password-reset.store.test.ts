// Asking for a new password: the answer comes before anything is looked up, so its time tells nothing.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createMailStops } from '../../src/accounts/mail-stops.ts';
import { createAuth } from '../../src/accounts/users/better-auth.ts';
import { createUserMails } from '../../src/accounts/users/mails.ts';
import { createPasswords } from '../../src/accounts/users/passwords.ts';
import { userUseCases } from '../../src/accounts/users/users.ts';
import { insertUser } from '../../src/accounts/store/users.ts';
import { bindAll } from '../../src/platform/bind.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
const clock = { now: () => new Date() };
const publicUrl = 'http://127.0.0.1:3000';
const secret = Buffer.alloc(32, 7);
const nothing = () => undefined;

it('is answered while nothing can be read, for known and unknown addresses; the known one then gets its mail', async () => {
  const db = books.accounts;
  const passwords = createPasswords({ cost: { logN: 2, r: 8, p: 1 } });
  const passwordHash = await passwords.hash('correct horse battery staple');
  await insertUser(db, { email: 'known@merchant.example', name: 'Ada', passwordHash });
  const sent: string[] = [];
  const mailStops = createMailStops({ idSecret: secret, publicUrl });
  const mails = createUserMails({
    ...{ db, clock, mailStops, showsMails: false, words: { publicUrl, us: 'Simway' } },
    events: { userMailNotSent: nothing, strangerMailSent: nothing, strangerMailHeld: nothing },
    mailer: {
      send: ({ to }) => {
        sent.push(to);
        return Promise.resolve({ outcome: 'done' });
      },
    },
  });
  const auth = createAuth({ db, clock, passwords, secret, publicUrl, issuer: 'Simway', onError: nothing });
  const users = bindAll(
    {
      ...{ db, clock, auth, publicUrl, mailStops, environments: [] },
      ...{ sendMail: mails.send, sendMailLater: mails.sendLater },
      events: { personLockedOut: nothing, signInRefused: nothing, mailsStopped: nothing },
    },
    userUseCases,
  );
  const browser = { cookie: undefined, clientAddress: '203.0.113.7', isForOperators: false, requestId: 'r' };
  await books.owner.transaction().execute(async (trx) => {
    await sql`lock table accounts.users in access exclusive mode`.execute(trx);
    for (const email of ['known@merchant.example', 'unknown@merchant.example'])
      expect(await users.requestPasswordReset(email, browser)).toBeUndefined();
    expect(sent).toEqual([]);
  });
  await mails.close();
  expect(sent).toEqual(['known@merchant.example']);
});
