import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { makeId } from '../../../src/domain/ids.ts';
import type { Stack } from '../world/stack.ts';

/** Members of the account with these addresses: in the sandbox nobody else gets mail of batches. */
export async function makeMembers(
  { owner }: Pick<Stack, 'owner'>,
  accountId: string,
  emails: readonly string[],
): Promise<void> {
  for (const email of emails) {
    const id = makeId('user', randomBytes(16).toString('hex'));
    await sql`insert into accounts.users (id, email, name) values (${id}, ${email}, 'A traveller')`.execute(
      owner,
    );
    await sql`
      insert into accounts.members (account_id, user_id, role) values (${accountId}, ${id}, 'SUPPORT')`.execute(
      owner,
    );
  }
}
