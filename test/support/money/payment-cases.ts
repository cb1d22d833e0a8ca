// The matrix of promise M7: everything that can happen to a payment, in every order in which the service may
// learn of it. Each case says what happens at the gateway and how it must end: the state, the ledger's
// entries and the wallet.
import { expect } from 'vitest';
import type { AccountCurrency } from '../../../src/domain/money.ts';
import { closeUnpaid } from '../../../src/purchases/store/purchases.ts';
import {
  expectEnd,
  learn,
  stateOf,
  sendEvents,
  untilState,
  type End,
  type CasePayer,
  type Order,
} from './case-payer.ts';
import { createSemaphore } from '../time/concurrency.ts';
import { buyThroughGatewayOnce, endRefund, eventsOf, untilRefundAsked } from './payers.ts';
import { atGateway, chargeAt, confirm } from './payments.ts';
import type { Random } from '../time/size.ts';
import type { Stack } from '../world/stack.ts';
import { until } from '../time/until.ts';
import type { GatewayMethod } from '../../../src/domain/states.ts';

export interface PaymentCase {
  readonly name: string;
  /** Any method and currency if it names none. */
  readonly buys?: { readonly methods?: readonly GatewayMethod[]; readonly packageCode?: string };
  readonly play: (payer: CasePayer) => Promise<End>;
}

/** How long a page or a bank account accepts money in these tests. */
export const TAKES_MONEY_MS = 20_000;
const HOSTED: readonly GatewayMethod[] = ['CARD', 'APPLE_PAY', 'MOBILE_MONEY'];
const ALL: readonly GatewayMethod[] = [...HOSTED, 'BANK_TRANSFER'];

const share = (payer: CasePayer, percent: number): number => Math.trunc((payer.chargeMinor * percent) / 100);
const pay = (payer: CasePayer, body?: object) => atGateway(payer.stack, payer.bought.reference, 'pay', body);
const reverse = (payer: CasePayer) => atGateway(payer.stack, payer.bought.reference, 'reverse');
const DELIVERED = {
  state: 'SUCCESS',
  ledger: ['payment-received', 'post'],
  timelineHas: 'delivered',
} as const;

export const CASES: readonly PaymentCase[] = [
  {
    name: 'paid less',
    play: async (payer) => {
      const amountMinor = share(payer, 1 + payer.random.below(99));
      await pay(payer, { amountMinor });
      await learn(payer);
      return {
        state: 'FAILED, PAYMENT_UNDERPAID',
        ledger: ['payment-received-short'],
        creditedMinor: amountMinor,
        timelineHas: 'payment-received-short',
      };
    },
  },
  {
    name: 'paid more',
    play: async (payer) => {
      const moreMinor = share(payer, 1 + payer.random.below(100));
      await pay(payer, { amountMinor: payer.chargeMinor + moreMinor, feesMinor: 0 });
      await learn(payer);
      return {
        ...DELIVERED,
        ledger: ['payment-received-over', 'post'],
        creditedMinor: moreMinor,
        timelineHas: 'payment-received-over',
      };
    },
  },
  {
    name: 'paid in another currency',
    play: async (payer) => {
      const currency = payer.chargeCurrency === 'USD' ? 'NGN' : 'USD';
      await pay(payer, { amountMinor: payer.chargeMinor, currency });
      await learn(payer);
      await endRefund(payer.stack, payer.bought.reference, 'process');
      return {
        state: 'FAILED, PAYMENT_WRONG_CURRENCY',
        ledger: ['payment-received-in-other-currency', 'refund'],
        timelineHas: 'refunded',
        refund: 'DONE',
      };
    },
  },
  {
    name: 'paid with fees on top',
    play: async (payer) => {
      await pay(payer, { feesMinor: Math.max(1, share(payer, 1 + payer.random.below(10))) });
      await learn(payer);
      return DELIVERED;
    },
  },
  {
    name: 'late after abandoning',
    buys: { methods: HOSTED },
    play: async (payer) => {
      await atGateway(payer.stack, payer.bought.reference, 'abandon');
      if (payer.random.below(2) === 0) await confirm(payer.stack, payer.account, payer.bought.transactionId);
      expect(await stateOf(payer)).toBe('PENDING');
      await pay(payer);
      await learn(payer);
      return DELIVERED;
    },
  },
  {
    name: 'late after expiry',
    play: async (payer) => {
      await untilState(payer, 'FAILED, PAYMENT_EXPIRED');
      await pay(payer);
      await learn(payer);
      return late(payer, 'PAYMENT_EXPIRED');
    },
  },
  {
    name: 'late after cancelling',
    play: async (payer) => {
      const { stack, bought } = payer;
      expect(await closeUnpaid(stack.world, bought.transactionId, 'PAYMENT_NOT_OPENED')).toBe('closed');
      await pay(payer);
      await learn(payer);
      return late(payer, 'PAYMENT_NOT_OPENED');
    },
  },
  {
    name: 'paid twice, the second time later',
    play: async (payer) => {
      await pay(payer);
      await learn(payer);
      await untilState(payer, 'SUCCESS');
      await pay(payer);
      await learn(payer);
      return {
        ...DELIVERED,
        ledger: ['payment-received', 'post', 'payment-received-again'],
        creditedMinor: payer.chargeMinor,
        timelineHas: 'payment-received-again',
      };
    },
  },
  {
    name: 'paid twice at once',
    play: async (payer) => {
      await pay(payer, { times: 2 });
      await learn(payer);
      return {
        ...DELIVERED,
        ledger: ['payment-received-over', 'post'],
        creditedMinor: payer.chargeMinor,
        timelineHas: 'payment-received-over',
      };
    },
  },
  {
    name: 'transfer returned by the gateway itself',
    buys: { methods: ['BANK_TRANSFER'], packageCode: 'SIM-PAY-RETURNED' },
    play: async (payer) => {
      await until(
        () => eventsOf(payer.stack, payer.bought.reference),
        (events) => events.length > 0,
        { what: 'the transfer sent back' },
      );
      await learn(payer);
      return {
        state: 'FAILED, PAYMENT_EXPIRED',
        // It was never ours: the gateway has it in no statement either.
        ledger: [],
        // Only the event says so: a check of the charge does not.
        timelineHas: payer.order === 'event first' ? 'transfer-returned-by-the-bank' : 'failed',
      };
    },
  },
  {
    name: 'reversed before it was seen',
    play: async (payer) => {
      await pay(payer);
      await reverse(payer);
      await learn(payer);
      return {
        state: 'FAILED, PAYMENT_REVERSED',
        ledger: ['payment-reversed'],
        timelineHas: 'payment-reversed',
        attention: 'none',
      };
    },
  },
  {
    name: 'late, and reversed before it was seen',
    play: async (payer) => {
      await untilState(payer, 'FAILED, PAYMENT_EXPIRED');
      await pay(payer);
      await reverse(payer);
      // Without an event or a confirmation it is never seen: the money came and went, and no list of paid
      // charges has it.
      if (payer.order === 'poll only')
        return { state: 'FAILED, PAYMENT_EXPIRED', ledger: [], timelineHas: 'failed', attention: 'none' };
      await learn(payer);
      return {
        state: 'FAILED, PAYMENT_EXPIRED',
        ledger: ['payment-reversed'],
        timelineHas: 'payment-reversed',
        attention: 'none',
      };
    },
  },
  {
    name: 'reversed after delivery',
    play: async (payer) => {
      await pay(payer);
      await learn(payer);
      await untilState(payer, 'SUCCESS');
      await reverse(payer);
      await learn(payer);
      return {
        ...DELIVERED,
        ledger: ['payment-received', 'post', 'payment-reversed'],
        timelineHas: 'payment-reversed',
        attention: 'PAYMENT_REVERSED',
      };
    },
  },
  {
    name: 'disputed',
    play: async (payer) => {
      await pay(payer);
      await learn(payer);
      await untilState(payer, 'SUCCESS');
      await atGateway(payer.stack, payer.bought.reference, 'dispute');
      // Only its event reports a dispute.
      await sendEvents(payer);
      return {
        ...DELIVERED,
        ledger: ['payment-received', 'post', 'disputed'],
        timelineHas: 'payment-disputed',
        attention: 'PAYMENT_DISPUTED',
      };
    },
  },
  undelivered('refund failed', 'fail', (payer) => ({
    ledger: ['refund-credited'],
    creditedMinor: payer.chargeMinor,
    timelineHas: 'refund-credited-to-wallet',
    refund: 'CREDITED',
  })),
  {
    name: 'reversed while its refund is on its way',
    buys: { packageCode: 'SIM-OUT-OF-STOCK' },
    play: async (payer) => {
      await pay(payer);
      await learn(payer);
      await untilRefundAsked(payer.stack, payer.bought.reference);
      await reverse(payer);
      // The gateway has nothing left to send.
      await endRefund(payer.stack, payer.bought.reference, 'process');
      if (payer.order !== 'poll only') await learn(payer);
      return {
        state: 'FAILED, PACKAGE_UNAVAILABLE',
        ledger: ['payment-received', 'void', 'payment-reversed'],
        timelineHas: 'payment-reversed',
        refund: 'TAKEN_BACK',
        attention: 'none',
      };
    },
  },
  undelivered('refund needs attention', 'needs-attention', () => ({
    ledger: [],
    timelineHas: 'refund-blocked',
    refund: 'NEEDS_ATTENTION',
    attention: 'REFUND_NEEDS_ATTENTION',
  })),
  undelivered('paid while delivery is refused', 'process', () => ({
    ledger: ['refund'],
    timelineHas: 'refunded',
    refund: 'DONE',
  })),
];

/** Paid, refused by the supplier, and its refund ends so at the gateway. */
function undelivered(
  name: string,
  refund: Parameters<typeof endRefund>[2],
  end: (payer: CasePayer) => Omit<End, 'state'>,
): PaymentCase {
  const play = async (payer: CasePayer): Promise<End> => {
    await pay(payer);
    await learn(payer);
    await endRefund(payer.stack, payer.bought.reference, refund);
    const { ledger, ...more } = end(payer);
    return { state: 'FAILED, PACKAGE_UNAVAILABLE', ledger: ['payment-received', 'void', ...ledger], ...more };
  };
  return { name, buys: { packageCode: 'SIM-OUT-OF-STOCK' }, play };
}

function late({ chargeMinor }: CasePayer, reason: string): End {
  return {
    state: `FAILED, ${reason}`,
    ledger: ['payment-received-late'],
    creditedMinor: chargeMinor,
    timelineHas: 'payment-received-late',
  };
}

/** Buyers who open a payment at one time: more would test the load and not the cases. */
const opening = createSemaphore(6);

/** Runs one case to its end, on its own account. */
export async function playCase(stack: Stack, odd: PaymentCase, order: Order, random: Random): Promise<void> {
  const currency: AccountCurrency = random.pick(['USD', 'NGN'] as const);
  const method = random.pick(odd.buys?.methods ?? ALL);
  const packageCode = odd.buys?.packageCode === undefined ? {} : { packageCode: odd.buys.packageCode };
  const { account, bought, requested } = await opening(async () => {
    const buyer = await stack.account({ fundsMinor: 0n, currency });
    const paid = await buyThroughGatewayOnce(stack, buyer, { method, ...packageCode });
    expect([paid.answer.status, paid.answer.body.status], paid.answer.text).toEqual([201, 'PENDING']);
    const charge = await until(
      () => chargeAt(stack, paid.reference),
      (held) => 'requested' in held,
      { what: 'the charge at the gateway' },
    );
    return { account: buyer, bought: paid, requested: charge.requested };
  });
  const payer: CasePayer = {
    stack,
    account,
    order,
    random,
    bought,
    chargeMinor: requested.amountMinor,
    chargeCurrency: requested.currency,
  };
  await expectEnd(payer, await odd.play(payer));
}
