// Users of the dashboard in a test: each has a browser, which keeps cookies and marks each request as coming
// from our page.
import { createHmac } from 'node:crypto';
import type { MemberRole } from '../../../src/domain/member-roles.ts';
import type { Answer, Stack } from '../world/stack.ts';
import { PNG } from './pictures.ts';

export const USER_PASSWORD = 'correct horse battery staple';

/** Any number may sign in: each browser has its own address (`SIGN_IN_ENV`). */
let browsers = 0;
let users = 0;

interface Asked {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Browser = ReturnType<typeof openBrowser>;

/** Answers of all browsers, for the test that compares them with the document. */
export const answers: { readonly method: string; readonly path: string; readonly answer: Answer }[] = [];

export function openBrowser(stack: Pick<Stack, 'call'>) {
  browsers += 1;
  const address = `127.8.${Math.trunc(browsers / 250)}.${(browsers % 250) + 1}`;
  const cookies = new Map<string, string>();
  const setCookies: string[] = [];
  return {
    cookies,
    /** The Set-Cookie lines of the last answer. */
    setCookies,
    /** As one of our pages calls the API. */
    call: async (method: string, path: string, { body, headers = {} }: Asked = {}) => {
      const answer = await stack.call(method, path, {
        ...(body === undefined ? {} : { body }),
        headers: {
          'Sec-Fetch-Site': 'same-origin',
          'X-Forwarded-For': address,
          ...(cookies.size === 0
            ? {}
            : { Cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ') }),
          ...headers,
        },
      });
      answers.push({ method, path, answer });
      setCookies.splice(0, Infinity, ...answer.headers.getSetCookie());
      for (const line of setCookies) {
        const [pair = '', ...attributes] = line.split('; ');
        const [name = '', ...value] = pair.split('=');
        if (attributes.includes('Max-Age=0')) cookies.delete(name);
        else cookies.set(name, value.join('='));
      }
      return answer;
    },
  };
}

export interface Shown {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly link: string;
}

/** The mail that the sandbox shows. */
export const mailOf = (answer: Answer): Shown | undefined =>
  (answer.body.data as unknown as { sandboxMail?: Shown }).sandboxMail;

/** The token in the link of a mail. */
export function tokenOf(mail: Shown | undefined): string {
  const hash = new URL(mail?.link ?? 'http://nowhere/').hash;
  return new URLSearchParams(hash.slice(1)).get('token') ?? '';
}

export type User = ReturnType<typeof userOf>;

export const uniqueEmail = (who: string): string => {
  users += 1;
  return `${who.toLowerCase()}-${users}@merchant.example`;
};

const userOf = (browser: Browser, email: string, accountId: string) => ({
  email,
  name: email,
  browser,
  accountId,
  /** Headers for the account, in the test environment. */
  ask: (method: string, path: string, { body, headers = {} }: Asked = {}) =>
    browser.call(method, path, {
      body,
      headers: { 'Simway-Account': accountId, 'Simway-Environment': 'test', ...headers },
    }),
});

/** Signs up, confirms, and is signed in as the owner of a new account. */
export async function signedUp(stack: Pick<Stack, 'call'>, currency: 'NGN' | 'USD' = 'USD'): Promise<User> {
  const browser = openBrowser(stack);
  const email = uniqueEmail('owner');
  const body = { email, password: USER_PASSWORD, name: 'Ada Owner', companyName: 'Ada Ltd', currency };
  const sent = await browser.call('POST', '/auth/users', { body });
  const confirmed = await browser.call('POST', '/auth/users/confirm', {
    body: { token: tokenOf(mailOf(sent)), password: USER_PASSWORD },
  });
  if (confirmed.status !== 200) throw new Error(`${email} could not sign up: ${sent.text} ${confirmed.text}`);
  return userOf(browser, email, await accountOf(browser));
}

/** The first account of the signed-in user. */
export async function accountOf(browser: Browser): Promise<string> {
  const { memberships } = (await browser.call('GET', '/auth/me')).body.data as unknown as {
    memberships: { accountId: string }[];
  };
  return memberships[0]?.accountId ?? '';
}

/** A member whom the owner invited, signed in. */
export async function colleague(stack: Pick<Stack, 'call'>, owner: User, role: MemberRole): Promise<User> {
  const email = uniqueEmail(role);
  const invited = await owner.ask('POST', '/account/invitations', { body: { email, role } });
  const browser = openBrowser(stack);
  const body = { token: tokenOf(mailOf(invited)), name: `A ${role}`, password: USER_PASSWORD };
  const accepted = await browser.call('POST', '/auth/invitations/accept', { body });
  if (accepted.status !== 200) throw new Error(`${email} could not join: ${invited.text} ${accepted.text}`);
  return userOf(browser, email, owner.accountId);
}

/** The data of an answer; the caller names its type. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a cast with fewer words
export const data = <T>(answer: Answer): T => answer.body.data as unknown as T;

export const codeOf = ({ text }: Answer): string =>
  /"(?:code|error)":"([A-Za-z_]+)"/.exec(text)?.[1]?.toUpperCase() ?? '';

/** The message of a refusal, in any of the documented bodies. */
export const messageOf = ({ text }: Answer): string => /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? '';

export const me = (browser: Browser): Promise<Answer> => browser.call('GET', '/auth/me');

export const signIn = (browser: Browser, email: string, password = USER_PASSWORD): Promise<Answer> =>
  browser.call('POST', '/auth/sessions', { body: { email, password } });

/** Switches it on, with the code of this moment, which is then used. */
export async function addSecondFactor(
  browser: Browser,
  password = USER_PASSWORD,
): Promise<{ secret: string; recoveryCodes: string[] }> {
  const added = await browser.call('POST', '/auth/me/second-factor', { body: { password } });
  const { otpauthUri, recoveryCodes } = data<{ otpauthUri: string; recoveryCodes: string[] }>(added);
  const secret = new URL(otpauthUri).searchParams.get('secret') ?? '';
  await browser.call('POST', '/auth/me/second-factor/confirm', { body: { code: totp(secret) } });
  return { secret, recoveryCodes };
}

/**
 * RFC 6238, at this moment or some steps of 30 s later. One step away is still valid, and each code works
 * once.
 */
export function totp(secret: string, stepsLater = 0): string {
  const bits = Array.from(secret.replaceAll('=', ''), (letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  ).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.trunc(Date.now() / 30_000) + stepsLater));
  const hmac = createHmac('sha1', key).update(counter).digest();
  const offset = (hmac.at(-1) ?? 0) & 15;
  return String((hmac.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0');
}

/**
 * Calls each route about members once; colleagues.e2e.test.ts tests what they do. Throws if one is refused.
 */
export async function askAboutColleagues(stack: Pick<Stack, 'call'>): Promise<void> {
  const owner = await signedUp(stack);
  const { browser } = await colleague(stack, owner, 'SUPPORT');
  const { user } = data<{ user: { userId: string } }>(await me(browser));
  const invitation = { email: uniqueEmail('invited'), role: 'FINANCE' };
  await owner.ask('POST', '/account/invitations', { body: invitation });
  const invited = await owner.ask('GET', '/account/invitations');
  const invitationId = /inv-[0-9a-f]{32}/.exec(invited.text)?.[0] ?? '';
  const newKey = { allowedAddresses: ['127.0.0.1'], scopes: ['purchase'] };
  const { keyId } = data<{ keyId: string }>(await owner.ask('POST', '/account/keys', { body: newKey }));
  for (const [method, path, body] of [
    ['GET', '/account'],
    ['PUT', '/account/brand', { shopName: 'Ada Travel', accentColor: '#0b57d0' }],
    ['PUT', '/account/brand/logo', { image: PNG.toString('base64') }],
    ['DELETE', '/account/brand/logo'],
    ['GET', '/account/brand'],
    ['PATCH', '/account', { name: 'Ada & Co' }],
    ['PUT', '/account/return-hosts', { hosts: ['shop.example'] }],
    ['GET', '/account/return-hosts'],
    ['GET', '/account/members'],
    ['GET', `/account/members/${user.userId}/keys`],
    ['PUT', `/account/keys/${keyId}/budget`, { maxPurchases: 1 }],
    ['DELETE', `/account/keys/${keyId}/budget`],
    ['PATCH', `/account/members/${user.userId}`, { role: 'FINANCE' }],
    ['POST', `/account/members/${user.userId}/remove-second-factor`],
    ['DELETE', `/account/members/${user.userId}`],
    ['DELETE', `/account/invitations/${invitationId}`],
  ] as const) {
    const { status, text } = await owner.ask(method, path, body ? { body } : {});
    if (status !== 200) throw new Error(`${method} ${path}: ${text}`);
  }
}
