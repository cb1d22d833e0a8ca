// Batch repairs: one request and a second person repair twenty stuck purchases, each once, whatever is sent
// twice or crashes on the way.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { OPS_QUEUE, RUN_JOB_WORKFLOW } from '../../workflows/contract.ts';
import { reopenHold } from '../support/money/holds.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { dataOf, SIGN_IN_ENV, signedIn, type Person } from '../support/people/people.ts';
import { buyThroughGateway } from '../support/money/payments.ts';
import { startStack, type Answer } from '../support/world/stack.ts';
import { alarms } from '../support/world/stranger.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

const REPAIRS = '/ops/batch-repairs';
const REPAIR_BODY = {
  action: 'replay',
  filter: { class: 'paid-not-delivered' },
  reason: 'the supplier has eSIMs again',
};
const WHY = { reason: 'checked the list' };

const stack = await forFile(
  startStack({
    timings: {
      attentionAfterMs: 1_500,
      inFlightGraceMs: 200,
      slowCheckMs: 3_600_000,
      checkMaxMs: 300,
      // No eSIM comes for those that are stuck: each buyer waits that long.
      answerWithinMs: 8_000,
    },
    env: {
      ...SIGN_IN_ENV,
      SIMWAY_APPROVAL_LIMIT: 'USD=1.00',
    },
  }),
);
const ada = await signedIn(stack, 'FINANCE');
const bayo = await signedIn(stack, 'FINANCE');
const olu = await signedIn(stack, 'OPERATIONS');
const account = await stack.account({ currency: 'USD', fundsMinor: 1_000_000n });

interface Row {
  readonly transactionId: string;
  readonly amount: number | null;
  readonly movedAmount: number | null;
  readonly status: string;
  readonly detail: string | null;
}
interface Repair {
  readonly repairId: string;
  readonly status: string;
  readonly filter: object;
  readonly by: string;
  readonly decidedBy: string | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly totals: readonly {
    readonly amount: number;
    readonly movedAmount: number;
    readonly currency: string;
  }[];
  readonly items: readonly Row[];
}
const byId = ({ items }: Repair, id: string): Row | undefined =>
  items.find((row) => row.transactionId === id);
const repairOf = (answer: Answer): Repair => {
  expect(answer.text).toContain('"success":true');
  return dataOf(answer) as unknown as Repair;
};

const askFor = async (body: object, who = ada): Promise<Repair> =>
  repairOf(await who.call('POST', REPAIRS, body));
const decide = (who: Person, repairId: string, verb: 'approve' | 'decline' | 'stop') =>
  who.call('POST', `${REPAIRS}/${repairId}/${verb}`, WHY);
const preview = async (body: object) =>
  dataOf(await ada.call('POST', `${REPAIRS}/preview`, { ...body, reason: undefined }));

/** Asks for it once the preview finds as many items. */
const askOnce = (body: object, count: number): Promise<Repair> =>
  until(
    () => preview(body),
    ({ matches }) => matches === count,
    { what: `${count} on the list` },
  ).then(() => askFor(body));

async function stuckIds(): Promise<string[]> {
  const { items } = dataOf(
    await ada.call('GET', '/ops/stuck?limit=100&class=paid-not-delivered'),
  ) as unknown as { items: { transactionId: string }[] };
  return items.map(({ transactionId }) => transactionId);
}

/** The supplier has accepted these and delivers once the faults are cleared: then its events wake them. */
async function makeStuck(count: number): Promise<string[]> {
  await stack.faults({ neverAllocate: 1 });
  const bought = await Promise.all(
    Array.from({ length: count }, () =>
      stack.call('POST', '/api/esim/buy', {
        key: account.apiKey,
        body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
      }),
    ),
  );
  const ids = bought.map(({ body }) => body.transactionId);
  await until(stuckIds, (found) => ids.every((id) => found.includes(id)), { what: 'all of them are stuck' });
  return ids;
}

const untilEnded = (repairId: string): Promise<Repair> =>
  until(
    async () => repairOf(await ada.call('GET', `${REPAIRS}/${repairId}`)),
    ({ status }) => !['WAITS_FOR_APPROVAL', 'RUNNING'].includes(status),
    { what: 'the batch repair has ended' },
  );

async function balanceMinor(accountId: string): Promise<bigint> {
  const { balance_minor } = await stack.world
    .selectFrom('wallets')
    .select('balance_minor')
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  return balance_minor;
}
const balance = () => balanceMinor(account.accountId);

describe('twenty stuck purchases', { timeout: 180_000 }, () => {
  it('are previewed, approved by another person, repaired once each, and recorded', async () => {
    const ids = await makeStuck(20);
    const held = await balance();
    const plan = (await preview(REPAIR_BODY)) as unknown as {
      items: (Row & { isPossible: boolean })[];
      matches: number;
    };
    expect(plan.matches).toBe(20);
    expect(plan.items.every((row) => row.isPossible)).toBe(true);
    expect(await stuckIds()).toHaveLength(20);

    const asked = await ada.call('POST', REPAIRS, { ...REPAIR_BODY, repairKey: 'monday' });
    expect(asked.status).toBe(201);
    const repair = repairOf(asked);
    const { repairId } = repair;
    expect(repair).toMatchObject({ status: 'WAITS_FOR_APPROVAL', by: ada.email, decidedBy: null });
    expect(repair.items.map((row) => row.transactionId).toSorted()).toEqual(ids.toSorted());
    // The same key gives the same batch repair; with another key, nothing is left to request.
    expect((await askFor({ ...REPAIR_BODY, repairKey: 'monday' })).repairId).toBe(repairId);
    const again = await bayo.call('POST', REPAIRS, REPAIR_BODY);
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('nothing matches')]);
    expect(await balance()).toBe(held);

    const own = await decide(ada, repairId, 'approve');
    expect([own.status, own.text]).toEqual([403, expect.stringContaining('a different person')]);
    expect((await decide(olu, repairId, 'approve')).status).toBe(403);
    await stack.clearFaults();
    const approvals = await Promise.all([1, 2, 3].map(() => decide(bayo, repairId, 'approve')));
    expect(approvals.map(({ status }) => status)).toEqual([200, 200, 200]);

    const ended = await untilEnded(repairId);
    expect(ended.items.filter((row) => row.status !== 'DONE')).toEqual([]);
    expect(ended.counts).toEqual({ waiting: 0, done: 20, refused: 0, unknown: 0, skipped: 0 });
    expect(ended).toMatchObject({ status: 'COMPLETED', decidedBy: bayo.email });
    expect(await stuckIds()).toEqual([]);
    expect(await balance()).toBe(held);
    const { rows: made } = await sql<{ reason: string }>`
      select by_person, status, reason from operator_actions where transaction_id = any(${ids})`.execute(
      stack.owner,
    );
    // The supplier's event may have delivered one before its turn.
    expect(made.length).toBeGreaterThan(0);
    for (const row of made) expect(row).toMatchObject({ by_person: ada.email, status: 'DONE' });
    expect(made[0]?.reason).toBe(`${REPAIR_BODY.reason} (${repairId})`);
    const { rows: record } = await sql`
      select action, by_person, status, refusal from operator_actions where transaction_id = ${repairId} order by created_at`.execute(
      stack.owner,
    );
    expect(record).toEqual([
      { action: 'ask-batch-repair', by_person: ada.email, status: 'DONE', refusal: null },
      { action: 'approve-batch-repair', by_person: ada.email, status: 'REFUSED', refusal: 'SAME_PERSON' },
      { action: 'approve-batch-repair', by_person: bayo.email, status: 'DONE', refusal: null },
    ]);
    await expectSoundBooks(stack);
  });
});

describe('amounts', { timeout: 120_000 }, () => {
  it('above a limit need no second approval beyond the list’s, and never exceed the list', async () => {
    const buyers = await Promise.all([1, 2, 3].map(() => stack.account({ fundsMinor: 0n })));
    const paid = await Promise.all(
      buyers.map((buyer) =>
        buyThroughGateway(stack, buyer, { method: 'CARD', packageCode: 'SIM-PAY-REFUND-NEEDS-ATTENTION' }),
      ),
    );
    const ids = paid.map(({ transactionId }) => transactionId);
    const body = {
      action: 'credit-wallet',
      filter: { class: 'refund-needs-attention' },
      reason: 'their banks do not take it',
      evidence: 'ticket 4711',
    };
    const asked = await askOnce(body, 3);
    expect(asked.items.every(({ amount }) => amount !== null && amount > 1)).toBe(true);
    const [planned] = asked.totals;
    expect(asked.totals).toEqual([{ ...planned, movedAmount: 0 }]);
    expect(asked.items.map(({ movedAmount }) => movedAmount)).toEqual([null, null, null]);
    // One is repaired individually meanwhile.
    const [first = ''] = ids;
    const byHand = { action: 'credit-wallet', reason: 'by hand', evidence: 'ticket 4712' };
    const effect = dataOf(await ada.call('POST', `/ops/purchases/${first}/actions/preview`, byHand));
    expect(effect).toMatchObject({ outcome: 'would-do', amount: byId(asked, first)?.amount });
    expect(effect['entries']).toContainEqual(
      expect.objectContaining({ account: expect.stringMatching(/^wallet:/) as string, debit: 0 }),
    );
    expect(dataOf(await ada.call('GET', `/ops/purchases/${first}/actions`))['made']).toEqual([]);
    const waits = dataOf(await ada.call('POST', `/ops/purchases/${first}/actions`, byHand));
    expect((await bayo.call('POST', `/ops/actions/${String(waits['actionId'])}/approve`)).status).toBe(200);
    await decide(bayo, asked.repairId, 'approve');
    const ended = await untilEnded(asked.repairId);
    expect(byId(ended, first)).toMatchObject({ status: 'REFUSED', movedAmount: null });
    const done = ended.items.filter(({ status }) => status === 'DONE');
    expect(done.map(({ movedAmount }) => movedAmount)).toEqual(done.map(({ amount }) => amount));
    const sum = done.reduce((minor, { amount }) => minor + Math.round((amount ?? 0) * 100), 0) / 100;
    expect([done.length, ended.totals]).toEqual([2, [{ ...planned, movedAmount: sum }]]);
    const { items: listed } = dataOf(await ada.call('GET', REPAIRS)) as unknown as { items: Repair[] };
    expect(listed.find(({ repairId }) => repairId === ended.repairId)?.totals).toEqual(ended.totals);
    for (const [index, id] of ids.entries()) {
      const credited = await balanceMinor(buyers[index]?.accountId ?? '');
      expect(credited, id).toBe(BigInt(Math.round((byId(ended, id)?.amount ?? 0) * 100)));
    }
    const { rows } = await sql<{ approved_by: string }>`
      select approved_by from operator_actions
       where transaction_id = any(${ids}) and action = 'credit-wallet' and status = 'DONE'`.execute(
      stack.owner,
    );
    expect(rows).toEqual([1, 2, 3].map(() => ({ approved_by: bayo.email })));
    await expectSoundBooks(stack);
  });
});

describe('a step that needs a second person', { timeout: 120_000 }, () => {
  it('waits in a batch replay for its own approval, since the approver of the list saw no amount', async () => {
    const buyer = await stack.account({ currency: 'USD', fundsMinor: 100_000n });
    await stack.call('POST', '/api/esim/buy', {
      key: buyer.apiKey,
      body: { packageCode: 'SIM-OUT-OF-STOCK', packageType: 'BASE', paymentMethod: 'WALLET' },
    });
    const { transaction_id: id, price_minor: price } = await until(
      () =>
        stack.world
          .selectFrom('purchases')
          .select(['transaction_id', 'price_minor'])
          .where('account_id', '=', buyer.accountId)
          .where('status', '=', 'FAILED')
          .executeTakeFirstOrThrow(),
      () => true,
      { what: 'the purchase failed' },
    );
    expect(price).toBeGreaterThan(100n);
    await stack.temporal.workflow.getHandle(id).result();
    await reopenHold(stack.owner, id);
    // The list leaves out what is on time.
    await stack.owner.transaction().execute(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      await sql`update holds set created_at = created_at - interval '1 hour' where id = ${id}`.execute(trx);
    });
    const body = { ...REPAIR_BODY, filter: { class: 'hold-too-old' } };
    const asked = await askOnce(body, 1);
    expect(asked.items).toMatchObject([{ transactionId: id, preview: 'cancel', amount: null }]);
    await decide(bayo, asked.repairId, 'approve');
    const ended = await untilEnded(asked.repairId);
    const pending = dataOf(await ada.call('GET', '/ops/actions/pending'))['items'] as {
      readonly actionId: string;
      readonly transactionId: string;
    }[];
    const waits = pending.find(({ transactionId }) => transactionId === id);
    expect(waits).toMatchObject({ action: 'cancel', by: ada.email, approvedBy: null });
    expect(byId(ended, id)).toMatchObject({
      status: 'REFUSED',
      detail: `cancel: waits-for-approval (${waits?.actionId ?? ''})`,
    });
    expect(await balanceMinor(buyer.accountId)).toBe(100_000n - price);
    const approved = await bayo.call('POST', `/ops/actions/${waits?.actionId ?? ''}/approve`, WHY);
    expect(approved.status).toBe(200);
    expect(await balanceMinor(buyer.accountId)).toBe(100_000n);
  });
});

describe('a batch repair', { timeout: 120_000 }, () => {
  it('names its second person in every action, also below the limits', async () => {
    const ids = await makeStuck(2);
    await stack.clearFaults();
    const { repairId } = await askOnce({ ...REPAIR_BODY, action: 'retry-delivery' }, 2);
    await decide(bayo, repairId, 'approve');
    await untilEnded(repairId);
    for (const id of ids) {
      const { made } = dataOf(await ada.call('GET', `/ops/purchases/${id}/actions`));
      expect(made).toMatchObject([{ by: ada.email, approvedBy: bayo.email, status: 'DONE' }]);
    }
  });

  it('that was declined or stopped releases its items, and does nothing', async () => {
    const ids = await makeStuck(2);
    const filter = { ...REPAIR_BODY.filter, olderThanSeconds: 0, currency: 'USD' };
    const one = await askFor({ ...REPAIR_BODY, filter, maxRows: 100 });
    expect(one.filter).toEqual(filter);
    expect(repairOf(await decide(bayo, one.repairId, 'decline'))).toMatchObject({
      status: 'DECLINED',
      counts: { skipped: 2 },
      decisions: [{ what: 'decline', by: bayo.email, reason: WHY.reason }],
    });
    const late = await decide(bayo, one.repairId, 'approve');
    expect([late.status, late.text]).toEqual([400, expect.stringContaining('does not await approval')]);
    const idle = await decide(ada, one.repairId, 'stop');
    expect([idle.status, idle.text]).toEqual([400, expect.stringContaining('is not running')]);
    expect((await stuckIds()).toSorted()).toEqual(ids.toSorted());
    const two = await askFor(REPAIR_BODY);
    await stack.clearFaults();
    await decide(bayo, two.repairId, 'approve');
    await untilEnded(two.repairId);
    expect(await stuckIds()).toEqual([]);
  });

  it('that the supplier does not let happen is refused by its preview, and offers what is left', async () => {
    const ids = await makeStuck(2);
    const cancel = { ...REPAIR_BODY, action: 'cancel' };
    const { items } = await preview(cancel);
    for (const id of ids)
      expect(items).toContainEqual(
        expect.objectContaining({
          ...{ transactionId: id, isPossible: false, isSure: false },
          preview: expect.stringMatching(/^the supplier .*evidence.*still being allocated/) as string,
        }),
      );
    const refusedAll = await ada.call('POST', REPAIRS, cancel);
    expect([refusedAll.status, refusedAll.text]).toEqual([400, expect.stringContaining('nothing matches')]);
    const one = `/ops/purchases/${ids[0] ?? ''}/actions`;
    const body = { action: 'cancel', reason: 'a test' };
    expect(dataOf(await ada.call('POST', `${one}/preview`, body))).toMatchObject({
      ...{ outcome: 'refused', refusal: 'SUPPLIER_MAY_DELIVER' },
      what: expect.stringContaining('evidence that it will not makes this possible') as string,
    });
    const waits = dataOf(await ada.call('POST', one, body));
    const refused = await bayo.call('POST', `/ops/actions/${String(waits['actionId'])}/approve`, WHY);
    expect(refused.status).toBe(409);
    const { error } = JSON.parse(refused.text) as { error: { refusal: string; fits: string[] } };
    expect(error).toMatchObject({ refusal: 'SUPPLIER_MAY_DELIVER' });
    expect(error.fits).toContain('check-supplier');
    expect(error.fits).not.toContain('cancel');
    const proven = { ...cancel, evidence: 'mail of the supplier, ticket 4711' };
    expect((await preview(proven))['items']).toContainEqual(
      expect.objectContaining({ transactionId: ids[1], isPossible: true, isSure: true }),
    );
    const { repairId } = await askFor(proven);
    await stack.clearFaults();
    const retry = { action: 'retry-delivery', reason: 'the supplier has eSIMs again' };
    for (const id of ids) await olu.call('POST', `/ops/purchases/${id}/actions`, retry);
    expect(await stuckIds()).toEqual([]);
    await decide(bayo, repairId, 'approve');
    expect(await untilEnded(repairId)).toMatchObject({
      ...{ status: 'COMPLETED', result: 'not-done', counts: { done: 0, refused: 2 } },
      items: [{ detail: expect.stringContaining('already delivered') as string }, {}],
    });
  });

  it('is not approved for a person who may no longer request it', async () => {
    const eve = await signedIn(stack, 'FINANCE');
    await makeStuck(1);
    const asked = await askFor(REPAIR_BODY, eve);
    await stack.accounts
      .updateTable('operators')
      .set({ disabled_at: new Date() })
      .where('user_id', '=', eve.personId)
      .execute();
    const answer = await decide(bayo, asked.repairId, 'approve');
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('may not do so any more')]);
    expect((await decide(bayo, asked.repairId, 'decline')).status).toBe(200);
    const again = await askFor(REPAIR_BODY);
    await stack.clearFaults();
    await decide(bayo, again.repairId, 'approve');
    await untilEnded(again.repairId);
  });

  it('started by hand in Temporal, without a second person, does nothing', async () => {
    const ids = await makeStuck(1);
    const waiting = await askFor(REPAIR_BODY);
    const raised = () => alarms(stack.workerAdminUrl(), 'action');
    const before = await raised();
    const said: unknown = await stack.temporal.workflow.execute(RUN_JOB_WORKFLOW, {
      workflowId: waiting.repairId,
      taskQueue: OPS_QUEUE,
      args: [{ jobId: waiting.repairId }],
    });
    expect(said).toBe('Not approved; nothing done.');
    expect(await raised()).toBeGreaterThan(before);
    expect(await stuckIds()).toEqual(ids);
    await decide(bayo, waiting.repairId, 'decline');
    await stack.clearFaults();
  });
});
