// The whole table of which operator actions a purchase allows: every state with every action, and what
// evidence and goodwill change. The tables here are written by hand and match docs/OPERATIONS.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  ACTION_REFUSALS,
  availableActions,
  situationOf,
  refusalFor,
  requestRefusal,
  type ActionFacts,
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
};

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

describe('docs/OPERATIONS.md', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'OPERATIONS.md'), 'utf8');
  const actions = page.slice(page.indexOf('### Operator actions'), page.indexOf('### The command line'));
  it.each(ACTION_REFUSALS)('explains %s', (word) => {
    expect(actions).toContain(`\`${word}\``);
  });
});
