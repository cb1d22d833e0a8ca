/**
 * The commands for people who may use /ops: the first of them has to come from somewhere, and somebody locked out has to come back in. They
 * trust whoever holds DATABASE_URL. Each prints one JSON object; a one-time password is printed where it was made, and nowhere else.
 */
import { z } from 'zod';
import { createPasswords } from '../accounts/passwords.ts';
import {
  changePerson,
  createPerson,
  listPeople,
  resetPassword,
  type OneTimePassword,
  type PersonView,
} from '../accounts/people.ts';
import { openAccounts, systemClock, type ProcessContext } from '../platform/composition/compose.ts';
import { DomainError } from '../domain/errors.ts';
import { ROLES } from '../accounts/roles.ts';
import { readFlags } from './flags.ts';
import { OperatorMistake } from './operator-mistake.ts';

export const PEOPLE_COMMANDS_USAGE = `  person create         --email <address> --name <name> --role ${ROLES.join('|')}
  person list
  person set-role       --email <address> --role ${ROLES.join('|')}
  person disable|enable --email <address>
  person reset-password --email <address>      ends a lock and every session, prints a one-time password
                        [--by <person>] on each but list`;

/** As many as anybody reads. */
const MOST_LISTED = 1_000;

const by = z.string().trim().min(1).max(200).default('the command line');
const email = z.email().max(254);
const role = z.enum(ROLES);

const createSchema = z.object({ email, name: z.string().trim().min(1).max(200), role, by });
const whoSchema = z.object({ email, by });
const roleSchema = z.object({ email, role, by });

/** Runs one command; `words` is what follows `main.ts`. Throws OperatorMistake, nothing written, where the command cannot be done. */
export async function runPersonCommand(parts: ProcessContext, words: readonly string[]): Promise<object> {
  const db = openAccounts(parts);
  try {
    return await run({ db, clock: systemClock, passwords: createPasswords() }, words);
  } catch (error) {
    throw error instanceof DomainError ? new OperatorMistake(error.details ?? error.message) : error;
  } finally {
    await db.destroy();
  }
}

async function run(deps: Parameters<typeof createPerson>[0], words: readonly string[]): Promise<object> {
  const [, verb, ...flags] = words;
  switch (verb) {
    case 'create': {
      const { by: actor, ...person } = readFlags(createSchema, flags);
      return told(await createPerson(deps, person, actor));
    }
    case 'list': {
      readFlags(z.object({}), flags);
      const { items } = await listPeople(deps, { page: 1, limit: MOST_LISTED });
      return { people: items.map(plain) };
    }
    case 'set-role': {
      const wanted = readFlags(roleSchema, flags);
      return plain(await changePerson(deps, wanted, { role: wanted.role }, wanted.by));
    }
    case 'disable':
    case 'enable': {
      const who = readFlags(whoSchema, flags);
      return plain(await changePerson(deps, who, { disabled: verb === 'disable' }, who.by));
    }
    case 'reset-password': {
      const who = readFlags(whoSchema, flags);
      return told(await resetPassword(deps, who, who.by));
    }
    default:
      throw new OperatorMistake(`commands:\n${PEOPLE_COMMANDS_USAGE}`);
  }
}

function told({ person, oneTimePassword, oneTimeUntil }: OneTimePassword): object {
  return { ...plain(person), oneTimePassword, oneTimeUntil: oneTimeUntil.toISOString() };
}

function plain(person: PersonView): object {
  return {
    personId: person.personId,
    email: person.email,
    name: person.name,
    role: person.role,
    mustChangePassword: person.mustChangePassword,
    lockedUntil: person.lockedUntil?.toISOString() ?? null,
    disabledAt: person.disabledAt?.toISOString() ?? null,
    createdAt: person.createdAt.toISOString(),
  };
}
