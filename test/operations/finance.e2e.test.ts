// Finance's command line on the whole service, run by a shell: each command's output, for people and for
// scripts, what it changes and what it refuses. Nothing secret is ever printed.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { newBuyer, untilClosed } from '../support/people/buyer.ts';
import type { CommandResult } from '../support/world/commands.ts';
import { commander, hereFinance, jsonOf, shellFinance } from '../support/people/finance.ts';
import { installOf } from '../support/vendors/install-data.ts';
import { buyThroughGateway, untilStatus } from '../support/money/payments.ts';
import { postEvent } from '../support/money/payers.ts';
import { givesAway } from '../support/world/secrets.ts';
import { startStack } from '../support/world/stack.ts';
import { FIXTURE_PACE, pauseSweeps } from '../support/money/stuck-fixture.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

const WHY = ['--reason', 'a test says so'];
/** The supplier's statement that it will not deliver. */
const SEEN = ['--evidence', 'the supplier’s answer to ticket 1'];

const stack = await forFile(
  startStack({
    timings: FIXTURE_PACE,
    env: { SIMWAY_APPROVAL_LIMIT: 'USD=4.00' },
  }),
);
await pauseSweeps(stack);
const buyer = await newBuyer(stack);
const [ada, bo, olu] = [await commander(stack), await commander(stack), await commander(stack, 'OPERATIONS')];

const shell = (line: string, more: readonly string[] = []): Promise<CommandResult> =>
  shellFinance(ada.env, line, more);
const here = (line: string, more: readonly string[] = []): Promise<CommandResult> =>
  hereFinance(ada.env, line, { more });

interface StuckItem {
  readonly transactionId: string;
}

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
        amount: 2.3,
        currency: 'USD',
        reason: 'SUPPLIER_NEVER_ALLOCATED',
        nextAction: 'replay: checks the supplier and delivers',
      },
    ]);
    expect(list.stderr).toBe('');
    expect(table.stdout).toMatch(
      new RegExp(`paid-not-delivered  ${id}  USD 2\\.30  SUPPLIER_NEVER_ALLOCATED  replay`),
    );
    expect(shown.stdout).toMatch(/needs attention +SUPPLIER_NEVER_ALLOCATED since/);
    for (const word of ['wallet-held', ':hold', 'RUNNING', 'available actions', 'replay: '])
      expect(shown.stdout, word).toContain(word);

    const before = await standOf(id);
    const preview = await here(`replay ${id} --dry-run --json`);
    expect(jsonOf(preview)).toMatchObject({ transactionId: id, outcome: 'would-do' });
    expect(await standOf(id)).toEqual(before);

    const [order] = await stack.supplierOrders(id);
    await fetch(`${stack.supplierControlUrl}/orders/${order!.orderNo}/allocate`, { method: 'POST' });
    const done = jsonOf(await shell(`replay ${id} --json --yes`, WHY)) as Outcome;
    expect(done).toMatchObject({
      outcome: 'done',
      before: 'PROCESSING, delivering',
      after: 'SUCCESS, delivered',
    });
    const again = jsonOf(await here(`replay ${id} --json --yes`, WHY)) as Outcome;
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
      'workflow Started',
      'purchase opened',
      'payment Asked for',
      'gateway charge.success',
      'ledger payment-received',
      'ledger post',
      'purchase delivered',
    ])
      expect(lines).toContain(line);
    expect(shown).toMatchObject({
      status: 'SUCCESS',
      amount: 2.3,
      payments: [{ reference: transactionId, gatewayStatus: 'success' }],
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
    const first = jsonOf(await shell(`cancel --yes ${id} --json`, [...WHY, ...SEEN])) as Outcome;
    expect(first).toMatchObject({ transactionId: id, outcome: 'done' });
    expect(await untilClosed(stack, id)).toMatchObject({ status: 'FAILED' });
    expect(await buyer.balanceMinor()).toBe(before + 230n);
    const second = jsonOf(await here(`cancel --yes ${id} --json`, [...WHY, ...SEEN])) as Outcome;
    expect(second).toMatchObject({ outcome: 'done', actionId: first.actionId });
    expect(second.detail).toContain('done before');
    expect(await buyer.balanceMinor()).toBe(before + 230n);
  });

  it('deliver-other delivers an equal package instead of one that is not delivered', async () => {
    const id = await bought();
    const line = `deliver-other --yes ${id} --package SIM-OK --json`;
    const refused = jsonOf(await here(line, [...WHY, ...SEEN]), 1) as Outcome;
    expect(refused).toMatchObject({ outcome: 'refused', code: 'FORBIDDEN' });
    const moved = await shellFinance(olu.env, line, [...WHY, ...SEEN]);
    expect(jsonOf(moved)).toMatchObject({ transactionId: id, outcome: 'done' });
    expect(await untilClosed(stack, id)).toMatchObject({ status: 'SUCCESS' });
  });

  it('mark-paid needs evidence, and delivers what was paid without the gateway’s knowledge', async () => {
    const account = await stack.account();
    const { transactionId } = await buyThroughGateway(stack, account, { method: 'BANK_TRANSFER' });
    const without = jsonOf(await here(`mark-paid --yes ${transactionId} --json`, WHY), 1) as Outcome;
    expect(without).toMatchObject({
      ...{ outcome: 'refused', code: 'EVIDENCE_NEEDED' },
      fits: ['check-gateway', 'mark-paid', 'cancel'],
    });
    expect(await actionsOf(transactionId)).toMatchObject([
      { action: 'mark-paid', status: 'REFUSED', by_person: ada.email },
    ]);
    expect(await statusOf(transactionId)).toBe('PENDING');
    const paid = await shell(`mark-paid --yes ${transactionId}`, [
      ...WHY,
      '--evidence',
      'statement of 21 November, line 4',
    ]);
    expect(paid).toMatchObject({ code: 0, stderr: '' });
    expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
  });

  it('credit over the limit waits for another person', async () => {
    const [id, other] = [await delivered(await dearPackage()), await delivered(await dearPackage())];
    const { price_minor: price } = await stack.owner
      .selectFrom('purchases')
      .select('price_minor')
      .where('transaction_id', '=', id)
      .executeTakeFirstOrThrow();
    const before = await buyer.balanceMinor();
    const asked = jsonOf(await shell(`credit --yes ${id} --goodwill --json`, [...WHY, ...SEEN])) as Outcome;
    expect(asked).toMatchObject({ outcome: 'waits-for-approval' });
    await here(`credit --yes ${other} --goodwill`, [...WHY, ...SEEN]);
    expect(await buyer.balanceMinor()).toBe(before);
    expect(jsonOf(await here('stuck --json --class approval-waiting'))).toMatchObject([
      { transactionId: id, reason: 'credit-wallet', amount: Number(price) / 100 },
      { transactionId: other },
    ]);
    const waiting = await shell('approvals');
    expect(waiting.stdout).toContain(asked.actionId);

    const same = jsonOf(await shell(`approve --yes ${asked.actionId} --json`), 1) as Outcome;
    expect(same).toMatchObject({ outcome: 'refused', code: 'FORBIDDEN' });
    expect(await buyer.balanceMinor()).toBe(before);
    expect(jsonOf(await hereFinance(bo.env, `approve --yes ${id} --json`))).toMatchObject({
      outcome: 'done',
    });
    const paidBack = ['--reason', 'paid back by hand'];
    expect(await shellFinance(bo.env, `decline --yes ${other}`, paidBack)).toMatchObject({ code: 0 });
    expect(await actionsOf(other)).toMatchObject([
      { status: 'DECLINED', decision_reason: 'paid back by hand' },
    ]);
    expect(await buyer.balanceMinor()).toBe(before + BigInt(String(price)));
    expect(jsonOf(await here('approvals --json'))).toEqual([]);
    expect(await hereFinance(bo.env, `approve --yes ${id}`)).toMatchObject({ code: 1 });
  });

  it('a batch shows its items, asks for confirmation, obeys the answer, and is done once another person approves it', async () => {
    const ids = await Promise.all([bought(), bought()]);
    const batch = 'cancel --class paid-not-delivered --older-than 1s';
    await until(
      async () =>
        jsonOf(await here('stuck --class paid-not-delivered --older-than 1s --json')) as StuckItem[],
      (items) => ids.every((id) => items.some(({ transactionId }) => transactionId === id)),
      { what: 'both on the list' },
    );
    const no = await hereFinance(ada.env, batch, { more: [...WHY, ...SEEN], answer: 'no' });
    expect(no).toMatchObject({ code: 1 });
    expect(no.stderr).toContain('Apply cancel to 2 items? [y/N]');
    for (const id of ids) {
      expect(no.stdout).toContain(id);
      expect(await statusOf(id)).toBe('PROCESSING');
    }
    const yes = await hereFinance(ada.env, batch, { more: [...WHY, ...SEEN], answer: 'y' });
    expect(yes).toMatchObject({ code: 0 });
    const repair = /approve (repair-\w+)/.exec(yes.stdout)?.[1] ?? '';
    expect((await here('approvals')).stdout).toContain(repair);
    for (const id of ids) expect(await statusOf(id)).toBe('PROCESSING');
    expect(jsonOf(await here(`approve ${repair} --yes --json`, WHY), 1)).toMatchObject({
      outcome: 'refused',
      code: 'FORBIDDEN',
    });
    expect(await hereFinance(bo.env, `approve ${repair} --yes`)).toMatchObject({ code: 2 });
    const approved = await hereFinance(bo.env, `approve ${repair}`, { more: WHY, answer: 'y' });
    expect(approved).toMatchObject({ code: 0 });
    const shown = await here(`show ${repair}`);
    for (const id of ids) expect(shown.stdout).toMatch(new RegExp(`^${id} .* DONE `, 'm'));
    expect(jsonOf(await here(`show ${repair} --json`))).toMatchObject({
      repairId: repair,
      status: 'COMPLETED',
    });
    for (const id of ids) expect(approved.stdout).toContain(id);
    expect(approved.stderr).toMatch(/\[#+\] 2\/2\n/);
    expect(approved.stdout).toContain('2 done');
    for (const id of ids) expect(await statusOf(id)).toBe('FAILED');
    expect(jsonOf(await here(`${batch} --yes --json`, [...WHY, ...SEEN]))).toEqual([]);
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
  expect(await shell(`dismiss ${id}`, WHY)).toMatchObject({ code: 0 });
  expect(await listed()).toEqual([]);
  expect(await here(`dismiss ${id}`, WHY)).toMatchObject({ code: 1 });
  expect(await actionsOf(id)).toMatchObject([
    { action: 'dismiss-event', status: 'DONE', by_person: ada.email },
  ]);
});

it('reconcile finds no difference, and differences are listed and closed by number', async () => {
  // The opening balance at the supplier, which a person agrees to.
  await shell('reconcile --json');
  const [opening] = jsonOf(await here('differences --json')) as { id: string }[];
  expect(opening).toMatchObject({ kind: 'supplier-balance-differs' });
  expect(await here(`close-difference ${opening?.id ?? ''}`, WHY)).toMatchObject({ code: 0 });
  const summary = jsonOf(await shell('reconcile --json')) as { compared: { orders: number } };
  expect(summary).toMatchObject({ open: [] });
  expect(summary.compared.orders).toBeGreaterThan(0);
  const [list, books] = await Promise.all([here('differences --json'), shell('trial-balance')]);
  expect(jsonOf(list)).toEqual([]);
  expect(books.code).toBe(0);
  expect(await here('close-difference 999', WHY)).toMatchObject({ code: 1 });
  expect(await here('close-difference one', WHY)).toMatchObject({ code: 2 });
  expect(await here('reconcile --from 2026-11-01')).toMatchObject({ code: 2 });
  expect(await here('differences --kind lost')).toMatchObject({ code: 2 });
});
