// How replacements end that are not decided by the supplier alone: by operators, after a crash, or beside a
// return of the same eSIM.
import { describe, expect, it } from 'vitest';
import { newBuyer, timelineOf, untilClosed } from '../support/people/buyer.ts';
import { EVIDENCE, newOperator } from '../support/people/operator-actions.ts';
import { reconcileNow } from '../support/money/payers.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const stack = await soundStack({
  supplier: { activateAfterMs: null },
  timings: { attentionAfterMs: 2_000, inFlightGraceMs: 500 },
  env: {
    SIMWAY_REPLACEMENT_SHARE: '0',
    SIMWAY_TEST_RECONCILE_SETTLE_MS: '1',
  },
});
const buyer = await newBuyer(stack);
const { apiKey: key } = buyer.account;
const operator = newOperator(stack);

const post = (path: string, body: object = {}) => stack.call('POST', path, { key, body });
const replace = (esimId: string) => post(`/api/esim/${esimId}/replacements`);

async function bought(code = 'SIM-MANUAL-LIFE') {
  const { body } = await buyer.buy(code);
  const { esim_id: esimId, transaction_id: transactionId } = await untilClosed(stack, body.transactionId);
  return { esimId, transactionId };
}

/** On a phone, and not deleted from it. */
async function installed(code?: string) {
  const one = await bought(code);
  expect((await post(`/api/sandbox/esims/${one.esimId}/install`, { stage: 'CONNECTED' })).status).toBe(200);
  return one;
}

async function deleted(code?: string) {
  const one = await installed(code);
  expect((await post(`/api/sandbox/esims/${one.esimId}/delete-profile`)).status).toBe(200);
  return one;
}

const rowOf = (esimId: string) =>
  stack.owner.selectFrom('replacements').selectAll().where('esim_id', '=', esimId).executeTakeFirst();

const untilState = (esimId: string, ...states: string[]) =>
  until(
    () => rowOf(esimId),
    (row) => states.includes(row?.state ?? ''),
    { what: `a replacement ${states.join(' or ')}`, withinMs: 30_000 },
  );

const attentionOf = async (transactionId: string) =>
  (
    await stack.owner
      .selectFrom('purchases')
      .select('attention_reason')
      .where('transaction_id', '=', transactionId)
      .executeTakeFirst()
  )?.attention_reason;

const setAtSupplier = async (esimId: string, set: object) => {
  const { iccid } = await stack.owner
    .selectFrom('esims')
    .select('iccid')
    .where('id', '=', esimId)
    .executeTakeFirstOrThrow();
  const answer = await fetch(`${stack.supplierControlUrl}/esims/${iccid}`, {
    method: 'PUT',
    body: JSON.stringify(set),
  });
  expect(answer.ok).toBe(true);
};

describe('a replacement of an eSIM that is on a phone', () => {
  it('waits for a person, and one with evidence grants it, once', async () => {
    const { esimId, transactionId } = await installed();
    const asked = await replace(esimId);
    expect(asked, asked.text).toMatchObject({
      status: 201,
      body: { data: { state: 'NEEDS_REVIEW', replacedBy: null } },
    });
    expect(await attentionOf(transactionId)).toBe('REPLACEMENT_NEEDS_REVIEW');
    expect(await operator.act(transactionId, 'grant-replacement')).toMatchObject({ code: 'EVIDENCE_NEEDED' });
    const granted = await operator.act(transactionId, 'grant-replacement', { evidence: EVIDENCE });
    expect(granted).toMatchObject({ outcome: 'done' });
    const row = await untilState(esimId, 'REPLACED');
    const again = { evidence: EVIDENCE, actionKey: 'another' };
    expect(await operator.act(transactionId, 'grant-replacement', again)).toMatchObject({
      code: 'DOES_NOT_FIT',
    });
    expect(await attentionOf(transactionId)).toBeNull();
    expect((await buyer.read(`/api/esim/${String(row?.new_esim_id)}`)).body).toMatchObject({
      esimStatus: 'CREATED',
      replaces: esimId,
    });
    expect(await timelineOf(stack, transactionId)).toEqual(
      expect.arrayContaining(['replacement-needs-review', 'replacement-granted', 'replaced']),
    );
  });

  it('is refused by a person, and the eSIM stays as it is', async () => {
    const { esimId, transactionId } = await installed();
    await replace(esimId);
    expect(await operator.act(transactionId, 'refuse-replacement')).toMatchObject({ outcome: 'done' });
    expect(await rowOf(esimId)).toMatchObject({ state: 'REFUSED', refusal: 'REFUSED_BY_OPERATOR' });
    const kept = (await buyer.read(`/api/esim/${esimId}`)).body;
    expect([kept.esimStatus, kept.replacedBy]).toEqual(['ACTIVE', undefined]);
    expect(await operator.act(transactionId, 'refuse-replacement', { actionKey: 'two' })).toMatchObject({
      code: 'DOES_NOT_FIT',
    });
  });

  it('goes to a person as well where the supplier gives no answer for long', async () => {
    const { esimId } = await deleted();
    await stack.faults({ busy: 1 });
    try {
      expect((await replace(esimId)).body.data).toMatchObject({ closedAt: null });
      await untilState(esimId, 'NEEDS_REVIEW');
    } finally {
      await stack.clearFaults();
    }
    const { transaction_id: transactionId = '' } = (await rowOf(esimId)) ?? {};
    await operator.act(transactionId, 'grant-replacement', { evidence: EVIDENCE });
    await untilState(esimId, 'REPLACED');
  }, 60_000);
});

describe('the old eSIM', () => {
  it('is retired after a crash between the delivery of the new one and its own end', async () => {
    const { esimId } = await deleted('SIM-RETURN-SILENT');
    const { transactionId } = await bought();
    await replace(esimId);
    const delivered = await untilState(esimId, 'RETIRING');
    await stack.stopWorker();
    expect((await buyer.read(`/api/esim/${esimId}`)).body).toMatchObject({
      replacedBy: delivered?.new_esim_id,
      activationCode: '',
    });
    await setAtSupplier(esimId, { esimStatus: 'REVOKE' });
    await stack.startWorker();
    // The supplier stays silent about this package: a person has seen it revoked there.
    await until(
      async () => attentionOf(String(delivered?.transaction_id)),
      (reason) => reason === 'REPLACEMENT_NEEDS_REVIEW',
      { what: 'the old eSIM on the stuck list', withinMs: 30_000 },
    );
    const old = String(delivered?.transaction_id);
    expect(await operator.act(old, 'refuse-replacement')).toMatchObject({ code: 'DOES_NOT_FIT' });
    expect(await operator.act(old, 'grant-replacement', { evidence: EVIDENCE })).toMatchObject({
      outcome: 'done',
    });
    expect(await rowOf(esimId)).toMatchObject({ state: 'REPLACED' });
    expect(await attentionOf(transactionId)).toBeNull();
  }, 90_000);

  it('is replaced once, where the worker dies in the midst of it', async () => {
    const { esimId, transactionId } = await deleted();
    await stack.stopWorker();
    expect((await replace(esimId)).body.data).toMatchObject({ state: 'PENDING' });
    const before = (await buyer.purchases()).length;
    await stack.startWorker();
    await untilState(esimId, 'ORDERING', 'RETIRING', 'REPLACED');
    await stack.stopWorker();
    await stack.startWorker();
    await untilState(esimId, 'REPLACED');
    expect(await buyer.purchases()).toHaveLength(before + 1);
    expect(await stack.supplierOrders(transactionId)).toMatchObject([{ esims: [{ esimStatus: 'REVOKE' }] }]);
  }, 90_000);
});

describe('a return and a replacement of one eSIM', () => {
  it('exclude each other, whichever comes first', async () => {
    const ends: string[] = [];
    for (let round = 0; round < 8; round += 1) {
      const { esimId } = await bought();
      const [back, other] = await Promise.all([
        post(`/api/esim/${esimId}/returns`),
        replace(esimId),
        ...(round % 2 === 0 ? [post(`/api/sandbox/esims/${esimId}/install`, { stage: 'CONNECTED' })] : []),
      ]);
      const [returns, row] = [
        await stack.owner.selectFrom('returns').select('state').where('esim_id', '=', esimId).execute(),
        await rowOf(esimId),
      ];
      const isReturned = returns.some(({ state }) => state !== 'REFUSED');
      const isReplaced = row !== undefined && row.state !== 'REFUSED';
      expect(isReturned && isReplaced, `${back.text} ${other.text}`).toBe(false);
      ends.push(isReturned ? 'returned' : isReplaced ? 'replaced' : 'neither');
    }
    expect(ends.length).toBe(8);
    const { esimId } = await deleted();
    expect((await replace(esimId)).status).toBe(201);
    expect((await post(`/api/esim/${esimId}/returns`)).body.error.details).toBe('REPLACED');
  }, 60_000);

  it('agree with the supplier’s list and balance', async () => {
    await reconcileNow(stack);
    const open = await stack.owner
      .selectFrom('reconciliation_differences')
      .select(['kind', 'subject'])
      .where('closed_at', 'is', null)
      .where('kind', '<>', 'supplier-balance-differs')
      .execute();
    expect(open).toEqual([]);
  });
});
