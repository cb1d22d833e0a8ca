/**
 * Everything that release 1.0.0 keeps in the schema that both environments read. What comes later is a
 * migration of its own: this file and what it imports stay as they were released.
 */
import { sql, type Kysely } from 'kysely';
import { accounts } from './baseline/accounts.ts';
import { notes } from './baseline/notes.ts';
import { people } from './baseline/people.ts';
import { members, users } from './baseline/users.ts';
import { roleOf, sharedWithWorlds } from './baseline/worlds.ts';

/** In the order in which they need each other. */
const everything = () => sql`
  ${accounts()}
  ${users()}
  ${members()}
  ${people()}
  ${notes()}
  ${roleOf('simway_test')}
  ${roleOf('simway_live')}
  ${sharedWithWorlds()}
`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await everything().execute(db);
}
