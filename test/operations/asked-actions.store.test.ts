/** An operator action between the API, which judges and records it, and the workflow, which performs what is on record and nothing else. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
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
import { BEGIN_WITHIN_MS, type ActionRequest } from '../../src/operations/rules.ts';
import { NO_LIMITS } from '../support/facts.ts';
import { NOW, usePaymentBooks, type Payer } from '../payments/payments.support.ts';

const books = usePaymentBooks();
const newId = () => makeId('move', randomBytes(16).toString('hex'));
const LIMITS = { limits: NO_LIMITS, now: NOW };
const LATE = new Date(NOW.getTime() + BEGIN_WITHIN_MS);
const NOT_ASKED = { outcome: 'refused', code: 'NOT_ASKED' };

function request({ transactionId }: Payer, more: Partial<ActionRequest> = {}): ActionRequest {
  const moveId = newId();
  const evidence = 'https://tickets.test.example/4711';
  const what = { transactionId, move: 'mark-paid', by: 'ada', reason: 'a test', evidence } as const;
  return { moveId, moveKey: moveId, ...what, ...more };
}

async function asked(payer: Payer, more: Partial<ActionRequest> = {}): Promise<ActionRequest> {
  const action = request(payer, more);
  expect(await askForAction(books.world, action, LIMITS)).toMatchObject({
    outcome: 'go',
    moveId: action.moveId,
  });
  return action;
}

const statusesOf = async ({ transactionId }: Payer) =>
  (await listActions(books.world, transactionId)).map(({ status }) => status);

const begin = ({ transactionId }: Payer, now = NOW) => nextAction(books.world, transactionId, now);

describe('the next action of a purchase', () => {
  it('is its oldest open one, until that has ended', async () => {
    const payer = await books.payer();
    const other = await books.payer();
    const action = await asked(payer);
    await asked(payer, { move: 'look-at-gateway' });
    expect(await begin(other)).toBeNull();
    // Its step may be lost: it is the next one again.
    for (let again = 0; again < 2; again += 1)
      expect(await begin(payer)).toEqual({ actionId: action.moveId, runsOn: 'orders' });
    expect((await statusesOf(payer)).toSorted()).toEqual(['ASKED', 'BEGUN']);
    await carryOutAction(books.world, action.moveId, NOW);
    expect(await begin(payer)).toMatchObject({ runsOn: 'gateway' });
  });

  it('runs on the supplier’s queue when it takes back an order that may be out', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer);
    await asked(payer, { move: 'cancel' });
    expect(await begin(payer)).toMatchObject({ runsOn: 'supplier' });
  });

  it('was requested within the hour; after that it can be requested again', async () => {
    const payer = await books.payer();
    const action = await asked(payer, { moveKey: newId() });
    expect(await begin(payer, LATE)).toBeNull();
    const again = { ...action, moveId: newId() };
    const late = { limits: NO_LIMITS, now: LATE };
    expect(await askForAction(books.world, again, late)).toMatchObject({ moveId: again.moveId });
    expect((await statusesOf(payer)).toSorted()).toEqual(['ASKED', 'EXPIRED']);
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
  expect(await findOutcome(books.world, action.moveId)).toBeUndefined();
  await books.bookCheck(payer);
  for (let again = 0; again < 2; again += 1)
    expect(await carryOutAction(books.world, action.moveId, NOW)).toMatchObject({ code: 'DOES_NOT_FIT' });
  expect(await findOutcome(books.world, action.moveId)).toMatchObject({ code: 'DOES_NOT_FIT' });
  expect(await statusesOf(payer)).toEqual(['REFUSED']);
});

it('the same action requested several times at once is one', async () => {
  const payer = await books.payer();
  const moveKey = newId();
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, () => askForAction(books.world, request(payer, { moveKey }), LIMITS)),
  );
  expect(outcomes.every(({ outcome }) => outcome === 'go')).toBe(true);
  expect(new Set(outcomes.map((one) => 'moveId' in one && one.moveId)).size).toBe(1);
  expect(await statusesOf(payer)).toEqual(['ASKED']);
});

it('an action that was requested and never begun is previewed as new', async () => {
  const payer = await books.payer();
  const action = await asked(payer);
  const same = { ...action, moveId: newId() };
  expect(await previewEffect(books.world, same, NOW)).toMatchObject({ outcome: 'would-do' });
  expect(await statusesOf(payer)).toEqual(['ASKED']);
});

describe('an action that has not begun', () => {
  it('is neither performed nor closed as done, whatever a workflow sends', async () => {
    const payer = await books.payer();
    const action = await asked(payer);
    const waiting = await books.payer();
    const limits = { limits: { ...NO_LIMITS, perAction: { USD: 1n } }, now: NOW };
    const other = request(waiting);
    await askForAction(books.world, other, limits);
    for (const moveId of [action.moveId, other.moveId, newId()]) {
      expect(await findBegunAction(books.world, moveId)).toBeUndefined();
      expect(await carryOutAction(books.world, moveId, NOW)).toMatchObject(NOT_ASKED);
      expect(await closeAction(books.world, moveId, { did: 'all of it' }, NOW)).toMatchObject(NOT_ASKED);
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
  expect(await closeAction(books.world, action.moveId, { did: 'marked as paid' }, NOW)).toMatchObject(
    NOT_ASKED,
  );
  expect(await statusesOf(payer)).toEqual(['BEGUN']);
});
