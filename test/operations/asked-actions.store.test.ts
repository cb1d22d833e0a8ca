/** An operator action between the API, which records the request, and the workflow, which acts on that record only. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import {
  askForAction,
  beginAction,
  carryOutAction,
  closeAction,
  listActions,
  previewEffect,
  recordRejection,
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
  expect(await askForAction(books.world, action, NOW)).toEqual({ outcome: 'go', moveId: action.moveId });
  return action;
}

const statusesOf = async ({ transactionId }: Payer) =>
  (await listActions(books.world, transactionId)).map(({ status }) => status);

describe('an action that begins', () => {
  it('was requested, for this purchase', async () => {
    const payer = await books.payer();
    const other = await books.payer();
    const action = await asked(payer);
    expect(await beginAction(books.world, request(payer), LIMITS)).toBeUndefined();
    expect(await beginAction(books.world, { ...action, ...other }, LIMITS)).toBeUndefined();
    expect(await statusesOf(payer)).toEqual(['ASKED']);
    expect(await statusesOf(other)).toEqual([]);
  });

  it('follows its record, whatever else the caller sends', async () => {
    const payer = await books.payer();
    const action = await asked(payer, { move: 'cancel' });
    const said = { ...action, move: 'mark-paid', by: 'another', amountMinor: '1' } as const;
    expect(await beginAction(books.world, said, LIMITS)).toMatchObject({
      outcome: 'go',
      moveId: action.moveId,
      request: { move: 'cancel', by: 'ada', transactionId: payer.transactionId },
    });
    // And a second time.
    expect(await beginAction(books.world, said, LIMITS)).toMatchObject({ request: { move: 'cancel' } });
  });

  it('waits for a second person when the record moves too much', async () => {
    const payer = await books.payer();
    const action = await asked(payer, { amountMinor: '2000000', currency: 'NGN' });
    const limits = { limits: { ...NO_LIMITS, perAction: { USD: 1n } }, now: NOW };
    for (let again = 0; again < 2; again += 1)
      expect(await beginAction(books.world, action, limits)).toMatchObject({ outcome: 'waits-for-approval' });
    expect(await statusesOf(payer)).toEqual(['WAITS_FOR_APPROVAL']);
  });

  it('is checked again, and its record has the reason of a refusal', async () => {
    const payer = await books.payer();
    const action = await asked(payer);
    await books.bookCheck(payer);
    for (let again = 0; again < 2; again += 1)
      expect(await beginAction(books.world, action, LIMITS)).toMatchObject({ code: 'DOES_NOT_FIT' });
    expect(await statusesOf(payer)).toEqual(['REFUSED']);
  });

  it('was requested within the hour; after that it can be requested again', async () => {
    const payer = await books.payer();
    const action = await asked(payer, { moveKey: newId() });
    const late = { limits: NO_LIMITS, now: LATE };
    expect(await beginAction(books.world, action, late)).toMatchObject({ code: 'NOT_WAITING' });
    const again = { ...action, moveId: newId() };
    expect(await askForAction(books.world, again, LATE)).toMatchObject({ moveId: again.moveId });
    expect((await statusesOf(payer)).toSorted()).toEqual(['ASKED', 'EXPIRED']);
  });
});

it('the same action requested several times at once is one', async () => {
  const payer = await books.payer();
  const moveKey = newId();
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, () => askForAction(books.world, request(payer, { moveKey }), NOW)),
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

describe('an action that does not begin', () => {
  it('is neither carried out nor closed as done, whatever a workflow sends', async () => {
    const payer = await books.payer();
    const action = await asked(payer);
    const waiting = await books.payer();
    const other = await asked(waiting);
    await beginAction(books.world, other, { limits: { ...NO_LIMITS, perAction: { USD: 1n } }, now: NOW });
    const stage = { stage: 'awaiting-money', now: NOW } as const;
    for (const moveId of [action.moveId, other.moveId, newId()]) {
      expect(await carryOutAction(books.world, moveId, stage)).toMatchObject(NOT_ASKED);
      expect(await closeAction(books.world, moveId, { did: 'all of it' }, NOW)).toMatchObject(NOT_ASKED);
    }
    expect(await statusesOf(payer)).toEqual(['ASKED']);
    expect(await statusesOf(waiting)).toEqual(['WAITS_FOR_APPROVAL']);
    for (const one of [payer, waiting]) expect(await books.status(one)).toBe('PENDING');
  });

  it('is ended by a workflow that does not accept it; one that has begun goes on', async () => {
    const payer = await books.payer();
    const reject = (action: ActionRequest) =>
      recordRejection(books.world, action, { refusal: 'DOES_NOT_FIT', tryId: newId() }, NOW);
    const action = await asked(payer);
    for (let again = 0; again < 2; again += 1)
      expect(await reject(action)).toMatchObject({ code: 'DOES_NOT_FIT' });
    expect(await statusesOf(payer)).toEqual(['REFUSED']);
    const begun = await asked(payer);
    await beginAction(books.world, begun, LIMITS);
    expect(await reject(begun)).toMatchObject({ code: 'DOES_NOT_FIT' });
    expect((await statusesOf(payer)).toSorted()).toEqual(['BEGUN', 'REFUSED', 'REFUSED']);
  });
});

it('money moves only by the effect of an action, never by what a workflow reports', async () => {
  const payer = await books.payer();
  const action = await asked(payer);
  await beginAction(books.world, action, LIMITS);
  expect(await closeAction(books.world, action.moveId, { did: 'marked as paid' }, NOW)).toMatchObject(
    NOT_ASKED,
  );
  expect(await statusesOf(payer)).toEqual(['BEGUN']);
});
