/**
 * People who may use /ops: the first of them, and those who are locked out. Each prints one JSON
 * object, the list a table.
 */
import type { Command } from 'commander';
import { z } from 'zod';
import { createPasswords } from '../accounts/users/passwords.ts';
import {
  changePerson,
  confirmAccess,
  createFirstAdmin,
  createPerson,
  listPeople,
  resetPassword,
  type PersonView,
} from '../accounts/operators/people.ts';
import { ROLES, takesSecondFactor } from '../domain/operator-roles.ts';
import { systemClock } from '../app/composition/context.ts';
import { addCommand, option, toggle } from '../platform/command.ts';
import { answerJson, withAccounts } from './accounts.ts';
import type { Cli } from './context.ts';
import { createOutput, moment } from './finance/output.ts';
import { BY as BY_NAMED, text } from './values.ts';

const LIST_LIMIT = 1_000;

const EMAIL = option(z.email().max(254), "the person's e-mail address", 'address');
const ROLE = option(z.enum(ROLES), 'what the person may do', ROLES.join('|'));
const BY = option(text(200).default('the command line'), 'your name, for the record', 'person');
const whoOptions = z.object({ email: EMAIL, by: BY });

type PeopleDeps = Parameters<typeof createPerson>[0];

export function addPersonCommands(cli: Cli, program: Command): void {
  const person = program.command('person');
  const answer = (work: (deps: PeopleDeps) => Promise<object>) =>
    answerJson(cli, (db) => work({ db, clock: systemClock, passwords: createPasswords() }));
  addCommand(person, {
    syntax: 'create',
    summary: 'Creates a person; prints the first half of a one-time password',
    help: `Creates a person, and prints the first half of a one-time password. Another administrator confirms it, and gets the second
half. Every role but SUPPORT takes a second factor: the person sets one up at the first sign-in, before anything else. The first ADMIN of an installation needs no confirmation: the whole password is printed.`,
    options: z.object({
      email: EMAIL,
      name: option(text(200), "the person's name", 'name'),
      role: ROLE,
      by: BY,
    }),
    run: ({ by, ...created }) =>
      answer(async (deps) => {
        const first = created.role === 'ADMIN' ? await createFirstAdmin(deps, created, by) : undefined;
        const made = first ?? (await createPerson(deps, created, by));
        return { ...flat(made), takesSecondFactor: takesSecondFactor(created.role) };
      }),
  });
  addListCommand(cli, person);
  addCommand(person, {
    syntax: 'set-role',
    summary: "Changes a person's role; prints the first half of a one-time password",
    options: whoOptions.extend({ role: ROLE }),
    run: ({ role, by, ...who }) =>
      answer(async (deps) => flatChange(await changePerson(deps, who, { role }, by))),
  });
  for (const verb of ['disable', 'enable'] as const)
    addCommand(person, {
      syntax: verb,
      summary:
        verb === 'disable'
          ? 'Signs a person out, and in no more until enabled'
          : 'Lets a person sign in again; prints the first half of a one-time password',
      options: whoOptions,
      run: ({ by, ...who }) =>
        answer(async (deps) =>
          flatChange(await changePerson(deps, who, { disabled: verb === 'disable' }, by)),
        ),
    });
  addCommand(person, {
    syntax: 'reset-password',
    summary: 'Ends a lock and all sessions; prints the first half of a one-time password',
    options: whoOptions,
    run: ({ by, ...who }) => answer(async (deps) => flat(await resetPassword(deps, who, by))),
  });
  addCommand(person, {
    syntax: 'confirm',
    summary: 'Confirms access that another person gave; prints the second half of the password',
    options: z.object({ email: EMAIL, role: ROLE, by: BY_NAMED }),
    run: ({ role, by, ...who }) => answer(async (deps) => flat(await confirmAccess(deps, who, role, by))),
  });
}

function addListCommand(cli: Cli, person: Command): void {
  addCommand(person, {
    syntax: 'list',
    summary: 'Lists all people',
    options: z.object({ json: toggle('prints JSON') }),
    run: async ({ json }) => {
      const { items } = await withAccounts(cli, (db) =>
        listPeople({ db, clock: systemClock }, { page: 1, limit: LIST_LIMIT }),
      );
      const out = createOutput(cli.terminal, json);
      out.json({ people: items });
      out.table(
        ['E-MAIL', 'NAME', 'ROLE', 'STATE', 'SINCE'],
        items.map((one) => [
          one.email,
          one.name,
          one.role,
          stateOf(one),
          moment(one.createdAt.toISOString()),
        ]),
      );
    },
  });
}

function stateOf(person: PersonView): string {
  if (person.disabledAt) return 'disabled';
  if (person.awaitsConfirmation) return 'awaits confirmation';
  if (person.lockedUntil) return 'locked out';
  return person.mustChangePassword ? 'one-time password' : 'active';
}

const flat = ({ person, ...more }: { readonly person: PersonView }): object => ({ ...person, ...more });

const flatChange = ({ person, given }: Awaited<ReturnType<typeof changePerson>>): object => ({
  ...person,
  ...given,
});
