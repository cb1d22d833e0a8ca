// The whole table of which operator actions a purchase allows: every state with every action, and what
// evidence and goodwill change; how much money each moves, and when a second person is needed. The tables
// here are written by hand and match docs/OPERATIONS.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Money } from '../../src/domain/money.ts';
import {
  ACTION_REFUSALS,
  amountOf,
  availableActions,
  isAboveLimits,
  situationOf,
  refusalFor,
  requestRefusal,
  worthMoved,
  worthOf,
  type ActionFacts,
  type ActionMoney,
} from '../../src/operations/rules.ts';
import { isSamePerson } from '../../src/accounts/operators/two-person-rules.ts';
import {
  actionsThat,
  OPERATOR_ACTIONS,
  PURCHASE_SITUATIONS,
  type OperatorAction,
} from '../../src/accounts/operators/action-table.ts';

/** A purchase from the wallet, with all other facts at their defaults. */
const WALLET: ActionFacts = {
  purpose: 'purchase',
  status: 'PROCESSING',
  isThroughGateway: false,
  isDelivered: false,
  holdsMoney: true,
  openRefund: null,
  inWallet: null,
  earned: null,
  isUnpaid: false,
  hasDispute: false,
  isLeftOpen: false,
};
const CARD: ActionFacts = { ...WALLET, isThroughGateway: true };
const PENDING: ActionFacts = { ...CARD, status: 'PENDING', holdsMoney: false, isUnpaid: true };
const DELIVERED: ActionFacts = {
  ...WALLET,
  status: 'SUCCESS',
  isDelivered: true,
  holdsMoney: false,
  earned: { amountMinor: 230n, currency: 'USD' },
};
const FAILED: ActionFacts = { ...WALLET, status: 'FAILED', holdsMoney: false };
const FAILED_CARD: ActionFacts = { ...FAILED, isThroughGateway: true };
const DISPUTED: ActionFacts = { ...DELIVERED, isThroughGateway: true, hasDispute: true };
const WAITING_REFUND: ActionFacts = { ...FAILED_CARD, openRefund: 'waits' };
const money = { amountMinor: 230n, currency: 'USD' };

/** A short word for each action. */
const SHORT: Record<string, OperatorAction> = {
  gateway: 'check-gateway',
  supplier: 'check-supplier',
  retry: 'retry-delivery',
  other: 'deliver-other',
  paid: 'mark-paid',
  refund: 'refund-to-source',
  credit: 'credit-wallet',
  cancel: 'cancel',
  settle: 'settle-dispute',
  grant: 'grant-return',
  refuse: 'refuse-return',
  replace: 'grant-replacement',
  keep: 'refuse-replacement',
};

const REPLACING = { ...money, replacementId: 'replacement-1', isDelivered: false };

/** A return that a person decides, once no cancellation can arrive any more. */
const REVIEW = { ...money, returnId: 'return-1', mayStillBeCancelled: false };

/** The state, and what it allows. `*`: only with evidence, or as goodwill. */
const TABLE: readonly (readonly [string, ActionFacts, string])[] = [
  ['waiting for money', PENDING, 'gateway paid* cancel'],
  ['a funding waiting for money', { ...PENDING, purpose: 'funding' }, 'gateway paid* cancel'],
  ['being delivered, paid from the wallet', WALLET, 'supplier retry other credit cancel'],
  ['being delivered, paid through the gateway', CARD, 'gateway supplier retry other refund credit cancel'],
  [
    'being delivered, disputed or taken back',
    { ...CARD, hasDispute: true },
    'gateway supplier retry cancel settle*',
  ],
  ['delivered, not settled', { ...WALLET, isDelivered: true }, 'supplier retry'],
  ['the same through the gateway', { ...CARD, isDelivered: true }, 'gateway supplier retry'],
  ['delivered', DELIVERED, 'supplier credit*'],
  ['a return in review', { ...DELIVERED, inReview: REVIEW }, 'supplier credit* grant* refuse'],
  [
    'a return in review whose cancellation may still arrive',
    { ...DELIVERED, inReview: { ...REVIEW, mayStillBeCancelled: true } },
    'supplier credit* grant*',
  ],
  ['a replacement in review', { ...DELIVERED, replacement: REPLACING }, 'supplier credit* replace* keep'],
  [
    'a replacement whose new eSIM is delivered',
    { ...DELIVERED, replacement: { ...REPLACING, isDelivered: true } },
    'supplier credit* replace*',
  ],
  [
    'a replacement of what is disputed',
    { ...DISPUTED, replacement: REPLACING },
    'gateway supplier settle* keep',
  ],
  [
    'delivered, through the gateway',
    { ...DELIVERED, isThroughGateway: true },
    'gateway supplier refund* credit*',
  ],
  [
    'delivered, paid more than asked',
    { ...DELIVERED, isThroughGateway: true, inWallet: money },
    'gateway supplier refund credit*',
  ],
  ['delivered, all of it refunded', { ...DELIVERED, earned: null }, 'supplier'],
  ['delivered, its money still on hold', { ...DELIVERED, earned: null, holdsMoney: true }, 'supplier retry'],
  [
    'delivered, its money still on hold, disputed',
    { ...DISPUTED, earned: null, holdsMoney: true },
    'gateway supplier retry settle*',
  ],
  [
    'delivered, disputed',
    { ...DELIVERED, isThroughGateway: true, hasDispute: true },
    'gateway supplier settle*',
  ],
  ['ended, from the wallet', FAILED, 'supplier'],
  ['ended, its money still on hold', { ...FAILED, holdsMoney: true }, 'supplier cancel'],
  [
    'ended, its money still on hold, disputed',
    { ...FAILED_CARD, holdsMoney: true, hasDispute: true },
    'gateway supplier cancel settle*',
  ],
  ['ended unpaid', { ...FAILED_CARD, isUnpaid: true }, 'gateway supplier paid*'],
  [
    'ended unpaid, left open by the gateway',
    { ...FAILED_CARD, isUnpaid: true, isLeftOpen: true },
    'gateway supplier paid* cancel',
  ],
  ['ended, the money credited', { ...FAILED_CARD, inWallet: money }, 'gateway supplier refund'],
  ['ended, a refund due', { ...FAILED_CARD, openRefund: 'due' }, 'gateway supplier refund credit'],
  ['ended, a refund in progress', { ...FAILED_CARD, openRefund: 'on-its-way' }, 'gateway supplier refund'],
  [
    'ended, a refund that waits for the buyer',
    { ...FAILED_CARD, openRefund: 'waits' },
    'gateway supplier refund* credit*',
  ],
  [
    'ended, a refund that the gateway will not send',
    { ...FAILED_CARD, openRefund: 'stuck' },
    'gateway supplier refund credit*',
  ],
  [
    'ended, reversed by the bank',
    { ...FAILED_CARD, hasDispute: true, inWallet: money },
    'gateway supplier settle*',
  ],
  [
    'a funding in the wallet',
    { ...FAILED_CARD, purpose: 'funding', status: 'SUCCESS', inWallet: money },
    'gateway refund',
  ],
];

const named = (words: string): OperatorAction[] => {
  const actions = words.split(' ').map((word) => SHORT[word]);
  return OPERATOR_ACTIONS.filter((action) => actions.includes(action));
};
const BARE = { isGoodwill: false, hasEvidence: false };

describe('the allowed actions', () => {
  it.each(TABLE)('%s', (_name, facts, words) => {
    expect(availableActions(facts)).toEqual(named(words.replaceAll('*', '')));
    expect(OPERATOR_ACTIONS.filter((action) => refusalFor(action, facts, BARE) === undefined)).toEqual(
      named(words),
    );
  });

  it('are checks only, without a limit on repeats, while nothing is decided', () => {
    expect(actionsThat('isCheck')).toEqual(['check-gateway', 'check-supplier', 'retry-delivery']);
  });

  it('are shown for every situation and every action', () => {
    const allowed = new Set(TABLE.flatMap(([, facts]) => availableActions(facts)));
    expect(allowed).toEqual(new Set(OPERATOR_ACTIONS));
    expect(new Set(TABLE.map(([, facts]) => situationOf(facts)))).toEqual(new Set(PURCHASE_SITUATIONS));
  });

  it('never become fewer with evidence or goodwill', () => {
    for (const [, facts] of TABLE)
      for (const action of OPERATOR_ACTIONS)
        for (const terms of [BARE, { ...BARE, hasEvidence: true }, { ...BARE, isGoodwill: true }])
          if (refusalFor(action, facts, terms) === undefined)
            expect(availableActions(facts)).toContain(action);
  });
});

describe('a refusal', () => {
  it.each<[string, OperatorAction, ActionFacts, string]>([
    ['cancelling what is delivered', 'cancel', DELIVERED, 'ALREADY_DELIVERED'],
    ['delivering it again', 'deliver-other', DELIVERED, 'ALREADY_DELIVERED'],
    ['retrying it', 'retry-delivery', DELIVERED, 'ALREADY_DELIVERED'],
    ['refunding it without goodwill', 'credit-wallet', DELIVERED, 'ALREADY_DELIVERED'],
    ['refunding it twice', 'credit-wallet', { ...DELIVERED, earned: null }, 'NOTHING_TO_RETURN'],
    [
      'refunding an unpaid purchase',
      'refund-to-source',
      { ...FAILED_CARD, isUnpaid: true },
      'NOTHING_TO_RETURN',
    ],
    ['refunding the wallet to a source', 'refund-to-source', WALLET, 'DOES_NOT_FIT'],
    ['marking a paid purchase as paid', 'mark-paid', CARD, 'DOES_NOT_FIT'],
    ['marking as paid without evidence', 'mark-paid', PENDING, 'EVIDENCE_NEEDED'],
    [
      'crediting a refund in progress',
      'credit-wallet',
      { ...FAILED_CARD, openRefund: 'on-its-way' },
      'REFUND_ON_ITS_WAY',
    ],
    ['checking the wallet’s money at the gateway', 'check-gateway', WALLET, 'DOES_NOT_FIT'],
    ['delivering a package for a funding', 'deliver-other', { ...CARD, purpose: 'funding' }, 'DOES_NOT_FIT'],
    ['marking as paid when the money has come', 'mark-paid', { ...PENDING, isUnpaid: false }, 'DOES_NOT_FIT'],
    ['marking a delivered purchase as paid', 'mark-paid', DELIVERED, 'DOES_NOT_FIT'],
    ['cancelling what has ended', 'cancel', FAILED, 'DOES_NOT_FIT'],
    ['cancelling what is only to be settled', 'cancel', { ...CARD, isDelivered: true }, 'DOES_NOT_FIT'],
    ['settling without a dispute', 'settle-dispute', DELIVERED, 'DOES_NOT_FIT'],
    ['refunding what a bank may take back', 'refund-to-source', DISPUTED, 'DOES_NOT_FIT'],
    ['crediting what a bank may take back', 'credit-wallet', DISPUTED, 'DOES_NOT_FIT'],
    ['refunding while the refund waits for the buyer', 'refund-to-source', WAITING_REFUND, 'EVIDENCE_NEEDED'],
    ['crediting while the refund waits for the buyer', 'credit-wallet', WAITING_REFUND, 'EVIDENCE_NEEDED'],
    ['settling without evidence', 'settle-dispute', { ...DELIVERED, hasDispute: true }, 'EVIDENCE_NEEDED'],
  ])('%s', (_name, action, facts, refusal) => {
    expect(refusalFor(action, facts, BARE)).toBe(refusal);
  });

  it('never affects a delivery attempt while the delivery is open, whether or not its money is on hold', () => {
    expect(refusalFor('retry-delivery', { ...CARD, holdsMoney: false }, BARE)).toBeUndefined();
  });
});

describe('the rest of a request', () => {
  const action = { action: 'cancel', by: 'ada', reason: 'as the buyer asked' } as const;
  it.each([
    [{}, undefined],
    [{ by: '' }, 'PERSON_NEEDED'],
    [{ by: ' \t' }, 'PERSON_NEEDED'],
    [{ by: 'x'.repeat(201) }, 'PERSON_NEEDED'],
    [{ reason: 'ok' }, 'REASON_NEEDED'],
    [{ reason: '   ' }, 'REASON_NEEDED'],
    [{ reason: 'why' }, undefined],
    [{ reason: 'x'.repeat(500) }, undefined],
    [{ reason: 'x'.repeat(501) }, 'REASON_NEEDED'],
    [{ evidence: 'no' }, 'EVIDENCE_NEEDED'],
    [{ evidence: 'x'.repeat(501) }, 'EVIDENCE_NEEDED'],
    [{ action: 'mark-paid' }, 'EVIDENCE_NEEDED'],
    [{ action: 'mark-paid', evidence: 'statement 12, line 4' }, undefined],
    [{ action: 'settle-dispute' }, 'EVIDENCE_NEEDED'],
    [{ action: 'settle-dispute', evidence: 'ticket 1' }, 'OUTCOME_NEEDED'],
    [{ action: 'settle-dispute', evidence: 'ticket 1', outcome: 'lost' }, undefined],
  ] as const)('%j', (said, refusal) => {
    expect(requestRefusal({ ...action, ...said })).toBe(refusal);
  });

  it('names a person, in whatever case and spacing it is typed', () => {
    expect(isSamePerson('Ada Obi', '  ada   obi ')).toBe(true);
    expect(isSamePerson('Ａｄａ', 'ada')).toBe(true);
    expect(isSamePerson('ada', 'adaeze')).toBe(false);
    expect(isSamePerson('Ada Obi', 'Adaobi')).toBe(false);
  });
});

const usd = (amountMinor: bigint): Money => ({ amountMinor, currency: 'USD' });
const ngn = (amountMinor: bigint): Money => ({ amountMinor, currency: 'NGN' });

/** Each kind of money has a different amount, so that none can be mistaken for another. */
const MONEY: ActionMoney = {
  price: usd(230n),
  charge: ngn(368_000n),
  openRefund: { amount: ngn(100_000n), credit: usd(62n) },
  inWallet: ngn(48_000n),
  earned: usd(115n),
  earnedAtSource: ngn(184_000n),
};
const NO_REFUND: ActionMoney = { ...MONEY, openRefund: null };

describe('the whole amount', () => {
  it.each<[string, OperatorAction, ActionFacts, ActionMoney, Money | null]>([
    ['a check at the gateway moves nothing', 'check-gateway', FAILED_CARD, MONEY, null],
    ['a check at the supplier moves nothing', 'check-supplier', FAILED_CARD, MONEY, null],
    ['trying to deliver again moves nothing', 'retry-delivery', CARD, MONEY, null],
    ['a dispute is about the price', 'settle-dispute', FAILED_CARD, MONEY, usd(230n)],
    ['another package costs the price', 'deliver-other', CARD, MONEY, usd(230n)],
    ['what is on hold is the price', 'cancel', CARD, MONEY, usd(230n)],
    ['nothing is on hold', 'cancel', FAILED_CARD, MONEY, null],
    ['paid is what was charged', 'mark-paid', FAILED_CARD, MONEY, ngn(368_000n)],
    ['before delivery the charge goes back', 'refund-to-source', CARD, MONEY, ngn(368_000n)],
    ['an open refund goes back before anything else', 'refund-to-source', FAILED_CARD, MONEY, ngn(100_000n)],
    ['then what is in the wallet', 'refund-to-source', FAILED_CARD, NO_REFUND, ngn(48_000n)],
    [
      'then what was earned',
      'refund-to-source',
      FAILED_CARD,
      { ...NO_REFUND, inWallet: null },
      ngn(184_000n),
    ],
    ['before delivery the price is credited', 'credit-wallet', CARD, MONEY, usd(230n)],
    ['an open refund is credited at its worth', 'credit-wallet', FAILED_CARD, MONEY, usd(62n)],
    ['then what was earned is credited', 'credit-wallet', FAILED_CARD, NO_REFUND, usd(115n)],
  ])('%s', (_name, action, facts, money, amount) => {
    expect(amountOf(action, facts, money, {})).toEqual({ amount });
  });
});

describe('a requested amount', () => {
  it.each<[string, OperatorAction, ActionFacts, ActionMoney, bigint]>([
    ['a cancellation', 'cancel', CARD, MONEY, 230n],
    ['a payment by hand', 'mark-paid', FAILED_CARD, MONEY, 368_000n],
    ['a refund before delivery', 'refund-to-source', CARD, MONEY, 368_000n],
    ['a credit before delivery', 'credit-wallet', CARD, MONEY, 230n],
  ])('must be the whole amount for %s', (_name, action, facts, money, all) => {
    const asked = (amountMinor: bigint) =>
      amountOf(action, facts, money, { amountMinor: String(amountMinor) });
    expect(asked(all)).toMatchObject({ amount: { amountMinor: all } });
    expect(asked(all - 1n)).toEqual({ refusal: 'AMOUNT_NOT_ALLOWED' });
    expect(asked(all + 1n)).toEqual({ refusal: 'AMOUNT_TOO_HIGH' });
  });

  it.each<[OperatorAction, bigint]>([
    ['refund-to-source', 100_000n],
    ['credit-wallet', 62n],
  ])('waits for an open refund, unless %s is about all of it', (action, all) => {
    const asked = (amountMinor: bigint) =>
      amountOf(action, FAILED_CARD, MONEY, { amountMinor: String(amountMinor) });
    expect(asked(all)).toMatchObject({ amount: { amountMinor: all } });
    for (const other of [all - 1n, all + 1n]) expect(asked(other)).toEqual({ refusal: 'REFUND_ON_ITS_WAY' });
  });

  it.each<[string, OperatorAction, ActionMoney, bigint]>([
    ['the wallet', 'refund-to-source', NO_REFUND, 48_000n],
    ['the earned, at the gateway', 'refund-to-source', { ...NO_REFUND, inWallet: null }, 184_000n],
    ['the earned, in the wallet', 'credit-wallet', NO_REFUND, 115n],
  ])('may be a part of what is in %s', (_name, action, money, all) => {
    const asked = (amountMinor: bigint) =>
      amountOf(action, FAILED_CARD, money, { amountMinor: String(amountMinor) });
    expect(asked(1n)).toMatchObject({ amount: { amountMinor: 1n } });
    expect(asked(all)).toMatchObject({ amount: { amountMinor: all } });
    expect(asked(all + 1n)).toEqual({ refusal: 'AMOUNT_TOO_HIGH' });
    expect(asked(0n)).toEqual({ refusal: 'AMOUNT_NOT_ALLOWED' });
  });

  it('is refused when there is no money', () => {
    const none: ActionMoney = {
      ...NO_REFUND,
      charge: null,
      inWallet: null,
      earned: null,
      earnedAtSource: null,
    };
    for (const asked of [{}, { amountMinor: '1' }]) {
      expect(amountOf('mark-paid', FAILED_CARD, none, asked)).toEqual({ refusal: 'NOTHING_TO_RETURN' });
      expect(amountOf('refund-to-source', FAILED_CARD, none, asked)).toEqual({
        refusal: 'NOTHING_TO_RETURN',
      });
      expect(amountOf('credit-wallet', FAILED_CARD, none, asked)).toEqual({ refusal: 'NOTHING_TO_RETURN' });
    }
    const empty = { ...NO_REFUND, earned: usd(0n) };
    expect(amountOf('credit-wallet', FAILED_CARD, empty, {})).toEqual({ refusal: 'NOTHING_TO_RETURN' });
  });

  it('must be in the currency of the money', () => {
    const asked = (currency: string) =>
      amountOf('refund-to-source', FAILED_CARD, NO_REFUND, { amountMinor: '230', currency });
    expect(asked('NGN')).toEqual({ amount: ngn(230n) });
    expect(asked('USD')).toEqual({ refusal: 'OTHER_CURRENCY' });
  });

  it('must be given, in the price’s currency, when no rate was locked', () => {
    const money = { ...MONEY, openRefund: { amount: ngn(100_000n), credit: null } };
    const asked = (amountMinor?: string, currency?: string) =>
      amountOf('credit-wallet', FAILED_CARD, money, { amountMinor, currency });
    expect(asked()).toEqual({ refusal: 'AMOUNT_NEEDED' });
    expect(asked('980', 'USD')).toEqual({ amount: usd(980n) });
    expect(asked('1')).toEqual({ amount: usd(1n) });
    expect(asked('980', 'NGN')).toEqual({ refusal: 'OTHER_CURRENCY' });
    expect(asked('0')).toEqual({ refusal: 'AMOUNT_NOT_ALLOWED' });
    expect(asked('-1')).toEqual({ refusal: 'AMOUNT_NOT_ALLOWED' });
  });

  it('is ignored where nothing moves', () => {
    expect(amountOf('check-supplier', CARD, MONEY, { amountMinor: '1' })).toEqual({ amount: null });
  });
});

describe('a second person', () => {
  const limits = { perAction: { USD: 230n }, perPersonDay: { USD: 500n }, perAccountDay: { USD: 400n } };
  const NOTHING = { byPersonMinor: 0n, onAccountMinor: 0n };
  const needs = (action: OperatorAction, facts: ActionFacts, amount: Money | null): boolean => {
    const worth = worthMoved(action, facts, amount, MONEY);
    return worth !== null && isAboveLimits(worth, NOTHING, limits);
  };

  it('is needed above the limit, counted in the price’s currency at the locked rate', () => {
    expect(worthOf(ngn(184_000n), MONEY)).toEqual(usd(115n));
    expect(needs('credit-wallet', CARD, usd(230n))).toBe(false);
    expect(needs('credit-wallet', CARD, usd(231n))).toBe(true);
    expect(needs('refund-to-source', CARD, ngn(368_000n))).toBe(false);
    expect(needs('refund-to-source', CARD, ngn(370_000n))).toBe(true);
    expect(needs('retry-delivery', CARD, null)).toBe(false);
  });

  it('counts the whole price when the value of the money is unknown', () => {
    expect(worthOf({ amountMinor: 1n, currency: 'EUR' }, MONEY)).toEqual(MONEY.price);
    expect(worthOf(ngn(1n), { ...MONEY, charge: null })).toEqual(MONEY.price);
    expect(worthOf(usd(1n), { ...MONEY, charge: null })).toEqual(usd(1n));
  });

  it('is not needed for a refund that is due anyway', () => {
    const much = ngn(900_000n);
    expect(needs('refund-to-source', { ...FAILED_CARD, openRefund: 'due' }, much)).toBe(false);
    expect(needs('refund-to-source', { ...FAILED_CARD, openRefund: 'on-its-way' }, much)).toBe(false);
    expect(needs('refund-to-source', { ...FAILED_CARD, openRefund: 'waits' }, much)).toBe(true);
    expect(needs('refund-to-source', { ...FAILED_CARD, openRefund: 'stuck' }, much)).toBe(true);
    expect(needs('refund-to-source', FAILED_CARD, much)).toBe(true);
    for (const openRefund of ['due', 'on-its-way'] as const)
      expect(needs('credit-wallet', { ...FAILED_CARD, openRefund }, much)).toBe(true);
  });

  it('is not needed in a currency without a limit', () => {
    const none = { perAction: {}, perPersonDay: {}, perAccountDay: {} };
    expect(isAboveLimits(usd(10n ** 12n), NOTHING, none)).toBe(false);
    expect(isAboveLimits(ngn(10n ** 12n), NOTHING, limits)).toBe(false);
  });

  it.each([
    [400n, 300n, false],
    [401n, 0n, true],
    [0n, 301n, true],
  ])('is needed after %s by the person and %s on the account: %s', (byPersonMinor, onAccountMinor, is) => {
    expect(isAboveLimits(usd(100n), { byPersonMinor, onAccountMinor }, limits)).toBe(is);
  });
});

describe('an action approved as moving no money', () => {
  it.each<[string, OperatorAction, ActionFacts, ReturnType<typeof amountOf>]>([
    ['is refused where it would give back by now', 'cancel', CARD, { refusal: 'AMOUNT_NOT_ALLOWED' }],
    ['goes on where it still moves none', 'cancel', FAILED_CARD, { amount: null }],
    ['goes on if it never moves any', 'check-gateway', CARD, { amount: null }],
    [
      'is refused where we would pay a replacement',
      'grant-replacement',
      { ...DELIVERED, replacement: REPLACING },
      { refusal: 'AMOUNT_NOT_ALLOWED' },
    ],
    [
      'grants a replacement that the account pays',
      'grant-replacement',
      { ...DELIVERED, replacement: { ...REPLACING, amountMinor: 0n } },
      { amount: null },
    ],
    [
      'grants a return of which nothing goes back',
      'grant-return',
      { ...DELIVERED, inReview: { ...REVIEW, amountMinor: 0n } },
      { amount: null },
    ],
    ['keeps its own refusal', 'refund-to-source', FAILED_CARD, { refusal: 'NOTHING_TO_RETURN' }],
  ])('%s', (_what, action, facts, expected) => {
    const money = { ...NO_REFUND, inWallet: null, earnedAtSource: null };
    expect(amountOf(action, facts, money, { movesNoMoney: true })).toEqual(expected);
  });
});

describe('docs/OPERATIONS.md', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'OPERATIONS.md'), 'utf8');
  const actions = page.slice(page.indexOf('### Operator actions'), page.indexOf('### The command line'));
  it.each(ACTION_REFUSALS)('explains %s', (word) => {
    expect(actions).toContain(`\`${word}\``);
  });
});
