// Closing a month: by two people, once, in order; and nothing is booked into it afterwards, by any clock.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { issueMissingInvoices } from '../../src/billing/invoices.ts';
import { askToClose, closeMonth, listMonths, withdrawClose } from '../../src/billing/months.ts';
import { monthOf, rangeOf } from '../../src/domain/papers.ts';
import { addMoney } from '../support/money/stock.ts';
import { momentIn, monthAgo, openMonths, person } from './months.support.ts';

const books = await openMonths();
const { world, owner } = books;
const deps = { db: world };
const [LAST, BEFORE, PRESENT] = [monthAgo(1), monthAgo(2), monthAgo(0)];
const account = await books.account('NGN');
await books.moveTo(() => momentIn(BEFORE, 0.5));

const states = async () => (await listMonths(deps)).map(({ month, state }) => `${month} ${state}`);

const book = (createdAt: Date) =>
  owner
    .insertInto('ledger_transactions')
    .values({ operation_key: `key-${randomUUID()}`, kind: 'fund', created_at: createdAt })
    .returning('created_at')
    .executeTakeFirstOrThrow();

it('needs the details of the company, the month’s end, and the months before', async () => {
  const ask = (month: string) => askToClose(deps, person('ada'), month);
  await expect(ask(BEFORE)).rejects.toMatchObject({ code: 'MONTH_NOT_CLOSABLE' });
  await books.setCompany();
  await expect(ask(PRESENT)).rejects.toThrow(/has not ended/);
  await expect(ask(LAST)).rejects.toThrow(/first/);
  await expect(ask('2001-01')).rejects.toThrow(/begin/);
  expect(await states()).toEqual([`${PRESENT} OPEN`, `${LAST} ENDED`, `${BEFORE} ENDED`]);
});

it('takes two people, and whoever asked may withdraw', async () => {
  await expect(closeMonth(deps, person('bola'), BEFORE)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await askToClose(deps, person('ada'), BEFORE);
  await expect(closeMonth(deps, person('ada'), BEFORE)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await withdrawClose(deps, person('ada'), BEFORE);
  expect(await states()).toContain(`${BEFORE} ENDED`);
  await askToClose(deps, person('ada'), BEFORE);
  await closeMonth(deps, person('bola'), BEFORE);
  expect(await states()).toContain(`${BEFORE} CLOSED`);
});

it('a month closed twice is refused, and nothing moves', async () => {
  const before = await owner.selectFrom('month_closings').selectAll().execute();
  const code = 'MONTH_ALREADY_CLOSED';
  await expect(askToClose(deps, person('ada'), BEFORE)).rejects.toMatchObject({ code });
  await expect(closeMonth(deps, person('bola'), BEFORE)).rejects.toMatchObject({ code });
  await expect(withdrawClose(deps, person('ada'), BEFORE)).rejects.toMatchObject({ code });
  expect(await owner.selectFrom('month_closings').selectAll().execute()).toEqual(before);
});

it('two that sign at once close it once', async () => {
  await askToClose(deps, person('ada'), LAST);
  const both = await Promise.allSettled([
    closeMonth(deps, person('bola'), LAST),
    closeMonth(deps, person('chidi'), LAST),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

it('nothing is booked into a closed month', async () => {
  await expect(book(momentIn(LAST, 0.99))).rejects.toMatchObject({ constraint: 'month_is_closed' });
  await expect(book(momentIn(BEFORE, 0.1))).rejects.toMatchObject({ constraint: 'month_is_closed' });
  const { to } = rangeOf(LAST);
  expect((await book(to)).created_at).toEqual(to);
});

it('where the clock went back, what is booked now falls into the present month', async () => {
  // A month that is closed ahead of the clock is the same as a clock that went back behind it.
  await owner.transaction().execute(async (trx) => {
    await sql`alter table month_closings drop constraint month_has_ended`.execute(trx);
    await trx.insertInto('month_closings').values({ month: PRESENT, asked_by: 'ada' }).execute();
    await sql`update month_closings set closed_by = 'bola', closed_at = now() where month = ${PRESENT}`.execute(
      trx,
    );
    const row = { operation_key: 'skewed', kind: 'fund' };
    const now = await trx.insertInto('ledger_transactions').values(row).returning('created_at').execute();
    expect(monthOf(now[0]!.created_at)).toBe(monthAgo(-1));
    await sql`rollback and chain`.execute(trx);
  });
  expect(await states()).toContain(`${PRESENT} OPEN`);
});

it('a closing waits for what was begun before, and misses nothing', async () => {
  const [begun, mayEnd] = [Promise.withResolvers(), Promise.withResolvers()];
  const booking = world.transaction().execute(async (trx) => {
    await addMoney(trx, account, { amountMinor: 1n, currency: 'NGN', operationKey: 'begun before' });
    begun.resolve(undefined);
    await mayEnd.promise;
  });
  await begun.promise;
  const closing = sql<{ outcome: string }>`select close_month(${LAST}, 'a test') as outcome`.execute(world);
  const first = await Promise.race([closing.then(() => 'closed'), pause(300).then(() => 'waits')]);
  expect(first).toBe('waits');
  mayEnd.resolve(undefined);
  await booking;
  expect((await closing).rows[0]?.outcome).toBe('already-closed');
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('closed months and their rows never change', async () => {
  const change = (statement: string) => sql.raw(statement).execute(owner);
  const refused = { constraint: 'closed_month_stays' };
  await expect(change(`delete from month_closings where month = '${LAST}'`)).rejects.toMatchObject(refused);
  await expect(change(`update month_closings set closed_at = now()`)).rejects.toMatchObject(refused);
  await issueMissingInvoices(deps);
  expect((await listMonths(deps)).filter(({ invoicedAt }) => invoicedAt !== null)).toHaveLength(2);
});
