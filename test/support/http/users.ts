/**
 * Users of the dashboard over HTTP without Temporal: the real use cases on the test's own Postgres. Websites
 * always answer, and mails are shown in answers.
 */
import { createHmac, hash } from 'node:crypto';
import { createMailStops } from '../../../src/accounts/mail-stops.ts';
import { memberUseCases } from '../../../src/accounts/members.ts';
import { insertMember, insertUser } from '../../../src/accounts/store/users.ts';
import { createAuth, signingSecret } from '../../../src/accounts/users/better-auth.ts';
import { renderUserMail, type UserMail } from '../../../src/accounts/users/mails.ts';
import { createPasswords } from '../../../src/accounts/users/passwords.ts';
import { cookieNames, SESSION_IDLE_MS } from '../../../src/accounts/users/sessions.ts';
import { userUseCases } from '../../../src/accounts/users/users.ts';
import type { UserUseCases } from '../../../src/app/composition/user-use-cases.ts';
import { bindAll } from '../../../src/platform/bind.ts';
import { createSecretBox } from '../../../src/platform/secret-box.ts';
import { createMemberKey } from '../../../src/webhooks/create-checked-key.ts';
import { makeAccount } from '../people/keys.ts';
import type { Books } from '../world/books.ts';

const SECRET = Buffer.alloc(32, 9);
const SESSION = 'session-of-ada'.padEnd(32, '0');
const publicUrl = 'http://127.0.0.1:3000';

export const USER = { email: 'ada@merchant.example', password: 'correct horse battery staple' } as const;
/** In the links of an open sign-up and an open invitation. */
export const LINKS = { signUp: 'sign-up-token', invitation: 'invitation-token' } as const;
export const COOKIES = cookieNames(publicUrl);

/** As better-auth would sign it. */
export const sessionCookie = (): string => {
  const signature = createHmac('sha256', signingSecret(SECRET)).update(SESSION).digest('base64');
  return `${COOKIES.session}=${encodeURIComponent(`${SESSION}.${signature}`)}`;
};

export function openUsers({ accounts: db, world }: Books) {
  const clock = { now: () => new Date() };
  const passwords = createPasswords({ cost: { logN: 2, r: 8, p: 1 } });
  const errors: string[] = [];
  const nothing = () => undefined;
  const sendMail = (mail: UserMail) => renderUserMail(mail, { publicUrl, us: 'Simway' });
  const auth = createAuth({
    ...{ db, clock, passwords, secret: SECRET, publicUrl, issuer: 'Simway' },
    onError: (message) => void errors.push(message),
  });
  const userDeps = {
    ...{ db, clock, auth, publicUrl, environments: ['test'] as const, sendMail },
    sendMailLater: async (_kind: string, make: () => Promise<UserMail | undefined>) => {
      const mail = await make();
      return mail && sendMail(mail);
    },
    mailStops: createMailStops({ idSecret: SECRET, publicUrl }),
    events: { personLockedOut: nothing, signInRefused: nothing, mailsStopped: nothing },
  };
  const secretBox = createSecretBox({ key: '01'.repeat(32), previousKeys: [] });
  const allowed = () => Promise.resolve({ ok: true } as const);
  const webhooks = { db: world, urlGuard: { check: allowed, reach: allowed }, secretBox };
  const useCases: UserUseCases = {
    auth: bindAll(userDeps, userUseCases),
    account: {
      ...bindAll(
        {
          db,
          clock,
          sendMail,
          sendsTravellerEmails: true,
          requireWebsite: () => Promise.resolve(),
          endEndpoints: () => Promise.resolve(0),
        },
        memberUseCases,
      ),
      ...bindAll(
        { accounts: db, clock, brand: 'simway', lifeDays: undefined, worldOf: () => webhooks },
        { createKey: createMemberKey },
      ),
    },
  };
  const state = { accountId: '' };
  return {
    useCases,
    /** What better-auth reported as a fault. */
    errors,
    get accountId() {
      return state.accountId;
    },
    /** One owner of one account, who is signed in; an open sign-up and an open invitation. */
    reset: async (): Promise<void> => {
      for (const table of ['sign_ups', 'invitations', 'members', 'mails_to', 'users'] as const)
        await db.deleteFrom(table).execute();
      if (state.accountId === '') state.accountId = await makeAccount(db);
      const { accountId } = state;
      const passwordHash = await passwords.hash(USER.password);
      const userId = await insertUser(db, { email: USER.email, name: 'Ada', passwordHash });
      if (userId === undefined) throw new Error('the user was there already');
      await insertMember(db, { account_id: accountId, user_id: userId, role: 'OWNER' });
      const [now, expires_at] = [clock.now(), new Date(clock.now().getTime() + SESSION_IDLE_MS)];
      await db
        .insertInto('user_sessions')
        .values({
          id: SESSION,
          token: SESSION,
          user_id: userId,
          user_agent: 'dashboard',
          expires_at,
          created_at: now,
        })
        .execute();
      await db
        .insertInto('sign_ups')
        .values({
          ...{
            token_sha256: hash('sha256', LINKS.signUp, 'buffer'),
            email: 'new@merchant.example',
            name: 'New',
          },
          ...{ password: passwordHash, company_name: 'New Ltd', currency: 'USD', expires_at },
        })
        .execute();
      await db
        .insertInto('invitations')
        .values({
          ...{ id: `inv-${'1'.repeat(32)}`, account_id: accountId, email: 'invited@merchant.example' },
          ...{ role: 'SUPPORT', token_sha256: hash('sha256', LINKS.invitation, 'buffer') },
          ...{ invited_by: USER.email, created_at: now, expires_at },
        })
        .execute();
    },
  };
}
