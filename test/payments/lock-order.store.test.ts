/**
 * Rows of money are locked in one order (src/payments/store/lock-order.ts): transactions on one purchase wait
 * for each other, and never deadlock.
 */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { OperatorAction } from '../../src/accounts/operators/action-table.ts';
import { setLowBalance } from '../../src/ledger/store/low-balance.ts';
import { askForAction, carryOutAction, nextAction } from '../../src/operations/store/actions.ts';
import { saveDisputes, recordReturnedTransfer } from '../../src/payments/store/disputes.ts';
import { flagMoney } from '../../src/payments/store/payments.ts';
import {
  closeRefundDone,
  closeRefundTakenBack,
  creditRefund,
  saveRefundState,
  type RefundRow,
} from '../../src/payments/store/refunds.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { beginWithdrawal } from '../../src/purchases/store/supplier-orders.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { bookSeen, type SeenCharge } from '../../src/purchases/store/payment-bookings.ts';
import { closeUnpaid, failPurchaseIn, settlePurchase } from '../../src/purchases/store/purchases.ts';
import { nameOfRefusal, untilStatementWaits } from '../support/world/books.ts';
import { NO_LIMITS, purchaseInput } from '../support/money/facts.ts';
import { newWallet } from '../support/money/stock.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { locksOf, locksTakenBy } from '../support/world/locks.ts';
import { CHARGE_MINOR, NOW, usePaymentBooks, type Payer } from './payments.support.ts';

/** Each table with its position in the order. */
const LOCK_ORDER = {
  operator_actions: 1,
  payments: 2,
  purchases: 3,
  fundings: 3,
  supplier_orders: 4,
  refunds: 4,
  disputes: 4,
  esims: 4,
  holds: 4,
  wallets: 5,
} as const;

type ActionStage = 'awaiting-money' | 'delivering' | 'closed';

const books = usePaymentBooks();
const ROUNDS = 25;
const LIMITS = { limits: NO_LIMITS, now: NOW };
const DONE = { refundId: '7', gatewayStatus: 'processed' };

/** Paid and not delivered; the gateway did not send the refund, and the purchase needs attention. */
async function waitingRefund(): Promise<{ payer: Payer; refund: RefundRow }> {
  const due = await books.refundedPayer();
  const stuck = { status: 'STUCK', refundId: '7', gatewayStatus: 'failed' } as const;
  await saveRefundState(books.world, due.refund, stuck);
  await flagMoney(books.world, due.payer.transactionId, 'REFUND_STUCK');
  return due;
}

async function begun({ transactionId }: Payer, action: OperatorAction = 'credit-wallet'): Promise<string> {
  const actionId = `action-${randomUUID().replaceAll('-', '')}`;
  const request = {
    actionId,
    transactionId,
    action,
    by: 'ada',
    reason: 'a test',
    goodwill: true,
    evidence: 'https://tickets.test.example/4711',
    actionKey: actionId,
    outcome: 'won',
  } as const;
  expect(await askForAction(books.world, request, LIMITS)).toMatchObject({ outcome: 'go' });
  expect(await nextAction(books.world, transactionId)).toMatchObject({ actionId: actionId });
  return actionId;
}

/** The refund's row, locked by another transaction until it is released. */
async function holdRefund(refund: RefundRow): Promise<() => Promise<unknown>> {
  const trx = await books.owner.startTransaction().execute();
  await trx
    .selectFrom('refunds')
    .select('status')
    .where('refund_key', '=', refund.refund_key)
    .forUpdate()
    .execute();
  return () => trx.rollback().execute();
}

const ends = {
  'the refund is sent': (refund: RefundRow, db: WorldDb) => closeRefundDone(db, refund, DONE),
  'the refund is credited': async (refund: RefundRow, db: WorldDb) =>
    creditRefund(db, refund, await books.payment(refund)),
  'the payment was taken back': (refund: RefundRow, db: WorldDb) => closeRefundTakenBack(db, refund),
};

it.each(Object.entries(ends))(
  `%s while an operator credits it, ${ROUNDS} times: there is no deadlock and one end`,
  async (_name, end) => {
    const failures: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { payer, refund } = await waitingRefund();
      const actionId = await begun(payer);
      const letGo = await holdRefund(refund);
      const starts = [() => end(refund, books.world), () => carryOutAction(books.world, actionId, NOW)];
      const running: Promise<unknown>[] = [];
      for (const [nth, start] of (round % 2 === 0 ? starts : starts.toReversed()).entries()) {
        running.push(start().catch((error: unknown) => failures.push(nameOfRefusal(error))));
        await untilStatementWaits(books.owner, nth + 1);
      }
      await letGo();
      await Promise.all(running);
      expect(await books.refunds(payer)).toEqual([]);
    }
    expect(failures).toEqual([]);
  },
);

const OUT_OF_STOCK = { reason: 'OUT_OF_STOCK', detail: '' } as const;
type Act = (db: WorldDb) => Promise<unknown>;

const made = async (payer: Payer, action: OperatorAction, stage: ActionStage): Promise<Act> => {
  const actionId = await begun(payer, action);
  // Its order is reversed first.
  if (stage === 'delivering') {
    await beginWithdrawal(books.world, payer.transactionId);
  }
  return async (db) => expect(await carryOutAction(db, actionId, NOW)).toMatchObject({ outcome: 'done' });
};
const seen =
  (payer: Payer, charge: Partial<SeenCharge>): Act =>
  (db) =>
    bookSeen(
      db,
      payer.reference,
      {
        state: 'paid',
        netMinor: CHARGE_MINOR,
        currency: 'NGN',
        gatewayId: '1',
        gatewayStatus: 's',
        ...charge,
      },
      // Later than any.
      2n ** 62n,
    );

const { paidPayer, deliveredPayer: delivered } = books;

/** A purchase from a wallet that is held; or still to be opened. */
async function fromWallet({ isOpened }: { readonly isOpened: boolean }): Promise<PurchaseInput> {
  const input = purchaseInput({ transactionId: `txn-${randomUUID()}`, accountId: `acc-${randomUUID()}` });
  await newWallet(books.world, { accountId: input.accountId });
  if (isOpened) await openPurchase(books.world, input, OPEN);
  return input;
}
const OPEN = { now: NOW, keepRefusal: () => false };

const on =
  (
    { transactionId }: { readonly transactionId: string },
    act: (db: WorldDb, id: string) => Promise<unknown>,
  ): Act =>
  (db) =>
    act(db, transactionId);
const givenBack = (db: WorldDb, id: string) => failPurchase(db, id, OUT_OF_STOCK);

/** Each transaction about money, with the tables that it locks. */
const TRANSACTIONS: readonly [string, string[], () => Promise<Act>][] = [
  [
    'opening from the wallet',
    ['wallets'],
    async () => {
      const input = await fromWallet({ isOpened: false });
      return (db) => openPurchase(db, input, OPEN);
    },
  ],
  ['a check that finds the money', ['payments', 'purchases'], async () => seen(await books.payer(), {})],
  [
    'a check that finds too little',
    ['payments', 'purchases', 'esims', 'wallets'],
    async () => seen(await books.payer(), { netMinor: 160_000n }),
  ],
  [
    'a check that finds money of another currency',
    ['payments', 'purchases', 'esims'],
    async () => seen(await books.payer(), { currency: 'GHS' }),
  ],
  [
    'a check that finds money for a wallet',
    ['payments', 'fundings', 'wallets'],
    async () => seen(await books.payer({ purpose: 'funding' }), {}),
  ],
  [
    'a check that finds it reversed',
    ['payments', 'purchases'],
    async () => seen(await delivered(), { state: 'reversed' }),
  ],
  [
    'a dispute',
    ['payments', 'purchases'],
    async () => {
      const { reference } = await delivered();
      const dispute = { disputeId: '1', state: 'open', gatewayStatus: 'pending', amount: null } as const;
      return (db) => saveDisputes(db, reference, [dispute], 2n ** 62n);
    },
  ],
  [
    'settling',
    ['payments', 'purchases', 'holds', 'esims'],
    async () => on(await paidPayer(), settlePurchase),
  ],
  [
    'giving back what came through the gateway',
    ['payments', 'purchases', 'esims', 'holds'],
    async () => on(await paidPayer(), givenBack),
  ],
  [
    'giving back, for a caller that has locked nothing',
    ['payments', 'purchases', 'esims', 'holds'],
    async () =>
      on(await paidPayer(), (db, id) =>
        db.transaction().execute((trx) => failPurchaseIn(trx, id, OUT_OF_STOCK)),
      ),
  ],
  [
    'giving back what the wallet paid',
    ['payments', 'purchases', 'esims', 'holds', 'wallets'],
    async () => on(await fromWallet({ isOpened: true }), givenBack),
  ],
  [
    'closing unpaid',
    ['purchases', 'esims'],
    async () => on(await books.payer(), (db, id) => closeUnpaid(db, id, 'PAYMENT_EXPIRED')),
  ],
  ...Object.entries(ends).map(([name, end]): [string, string[], () => Promise<Act>] => [
    name,
    ['payments', 'purchases', 'refunds'],
    async () => {
      const { refund } = await waitingRefund();
      return (db) => end(refund, db);
    },
  ]),
  [
    'an operator credits a refund',
    ['operator_actions', 'payments', 'purchases', 'refunds', 'wallets'],
    async () => made((await waitingRefund()).payer, 'credit-wallet', 'closed'),
  ],
  [
    'an operator closes a refund by hand',
    ['operator_actions', 'payments', 'purchases', 'refunds'],
    async () => made((await waitingRefund()).payer, 'refund-to-source', 'closed'),
  ],
  [
    'an operator cancels what is not paid',
    ['operator_actions', 'payments', 'purchases', 'esims'],
    async () => made(await books.payer(), 'cancel', 'awaiting-money'),
  ],
  [
    'an operator cancels what is paid',
    ['operator_actions', 'payments', 'purchases', 'esims', 'holds'],
    async () => made(await paidPayer(), 'cancel', 'delivering'),
  ],
  [
    'an operator credits what is paid',
    ['operator_actions', 'payments', 'purchases', 'holds', 'wallets'],
    async () => made(await paidPayer(), 'credit-wallet', 'delivering'),
  ],
  [
    'an operator vouches for a payment',
    ['operator_actions', 'payments', 'purchases'],
    async () => made(await books.payer(), 'mark-paid', 'awaiting-money'),
  ],
  [
    'an operator refunds as goodwill',
    ['operator_actions', 'payments', 'purchases'],
    async () => made(await delivered(), 'refund-to-source', 'closed'),
  ],
  [
    'an operator refunds out of the wallet',
    ['operator_actions', 'payments', 'purchases', 'wallets'],
    async () => made(await paidPayer({ netMinor: 160_000n }), 'refund-to-source', 'closed'),
  ],
  [
    'an operator settles a dispute',
    ['operator_actions', 'payments', 'purchases'],
    async () => {
      const payer = await delivered();
      await books.dispute(payer, { state: 'won', gatewayStatus: 'resolved: declined' });
      return made(payer, 'settle-dispute', 'closed');
    },
  ],
  [
    'the bank returned transfers',
    ['purchases'],
    async () => {
      const email = `${randomUUID()}@buyer.example`;
      await books.payer({ method: 'BANK_TRANSFER', accountId: await books.account({ email }) });
      return (db) => recordReturnedTransfer(db, email, 'k');
    },
  ],
  [
    'a low balance is set',
    ['wallets'],
    async () => {
      const { accountId } = await fromWallet({ isOpened: false });
      return (db) => setLowBalance(db, { accountId, currency: 'USD' }, 1n, NOW);
    },
  ],
];

it.each(TRANSACTIONS)('%s locks in the documented order', async (_name, expected, prepare) => {
  const taken = (await locksTakenBy(books.url, await prepare())).filter(isOrdered);
  const places = [...new Set(taken.map((table) => LOCK_ORDER[table]))];
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  // The test sees its locks.
  expect(taken).toEqual(expect.arrayContaining(expected));
});

it('the test reads the locks of a statement', () => {
  const functions = new Map([
    ['f', "update holds set b = 1; insert into ledger_entries values ('wallet:' || a);"],
  ]);
  const locks = (sql: string, parameters: unknown[] = []) => locksOf({ sql, parameters }, functions);
  expect(locks('select a from "payments" where b = (select c from x) for no key update')).toEqual([
    'payments',
  ]);
  expect(
    locks(
      'with r as (select 1 from purchases join holds on true for update), u as (update esims set a = 1) select 1',
    ),
  ).toEqual(['purchases', 'holds', 'esims']);
  expect(locks('select a from payments')).toEqual([]);
  expect(locks('select * from "f"("a" => $1)')).toEqual(['holds', 'wallets']);
  expect(locks('insert into ledger_entries values ($1)', ['wallet:acc-1'])).toEqual(['wallets']);
  expect(locks('insert into ledger_entries values ($1)', ['held:USD'])).toEqual([]);
});

function isOrdered(table: string): table is keyof typeof LOCK_ORDER {
  return table in LOCK_ORDER;
}
