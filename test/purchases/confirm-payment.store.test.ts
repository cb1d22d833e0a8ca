/**
 * confirm-payment starts a check for a payment through the gateway, and for no other; then it answers with
 * the current state.
 */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { confirmPayment, getTransaction } from '../../src/purchases/transactions.ts';
import type { Principal } from '../../src/domain/account.ts';
import { ensureWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { newAccount, purchaseInput } from '../support/money/facts.ts';
import { installDataWith } from '../support/vendors/install-data.ts';
import { NOW, usePaymentBooks } from '../payments/payments.support.ts';
import { EngineUnavailable } from '../../src/domain/outcome.ts';
import type { PaymentSubject } from '../../src/payments/engine.ts';

const books = usePaymentBooks();
const { timings } = purchaseInput({ transactionId: 'txn-1' });

let checked: (PaymentSubject & { deadlineMs: number })[] = [];
let isAway = false;
let now = NOW;
beforeEach(() => {
  [checked, isAway, now] = [[], false, NOW];
});

type ConfirmDeps = Parameters<typeof confirmPayment>[0];
const deps = (): ConfirmDeps => ({
  db: books.world,
  installData: installDataWith(),
  clock: { now: () => now },
  settings: { timings, closedPaymentFreshMs: 60_000 } as ConfirmDeps['settings'],
  engine: {
    check: async ({ transactionId, purpose }: PaymentSubject, deadlineMs: number) => {
      if (isAway) throw new EngineUnavailable('away');
      checked.push({ transactionId, purpose, deadlineMs });
      await books.bookCheck({
        transactionId,
        accountId: '',
        reference: transactionId,
        purpose,
        input: purchaseInput({ transactionId }),
      });
    },
  } as Partial<ConfirmDeps['engine']> as ConfirmDeps['engine'],
});

const confirm = (accountId: string, transactionId: string) => {
  const account = { ...newAccount({ id: accountId }), requestsPerMinute: 1 };
  return confirmPayment(deps(), { account } as unknown as Principal, { transactionId });
};

async function fromWallet(): Promise<{ accountId: string; transactionId: string }> {
  const ids = { transactionId: `txn-${randomUUID()}`, accountId: `acc-${randomUUID()}` };
  const amount = { amountMinor: 10_000n, currency: 'USD' };
  await ensureWallet(books.world, ids.accountId, 'USD');
  await fundWallet(books.world, {
    operationKey: ids.accountId,
    accountId: ids.accountId,
    amount,
    reason: 'a test',
  });
  await openPurchase(books.world, purchaseInput(ids), {
    now: NOW,
    keepRefusal: () => false,
  });
  return ids;
}

it('a purchase paid at a gateway is checked within the caller’s wait, and then returned as it is', async () => {
  const { accountId, transactionId } = await books.payer();
  expect(await confirm(accountId, transactionId)).toMatchObject({
    purchase: { transaction_id: transactionId, status: 'PROCESSING' },
  });
  expect(checked).toEqual([{ transactionId, purpose: 'purchase', deadlineMs: timings.answerWithinMs }]);
});

it('a funding is checked the same way', async () => {
  const { accountId, transactionId } = await books.payer({ purpose: 'funding' });
  expect(await confirm(accountId, transactionId)).toMatchObject({
    funding: { transactionId, status: 'SUCCESS' },
  });
  expect(checked).toEqual([{ transactionId, purpose: 'funding', deadlineMs: timings.answerWithinMs }]);
});

it('a funding is read like a purchase, by its own account only', async () => {
  const { accountId, transactionId } = await books.payer({ purpose: 'funding' });
  const readBy = (id: string) =>
    getTransaction(
      { db: books.world, installData: installDataWith() },
      { account: newAccount({ id }) } as unknown as Principal,
      transactionId,
    );
  expect(await readBy(accountId)).toMatchObject({ funding: { transactionId, status: 'PENDING' } });
  await expect(readBy('acc-other')).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FOUND' });
});

it('a closed payment is checked once a minute, however often callers ask', async () => {
  const payer = await books.payer({ purpose: 'funding' });
  await books.bookCheck(payer);
  const ask = () => confirm(payer.accountId, payer.transactionId);
  isAway = true;
  await expect(ask()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  isAway = false;
  await Promise.all([ask(), ask(), ask()]);
  expect(checked).toHaveLength(1);
  now = new Date(NOW.getTime() + 59_999);
  await ask();
  expect(checked).toHaveLength(1);
  now = new Date(NOW.getTime() + 60_000);
  await ask();
  expect(checked).toHaveLength(2);
});

it('a purchase from the wallet is not checked, so it is returned even if no check can be started', async () => {
  const { accountId, transactionId } = await fromWallet();
  expect(await confirm(accountId, transactionId)).toMatchObject({
    purchase: { transaction_id: transactionId, status: 'PROCESSING' },
  });
  isAway = true;
  expect(await confirm(accountId, transactionId)).toMatchObject({
    purchase: { transaction_id: transactionId },
  });
  expect(checked).toEqual([]);
});

it('a purchase paid at a gateway is answered with 503 if no check can be started', async () => {
  const { accountId, transactionId } = await books.payer();
  isAway = true;
  await expect(confirm(accountId, transactionId)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

it("another account's payment, and an unknown one, is not found and not checked", async () => {
  const { transactionId } = await books.payer();
  for (const id of [transactionId, 'txn-none'])
    await expect(confirm('acc-other', id)).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FOUND' });
  expect(checked).toEqual([]);
});
