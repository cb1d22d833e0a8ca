// Finance's command line on the whole service, run by a shell: each command's output, for people and for scripts, what it changes and what
// it refuses. Nothing secret is ever printed.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StuckItem } from '../../src/operations/stuck-rules.ts';
import { newBuyer, untilClosed, type Buyer } from '../support/buyer.ts';
import type { CommandResult } from '../support/commands.ts';
import { hereFinance, jsonOf, shellFinance } from '../support/finance.ts';
import { installOf } from '../support/install-data.ts';
import { buyThroughGateway, chargeAt, untilStatus } from '../support/payments.ts';
import { postEvent } from '../support/payers.ts';
import { givesAway } from '../support/secrets.ts';
import { startStack, type Stack } from '../support/stack.ts';
import { FIXTURE_PACE, pauseSweeps } from '../support/stuck-fixture.ts';
import { until } from '../support/until.ts';

const WHO = ['--by', 'ada', '--reason', 'a test says so'];
/** The supplier's statement that it will not deliver. */
const SEEN = ['--evidence', 'the supplier’s answer to ticket 1'];

let stack: Stack;
let buyer: Buyer;
beforeAll(async () => {
  stack = await startStack({
    env: { SIMWAY_TEST_TIMINGS: JSON.stringify(FIXTURE_PACE), SIMWAY_APPROVAL_LIMIT: 'USD=4.00' },
  });
  await pauseSweeps(stack);
  buyer = await newBuyer(stack);
});
afterAll(() => stack.close());

const shell = (line: string, more: readonly string[] = []): Promise<CommandResult> =>
  shellFinance(stack.env, line, more);
const here = (line: string, more: readonly string[] = []): Promise<CommandResult> =>
  hereFinance(stack.env, line, { more });

interface Outcome {
  readonly transactionId: string;
  readonly outcome: string;
  readonly code?: string;
  readonly fits?: readonly string[];
  readonly actionId?: string;
  readonly detail: string;
}

/** Bought and held, the supplier does not deliver, and the purchase needs attention. */
async function bought(code = 'SIM-NEVER-ALLOCATE'): Promise<string> {
  const { body } = await buyer.buy(code);
  await until(
    () =>
      stack.owner
        .selectFrom('purchases')
        .select('attention_reason')
        .where('transaction_id', '=', body.transactionId)
        .executeTakeFirst(),
    (row) => row?.attention_reason === 'SUPPLIER_NEVER_ALLOCATED',
    { what: 'the purchase needs attention' },
  );
  return body.transactionId;
}

async function delivered(packageCode = 'SIM-OK'): Promise<string> {
  const { body } = await buyer.buy(packageCode);
  await untilClosed(stack, body.transactionId);
  return body.transactionId;
}

/** Its price is above the limit of 4.00. */
async function dearPackage(): Promise<string> {
  const row = await stack.owner
    .selectFrom('packages')
    .select('package_code')
    .where('package_type', '=', 'BASE')
    .where('region_code', '<>', 'ZZ')
    .where('cost_usd_e4', '>', 50_000n)
    .orderBy('cost_usd_e4')
    .executeTakeFirstOrThrow();
  return row.package_code;
}

/** The state of a purchase and of its money. */
async function standOf(transactionId: string): Promise<unknown> {
  const { rows } = await sql`
    select purchases.status, holds.status as hold, (select sum(attempts)::int from supplier_orders where transaction_id = ${transactionId}) as asks, (select count(*) from operator_actions where transaction_id = ${transactionId}) as moves
      from purchases left join holds on holds.id = purchases.transaction_id where transaction_id = ${transactionId}`.execute(
    stack.owner,
  );
  return rows[0];
}

const statusOf = async (transactionId: string): Promise<string | undefined> =>
  ((await standOf(transactionId)) as { status: string } | undefined)?.status;

const actionsOf = async (transactionId: string): Promise<object[]> =>
  stack.owner
    .selectFrom('operator_actions')
    .select(['action', 'status', 'refusal', 'by_person', 'reason', 'decision_reason'])
    .where('transaction_id', '=', transactionId)
    .orderBy('created_at')
    .execute();

describe('stuck, show, replay', () => {
  it('finds a purchase, shows all of it, previews and delivers it', async () => {
    const id = await bought();
    const [list, table, shown] = await Promise.all([
      shell('stuck --json --class paid-not-delivered --currency USD'),
      here('stuck'),
      shell(`show ${id}`),
    ]);
    const items = jsonOf(list) as StuckItem[];
    expect(items).toMatchObject([
      {
        transactionId: id,
        class: 'paid-not-delivered',
        amountMinor: 230,
        currency: 'USD',
        reason: 'SUPPLIER_NEVER_ALLOCATED',
        nextAction: 'replay: checks the supplier and delivers',
      },
    ]);
    expect(list.stderr).toBe('');
    expect(table.stdout).toMatch(
      new RegExp(`paid-not-delivered  ${id}  USD 2\\.30  SUPPLIER_NEVER_ALLOCATED  replay`),
    );
    expect(shown.stdout).toContain('needs attention: SUPPLIER_NEVER_ALLOCATED');
    for (const word of ['wallet-held', ':hold', 'RUNNING', 'available actions', 'replay: '])
      expect(shown.stdout, word).toContain(word);

    const before = await standOf(id);
    const preview = await here(`replay ${id} --dry-run --json`);
    expect(jsonOf(preview)).toMatchObject({ transactionId: id, outcome: 'would-do' });
    expect(await standOf(id)).toEqual(before);

    const [order] = await stack.supplierOrders(id);
    await fetch(`${stack.supplierControlUrl}/orders/${order!.orderNo}/allocate`, { method: 'POST' });
    const done = jsonOf(await shell(`replay ${id} --json --yes`, WHO)) as Outcome;
    expect(done).toMatchObject({
      outcome: 'done',
      before: 'PROCESSING, delivering',
      after: 'SUCCESS, delivered',
    });
    const again = jsonOf(await here(`replay ${id} --json --yes`, WHO)) as Outcome;
    expect(again).toMatchObject({ before: 'SUCCESS, delivered', after: 'SUCCESS, delivered' });
    expect(await stack.supplierOrders(id)).toHaveLength(1);
    expect(jsonOf(await here('stuck --json'))).toEqual([]);
    expect((await here('stuck')).stdout).toBe('nothing is stuck\n');
  });

  it('shows the timeline of a delivered purchase for each of its ids, and none of its secrets', async () => {
    const account = await stack.account();
    const { transactionId } = await buyThroughGateway(stack, account, { packageCode: 'SIM-PAY-NOW' });
    await untilStatus(stack, transactionId, 'SUCCESS');
    const esim = await stack.owner
      .selectFrom('esims')
      .selectAll()
      .where('transaction_id', '=', transactionId)
      .executeTakeFirstOrThrow();
    const asJson = await here(`show ${transactionId} --json`);
    const shown = jsonOf(asJson) as { timeline: { source: string; what: string }[]; payments: object[] };
    const lines = shown.timeline.map(({ source, what }) => `${source} ${what}`);
    for (const line of [
      'workflow started',
      'purchase opened',
      'payment asked-for',
      'gateway charge.success',
      'ledger payment-received',
      'ledger post',
      'purchase delivered',
    ])
      expect(lines).toContain(line);
    expect(shown).toMatchObject({
      status: 'SUCCESS',
      amountMinor: 230,
      payments: [{ reference: transactionId, gateway_status: 'success' }],
      supplier: { iccid: esim.iccid },
      stuck: [],
    });
    for (const id of [esim.id, esim.iccid])
      expect(jsonOf(await here(`show ${id} --json`))).toMatchObject({ transactionId });
    const forPeople = await here(`show ${transactionId}`);
    const { ac, matching_id, pin, puk } = await installOf(stack, esim.id);
    const found = [ac, matching_id, pin, puk];
    const secrets = found.filter((secret): secret is string => Boolean(secret));
    expect(secrets.length).toBeGreaterThan(1);
    const said = asJson.stdout + forPeople.stdout;
    expect(secrets.filter((secret) => givesAway(said, secret))).toEqual([]);
  });
});

describe('operator actions', () => {
  it('cancel ends an open purchase and returns its money; a repeat answers the same', async () => {
    const id = await bought();
    const before = await buyer.balanceMinor();
    const first = jsonOf(await shell(`cancel --yes ${id} --json`, [...WHO, ...SEEN])) as Outcome;
    expect(first).toMatchObject({ transactionId: id, outcome: 'done' });
    expect(await untilClosed(stack, id)).toMatchObject({ status: 'FAILED' });
    expect(await buyer.balanceMinor()).toBe(before + 230n);
    const second = jsonOf(await here(`cancel --yes ${id} --json`, [...WHO, ...SEEN])) as Outcome;
    expect(second).toMatchObject({ outcome: 'done', actionId: first.actionId });
    expect(second.detail).toContain('done before');
    expect(await buyer.balanceMinor()).toBe(before + 230n);
  });

  it('deliver-other delivers an equal package instead of one that is not delivered', async () => {
    const id = await bought();
    const moved = await shell(`deliver-other --yes ${id} --package SIM-OK --json`, [...WHO, ...SEEN]);
    expect(jsonOf(moved)).toMatchObject({ transactionId: id, outcome: 'done' });
    expect(await untilClosed(stack, id)).toMatchObject({ status: 'SUCCESS' });
  });

  it('mark-paid needs evidence, and delivers what was paid without the gateway’s knowledge', async () => {
    const account = await stack.account();
    const { transactionId } = await buyThroughGateway(stack, account, { method: 'BANK_TRANSFER' });
    const without = jsonOf(await here(`mark-paid --yes ${transactionId} --json`, WHO), 1) as Outcome;
    expect(without).toMatchObject({ outcome: 'refused', code: 'EVIDENCE_NEEDED' });
    expect(await actionsOf(transactionId)).toMatchObject([
      { action: 'mark-paid', status: 'REFUSED', by_person: 'ada' },
    ]);
    expect(await statusOf(transactionId)).toBe('PENDING');
    const paid = await shell(`mark-paid --yes ${transactionId}`, [
      ...WHO,
      '--evidence',
      'statement of 21 November, line 4',
    ]);
    expect(paid).toMatchObject({ code: 0, stderr: '' });
    expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
  });

  it('refund returns no more than was paid, and goodwill only on request', async () => {
    const account = await stack.account();
    const { transactionId, reference } = await buyThroughGateway(stack, account, {
      packageCode: 'SIM-PAY-NOW',
    });
    await untilStatus(stack, transactionId, 'SUCCESS');
    const { requested } = await chargeAt(stack, reference);
    const refuse = async (flags: string): Promise<Outcome> =>
      jsonOf(await here(`refund --yes ${transactionId} ${flags} --json`, WHO), 1) as Outcome;
    expect(await refuse('')).toMatchObject({ code: 'ALREADY_DELIVERED' });
    const above = `${requested.amountMinor / 100 + 1}.00`.replace(/(\.\d+)\.00$/, '$1');
    expect(await refuse(`--goodwill --amount ${above} --currency ${requested.currency}`)).toMatchObject({
      code: 'AMOUNT_TOO_HIGH',
    });
    expect(await actionsOf(transactionId)).toMatchObject([{ status: 'REFUSED' }, { status: 'REFUSED' }]);
    const partly = `--goodwill --amount 1.00 --currency ${requested.currency}`;
    expect(jsonOf(await shell(`refund --yes ${transactionId} ${partly} --json`, WHO))).toMatchObject({
      outcome: 'done',
    });
    await until(
      () => chargeAt(stack, reference),
      ({ refunds }) => refunds.some((refund) => refund.amountMinor === 100 && refund.status === 'processed'),
      { what: 'the gateway sent it back' },
    );
  });

  it('credit over the limit waits for another person', async () => {
    const [id, other] = [await delivered(await dearPackage()), await delivered(await dearPackage())];
    const { price_minor: price } = await stack.owner
      .selectFrom('purchases')
      .select('price_minor')
      .where('transaction_id', '=', id)
      .executeTakeFirstOrThrow();
    const before = await buyer.balanceMinor();
    const asked = jsonOf(await shell(`credit --yes ${id} --goodwill --json`, [...WHO, ...SEEN])) as Outcome;
    expect(asked).toMatchObject({ outcome: 'waits-for-approval' });
    await here(`credit --yes ${other} --goodwill`, [...WHO, ...SEEN]);
    expect(await buyer.balanceMinor()).toBe(before);
    expect(jsonOf(await here('stuck --json --class approval-waiting'))).toMatchObject([
      { transactionId: id, reason: 'credit-wallet', amountMinor: Number(price) },
      { transactionId: other },
    ]);
    const waiting = await shell('approvals');
    expect(waiting.stdout).toContain(asked.actionId);

    const same = jsonOf(await shell(`approve --yes ${asked.actionId} --by Ada --json`), 1) as Outcome;
    expect(same).toMatchObject({ outcome: 'refused', code: 'SAME_PERSON' });
    expect(await buyer.balanceMinor()).toBe(before);
    expect(jsonOf(await here(`approve --yes ${id} --by bo --json`))).toMatchObject({ outcome: 'done' });
    expect(await shell(`decline --yes ${other} --by bo --reason`, ['paid back by hand'])).toMatchObject({
      code: 0,
    });
    expect(await actionsOf(other)).toMatchObject([
      { status: 'DECLINED', decision_reason: 'paid back by hand' },
    ]);
    expect(await buyer.balanceMinor()).toBe(before + BigInt(String(price)));
    expect(jsonOf(await here('approvals --json'))).toEqual([]);
    expect(await here(`approve --yes ${id} --by bo`)).toMatchObject({ code: 1 });
  });

  it('a batch shows its items, asks for confirmation, and obeys the answer', async () => {
    const ids = await Promise.all([bought(), bought()]);
    const batch = 'cancel --class paid-not-delivered --older-than 1s';
    await until(
      async () =>
        jsonOf(await here('stuck --class paid-not-delivered --older-than 1s --json')) as StuckItem[],
      (items) => ids.every((id) => items.some(({ transactionId }) => transactionId === id)),
      { what: 'both on the list' },
    );
    const no = await hereFinance(stack.env, batch, { more: [...WHO, ...SEEN], answer: 'no' });
    expect(no).toMatchObject({ code: 1 });
    expect(no.stderr).toContain('Apply cancel to 2 items? [y/N]');
    for (const id of ids) {
      expect(no.stdout).toContain(id);
      expect(await statusOf(id)).toBe('PROCESSING');
    }
    const yes = await hereFinance(stack.env, batch, { more: [...WHO, ...SEEN], answer: 'y' });
    expect(yes).toMatchObject({ code: 0 });
    expect(yes.stderr).toMatch(/\[#+\] 2\/2\n/);
    expect(yes.stdout).toContain('2 done');
    for (const id of ids) expect(await statusOf(id)).toBe('FAILED');
    expect(jsonOf(await here(`${batch} --yes --json`, [...WHO, ...SEEN]))).toEqual([]);
  });

  it('settle is refused without a dispute, and the refusal lists the allowed actions', async () => {
    const id = await delivered();
    const refused = jsonOf(
      await shell(`settle --yes ${id} --evidence nothing --outcome won --json`, WHO),
      1,
    ) as Outcome;
    expect(refused).toMatchObject({
      outcome: 'refused',
      code: 'DOES_NOT_FIT',
      fits: ['check-supplier', 'credit-wallet'],
    });
  });
});

it('dismiss removes an unmatched event from the list, once', async () => {
  const data = {
    id: 1,
    domain: 'test',
    status: 'success',
    reference: 'of-another-shop',
    amount: 1,
    currency: 'NGN',
  };
  await postEvent(stack, JSON.stringify({ event: 'charge.success', data }));
  const listed = (): Promise<StuckItem[]> =>
    here('stuck --json --class inbox-without-purchase').then((result) => jsonOf(result) as StuckItem[]);
  const [item] = await until(listed, (items) => items.length === 1, { what: 'the event is listed' });
  const id = item!.transactionId;
  expect(await shell(`dismiss ${id}`, WHO)).toMatchObject({ code: 0 });
  expect(await listed()).toEqual([]);
  expect(await here(`dismiss ${id}`, WHO)).toMatchObject({ code: 1 });
  expect(await actionsOf(id)).toMatchObject([{ action: 'dismiss-event', status: 'DONE', by_person: 'ada' }]);
});

it('reconcile finds no difference, and differences are listed and closed by number', async () => {
  const summary = jsonOf(await shell('reconcile --by ada --json')) as { compared: { orders: number } };
  expect(summary).toMatchObject({ open: [] });
  expect(summary.compared.orders).toBeGreaterThan(0);
  const [list, books] = await Promise.all([here('differences --json'), shell('trial-balance')]);
  expect(jsonOf(list)).toEqual([]);
  expect(books.code).toBe(0);
  expect(await here('close-difference 1', WHO)).toMatchObject({ code: 1 });
  expect(await here('close-difference one', WHO)).toMatchObject({ code: 2 });
  expect(await here('reconcile --from 2026-11-01 --by ada')).toMatchObject({ code: 2 });
  expect(await here('differences --kind lost')).toMatchObject({ code: 2 });
});

it('ledger shows a purchase’s entries as they were booked', async () => {
  const id = await delivered();
  const { code, stdout } = await shell(`ledger ${id}`);
  expect(code).toBe(0);
  for (const word of [`${id}:hold`, `${id}:post`, 'revenue:USD', 'supplier-cost:USD4'])
    expect(stdout).toContain(word);
});

it('without Temporal the rows are shown, and nothing is moved', async () => {
  const { transactionId } = await buyThroughGateway(stack, await stack.account({ fundsMinor: 0n }));
  await sql`update purchases set created_at = created_at - interval '1 day' where transaction_id = ${transactionId}`.execute(
    stack.owner,
  );
  const without = { ...stack.env, TEMPORAL_ADDRESS: '' };
  const [list, moved] = await Promise.all([
    hereFinance(without, 'stuck --json'),
    hereFinance(without, 'replay txn-1 --yes', { more: WHO }),
  ]);
  expect(jsonOf(list)).toEqual([]);
  expect(list.stderr).toContain('workflow-gone is left out');
  expect(moved).toEqual({
    code: 1,
    stdout: '',
    stderr: 'This command needs Temporal: set TEMPORAL_ADDRESS\n',
  });
});
