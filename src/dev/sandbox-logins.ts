/**
 * People to sign in as at the dashboard of `npm start`: a merchant who owns the sandbox accounts, two people
 * of finance, one of operations, and two administrators, since one alone lets nobody in. Only while the live
 * environment is off. Their passwords are random and stay in .data/.
 */
import { createPasswords } from '../accounts/users/passwords.ts';
import { confirmAccess, createPerson } from '../accounts/operators/people.ts';
import type { Role } from '../domain/operator-roles.ts';
import { findAccountsByEmail } from '../accounts/store/accounts.ts';
import { findPerson, updatePerson } from '../accounts/store/people.ts';
import { beginUserAnew, findUser, insertMember, setPassword } from '../accounts/store/users.ts';
import { ACCOUNT_CURRENCIES } from '../domain/money.ts';
import { openAccounts, type ProcessContext } from '../app/composition/context.ts';
import type { AccountsDb } from '../platform/database/tables.ts';

export interface Login {
  readonly email: string;
  readonly password: string;
}

const OPERATORS = {
  finance: { name: 'Fina Finance', role: 'FINANCE' },
  finance2: { name: 'Fred Finance', role: 'FINANCE' },
  operations: { name: 'Olu Operations', role: 'OPERATIONS' },
  admin: { name: 'Ada Admin', role: 'ADMIN' },
  admin2: { name: 'Abe Admin', role: 'ADMIN' },
} as const satisfies Record<string, { readonly name: string; readonly role: Role }>;

type OperatorName = keyof typeof OPERATORS;

export type SandboxLogins = Readonly<Record<'merchant' | OperatorName, Login>>;

/**
 * Two people whose access came from the same hands today cannot approve each other's actions for a day. Here
 * no person gave access to another: it is recorded as given some days ago.
 */
const GIVEN_BEFORE_MS = 48 * 3_600_000;

const emailOf = (name: string): string => `${name}@simway.example`;

/**
 * `passwordOf`: the stored one, or a new one that is stored. Returns null where the live environment is on.
 */
export async function prepareSandboxLogins(
  context: ProcessContext,
  passwordOf: (name: string) => Promise<string>,
): Promise<SandboxLogins | null> {
  if (context.config.worlds.live) return null;
  const db = openAccounts(context);
  const passwords = createPasswords();
  const login = async (name: string): Promise<Login & { readonly hash: string }> => {
    const password = await passwordOf(name);
    return { email: emailOf(name), password, hash: await passwords.hash(password) };
  };
  const operator = async (name: OperatorName): Promise<Login> => {
    const { email, password, hash } = await login(name);
    await prepareOperator(db, { email, hash, ...OPERATORS[name] });
    return { email, password };
  };
  try {
    const { hash, ...merchant } = await login('merchant');
    await prepareMerchant(db, { email: merchant.email, hash });
    return {
      merchant,
      finance: await operator('finance'),
      finance2: await operator('finance2'),
      operations: await operator('operations'),
      admin: await operator('admin'),
      admin2: await operator('admin2'),
    };
  } finally {
    await db.destroy();
  }
}

async function prepareMerchant(
  db: AccountsDb,
  { email, hash }: { readonly email: string; readonly hash: string },
): Promise<void> {
  const known = await findUser(db, { email });
  const userId =
    known?.id ?? (await beginUserAnew(db, { email, name: 'Sandbox Merchant', passwordHash: hash }));
  if (known) await setPassword(db, userId, hash);
  for (const currency of ACCOUNT_CURRENCIES) {
    const [account] = await findAccountsByEmail(db, `sandbox-${currency.toLowerCase()}@simway.example`);
    if (account) await insertMember(db, { account_id: account.id, user_id: userId, role: 'OWNER' });
  }
}

/** With this password, which need not be changed, and without a second factor. Returns the id. */
export async function prepareOperator(
  db: AccountsDb,
  { email, name, role, hash }: { email: string; name: string; role: Role; hash: string },
): Promise<string> {
  const clock = { now: () => new Date(Date.now() - GIVEN_BEFORE_MS) };
  const deps = { db, clock, passwords: { hash: () => Promise.resolve(hash) } };
  let id = (await findPerson(db, { email }))?.id;
  if (id === undefined) {
    id = (await createPerson(deps, { email, name, role }, 'npm start')).person.personId;
    await confirmAccess(deps, { email }, role, 'npm start, second step');
  }
  await updatePerson(db, id, { secondFactorWaived: true, password: { hash, oneTimeUntil: null } });
  return id;
}
