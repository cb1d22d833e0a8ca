/**
 * An operator action between the API, which judges and records it, and the workflow, which performs what is
 * on record and nothing else. One that is approved days later concerns what existed when it was requested. A
 * repeated request is done once, and once more where something undid the first.
 */
import { randomBytes } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { makeId } from '../../src/domain/ids.ts';
import {
  askForAction,
  carryOutAction,
  closeAction,
  decideApproval,
  findBegunAction,
  findOutcome,
  listActions,
  nextAction,
  previewEffect,
} from '../../src/operations/store/actions.ts';
import type { ActionRequest } from '../../src/operations/rules.ts';
import { findOpenRefunds, saveRefundState } from '../../src/payments/store/refunds.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { beginWithdrawal, loadDelivery } from '../../src/purchases/store/supplier-orders.ts';
import { basePackage, NO_LIMITS, region } from '../support/money/facts.ts';
import { databaseActions } from '../support/world/database-engine.ts';
import { CHARGE_MINOR, NOW, PRICE_MINOR, usePaymentBooks, type Payer } from '../payments/payments.support.ts';

const books = usePaymentBooks();
const newId = () => makeId('action', randomBytes(16).toString('hex'));
const EVIDENCE = 'https://tickets.test.example/4711';
type Asked = Pick<ActionRequest, 'action'> & Partial<ActionRequest>;
const LIMITS = { limits: NO_LIMITS, now: NOW };
const ABOVE = { limits: { ...NO_LIMITS, perAction: { USD: 1n } }, now: NOW };
const NOT_ASKED = { outcome: 'refused', code: 'NOT_ASKED' };

function given({ transactionId }: Payer, more: Asked): ActionRequest {
  const actionId = newId();
  return { actionId, actionKey: actionId, transactionId, by: 'ada', reason: 'a test', ...more };
}

const request = (payer: Payer, more: Partial<ActionRequest> = {}): ActionRequest =>
  given(payer, { action: 'mark-paid', evidence: EVIDENCE, ...more });

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

it('a step of a replay that its workflow has made meanwhile is neither refused nor told', async () => {
  const payer = await books.paidPayer();
  const { transactionId } = payer;
  let looks = 0;
  const transaction = books.world.transaction.bind(books.world);
  const execute = async (work: (trx: Transaction<WorldDatabase>) => Promise<unknown>) => {
    const made = await listActions(books.world, transactionId);
    // Two steps are made, and the engine looks once more. Before the third is asked for, it is delivered.
    if (made.filter(({ status }) => status === 'DONE').length === 2 && (looks += 1) === 2)
      await books.settle(payer);
    return transaction().execute(work);
  };
  const spy = vi.spyOn(books.world, 'transaction').mockReturnValue({ execute } as never);
  const by = { by: 'ada', reason: 'a test', isDryRun: false };
  const replayed = await databaseActions(books.world, NOW).replay(transactionId, by);
  spy.mockRestore();
  expect(replayed).toMatchObject({ after: expect.stringContaining('SUCCESS') as string });
  expect(replayed?.steps.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual([
    'check-gateway done',
    'check-supplier done',
  ]);
});

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
    const action = request(payer, { amountMinor: '2000000', currency: 'NGN' });
    for (let again = 0; again < 2; again += 1)
      expect(await askForAction(books.world, action, ABOVE)).toMatchObject({
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

it('an action that does not fit is refused at once with those that do, and the refusal is on record', async () => {
  const payer = await books.payer();
  await books.bookCheck(payer);
  const refused = await askForAction(books.world, request(payer), LIMITS);
  expect(refused).toMatchObject({ outcome: 'refused', code: 'DOES_NOT_FIT' });
  expect(refused).toMatchObject({ fits: expect.arrayContaining(['check-gateway']) as string[] });
  expect(await listActions(books.world, payer.transactionId)).toMatchObject([
    { action: 'mark-paid', by_person: 'ada', status: 'REFUSED', refusal: 'DOES_NOT_FIT' },
  ]);
});

it('an action that is refused for what was asked, not for how things stand, is still among those that fit', async () => {
  const payer = await books.payer();
  await books.bookCheck(payer);
  const tooMuch = request(payer, { action: 'cancel', amountMinor: '999999', currency: 'USD' });
  expect(await askForAction(books.world, tooMuch, LIMITS)).toMatchObject({
    code: 'AMOUNT_TOO_HIGH',
    fits: expect.arrayContaining(['cancel']) as string[],
  });
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
    const other = request(waiting);
    await askForAction(books.world, other, ABOVE);
    for (const actionId of [action.actionId, other.actionId, newId()]) {
      expect(await findBegunAction(books.world, actionId)).toBeUndefined();
      expect(await carryOutAction(books.world, actionId, NOW)).toMatchObject(NOT_ASKED);
      expect(await closeAction(books.world, actionId, { did: 'all of it' })).toMatchObject(NOT_ASKED);
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
  expect(await closeAction(books.world, action.actionId, { did: 'marked as paid' })).toMatchObject(NOT_ASKED);
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
      await closeAction(books.world, actionId, { refusal: 'STEP_FAILED' });
    expect((await loadDelivery(books.world, transactionId)).order).toMatchObject({
      id: `${transactionId}-2`,
      state: 'planned',
    });
    expect(await statusesOf(payer)).toEqual(['REFUSED']);
  },
);

it('a package whose new price at the supplier is not confirmed yet is not ordered instead', async () => {
  const payer = await books.payer();
  await books.bookCheck(payer);
  const packages = [basePackage(), basePackage({ packageCode: 'JUMPS' })];
  await replaceCatalogue(books.world, { supplier: 'esim-access', regions: [region()], packages }, NOW);
  const named = { action: 'deliver-other', packageCode: 'JUMPS', evidence: EVIDENCE } as const;
  const { actionId } = await asked(payer, named);
  await begin(payer);
  await books.owner
    .insertInto('held_costs')
    .values({ package_code: 'JUMPS', cost_usd_e4: 30_000n, held_since: NOW })
    .execute();
  for (const packageCode of ['JUMPS', undefined])
    expect(await previewEffect(books.world, request(payer, { ...named, packageCode }), LIMITS)).toMatchObject(
      {
        code: packageCode ? 'PACKAGE_DOES_NOT_FIT' : 'NO_EQUAL_PACKAGE',
      },
    );
  await beginWithdrawal(books.world, payer.transactionId);
  expect(await carryOutAction(books.world, actionId, NOW)).toMatchObject({
    code: 'PACKAGE_DOES_NOT_FIT',
    detail: expect.stringContaining('USD 3.0000') as unknown,
  });
  await books.owner.deleteFrom('held_costs').execute();
});

async function perform({ transactionId }: Payer, actionId: string) {
  expect(await nextAction(books.world, transactionId)).toMatchObject({ actionId });
  return carryOutAction(books.world, actionId, NOW);
}

/** Waits for a second person; returns what approves it. */
async function waiting(payer: Payer, more: Asked) {
  const request = given(payer, more);
  const { actionId } = request;
  expect(await askForAction(books.world, request, ABOVE)).toMatchObject({ outcome: 'waits-for-approval' });
  return async () => {
    const decision = { by: 'grace', isApproved: true, tryId: newId() };
    expect(await decideApproval(books.world, actionId, decision, NOW)).toMatchObject({ outcome: 'go' });
    return perform(payer, actionId);
  };
}

/** By another person, at once. */
async function done(payer: Payer, more: Asked) {
  const request = given(payer, { ...more, by: 'bob' });
  await askForAction(books.world, request, LIMITS);
  expect(await perform(payer, request.actionId)).toMatchObject({ outcome: 'done' });
}

async function delivered(): Promise<Payer> {
  const payer = await books.payer();
  await books.bookCheck(payer);
  await settlePurchase(books.world, payer.transactionId);
  return payer;
}

/** Bob has the money sent back as a gift, and the gateway waits for the buyer's bank details. */
async function giftThatWaits(payer: Payer) {
  await done(payer, {
    action: 'refund-to-source',
    goodwill: true,
    amountMinor: String(CHARGE_MINOR),
    currency: 'NGN',
  });
  const [refund] = await findOpenRefunds(books.world, payer.transactionId);
  const state = { status: 'NEEDS_ATTENTION', refundId: '1', gatewayStatus: 'needs-attention' } as const;
  await saveRefundState(books.world, refund!, state);
}

const openRefunds = async ({ transactionId }: Payer) =>
  (await findOpenRefunds(books.world, transactionId)).map((refund) => refund.status);

it('a dispute that came later is not settled against the gateway’s word by what was approved for an earlier one', async () => {
  const payer = await delivered();
  await books.dispute(payer, { disputeId: '17' });
  const settle = { action: 'settle-dispute', evidence: EVIDENCE, outcome: 'won' } as const;
  const approve = await waiting(payer, { ...settle, overrides: true });
  await books.dispute(payer, { disputeId: '17', state: 'won' });
  await done(payer, settle);
  await books.dispute(payer, { disputeId: '18' });
  expect(await approve()).toMatchObject({ code: 'DISPUTE_NEEDED' });
  expect(await books.payment(payer)).toMatchObject({ disputed_minor: CHARGE_MINOR });
});

it('a named dispute is settled, and so is the one that was open when it was asked for', async () => {
  for (const disputeId of ['17', undefined]) {
    const payer = await delivered();
    await books.dispute(payer, { disputeId: '17' });
    const settle = { action: 'settle-dispute', evidence: EVIDENCE, outcome: 'won', overrides: true } as const;
    const approve = await waiting(payer, { ...settle, disputeId });
    expect(await approve()).toMatchObject({ outcome: 'done' });
    expect(await books.payment(payer)).toMatchObject({ disputed_minor: 0n, used_minor: CHARGE_MINOR });
  }
});

it('a gift to the wallet does not end a refund that came later and that the gateway may still send', async () => {
  const payer = await delivered();
  const gift = { amountMinor: String(PRICE_MINOR), currency: 'USD', goodwill: true, evidence: EVIDENCE };
  const approve = await waiting(payer, { action: 'credit-wallet', ...gift });
  await giftThatWaits(payer);
  expect(await approve()).toMatchObject({ outcome: 'refused' });
  expect([await books.balance(payer), await openRefunds(payer)]).toEqual([0n, ['NEEDS_ATTENTION']]);
});

it('a gift back to its source does not close, as sent by hand, a refund that came later', async () => {
  const payer = await delivered();
  const gift = { amountMinor: String(CHARGE_MINOR), currency: 'NGN', goodwill: true, evidence: EVIDENCE };
  const approve = await waiting(payer, { action: 'refund-to-source', ...gift });
  await giftThatWaits(payer);
  expect(await approve()).toMatchObject({ outcome: 'refused' });
  expect(await openRefunds(payer)).toEqual(['NEEDS_ATTENTION']);
});

it('a refund that a person sent by hand is not sent again where another one credited it meanwhile', async () => {
  const payer = await delivered();
  await giftThatWaits(payer);
  const byHand = given(payer, { action: 'refund-to-source', evidence: EVIDENCE });
  const credit = given(payer, { action: 'credit-wallet', evidence: EVIDENCE, by: 'bob' });
  for (const one of [credit, byHand]) await askForAction(books.world, one, LIMITS);
  expect(await perform(payer, credit.actionId)).toMatchObject({ outcome: 'done' });
  expect(await perform(payer, byHand.actionId)).toMatchObject({ code: 'CHANGED_MEANWHILE' });
  expect([await books.balance(payer), await openRefunds(payer)]).toEqual([PRICE_MINOR, []]);
});

it('what was asked for about a refund that waits ends that refund', async () => {
  const payer = await delivered();
  await giftThatWaits(payer);
  const approve = await waiting(payer, { action: 'credit-wallet', evidence: EVIDENCE });
  expect(await approve()).toMatchObject({ outcome: 'done' });
  expect([await books.balance(payer), await openRefunds(payer)]).toEqual([PRICE_MINOR, []]);
});

const repeat = ({ transactionId }: Payer, action: 'deliver-other' | 'cancel' | 'refund-to-source') =>
  databaseActions(books.world, NOW).perform({ transactionId, action, by: 'ada', reason: 'a test' });

it('a package is replaced once, and once more when the supplier refuses the replacement', async () => {
  const payer = await books.payer();
  await books.bookCheck(payer);
  const packages = ['ONE', 'TWO'].map((packageCode) => basePackage({ packageCode }));
  const bought = basePackage({ packageCode: payer.input.packageCode });
  const catalogue = { supplier: 'esim-access', regions: [region()], packages: [bought, ...packages] };
  await replaceCatalogue(books.world, catalogue, NOW);
  const ordersOf = async () =>
    (
      await books.world
        .selectFrom('supplier_orders')
        .select('state')
        .where('transaction_id', '=', payer.transactionId)
        .orderBy('id')
        .execute()
    ).map(({ state }) => state);

  const refuse = () =>
    books.owner
      .updateTable('supplier_orders')
      .set({ state: 'refused', refused_reason: 'OUT_OF_STOCK', closed_at: NOW })
      .where('transaction_id', '=', payer.transactionId)
      .where('state', '=', 'planned')
      .execute();

  await refuse();
  const first = await repeat(payer, 'deliver-other');
  expect(first).toMatchObject({ outcome: 'done' });
  expect(first).not.toHaveProperty('again');
  expect(await repeat(payer, 'deliver-other')).toEqual({ ...first, again: true });
  expect(await ordersOf()).toEqual(['refused', 'planned']);

  await refuse();
  const second = await repeat(payer, 'deliver-other');
  expect(second).toMatchObject({ outcome: 'done' });
  expect(second).not.toHaveProperty('again');
  expect(await repeat(payer, 'deliver-other')).toEqual({ ...second, again: true });
  expect(await ordersOf()).toEqual(['refused', 'refused', 'planned']);
});

it('a refund is credited once, and again after the credit was taken out of the wallet and got stuck', async () => {
  const { payer } = await books.refundedPayer();
  const credit = () =>
    databaseActions(books.world, NOW).perform({
      ...{ transactionId: payer.transactionId, action: 'credit-wallet', by: 'ada' },
      ...{ reason: 'a test', evidence: EVIDENCE },
    });
  const once = async (ask: () => ReturnType<typeof credit>) => {
    const first = await ask();
    expect(first).toMatchObject({ outcome: 'done' });
    expect(first).not.toHaveProperty('again');
    expect(await ask()).toEqual({ ...first, again: true });
  };
  const back = () => repeat(payer, 'refund-to-source');
  await once(credit);
  expect(await books.balance(payer)).toBe(PRICE_MINOR);
  await once(back);
  expect(await books.balance(payer)).toBe(0n);
  await once(credit);
  expect(await books.balance(payer)).toBe(PRICE_MINOR);
  await once(back);
});

it('a purchase is cancelled once, and again when one of its payments is found open', async () => {
  const payer = await books.payer();
  const cancelled = {
    outcome: 'done',
    did: 'cancelled: nothing was paid; money that still comes is credited to the wallet',
  };
  expect(await repeat(payer, 'cancel')).toMatchObject(cancelled);
  expect(await repeat(payer, 'cancel')).toMatchObject({ ...cancelled, again: true });
  const flag = { attention_reason: 'PAYMENT_STILL_OPEN', needs_attention_since: NOW } as const;
  await books.owner
    .updateTable('purchases')
    .set(flag)
    .where('transaction_id', '=', payer.transactionId)
    .execute();
  const closed = await repeat(payer, 'cancel');
  expect(closed).toMatchObject({ outcome: 'done', did: 'closed; no further payment expected' });
  expect(closed).not.toHaveProperty('again');
  const { attention_reason: reason } = await books.world
    .selectFrom('purchases')
    .select('attention_reason')
    .where('transaction_id', '=', payer.transactionId)
    .executeTakeFirstOrThrow();
  expect(reason).toBeNull();
});
