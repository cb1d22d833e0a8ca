// Actions above the limit wait for a second, different person, and are made once after that. The record of an
// action stays.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { untilClosed } from '../support/people/buyer.ts';
import { newOperator } from '../support/people/operator-actions.ts';
import { startWorkflows } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({ env: { SIMWAY_APPROVAL_LIMIT: 'USD=1.00' } });
const operator = newOperator(stack);

async function delivered(): Promise<string> {
  const { transactionId } = await harness.purchase({ account: buyer.account });
  await untilClosed(stack, transactionId);
  return transactionId;
}

const gift = (transactionId: string, amountMinor: bigint) =>
  operator.act(transactionId, 'credit-wallet', { amount: { amountMinor, currency: 'USD' }, goodwill: true });

/** Requested by ada; answers the action's id. */
async function waiting(transactionId: string, amountMinor = 200n): Promise<string> {
  const asked = await gift(transactionId, amountMinor);
  if (asked.outcome !== 'waits-for-approval') throw new Error(JSON.stringify(asked));
  return asked.actionId;
}

describe('an action above the limit', () => {
  it('waits, moves nothing, and is made once when another person approves it', async () => {
    const transactionId = await delivered();
    const balance = await buyer.balanceMinor();
    expect(await gift(transactionId, 100n)).toMatchObject({ outcome: 'done' });
    const actionId = await waiting(transactionId, 101n);
    // A repeat waits as well, as the same action.
    expect(await waiting(transactionId, 101n)).toBe(actionId);
    expect(await buyer.balanceMinor()).toBe(balance + 100n);
    expect(await operator.pendingApprovals()).toMatchObject([{ actionId, transactionId, by: 'ada' }]);
    for (const name of ['ada', ' ADA ', 'Ａda'])
      expect(await operator.approve(actionId, name)).toMatchObject({
        outcome: 'refused',
        code: 'SAME_PERSON',
      });
    expect(await operator.approve(actionId, '  ')).toMatchObject({
      outcome: 'refused',
      code: 'PERSON_NEEDED',
    });
    expect(await buyer.balanceMinor()).toBe(balance + 100n);
    const approved = await Promise.all(
      [1, 2, 3].map(() => operator.approve(actionId, 'bayo', 'ticket 4711')),
    );
    expect(approved.filter(({ outcome }) => outcome === 'done').length).toBeGreaterThan(0);
    expect(
      approved.every(
        (it) => it.outcome === 'done' || (it.outcome === 'refused' && it.code === 'NOT_WAITING'),
      ),
    ).toBe(true);
    expect(await buyer.balanceMinor()).toBe(balance + 201n);
    expect(await operator.approve(actionId, 'chidi')).toMatchObject({
      outcome: 'refused',
      code: 'NOT_WAITING',
    });
    expect(await gift(transactionId, 101n)).toMatchObject({ outcome: 'done', again: true, actionId });
    expect(await buyer.balanceMinor()).toBe(balance + 201n);
    const lines = await operator.listFor(transactionId);
    expect(lines.find((line) => line.actionId === actionId)).toMatchObject({
      status: 'DONE',
      by: 'ada',
      approvedBy: 'bayo',
      decisionReason: 'ticket 4711',
      amount: { amountMinor: 101n, currency: 'USD' },
    });
    expect(lines.filter((line) => line.refusal === 'SAME_PERSON').map(({ by }) => by)).toEqual([
      'ada',
      'ADA',
      'Ａda',
    ]);
  });

  it('is declined by another person, and can be requested again', async () => {
    const transactionId = await delivered();
    const actionId = await waiting(transactionId);
    expect(await operator.decline(actionId, 'ada', 'a mistake')).toMatchObject({ code: 'SAME_PERSON' });
    expect(await operator.decline(actionId, 'bayo', 'paid back by hand')).toMatchObject({ outcome: 'done' });
    expect(await operator.approve(actionId, 'chidi')).toMatchObject({ code: 'NOT_WAITING' });
    expect((await operator.listFor(transactionId)).slice(0, 2)).toMatchObject([
      { status: 'DECLINED', approvedBy: 'bayo', decisionReason: 'paid back by hand' },
      { status: 'REFUSED', by: 'ada', reason: `refusal of ${actionId}: a mistake`, decisionReason: null },
    ]);
    expect(await waiting(transactionId)).not.toBe(actionId);
  });

  it('is refused when it was not approved in time', async () => {
    const transactionId = await delivered();
    const actionId = await waiting(transactionId);
    // No role may change an entry; here the clock moves instead.
    await stack.owner.transaction().execute(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      await trx
        .updateTable('operator_actions')
        .set({ expires_at: sql`now() - interval '1 second'` })
        .where('id', '=', actionId)
        .execute();
    });
    expect((await operator.pendingApprovals()).map((action) => action.actionId)).not.toContain(actionId);
    expect(await operator.approve(actionId, 'bayo')).toMatchObject({
      outcome: 'refused',
      code: 'APPROVAL_EXPIRED',
    });
    expect((await operator.listFor(transactionId))[0]).toMatchObject({ status: 'EXPIRED' });
  });

  it('is checked again when it is approved, since the purchase may have changed', async () => {
    const transactionId = await delivered();
    const first = await waiting(transactionId, 150n);
    const second = await waiting(transactionId, 151n);
    expect(await operator.approve(second, 'bayo')).toMatchObject({ outcome: 'done' });
    expect(await operator.approve(first, 'bayo')).toMatchObject({
      outcome: 'refused',
      code: 'AMOUNT_TOO_HIGH',
    });
    expect((await operator.listFor(transactionId)).map(({ status }) => status)).toEqual(['REFUSED', 'DONE']);
  });
});

describe('the record', () => {
  const change = (set: string, actionId: string) =>
    sql`update operator_actions set ${sql.raw(set)} where id = ${actionId}`.execute(stack.owner);

  it('never has one person as requester and approver, and an ended entry never changes: the database refuses both', async () => {
    const actionId = await waiting(await delivered());
    await expect(change(`status = 'APPROVED', approved_by = ' Ada'`, actionId)).rejects.toThrow(
      'operator_action_by_two_people',
    );
    await expect(change(`status = 'APPROVED'`, actionId)).rejects.toThrow('cannot change');
    await expect(change(`status = 'DONE', closed_at = now()`, actionId)).rejects.toThrow('cannot change');
    await expect(change(`reason = 'another'`, actionId)).rejects.toThrow('cannot change');
    const undecided = `status = 'EXPIRED', closed_at = now(), decision_reason = 'undecided'`;
    await expect(change(undecided, actionId)).rejects.toThrow('operator_action_decision_has_its_person');
    await operator.decline(actionId, 'bayo', 'a first reason');
    await expect(change(`decision_reason = 'another'`, actionId)).rejects.toThrow('cannot change');
    await expect(change(`status = 'BEGUN', closed_at = null`, actionId)).rejects.toThrow('cannot change');
    const approved = await waiting(await delivered());
    await change(`status = 'APPROVED', approved_by = 'bayo', decision_reason = 'seen'`, approved);
    await expect(change(`decision_reason = 'another'`, approved)).rejects.toThrow('cannot change');
    await expect(
      sql`delete from operator_actions where id = ${actionId}`.execute(stack.world),
    ).rejects.toThrow('permission denied');
  });
});
