// Operators of the service in a test: each has a role, a password and a token, and calls as a program would.
// Passwords are hashed with little work here: the cost is stored with the hash, and does not matter in these
// tests.
import { createPasswords } from '../../../src/accounts/users/passwords.ts';
import type { Role } from '../../../src/domain/operator-roles.ts';
import { prepareOperator } from '../../../src/dev/sandbox-logins.ts';
import type { Answer, Stack } from '../world/stack.ts';

export type Person = Awaited<ReturnType<typeof signedIn>>;

export const PASSWORD = 'correct horse battery staple';

const passwords = createPasswords({ cost: { logN: 5, r: 8, p: 1 } });
let made = 0;

/**
 * Signs in. One address may sign in only a few times a minute, so each attempt has its own address, on a
 * stack that trusts 127.0.0.1 as a proxy (`SIGN_IN_ENV`). Other stacks refuse the header.
 */
export function signIn(
  stack: Pick<Stack, 'call'>,
  credentials: { readonly email: string; readonly password: string; readonly code?: string },
  headers: Record<string, string> = fromElsewhere(),
): Promise<Answer> {
  return stack.call('POST', '/ops/sessions', { body: credentials, headers });
}

function fromElsewhere() {
  tries += 1;
  return { 'X-Forwarded-For': `127.7.${Math.trunc(tries / 250)}.${(tries % 250) + 1}` };
}

export const SIGN_IN_ENV = { SIMWAY_TRUSTED_PROXIES: '127.0.0.1' };
let tries = 0;

/** A person who has signed in, and was made long ago: those of today cannot approve each other's actions. */
export async function signedIn(
  stack: Pick<Stack, 'accounts' | 'call'>,
  role: Role,
  headers?: Record<string, string>,
) {
  made += 1;
  const email = `${role.toLowerCase()}-${made}@operator.example`;
  const hash = await passwords.hash(PASSWORD);
  const personId = await prepareOperator(stack.accounts, { email, name: `${role} ${made}`, role, hash });
  const { token } = dataOf(await signIn(stack, { email, password: PASSWORD }, headers));
  if (typeof token !== 'string') throw new Error(`${email} could not sign in`);
  return {
    personId,
    email,
    role,
    token,
    /** With the person's token. */
    call: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      stack.call(method, path, { body, headers: { Authorization: `Bearer ${token}`, ...headers } }),
  };
}

/** The data of an answer of /ops. */
export function dataOf(answer: Answer): Record<string, unknown> {
  return answer.body.data;
}
