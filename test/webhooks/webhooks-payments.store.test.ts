/**
 * Webhooks about money through the gateway: payments, refunds, and each status of their purchase. Once each,
 * in the transaction that books it.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ActionRequest } from '../../src/operations/rules.ts';
import type { WebhookEvent } from '../../src/webhooks/events.ts';
import { setLowBalance } from '../../src/ledger/store/low-balance.ts';
import { askForAction, carryOutAction, nextAction } from '../../src/operations/store/actions.ts';
import { bookSeen } from '../../src/purchases/store/payment-bookings.ts';
import { failPurchaseIn, settlePurchase } from '../../src/purchases/store/purchases.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { closeRefundDone, creditRefund, findOpenRefunds } from '../../src/payments/store/refunds.ts';
import { untilStatementWaits } from '../support/world/books.ts';
import { NO_LIMITS } from '../support/money/facts.ts';
import { CHARGE_MINOR, NOW, paid, usePaymentBooks, type Payer } from '../payments/payments.support.ts';
import { messagesOf, newEndpoint, type EndpointOptions } from './webhooks.support.ts';

const ALL: readonly WebhookEvent[] = ['esim.purchased', 'payment.received', 'payment.refunded'];
const OUT_OF_STOCK = { reason: 'OUT_OF_STOCK', detail: 'code 200007' } as const;

const books = usePaymentBooks();

const listen = ({ accountId }: Payer, options: EndpointOptions = { events: ALL }) =>
  newEndpoint(books.world, accountId, options);

/** `event: status or amount`, in the order they were written. */
async function eventsFor({ accountId }: Payer): Promise<string[]> {
  const messages = await messagesOf(books.owner, accountId);
  return messages.map(({ event, body }) => {
    const { data } = body as { data: { status?: string; amount?: number; currency?: string } };
    return `${event}: ${data.status ?? `${data.amount} ${data.currency}`}`;
  });
}

/** In the order of the feed. */
async function fedTo({ accountId }: Payer): Promise<string[]> {
  const rows = books.owner.selectFrom('events').select('event').where('account_id', '=', accountId);
  return (await rows.orderBy('position').orderBy('seq').execute()).map(({ event }) => event);
}

describe('a purchase paid through the gateway', () => {
  it('sends events for the payment, for PROCESSING, then for its end', async () => {
    const payer = await books.payer();
    await listen(payer);
    const charge = { netMinor: CHARGE_MINOR, currency: 'NGN', gatewayId: '1', gatewayStatus: 's' } as const;
    const seen = { state: 'paid', ...charge } as const;
    await bookSeen(books.world, payer.reference, seen, 2n ** 62n);
    expect(await messagesOf(books.owner, payer.accountId)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          event: 'payment.received',
          key: `payment.received:${payer.reference}:NGN:${CHARGE_MINOR}`,
          subject: payer.transactionId,
          body: {
            event: 'payment.received',
            data: {
              transactionId: payer.transactionId,
              purpose: 'purchase',
              paymentMethod: 'CARD',
              gatewayReference: payer.reference,
              reference: '',
              metadata: {},
              amount: 20_000,
              currency: 'NGN',
            },
            timestamp: expect.any(String) as string,
          },
        }),
        expect.objectContaining({
          event: 'esim.purchased',
          key: `esim.purchased:${payer.transactionId}:PROCESSING`,
        }),
      ]),
    );
    await settlePurchase(books.world, payer.transactionId);
    expect(await fedTo(payer)).toEqual(['payment.received', 'esim.purchased', 'esim.purchased']);
  });

  it('sends each event once, however often the gateway is checked', async () => {
    const payer = await books.payer();
    await listen(payer);
    for (let check = 0; check < 3; check += 1) await books.bookCheck(payer, paid());
    expect(await eventsFor(payer)).toHaveLength(2);
  });

  it('sends an event for each payment', async () => {
    const payer = await books.payer();
    await listen(payer, { events: ['payment.received'] });
    await books.bookCheck(payer, paid());
    await books.bookCheck(payer, paid(CHARGE_MINOR + 500n));
    expect((await eventsFor(payer)).toSorted()).toEqual([
      'payment.received: 20000 NGN',
      'payment.received: 5 NGN',
    ]);
  });

  it('sends only FAILED if it was paid short, with the event of the payment', async () => {
    const payer = await books.payer();
    await listen(payer);
    await books.bookCheck(payer, paid(100n));
    expect((await eventsFor(payer)).toSorted()).toEqual([
      'esim.purchased: FAILED',
      'payment.received: 1 NGN',
    ]);
    expect(await fedTo(payer)).toEqual(['payment.received', 'esim.purchased']);
  });

  it('sends nothing for a check that finds nothing', async () => {
    const payer = await books.payer();
    await listen(payer);
    await books.bookCheck(payer, { state: 'other', netMinor: 0n });
    expect(await eventsFor(payer)).toEqual([]);
  });
});

describe('a funding', () => {
  it('sends the event of its payment, and none of a purchase', async () => {
    const payer = await books.payer({ purpose: 'funding' });
    await listen(payer);
    await books.bookCheck(payer, paid());
    expect(await eventsFor(payer)).toEqual(['payment.received: 20000 NGN']);
  });
});

describe('a refund', () => {
  async function due(): Promise<{
    payer: Payer;
    refund: Awaited<ReturnType<typeof findOpenRefunds>>[number];
  }> {
    const payer = await books.payer();
    await books.bookCheck(payer, paid());
    await listen(payer, { events: ['payment.refunded'] });
    await failPurchase(books.world, payer.transactionId, OUT_OF_STOCK);
    const [refund] = await findOpenRefunds(books.world, payer.transactionId);
    return { payer, refund: refund! };
  }

  it('sends its event when the gateway has sent the money, once', async () => {
    const { payer, refund } = await due();
    expect(await eventsFor(payer)).toEqual([]);
    const at = { refundId: '1', gatewayStatus: 'processed' };
    expect(await closeRefundDone(books.world, refund, at)).toBe(true);
    expect(await closeRefundDone(books.world, refund, at)).toBe(false);
    expect(await messagesOf(books.owner, payer.accountId)).toMatchObject([
      {
        key: `payment.refunded:${refund.refund_key}`,
        subject: payer.transactionId,
        body: {
          data: {
            transactionId: payer.transactionId,
            gatewayReference: payer.reference,
            reference: '',
            amount: 20_000,
            currency: 'NGN',
            refundedTo: 'SOURCE',
          },
        },
      },
    ]);
  });

  it('that is credited while the purchase fails sends its event with the failure', async () => {
    const payer = await books.payer();
    await books.bookCheck(payer, paid());
    await listen(payer, { events: ['esim.purchased', 'payment.refunded'] });
    await books.world
      .transaction()
      .execute((trx) => failPurchaseIn(trx, payer.transactionId, OUT_OF_STOCK, { to: 'wallet' }));
    expect((await eventsFor(payer)).toSorted()).toEqual([
      'esim.purchased: FAILED',
      'payment.refunded: 20000 NGN',
    ]);
  });

  it('out of the wallet that leaves a low balance sends that event too, in the transaction of the action', async () => {
    const payer = await books.payer({ purpose: 'funding' });
    await books.bookCheck(payer, paid());
    await listen(payer, { events: ['wallet.low_balance'] });
    const wallet = { accountId: payer.accountId, currency: 'USD' } as const;
    await setLowBalance(books.world, wallet, 1_000n, NOW);
    const { transactionId } = payer;
    const action = async (amountMinor: bigint) => {
      const actionId = await beginRefundAction(transactionId, amountMinor);
      const { outcome } = await carryOutAction(books.world, actionId, NOW);
      for (const refund of await findOpenRefunds(books.world, transactionId))
        await closeRefundDone(books.world, refund, { refundId: '1', gatewayStatus: 'processed' });
      return { outcome, actionId };
    };
    // NGN 1,600.00 are USD 1.00 at the locked rate.
    expect(await action(160_000n)).toMatchObject({ outcome: 'done' });
    expect(await eventsFor(payer)).toEqual([]);
    const crossing = await action(320_000n);
    expect(crossing).toMatchObject({ outcome: 'done' });
    expect(await messagesOf(books.owner, payer.accountId)).toMatchObject([
      {
        key: `wallet.low_balance:${crossing.actionId}`,
        subject: payer.transactionId,
        body: { data: { balance: 9.5, threshold: 10, currency: 'USD' } },
      },
    ]);
    // More than is left: refused, without an event. Less: the balance was low before.
    expect(await action(2_000_000n)).toMatchObject({ outcome: 'refused' });
    expect(await action(160_000n)).toMatchObject({ outcome: 'done' });
    expect(await eventsFor(payer)).toHaveLength(1);
  });

  it.each([
    ['that both would cross it alone', 160_000n, 2_450n, 1],
    ['that only both together cross it', 160_000n, 2_350n, 1],
    ['that leave enough', 160_000n, 2_000n, 0],
  ])(
    'two out of the wallet at once, %s: the low balance event is sent as often as the threshold is crossed',
    async (_how, amountMinor, thresholdMinor, messages) => {
      const accountId = `acc-${randomUUID()}`;
      const payers = [
        await books.payer({ purpose: 'funding', accountId }),
        await books.payer({ purpose: 'funding', accountId }),
      ];
      for (const payer of payers) await books.bookCheck(payer, paid());
      await listen(payers[0]!, { events: ['wallet.low_balance'] });
      await setLowBalance(books.world, { accountId, currency: 'USD' }, thresholdMinor, NOW);
      const wallet = await books.owner.startTransaction().execute();
      await wallet
        .selectFrom('wallets')
        .select('account_id')
        .where('account_id', '=', accountId)
        .forUpdate()
        .execute();
      const actions = await Promise.all(
        payers.map(({ transactionId }) => beginRefundAction(transactionId, amountMinor)),
      );
      const made = actions.map((actionId) => carryOutAction(books.world, actionId, NOW));
      await untilStatementWaits(books.owner, 2);
      await wallet.rollback().execute();
      for (const { outcome } of await Promise.all(made)) expect(outcome).toBe('done');
      expect(await messagesOf(books.owner, accountId)).toHaveLength(messages);
      for (const { transactionId } of payers)
        for (const refund of await findOpenRefunds(books.world, transactionId))
          await closeRefundDone(books.world, refund, { refundId: '1', gatewayStatus: 'processed' });
    },
  );

  it('sends its event as credited to the wallet when the gateway cannot send it', async () => {
    const { payer, refund } = await due();
    expect(await creditRefund(books.world, refund, await books.payment(payer))).toBe(true);
    expect(await messagesOf(books.owner, payer.accountId)).toMatchObject([
      { body: { data: { amount: 20_000, currency: 'NGN', refundedTo: 'WALLET' } } },
    ]);
  });
});

/** An operator's refund out of the wallet, begun. */
async function beginRefundAction(transactionId: string, amountMinor: bigint): Promise<string> {
  const actionId = `action-${randomUUID().replaceAll('-', '')}`;
  const amount = { amountMinor: String(amountMinor), currency: 'NGN' };
  const who = { by: 'ada', reason: 'a test of it' };
  const request = {
    actionId,
    transactionId,
    action: 'refund-to-source',
    actionKey: actionId,
    ...who,
    ...amount,
  };
  await askForAction(books.world, request as ActionRequest, { limits: NO_LIMITS, now: NOW });
  await nextAction(books.world, request.transactionId);
  return actionId;
}
