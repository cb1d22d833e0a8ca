// A lost second factor: two people remove it, none of them its owner, and every session of the user ends.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  addSecondFactor,
  codeOf,
  colleague,
  data,
  me,
  openBrowser,
  signedUp,
  signIn,
  type Browser,
  type User,
} from '../support/people/dashboard.ts';
import { PASSWORD, SIGN_IN_ENV, signedIn, type Person } from '../support/people/people.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack, type Answer } from '../support/world/stack.ts';

const stack = await forFile(startStack({ env: SIGN_IN_ENV }));
const evidence = 'https://tickets.example/4711: she called, and I know her voice';

const outcomeOf = (answer: Answer): unknown =>
  answer.status === 200 ? data<{ outcome: string }>(answer).outcome : [answer.status, codeOf(answer)];
const idOf = async (browser: Browser): Promise<string> =>
  data<{ user: { userId: string } }>(await me(browser)).user.userId;

/** Whether the password alone signs in, and the session of before has ended. */
async function isWithout(browser: Browser, email: string, password?: string): Promise<boolean> {
  const ended = codeOf(await me(browser)) === 'SESSION_EXPIRED';
  const alone = await signIn(openBrowser(stack), email, password);
  const { secondFactor } = data<{ secondFactor: boolean }>(alone);
  expect(ended).toBe(!secondFactor);
  return !secondFactor;
}

const audited = async (subject: string) => {
  const { rows } = await sql<{ actor: string; action: string; detail: Record<string, string> }>`
    select actor, action, detail from accounts.audit_log
     where subject = ${subject} and action in ('person.ask-removal', 'user.recover') order by id`.execute(
    stack.owner,
  );
  return rows;
};

describe('of an operator', () => {
  it.each(['SUPPORT', 'ADMIN'] as const)('%s: two administrators', async (role) => {
    const [ada, bo, finance, target] = [
      await signedIn(stack, 'ADMIN'),
      await signedIn(stack, 'ADMIN'),
      await signedIn(stack, 'FINANCE'),
      await signedIn(stack, role),
    ];
    const browser = openBrowser(stack);
    await signIn(browser, target.email, PASSWORD);
    await addSecondFactor(browser, PASSWORD);
    const ask = async (by: Person) =>
      outcomeOf(await by.call('POST', `/ops/people/${target.personId}/remove-second-factor`, { evidence }));
    expect(await ask(finance)).toEqual([403, 'FORBIDDEN']);
    expect([await ask(ada), await ask(ada)]).toEqual(['waits', 'waits']);
    expect(await isWithout(browser, target.email, PASSWORD)).toBe(false);
    expect(await ask(bo)).toBe('done');
    expect(await isWithout(browser, target.email, PASSWORD)).toBe(true);
    expect(await audited(target.personId)).toEqual([
      ...[ada, ada].map(({ email: actor }) => ({
        ...{ actor, action: 'person.ask-removal', detail: { change: 'second-factor', evidence } },
      })),
      { actor: bo.email, action: 'user.recover', detail: { evidence } },
    ]);
  });

  it('is not removed by its owner', async () => {
    const ada = await signedIn(stack, 'ADMIN');
    const own = await ada.call('POST', `/ops/people/${ada.personId}/remove-second-factor`, { evidence });
    expect(outcomeOf(own)).toEqual([403, 'FORBIDDEN']);
  });
});

/** An account of three owners, who are members since a while ago, and a developer with a second factor. */
async function team() {
  const owner = await signedUp(stack);
  const owners = [owner, await colleague(stack, owner, 'OWNER'), await colleague(stack, owner, 'OWNER')];
  const developer = await colleague(stack, owner, 'DEVELOPER');
  await addSecondFactor(developer.browser);
  await sql`
    update accounts.members set joined_at = joined_at - interval '25 hours' where account_id = ${owner.accountId}`.execute(
    stack.owner,
  );
  const userId = await idOf(developer.browser);
  const ask = async (by: User) =>
    outcomeOf(await by.ask('POST', `/account/members/${userId}/remove-second-factor`));
  return { owner, owners, developer, userId, ask };
}

describe('of a member', () => {
  it('two owners', async () => {
    const { owners, developer, ask } = await team();
    expect(await ask(developer)).toEqual([403, 'FORBIDDEN']);
    expect([await ask(owners[0]!), await ask(owners[0]!)]).toEqual(['waits', 'waits']);
    expect(await isWithout(developer.browser, developer.email)).toBe(false);
    expect(await ask(owners[1]!)).toBe('done');
    expect(await isWithout(developer.browser, developer.email)).toBe(true);
  });

  it('not by an owner who was let in today', async () => {
    const { owner, owners, developer, ask } = await team();
    const puppet = await colleague(stack, owner, 'OWNER');
    expect([await ask(owners[0]!), await ask(puppet)]).toEqual(['waits', [403, 'FORBIDDEN']]);
    expect(await isWithout(developer.browser, developer.email)).toBe(false);
  });

  it('not by owners of one account where the user is a member of another, but by two operators', async () => {
    const { owners, developer, userId, ask } = await team();
    const { accountId } = await signedUp(stack);
    await sql`insert into accounts.members (account_id, user_id, role) values (${accountId}, ${userId}, 'OWNER')`.execute(
      stack.owner,
    );
    for (const owner of owners) expect(await ask(owner)).toEqual([403, 'FORBIDDEN']);
    const people = [await signedIn(stack, 'FINANCE'), await signedIn(stack, 'ADMIN')];
    const recover = async (by: Person, id = userId) =>
      outcomeOf(await by.call('POST', `/ops/users/${id}/remove-second-factor`, { evidence }));
    expect(await recover(await signedIn(stack, 'OPERATIONS'))).toEqual([403, 'FORBIDDEN']);
    expect([await recover(people[0]!), await recover(people[0]!)]).toEqual(['waits', 'waits']);
    expect(await isWithout(developer.browser, developer.email)).toBe(false);
    expect(await recover(people[1]!)).toBe('done');
    expect(await isWithout(developer.browser, developer.email)).toBe(true);
    expect(await recover(people[0]!, people[1]!.personId)).toEqual([404, 'NOT_FOUND']);
  });

  it('by two independent operators in any order, also where a dependent one asked between them or before', async () => {
    for (const order of [
      ['ada', 'puppet', 'bo'],
      ['puppet', 'ada', 'bo'],
    ]) {
      const { developer, userId } = await team();
      const [ada, bo, puppet] = [
        await signedIn(stack, 'ADMIN'),
        await signedIn(stack, 'ADMIN'),
        await signedIn(stack, 'FINANCE'),
      ];
      await stack.accounts
        .insertInto('access_grants')
        .values({
          ...{ user_id: puppet.personId, email: puppet.email, role: 'FINANCE', given_at: new Date() },
          ...{ given_by: ada.email, confirmed_by: bo.email, confirmed_at: new Date() },
        })
        .execute();
      const people: Readonly<Record<string, Person>> = { ada, bo, puppet };
      const told: unknown[] = [];
      for (const who of order)
        told.push(
          outcomeOf(
            await people[who]!.call('POST', `/ops/users/${userId}/remove-second-factor`, { evidence }),
          ),
        );
      expect(told).toEqual(['waits', 'not-independent', 'done']);
      expect(await isWithout(developer.browser, developer.email)).toBe(true);
    }
  });

  it('and operators see on the account who asked first', async () => {
    const { owner, userId } = await team();
    const ada = await signedIn(stack, 'ADMIN');
    const askedBy = async () => {
      const { items } = data<{ items: { userId: string; removalAskedBy: string | null }[] }>(
        await ada.call('GET', `/ops/accounts/${owner.accountId}/members`),
      );
      return items.find((one) => one.userId === userId)?.removalAskedBy;
    };
    expect(await askedBy()).toBeNull();
    await ada.call('POST', `/ops/users/${userId}/remove-second-factor`, { evidence });
    expect(await askedBy()).toBe(ada.email);
  });
});
