// Actions above the limit wait for a second, different person, and are made once after that. The record of an action stays.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { untilClosed } from '../support/buyer.ts';
import { newOperator } from '../support/operator-actions.ts';
import { startWorkflows } from '../support/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({ env: { SIMWAY_APPROVAL_LIMIT: 'USD=1.00' } });
const operator = newOperator(stack);

async function delivered(): Promise<string> {
  const { transactionId } = await harness.purchase({ account: buyer.account });
  await untilClosed(stack, transactionId);
  return transactionId;
}

const gift = (transactionId: string, amountMinor: bigint) =>
  operator.act(transactionId, 'credit-wallet', {
    amount: { amountMinor, currency: 'USD' },
    goodwill: true,
  });

/** Requested by ada; answers the action's id. */
async function waiting(transactionId: string, amountMinor = 200n): Promise<string> {
  const asked = await gift(transactionId, amountMinor);
  if (asked.outcome !== 'waits-for-approval') throw new Error(JSON.stringify(asked));
  return asked.moveId;
}

describe('an action above the limit', () => {
  it('waits, moves nothing, and is made once when another person approves it', async () => {
    const transactionId = await delivered();
    const balance = await buyer.balanceMinor();
    expect(await gift(transactionId, 100n)).toMatchObject({ outcome: 'done' });
    const moveId = await waiting(transactionId, 101n);
    // A repeat waits as well, as the same action.
    expect(await waiting(transactionId, 101n)).toBe(moveId);
    expect(await buyer.balanceMinor()).toBe(balance + 100n);
    expect(await operator.pendingApprovals()).toMatchObject([{ moveId, transactionId, by: 'ada' }]);
    for (const name of ['ada', ' ADA ', 'Ａda'])
      expect(await operator.approve(moveId, name)).toMatchObject({ outcome: 'refused', code: 'SAME_PERSON' });
    expect(await operator.approve(moveId, '  ')).toMatchObject({ outcome: 'refused', code: 'PERSON_NEEDED' });
    expect(await buyer.balanceMinor()).toBe(balance + 100n);
    const approved = await Promise.all([1, 2, 3].map(() => operator.approve(moveId, 'bayo', 'ticket 4711')));
    expect(approved.filter(({ outcome }) => outcome === 'done').length).toBeGreaterThan(0);
    expect(
      approved.every(
        (it) => it.outcome === 'done' || (it.outcome === 'refused' && it.code === 'NOT_WAITING'),
      ),
    ).toBe(true);
    expect(await buyer.balanceMinor()).toBe(balance + 201n);
    expect(await operator.approve(moveId, 'chidi')).toMatchObject({
      outcome: 'refused',
      code: 'NOT_WAITING',
    });
    expect(await gift(transactionId, 101n)).toMatchObject({ outcome: 'done', again: true, moveId });
    expect(await buyer.balanceMinor()).toBe(balance + 201n);
    const lines = await operator.listFor(transactionId);
    expect(lines.find((line) => line.moveId === moveId)).toMatchObject({
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
    const moveId = await waiting(transactionId);
    expect(await operator.decline(moveId, 'ada', 'a mistake')).toMatchObject({ code: 'SAME_PERSON' });
    expect(await operator.decline(moveId, 'bayo', 'paid back by hand')).toMatchObject({ outcome: 'done' });
    expect(await operator.approve(moveId, 'chidi')).toMatchObject({ code: 'NOT_WAITING' });
    expect((await operator.listFor(transactionId)).slice(0, 2)).toMatchObject([
      { status: 'DECLINED', approvedBy: 'bayo', decisionReason: 'paid back by hand' },
      { status: 'REFUSED', by: 'ada', reason: `refusal of ${moveId}: a mistake`, decisionReason: null },
    ]);
    expect(await waiting(transactionId)).not.toBe(moveId);
  });

  it('is refused when it was not approved in time', async () => {
    const transactionId = await delivered();
    const moveId = await waiting(transactionId);
    // No role may change an entry; here the clock moves instead.
    await stack.owner.transaction().execute(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      await trx
        .updateTable('operator_moves')
        .set({ expires_at: sql`now() - interval '1 second'` })
        .where('id', '=', moveId)
        .execute();
    });
    expect((await operator.pendingApprovals()).map((move) => move.moveId)).not.toContain(moveId);
    expect(await operator.approve(moveId, 'bayo')).toMatchObject({
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
  const change = (set: string, moveId: string) =>
    sql`update operator_moves set ${sql.raw(set)} where id = ${moveId}`.execute(stack.owner);

  it('never has one person as requester and approver, and an ended entry never changes: the database refuses both', async () => {
    const moveId = await waiting(await delivered());
    await expect(change(`status = 'APPROVED', approved_by = ' Ada'`, moveId)).rejects.toThrow(
      'operator_move_by_two_people',
    );
    await expect(change(`status = 'APPROVED'`, moveId)).rejects.toThrow('stays');
    await expect(change(`status = 'DONE', closed_at = now()`, moveId)).rejects.toThrow('stays');
    await expect(change(`reason = 'another'`, moveId)).rejects.toThrow('stays');
    const undecided = `status = 'EXPIRED', closed_at = now(), decision_reason = 'undecided'`;
    await expect(change(undecided, moveId)).rejects.toThrow('operator_move_decision_has_its_person');
    await operator.decline(moveId, 'bayo', 'a first reason');
    await expect(change(`decision_reason = 'another'`, moveId)).rejects.toThrow('stays');
    await expect(change(`status = 'BEGUN', closed_at = null`, moveId)).rejects.toThrow('stays');
    const approved = await waiting(await delivered());
    await change(`status = 'APPROVED', approved_by = 'bayo', decision_reason = 'seen'`, approved);
    await expect(change(`decision_reason = 'another'`, approved)).rejects.toThrow('stays');
    await expect(sql`delete from operator_moves where id = ${moveId}`.execute(stack.world)).rejects.toThrow(
      'permission denied',
    );
  });
});
