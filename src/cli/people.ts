/** People who may use /ops: the first of them, and those who are locked out. Each command prints one JSON object. */
import type { Command } from 'commander';
import { z } from 'zod';
import { createPasswords } from '../accounts/passwords.ts';
import {
  changePerson,
  createPerson,
  listPeople,
  resetPassword,
  type OneTimePassword,
} from '../accounts/people.ts';
import { ROLES } from '../accounts/roles.ts';
import { systemClock } from '../platform/composition/compose.ts';
import { addCommand, option } from './command.ts';
import { answerJson } from './accounts.ts';
import type { Cli } from './context.ts';
import { text } from './values.ts';

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
    summary: 'Creates a person with a one-time password',
    options: z.object({
      email: EMAIL,
      name: option(text(200), "the person's name", 'name'),
      role: ROLE,
      by: BY,
    }),
    run: ({ by, ...created }) => answer(async (deps) => withPassword(await createPerson(deps, created, by))),
  });
  addCommand(person, {
    syntax: 'list',
    summary: 'Lists all people',
    options: z.object({}),
    run: () =>
      answer(async (deps) => {
        const { items } = await listPeople(deps, { page: 1, limit: LIST_LIMIT });
        return { people: items };
      }),
  });
  addCommand(person, {
    syntax: 'set-role',
    summary: "Changes a person's role",
    options: whoOptions.extend({ role: ROLE }),
    run: ({ role, by, ...who }) => answer((deps) => changePerson(deps, who, { role }, by)),
  });
  for (const verb of ['disable', 'enable'] as const)
    addCommand(person, {
      syntax: verb,
      summary:
        verb === 'disable'
          ? 'Signs a person out, and in no more until enabled'
          : 'Lets a person sign in again',
      options: whoOptions,
      run: ({ by, ...who }) =>
        answer((deps) => changePerson(deps, who, { disabled: verb === 'disable' }, by)),
    });
  addCommand(person, {
    syntax: 'reset-password',
    summary: 'Ends a lock and all sessions, and prints a one-time password',
    options: whoOptions,
    run: ({ by, ...who }) => answer(async (deps) => withPassword(await resetPassword(deps, who, by))),
  });
}

const withPassword = ({ person, ...oneTime }: OneTimePassword): object => ({ ...person, ...oneTime });
