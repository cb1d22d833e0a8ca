// When an action needs a second person, and who counts as one: sums of a day with many requests at once, and
// people who gave each other access.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/domain/clock.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { askForAction, decideApproval } from '../../src/operations/store/actions.ts';
import type { ActionRequest, ApprovalLimits } from '../../src/operations/rules.ts';
import { usePaymentBooks } from '../payments/payments.support.ts';
import { NO_LIMITS } from '../support/money/facts.ts';

const books = usePaymentBooks();
const PARTS = 100;
/** The number of connections in the pool of these books. */
const AT_ONCE = 10;

/** Paid and delivered for USD 12.50. */
async function delivered(accountId?: string): Promise<string> {
  const payer = await books.payer(accountId === undefined ? {} : { accountId });
  await books.bookCheck(payer);
  await settlePurchase(books.world, payer.transactionId);
  return payer.transactionId;
}

const newId = () => `action-${randomUUID().replaceAll('-', '')}`;
const newName = () => `person-${randomUUID()}@operator.example`;

interface Gift {
  readonly transactionId: string;
  readonly by: string;
  readonly amountMinor: bigint;
  readonly limits: ApprovalLimits;
  readonly now?: Date;
}

async function gift({ transactionId, by, amountMinor, limits, now = new Date() }: Gift) {
  const actionId = newId();
  const request: ActionRequest = {
    ...{ actionId, actionKey: actionId, transactionId, action: 'credit-wallet', by, reason: 'a test' },
    ...{ goodwill: true, amountMinor: String(amountMinor), currency: 'USD' },
  };
  return { actionId, begun: await askForAction(books.world, request, { limits, now }) };
}

/** The count of each outcome, with AT_ONCE requests running at any time. */
async function askedAtOnce(ask: (nth: number) => ReturnType<typeof gift>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < PARTS) {
      const { outcome } = (await ask(next++)).begun;
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, loop));
  return counts;
}

const HALF_AND_HALF = { go: PARTS / 2, 'waits-for-approval': PARTS / 2 };

describe('a day’s sum', () => {
  const perPersonDay = { ...NO_LIMITS, perPersonDay: { USD: 500n } };
  const perAccountDay = { ...NO_LIMITS, perAccountDay: { USD: 500n } };

  it(`of one person allows exactly the limit, split into ${PARTS} over accounts, ${AT_ONCE} at once`, async () => {
    const purchases = [await delivered(), await delivered()];
    const by = newName();
    const counts = await askedAtOnce((nth) =>
      gift({
        transactionId: purchases[nth % 2] ?? '',
        by: nth % 3 === 0 ? ` ${by.toUpperCase()}` : by,
        amountMinor: 10n,
        limits: perPersonDay,
      }),
    );
    expect(counts).toEqual(HALF_AND_HALF);
  });

  it(`of one account allows exactly the limit, requested by ${PARTS} people, ${AT_ONCE} at once`, async () => {
    const transactionId = await delivered();
    const counts = await askedAtOnce(() =>
      gift({ transactionId, by: newName(), amountMinor: 10n, limits: perAccountDay }),
    );
    expect(counts).toEqual(HALF_AND_HALF);
  });

  it('covers 24 hours: older actions do not count', async () => {
    const transactionId = await delivered();
    const by = newName();
    const ask = (amountMinor: bigint, afterMs: number) =>
      gift({ transactionId, by, amountMinor, limits: perPersonDay, now: new Date(Date.now() + afterMs) });
    expect((await ask(500n, 0)).begun.outcome).toBe('go');
    expect((await ask(1n, 23 * HOUR_MS)).begun.outcome).toBe('waits-for-approval');
    expect((await ask(1n, 25 * HOUR_MS)).begun.outcome).toBe('go');
  });

  it('counts actions without a second person: not those approved, waiting or declined', async () => {
    const transactionId = await delivered();
    const by = newName();
    const ask = (amountMinor: bigint) => gift({ transactionId, by, amountMinor, limits: perPersonDay });
    for (const isApproved of [true, false]) {
      const { actionId, begun } = await ask(501n);
      expect(begun.outcome).toBe('waits-for-approval');
      const decision = { by: newName(), isApproved, tryId: newId() };
      const { outcome } = await decideApproval(books.world, actionId, decision, new Date());
      expect(outcome).toBe(isApproved ? 'go' : 'done');
    }
    expect((await ask(501n)).begun.outcome).toBe('waits-for-approval');
    expect((await ask(500n)).begun.outcome).toBe('go');
    expect((await ask(1n)).begun.outcome).toBe('waits-for-approval');
  });

  it('cannot be changed afterwards', async () => {
    const transactionId = await delivered();
    const { actionId } = await gift({ transactionId, by: newName(), amountMinor: 10n, limits: perPersonDay });
    const columns = ['worth_minor = 0', "person_key = 'x'", "account_id = 'x'", "worth_currency = 'NGN'"];
    for (const column of columns)
      await expect(
        sql`update operator_actions set ${sql.raw(column)} where id = ${actionId}`.execute(books.world),
      ).rejects.toThrow("an action's worth cannot change");
  });
});

describe('a second person', () => {
  const always = { ...NO_LIMITS, perAction: { USD: 1n } };

  /** Records who gave this person access, who confirmed it, and when. */
  async function given(email: string, by: readonly [string, string | null], hoursAgo: number): Promise<void> {
    const userId = `user-${randomUUID().replaceAll('-', '')}`;
    const at = new Date(Date.now() - hoursAgo * HOUR_MS);
    await sql`
      with made as (
        insert into accounts.users (id, email, name) values (${userId}, ${email}, 'A person')
        on conflict (email) do nothing returning id
      ) insert into accounts.operators (user_id, role) select id, 'FINANCE' from made`.execute(books.owner);
    await sql`
      insert into accounts.access_grants (user_id, email, role, given_by, given_at, confirmed_by, confirmed_at)
      select id, ${email}, 'FINANCE', ${by[0]}, ${by[1] === null ? at : new Date(0)}, ${by[1]}, ${by[1] === null ? null : at}
        from accounts.users where email = ${email}`.execute(books.owner);
  }

  async function decided(asker: string, approver: string, isApproved: boolean): Promise<string> {
    const transactionId = await delivered();
    const { actionId } = await gift({ transactionId, by: asker, amountMinor: 10n, limits: always });
    const decision = { by: approver, isApproved, tryId: newId() };
    const made = await decideApproval(books.world, actionId, decision, new Date());
    return made.outcome === 'refused' ? made.code : made.outcome;
  }
  const approval = (asker: string, approver: string) => decided(asker, approver, true);

  const admin = () => newName();
  it.each<[string, (asker: string, approver: string) => Promise<void>]>([
    ['was made or reset by the requester', (asker, approver) => given(approver, [asker, null], 23)],
    ['was confirmed by the requester', (asker, approver) => given(approver, [admin(), asker], 23)],
    ['made the requester', (asker, approver) => given(asker, [approver, null], 23)],
    [
      'was made by the same administrator, however the name was typed',
      async (asker, approver) => {
        const by = admin();
        await given(asker, [by, null], 23);
        await given(approver, [admin(), ` ${by.toUpperCase()}`], 1);
      },
    ],
  ])('does not count as one for a day if the person %s', async (_how, prepare) => {
    const [asker, approver] = [newName(), newName()];
    await prepare(asker, approver);
    expect(await approval(asker, approver)).toBe('NOT_INDEPENDENT');
    expect(await approval(asker, approver.toUpperCase())).toBe('NOT_INDEPENDENT');
    expect(await approval(asker, newName())).toBe('go');
  });

  it('counts again after a day, and at once where different administrators gave access', async () => {
    const [asker, approver, other] = [newName(), newName(), newName()];
    const by = admin();
    await given(asker, [by, admin()], 1);
    await given(approver, [by, admin()], 25);
    await given(other, [admin(), admin()], 1);
    expect(await approval(asker, approver)).toBe('go');
    expect(await approval(asker, other)).toBe('go');
  });

  it('may decline without counting as one', async () => {
    const [asker, approver] = [newName(), newName()];
    await given(approver, [asker, null], 1);
    expect(await decided(asker, approver, false)).toBe('done');
  });
});
