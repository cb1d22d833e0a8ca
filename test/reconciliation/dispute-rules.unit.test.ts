/** Our disputes compared with the gateway's: every pair of states. */
import { describe, expect, it } from 'vitest';
import type { GatewayDispute } from '../../src/payments/port.ts';
import { compareDisputes, type OurDispute } from '../../src/reconciliation/payment-rules.ts';

const AT = new Date('2026-03-01T10:00:00.000Z');
const rules = { settledBefore: new Date('2026-03-01T12:00:00.000Z'), fees: {} };
const payment = { reference: 'txn-1', transactionId: 'txn-1', currency: 'NGN', heldMinor: 100n };
const ours = (given: Partial<OurDispute> = {}): OurDispute => ({
  disputeId: '1',
  outcome: null,
  isSettled: (given.outcome ?? null) !== null,
  lastMovedAt: AT,
  ...given,
});
const theirs = (given: Partial<GatewayDispute> = {}): GatewayDispute => ({
  disputeId: '1',
  state: 'open',
  gatewayStatus: 'a word',
  amount: null,
  openedAt: AT,
  ...given,
});
const kindsOf = (own: readonly OurDispute[], other: readonly GatewayDispute[], held = payment) =>
  compareDisputes(held, own, other, rules).flatMap(({ differences }) => differences.map(({ kind }) => kind));

describe('a dispute', () => {
  it.each([
    ['open on both sides', ours(), theirs(), []],
    ['won on both sides', ours({ outcome: 'WON' }), theirs({ state: 'won' }), []],
    ['lost on both sides', ours({ outcome: 'LOST' }), theirs({ state: 'lost' }), []],
    ['settled by us, open there', ours({ outcome: 'WON' }), theirs(), ['dispute-differs']],
    ['won by us, lost there', ours({ outcome: 'WON' }), theirs({ state: 'lost' }), ['dispute-differs']],
    ['open here, over there', ours(), theirs({ state: 'lost' }), ['dispute-differs']],
    ['settled long ago without an outcome', ours({ isSettled: true }), theirs({ state: 'won' }), []],
    ['settled long ago, open there', ours({ isSettled: true }), theirs(), ['dispute-differs']],
    ['only theirs', undefined, theirs(), ['dispute-missing-in-ledger']],
    ['only ours', ours(), undefined, ['dispute-missing-at-gateway']],
  ])('is compared: %s', (_name, own, other, kinds) => {
    expect(kindsOf(own ? [own] : [], other ? [other] : [])).toEqual(kinds);
  });

  it('of a payment that brought nothing has no amount', () => {
    expect(kindsOf([], [theirs()], { ...payment, heldMinor: 0n })).toEqual([]);
  });

  it('is compared separately from another of the same payment', () => {
    const both = [theirs({ state: 'won' }), theirs({ disputeId: '2' })];
    expect(kindsOf([ours({ outcome: 'WON' })], both)).toEqual(['dispute-missing-in-ledger']);
    expect(kindsOf([ours({ outcome: 'WON' }), ours({ disputeId: '2' })], both)).toEqual([]);
  });

  it('that changed a moment ago is undecided', () => {
    const young = ours({ outcome: 'WON', lastMovedAt: new Date('2026-03-01T12:30:00.000Z') });
    expect(compareDisputes(payment, [young], [theirs()], rules)).toMatchObject([{ isUndecided: true }]);
  });
});
