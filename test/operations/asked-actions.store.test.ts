/**
 * An operator action between the API, which judges and records it, and the workflow, which performs what is
 * on record and nothing else.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { makeId } from '../../src/domain/ids.ts';
import {
  askForAction,
  carryOutAction,
  closeAction,
  findBegunAction,
  findOutcome,
  listActions,
  nextAction,
  previewEffect,
} from '../../src/operations/store/actions.ts';
import type { ActionRequest } from '../../src/operations/rules.ts';
import { beginWithdrawal, loadDelivery } from '../../src/purchases/store/supplier-orders.ts';
import { basePackage, NO_LIMITS, region } from '../support/money/facts.ts';
import { NOW, usePaymentBooks, type Payer } from '../payments/payments.support.ts';

const books = usePaymentBooks();
const newId = () => makeId('action', randomBytes(16).toString('hex'));
const LIMITS = { limits: NO_LIMITS, now: NOW };
const NOT_ASKED = { outcome: 'refused', code: 'NOT_ASKED' };

function request({ transactionId }: Payer, more: Partial<ActionRequest> = {}): ActionRequest {
  const actionId = newId();
  const evidence = 'https://tickets.test.example/4711';
  const what = { transactionId, action: 'mark-paid', by: 'ada', reason: 'a test', evidence } as const;
  return { actionId, actionKey: actionId, ...what, ...more };
}

async function asked(payer: Payer, more: Partial<ActionRequest> = {}): Promise<ActionRequest> {
  const action = request(payer, more);
  expect(await askForAction(books.world, action, LIMITS)).toMatchObject({
    outcome: 'go',
    actionId: action.actionId,
  });
  return action;
}

const statusesOf = async ({ transactionId }: Payer) =>
  (await listActions(books.world, transactionId)).map(({ status }) => status);

const begin = ({ transactionId }: Payer) => nextAction(books.world, transactionId);

describe('the next action of a purchase', () => {
  it('is its oldest open one, until that has ended', async () => {
    const payer = await books.payer();
    const other = await books.payer();
    const action = await asked(payer);
    await asked(payer, { action: 'check-gateway' });
    expect(await begin(other)).toBeNull();
    // Its step may be lost: it is the next one again.
    for (let again = 0; again < 2; again += 1)
      expect(await begin(payer)).toEqual({ actionId: action.actionId, runsOn: 'orders' });
    expect((await statusesOf(payer)).toSorted()).toEqual(['ASKED', 'BEGUN']);
    await carryOutAction(books.world, action.actionId, NOW);
    expect(await begin(payer)).toMatchObject({ runsOn: 'gateway' });
  });

  it('runs on the supplier’s queue when it takes back an order that may be out', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer);
    await asked(payer, { action: 'cancel' });
    expect(await begin(payer)).toMatchObject({ runsOn: 'supplier' });
  });

  it('was requested within the hour; after that it can be requested again', async () => {
    const payer = await books.payer();
    const action = await asked(payer, { actionKey: newId() });
    await sql`update operator_actions set expires_at = clock_timestamp() where id = ${action.actionId}`.execute(
      books.owner,
    );
    expect(await begin(payer)).toBeNull();
    const again = { ...action, actionId: newId() };
    expect(await askForAction(books.world, again, LIMITS)).toMatchObject({ actionId: again.actionId });
    expect((await statusesOf(payer)).toSorted()).toEqual(['ASKED', 'EXPIRED']);
  });

  it('is begun within the hour by the database’s clock, however wrong those of the API and of the worker are', async () => {
    const payer = await books.payer();
    const yearsAgo = { limits: NO_LIMITS, now: new Date('2020-01-01') };
    const action = request(payer);
    expect(await askForAction(books.world, action, yearsAgo)).toMatchObject({ outcome: 'go' });
    expect(await begin(payer)).toMatchObject({ actionId: action.actionId });
  });

  it('is none while a second person has to approve it', async () => {
    const payer = await books.payer();
    const limits = { limits: { ...NO_LIMITS, perAction: { USD: 1n } }, now: NOW };
    const action = request(payer, { amountMinor: '2000000', currency: 'NGN' });
    for (let again = 0; again < 2; again += 1)
      expect(await askForAction(books.world, action, limits)).toMatchObject({
        outcome: 'waits-for-approval',
      });
    expect(await begin(payer)).toBeNull();
    expect(await statusesOf(payer)).toEqual(['WAITS_FOR_APPROVAL']);
  });
});

it('an action that no longer fits is refused when it is performed, and its record has the reason', async () => {
  const payer = await books.payer();
  const action = await asked(payer);
  await begin(payer);
  expect(await findOutcome(books.world, action.actionId)).toBeUndefined();
  await books.bookCheck(payer);
  for (let again = 0; again < 2; again += 1)
    expect(await carryOutAction(books.world, action.actionId, NOW)).toMatchObject({ code: 'DOES_NOT_FIT' });
  expect(await findOutcome(books.world, action.actionId)).toMatchObject({ code: 'DOES_NOT_FIT' });
  expect(await statusesOf(payer)).toEqual(['REFUSED']);
});

it('the same action requested several times at once is one', async () => {
  const payer = await books.payer();
  const actionKey = newId();
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, () => askForAction(books.world, request(payer, { actionKey }), LIMITS)),
  );
  expect(outcomes.every(({ outcome }) => outcome === 'go')).toBe(true);
  expect(new Set(outcomes.map((one) => 'actionId' in one && one.actionId)).size).toBe(1);
  expect(await statusesOf(payer)).toEqual(['ASKED']);
});

it('an action that was requested and never begun is previewed as new', async () => {
  const payer = await books.payer();
  const action = await asked(payer);
  const same = { ...action, actionId: newId() };
  expect(await previewEffect(books.world, same, LIMITS)).toMatchObject({ outcome: 'would-do' });
  expect(await statusesOf(payer)).toEqual(['ASKED']);
});

it.each(['cancel', 'refund-to-source', 'credit-wallet'] as const)(
  '%s is previewed while the order is at the supplier, and the order stays as it is',
  async (action) => {
    const payer = await books.payer();
    const { transactionId } = payer;
    await books.bookCheck(payer);
    await sql`
      update supplier_orders set state = 'accepted', order_no = 'B1', attempts = 1, first_sent_at = now(), last_sent_at = now()
       where transaction_id = ${transactionId}`.execute(books.owner);
    const wanted = request(payer, { action, evidence: undefined });
    expect(await previewEffect(books.world, wanted, LIMITS)).toMatchObject({ outcome: 'would-do' });
    expect((await loadDelivery(books.world, transactionId)).order).toMatchObject({ state: 'accepted' });
    expect(await statusesOf(payer)).toEqual([]);
  },
);

describe('an action that has not begun', () => {
  it('is neither performed nor closed as done, whatever a workflow sends', async () => {
    const payer = await books.payer();
    const action = await asked(payer);
    const waiting = await books.payer();
    const limits = { limits: { ...NO_LIMITS, perAction: { USD: 1n } }, now: NOW };
    const other = request(waiting);
    await askForAction(books.world, other, limits);
    for (const actionId of [action.actionId, other.actionId, newId()]) {
      expect(await findBegunAction(books.world, actionId)).toBeUndefined();
      expect(await carryOutAction(books.world, actionId, NOW)).toMatchObject(NOT_ASKED);
      expect(await closeAction(books.world, actionId, { did: 'all of it' }, NOW)).toMatchObject(NOT_ASKED);
    }
    expect(await statusesOf(payer)).toEqual(['ASKED']);
    expect(await statusesOf(waiting)).toEqual(['WAITS_FOR_APPROVAL']);
    for (const one of [payer, waiting]) expect(await books.status(one)).toBe('PENDING');
  });
});

it('money moves only by the effect of an action, never by what a workflow reports', async () => {
  const payer = await books.payer();
  const action = await asked(payer);
  await begin(payer);
  expect(await closeAction(books.world, action.actionId, { did: 'marked as paid' }, NOW)).toMatchObject(
    NOT_ASKED,
  );
  expect(await statusesOf(payer)).toEqual(['BEGUN']);
});

it.each(['deliver-other', 'cancel'] as const)(
  'a step of %s that is refused after it had withdrawn the order leaves another one to be sent',
  async (action) => {
    const payer = await books.payer();
    await books.bookCheck(payer);
    const { transactionId } = payer;
    await replaceCatalogue(
      books.world,
      {
        supplier: 'esim-access',
        regions: [region()],
        packages: [basePackage(), basePackage({ packageCode: 'EQUAL' })],
      },
      NOW,
    );
    const { actionId } = await asked(payer, { action, evidence: undefined });
    await begin(payer);
    // Its first run has stopped here. The second is refused: by our rows, or since the package is not on
    // sale.
    expect((await beginWithdrawal(books.world, transactionId)).state).toBe('withdrawn');
    for (let again = 0; again < 2; again += 1)
      await closeAction(books.world, actionId, { refusal: 'STEP_FAILED' }, NOW);
    expect((await loadDelivery(books.world, transactionId)).order).toMatchObject({
      id: `${transactionId}-2`,
      state: 'planned',
    });
    expect(await statusesOf(payer)).toEqual(['REFUSED']);
  },
);
