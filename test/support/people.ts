// Operators of the service in a test: each has a role, a password and a token, and calls as a program would. Passwords are
// hashed with little work here: the cost is stored with the hash, and does not matter in these tests.
import { hash as sha256, randomBytes } from 'node:crypto';
import { confirmAccess, createPerson } from '../../src/accounts/operators/people.ts';
import { createPasswords } from '../../src/accounts/users/passwords.ts';
import type { Role } from '../../src/domain/operator-roles.ts';
import { SESSION_MS } from '../../src/accounts/operators/sessions.ts';
import { openSession, updatePerson } from '../../src/accounts/store/people.ts';
import type { Answer, Stack } from './stack.ts';

export interface Person {
  readonly personId: string;
  readonly email: string;
  readonly role: Role;
  readonly token: string;
  /** With the person's token. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export const PASSWORD = 'correct horse battery staple';

const passwords = createPasswords({ cost: { logN: 5, r: 8, p: 1 } });
/** They were made long ago: people made today cannot approve each other's actions. */
const clock = { now: () => new Date(Date.now() - 48 * 3_600_000) };
let made = 0;

/**
 * Signs in. One address may sign in only a few times a minute, so each attempt has its own address, on a stack that trusts 127.0.0.1 as a
 * proxy (`SIGN_IN_ENV`).
 */
export function signIn(
  stack: Pick<Stack, 'call'>,
  credentials: { readonly email: string; readonly password: string; readonly code?: string },
): Promise<Answer> {
  tries += 1;
  return stack.call('POST', '/ops/sessions', {
    body: credentials,
    headers: { 'X-Forwarded-For': `127.7.${Math.trunc(tries / 250)}.${(tries % 250) + 1}` },
  });
}

export const SIGN_IN_ENV = { SIMWAY_TRUSTED_PROXIES: '127.0.0.1' };
let tries = 0;

/** A person who has signed in, over HTTP. */
export async function signedIn(stack: Pick<Stack, 'accounts' | 'call'>, role: Role): Promise<Person> {
  const { personId, email } = await addPerson(stack, role);
  const { token } = dataOf(await signIn(stack, { email, password: PASSWORD }));
  if (typeof token !== 'string') throw new Error(`${email} could not sign in`);
  return withToken(stack, { personId, email, role }, token);
}

/** The same with a session that was opened beside the service, for a stack that trusts no proxy. */
export async function letIn(stack: Pick<Stack, 'accounts' | 'call'>, role: Role): Promise<Person> {
  const { personId, email, hash: passwordHash } = await addPerson(stack, role);
  const token = `ops_${randomBytes(32).toString('base64url')}`;
  const [now, expiresAt] = [new Date(), new Date(Date.now() + SESSION_MS)];
  const tokenSha256 = sha256('sha256', token, 'buffer');
  const session = { tokenSha256, personId, passwordHash, address: '127.0.0.1', now, expiresAt };
  await openSession(stack.accounts, session);
  return withToken(stack, { personId, email, role }, token);
}

const withToken = (
  stack: Pick<Stack, 'call'>,
  person: Pick<Person, 'personId' | 'email' | 'role'>,
  token: string,
): Person => ({
  ...person,
  token,
  call: (method, path, body, headers = {}) =>
    stack.call(method, path, { body, headers: { Authorization: `Bearer ${token}`, ...headers } }),
});

async function addPerson(stack: Pick<Stack, 'accounts'>, role: Role) {
  made += 1;
  const email = `${role.toLowerCase()}-${made}@operator.example`;
  const deps = { db: stack.accounts, clock, passwords };
  const { person } = await createPerson(deps, { email, name: `${role} ${made}`, role }, 'a test');
  await confirmAccess(deps, { id: person.personId }, role, 'another test');
  const hash = await passwords.hash(PASSWORD);
  await updatePerson(stack.accounts, person.personId, { password: { hash, oneTimeUntil: null } });
  return { personId: person.personId, email, hash };
}

/** The data of an answer of /ops. */
export function dataOf(answer: Answer): Record<string, unknown> {
  return answer.body.data;
}
