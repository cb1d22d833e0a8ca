// Money commands on one id: nothing happens without a yes, and the preview shows what the action then does.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { findPurchaseRow, newBuyer, untilClosed } from '../support/people/buyer.ts';
import { commander, hereFinance, jsonOf, shellFinance } from '../support/people/finance.ts';
import { atGateway, buyThroughGateway, untilStatus } from '../support/money/payments.ts';
import { startStack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

const WHY = ['--reason', 'a test says so'];

const stack = await forFile(startStack({ env: { SIMWAY_APPROVAL_LIMIT: 'NGN=100.00' } }));
const buyer = await newBuyer(stack);
const ada = (await commander(stack)).env;
const { env: bo, email: boEmail } = await commander(stack);

const here = (line: string, answer?: string) =>
  hereFinance(ada, line, { more: WHY, ...(answer === undefined ? {} : { answer }) });

async function delivered(): Promise<string> {
  const { body } = await buyer.buy('SIM-OK');
  await untilClosed(stack, body.transactionId);
  return body.transactionId;
}

/** Everything that an action could write, counted. */
async function written(): Promise<unknown> {
  const { rows } = await sql`
    select (select count(*) from ledger_transactions) as booked, (select count(*) from refunds) as refunds,
           (select count(*) from operator_actions) as actions, (select count(*) from purchase_events) as events,
           (select sum(balance_minor) from wallets) as balances`.execute(stack.owner);
  return rows;
}

interface Seen {
  readonly outcome: string;
  readonly detail: string;
  readonly preview: {
    readonly amount: number;
    readonly entries: readonly object[];
    readonly refunds: readonly object[];
  };
}

it('a money command does nothing without a terminal to confirm on, and says how to confirm', async () => {
  const id = await delivered();
  const before = await written();
  const inShell = await shellFinance(ada, `credit ${id} --goodwill`, WHY);
  expect(inShell).toMatchObject({ code: 2, stdout: '' });
  for (const word of ['--yes', '--dry-run', 'nothing was done']) expect(inShell.stderr).toContain(word);
  expect(await here(`approve ${id}`)).toMatchObject({ code: 2 });
  expect(await hereFinance(bo, `approve ${id}`)).toMatchObject({ code: 2 });
  expect(await written()).toEqual(before);
});

it('a money command does nothing once the password is too old, and says how to sign in again', async () => {
  const id = await delivered();
  const before = await written();
  const { env, email } = await commander(stack);
  await sql`
    update accounts.user_sessions set confirmed_at = now() - interval '15 minutes'
     where user_id = (select id from accounts.users where email = ${email})`.execute(stack.owner);
  for (const line of [`credit ${id} --goodwill --yes`, `replay ${id} --yes`]) {
    const refused = await hereFinance(env, line, { more: WHY });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('finance -- login')]);
  }
  expect(await written()).toEqual(before);
});

it('a money command shows how much, whose money it is and what follows, and obeys the answer', async () => {
  const id = await delivered();
  const before = await written();
  const no = await here(`credit ${id} --goodwill`, 'no');
  expect(no).toMatchObject({ code: 1 });
  for (const word of ['USD 2.30', buyer.account.accountId, 'credited to the wallet', 'revenue:USD debit'])
    expect(no.stdout, word).toContain(word);
  expect(no.stderr).toContain(`Apply credit-wallet to ${id}? [y/N]`);
  expect(await written()).toEqual(before);
  const balance = await buyer.balanceMinor();
  expect(await here(`credit ${id} --goodwill`, 'y')).toMatchObject({ code: 0 });
  expect(await buyer.balanceMinor()).toBe(balance + 230n);
});

it('--dry-run shows exactly the entries that are booked then, and writes nothing', async () => {
  const account = await stack.account();
  const { transactionId } = await buyThroughGateway(stack, account, { packageCode: 'SIM-PAY-NOW' });
  await untilStatus(stack, transactionId, 'SUCCESS');
  const before = await written();
  const seen = jsonOf(await here(`refund ${transactionId} --goodwill --dry-run --json`)) as Seen;
  expect(seen).toMatchObject({
    outcome: 'would-do',
    lines: expect.arrayContaining([`Account:  ${account.accountId}`]) as unknown,
  });
  expect(seen.preview.refunds).toHaveLength(1);
  expect(await written()).toEqual(before);
  const done = await here(`refund ${transactionId} --goodwill --yes --json`);
  const { detail } = jsonOf(done) as { readonly detail: string };
  expect(detail).toBe(seen.detail);
  const lines = jsonOf(await hereFinance(ada, `ledger ${transactionId} --json`)) as {
    readonly kind: string;
    readonly account: string;
    readonly currency: string;
    readonly debit: number;
    readonly credit: number;
  }[];
  const booked = lines
    .filter(({ kind }) => kind === 'refund-to-source')
    .map(({ account: of, currency, debit, credit }) => ({ account: of, debit, credit, currency }));
  expect(booked).toEqual(seen.preview.entries);
  await until(
    () => stack.owner.selectFrom('refunds').select('status').executeTakeFirst(),
    (refund) => refund?.status === 'DONE',
    { what: 'the refund has ended' },
  );
});

it('--dry-run of a refused action says why, and is not recorded', async () => {
  const id = await delivered();
  const before = await written();
  const seen = jsonOf(await here(`credit ${id} --dry-run --json`), 1) as Seen;
  expect(seen).toMatchObject({ outcome: 'refused' });
  expect(seen.detail).toContain('ALREADY_DELIVERED');
  expect(await written()).toEqual(before);
});

it('an approval asks for confirmation too, with a preview', async () => {
  const rich = await newBuyer(stack, { currency: 'NGN', fundsMinor: 5_000_000n });
  const { body } = await rich.buy('SIM-OK');
  await untilClosed(stack, body.transactionId);
  const id = body.transactionId;
  expect(jsonOf(await here(`credit ${id} --goodwill --yes --json`))).toMatchObject({
    outcome: 'waits-for-approval',
  });
  const before = await written();
  const seen = await hereFinance(bo, `approve ${id} --dry-run`);
  expect(seen).toMatchObject({ code: 0 });
  expect(seen.stdout).toContain('credited to the wallet');
  expect(await hereFinance(bo, `approve ${id}`, { answer: 'n' })).toMatchObject({ code: 1 });
  expect(await written()).toEqual(before);
  expect(await hereFinance(bo, `approve ${id}`, { answer: 'y' })).toMatchObject({ code: 0 });
});

it('an approval that would be refused says so, and does not ask', async () => {
  const rich = await newBuyer(stack, { currency: 'NGN', fundsMinor: 5_000_000n });
  const { body } = await rich.buy('SIM-OK');
  await untilClosed(stack, body.transactionId);
  const id = body.transactionId;
  const whole = (jsonOf(await here(`credit ${id} --goodwill --dry-run --json`)) as Seen).preview.amount;
  const credit = (amount: string) =>
    here(`credit ${id} --goodwill --amount ${amount} --currency NGN --yes --json`);
  expect(jsonOf(await credit(whole.toFixed(2)))).toMatchObject({ outcome: 'waits-for-approval' });
  expect(jsonOf(await credit('50.00'))).toMatchObject({ outcome: 'done' });
  const before = await written();
  for (const asked of [{ answer: 'y' }, { more: ['--dry-run'] }]) {
    const seen = await hereFinance(bo, `approve ${id}`, asked);
    expect(seen).toMatchObject({ code: 1 });
    expect(seen.stdout).toContain('AMOUNT_TOO_HIGH');
    expect(seen.stderr).not.toContain('[y/N]');
  }
  expect(await written()).toEqual(before);
});

it('an action against the gateway’s status is shown as needing a second person, even if it pays nothing out', async () => {
  const account = await stack.account();
  const { transactionId: id } = await buyThroughGateway(stack, account, { packageCode: 'SIM-PAY-NOW' });
  await untilStatus(stack, id, 'SUCCESS');
  await atGateway(stack, id, 'dispute');
  await until(
    () => findPurchaseRow(stack, id),
    (row) => row?.attention_reason === 'PAYMENT_DISPUTED',
    { what: 'the dispute needs attention' },
  );
  const settle = `settle ${id} --outcome won --override --evidence a-letter`;
  const seen = await here(`${settle} --dry-run`);
  expect(seen).toMatchObject({ code: 0, stderr: '' });
  expect(seen.stdout).toContain('A second person must approve it first.');
  expect(jsonOf(await here(`${settle} --yes --json`))).toMatchObject({ outcome: 'waits-for-approval' });
  const approval = await hereFinance(bo, `approve ${id} --dry-run`);
  expect(approval.stdout).toContain('Dispute won');
  expect(approval.stdout).not.toContain('second person');
  // Approved, and the approver's process ended before the action was made: the command asks as for one that
  // waits.
  await stack.owner
    .updateTable('operator_actions')
    .set({ status: 'APPROVED', approved_by: boEmail })
    .where('transaction_id', '=', id)
    .where('status', '=', 'WAITS_FOR_APPROVAL')
    .execute();
  const { actionId } = await stack.owner
    .selectFrom('operator_actions')
    .select('id as actionId')
    .where('transaction_id', '=', id)
    .executeTakeFirstOrThrow();
  const again = await hereFinance(bo, `approve ${actionId}`, { answer: 'y' });
  expect(again).toMatchObject({ code: 0 });
  expect(again.stdout).toContain('Dispute won');
});
