/**
 * What every client of a payment gateway must do about charges, for every vendor. Runs on real calls. The
 * first suite only needs an account, so that it can run on a vendor's own test mode; the second suite needs a
 * gateway that the test controls.
 */
import { createFence } from '../../src/platform/fence.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/domain/clock.ts';
import { until } from '../support/time/until.ts';
import { refused } from './outcomes.ts';
import {
  chargeBy,
  foundCharge,
  naira,
  newReference,
  sharedGateway,
  valueOf,
  type ControlledGateway,
  type GatewayUnderTest,
} from './payment-gateway-kit.ts';

/** Both kinds of charges: paid into an account, and on a hosted page. */
const TRANSFER_AND_CARD = ['BANK_TRANSFER', 'CARD'] as const;

/** The suite for an account whose charges are not paid. */
export function describePaymentGateway(name: string, create: () => Promise<GatewayUnderTest>): void {
  describe(name, () => {
    let under: GatewayUnderTest;
    beforeAll(async () => {
      under = await create();
    });
    afterAll(() => under.close());

    it('opens a CARD charge with a page to pay on, whose address it gets once', async () => {
      const request = chargeBy('CARD');
      const instructions = valueOf(await under.gateway.charge(request));
      expect(instructions).toEqual({
        kind: 'redirect',
        paymentUrl: expect.stringMatching(/^https?:\/\//) as unknown,
      });
      expect(await foundCharge(under.gateway, request.reference)).toMatchObject({
        reference: request.reference,
        // The page was not opened yet.
        state: 'abandoned',
        requested: request.amount,
        feesOnTopMinor: 0n,
        paidAt: null,
        gatewayId: expect.stringMatching(/^\d+$/) as unknown,
      });
      expect(await under.gateway.charge(request)).toMatchObject(refused('REFERENCE_TAKEN'));
    });

    it('opens a BANK_TRANSFER charge with an account to pay into', async () => {
      const accountExpiresAt = new Date(Date.now() + HOUR_MS);
      const request = chargeBy('BANK_TRANSFER', { accountExpiresAt });
      const instructions = valueOf(await under.gateway.charge(request));
      expect(instructions).toMatchObject({
        kind: 'bank-transfer',
        bankName: expect.stringMatching(/./) as unknown,
        accountNumber: expect.stringMatching(/^\d+$/) as unknown,
        accountName: expect.stringMatching(/./) as unknown,
      });
      expect((await foundCharge(under.gateway, request.reference)).state).toBe('waiting');
      const again = await under.gateway.charge(request);
      if (again.outcome === 'done') expect(again.value).toEqual(instructions);
      else expect(again).toMatchObject(refused('REFERENCE_TAKEN'));
    });

    it('finds no charge under a reference that was not used', async () => {
      expect(valueOf(await under.gateway.findCharge(newReference()))).toBeNull();
    });

    it('is refused a refund of a charge that does not exist, and finds none', async () => {
      const amount = naira(100_00n);
      const request = { reference: newReference(), amount, refundKey: 'key-1', fence: createFence(60_000) };
      expect(await under.gateway.refund(request)).toMatchObject(refused('REQUEST_REFUSED'));
      expect(valueOf(await under.gateway.findRefund(request))).toBeNull();
    });

    it('knows the limits of each method, and refuses amounts beyond them', async () => {
      const { gateway } = under;
      expect(gateway.limits('BANK_TRANSFER', 'USD')).toBeUndefined();
      const limits = gateway.limits('BANK_TRANSFER', 'NGN')!;
      expect(limits.minMinor > 0n && limits.maxMinor > limits.minMinor).toBe(true);
      for (const amountMinor of [limits.minMinor - 1n, limits.maxMinor + 1n]) {
        const request = chargeBy('BANK_TRANSFER', { amount: naira(amountMinor) });
        expect(await gateway.charge(request)).toMatchObject(refused('AMOUNT_NOT_SERVED'));
      }
      const least = chargeBy('BANK_TRANSFER', { amount: naira(limits.minMinor) });
      expect((await gateway.charge(least)).outcome).toBe('done');
    });
  });
}

/** The suite for a gateway that the test controls: buyers pay, and the gateway misbehaves. */
export function describeControlledGateway(name: string, create: () => Promise<ControlledGateway>): void {
  describe(name, () => {
    const { under, opened, paid, chargeOf } = sharedGateway(create);

    describe('charge', () => {
      it.each([
        ['CARD', 'USD'],
        ['APPLE_PAY', 'NGN'],
        ['MOBILE_MONEY', 'GHS'],
      ] as const)('by %s in %s opens a page to pay on', async (method, currency) => {
        const amount = { amountMinor: 50_00n, currency };
        const request = chargeBy(method, { amount });
        expect(valueOf(await under.gateway.charge(request))).toMatchObject({ kind: 'redirect' });
        await under.control.pay(request.reference);
        expect(await chargeOf(request.reference)).toMatchObject({ state: 'paid', received: amount });
      });

      it('is unknown when its answer is lost; the charge is found, and a repeat gets the same account', async () => {
        await under.control.setFaults({ loseAnswer: { next: 1 } });
        const request = chargeBy('BANK_TRANSFER');
        expect((await under.gateway.charge(request)).outcome).toBe('unknown');
        expect((await chargeOf(request.reference)).state).toBe('waiting');
        expect(valueOf(await under.gateway.charge(request))).toMatchObject({ kind: 'bank-transfer' });
        expect(await under.control.held(request.reference)).toEqual({ receivedMinor: 0, refunds: 0 });
      });

      it('is unknown after an error and after the time limit, and opens one charge', async () => {
        const request = chargeBy('BANK_TRANSFER');
        await under.control.setFaults({ error: { next: 1 } });
        expect((await under.gateway.charge(request)).outcome).toBe('unknown');
        expect(await under.control.held(request.reference)).toBeNull();
        await under.control.setFaults({ latencyMs: under.tooSlowMs });
        expect((await under.withShortTimeout.charge(request)).outcome).toBe('unknown');
        await under.control.clearFaults();
        // The slow request reaches the gateway as well.
        await until(
          () => under.control.held(request.reference),
          (held) => held !== null,
        );
        expect(valueOf(await under.gateway.charge(request))).toMatchObject({ kind: 'bank-transfer' });
      });
    });

    describe('findCharge', () => {
      it('finds a paid charge with its amount and time', async () => {
        const charge = await chargeOf(await paid());
        expect(charge).toMatchObject({
          state: 'paid',
          requested: naira(1000_00n),
          received: naira(1000_00n),
          feesOnTopMinor: 0n,
        });
        expect(Math.abs(Date.now() - charge.paidAt!.getTime())).toBeLessThan(60_000);
      });

      it.each([
        ['too little', { amountMinor: 800_00 }, { received: naira(800_00n), feesOnTopMinor: 0n }],
        ['too much', { amountMinor: 1200_00 }, { received: naira(1200_00n), feesOnTopMinor: 0n }],
        ['twice', { times: 2 }, { received: naira(2000_00n) }],
        [
          'with a fee on top',
          { amountMinor: 1050_00, feesMinor: 50_00 },
          { received: naira(1050_00n), feesOnTopMinor: 50_00n },
        ],
        [
          'another amount in another currency',
          { amountMinor: 10_00, currency: 'USD' },
          { received: { amountMinor: 10_00n, currency: 'USD' } },
        ],
        [
          'the same number in another currency',
          { currency: 'USD' },
          { received: { amountMinor: 1000_00n, currency: 'USD' } },
        ],
      ])('finds what came when the buyer paid %s', async (_name, payment, expected) => {
        for (const method of TRANSFER_AND_CARD) {
          const reference = await opened(method);
          await under.control.pay(reference, payment);
          expect(await chargeOf(reference)).toMatchObject({
            state: 'paid',
            requested: { amountMinor: 1000_00n },
            ...expected,
          });
        }
      });

      it('finds the sum of two payments, and the time of the first', async () => {
        const reference = await paid();
        const { paidAt } = await chargeOf(reference);
        await under.control.pay(reference, { amountMinor: 200_00 });
        expect(await chargeOf(reference)).toMatchObject({
          state: 'paid',
          received: naira(1200_00n),
          paidAt,
        });
      });

      it.each([
        ['fail', 'failed'],
        ['abandon', 'abandoned'],
      ] as const)('after %s finds the charge %s, and paid once the buyer pays', async (action, state) => {
        const reference = await opened('CARD');
        await under.control.act(reference, action);
        expect((await chargeOf(reference)).state).toBe(state);
        await under.control.pay(reference);
        expect((await chargeOf(reference)).state).toBe('paid');
      });

      it('finds a reversed charge with what had come', async () => {
        const reference = await paid();
        await under.control.act(reference, 'reverse');
        expect(await chargeOf(reference)).toMatchObject({ state: 'reversed', received: naira(1000_00n) });
      });

      it('reads a new status as unknown, and a new format without a difference', async () => {
        const reference = await paid();
        await under.control.setFaults({ unknownStatus: 'teleported' });
        expect(await chargeOf(reference)).toMatchObject({ state: 'unknown', gatewayStatus: 'teleported' });
        await under.control.clearFaults();
        const before = await chargeOf(reference);
        await under.control.setFaults({ shapeDrift: true });
        const { gatewayId, ...drifted } = await chargeOf(reference);
        expect({ ...drifted, gatewayId: before.gatewayId }).toEqual(before);
        expect(BigInt(gatewayId) > 2n ** 53n).toBe(true);
      });

      it.each([400, 404] as const)('finds none when the gateway answers %i', async (unknownReference) => {
        await under.control.setFaults({ unknownReference });
        expect(valueOf(await under.gateway.findCharge(newReference()))).toBeNull();
      });

      it('is unknown, like findRefund, when the gateway answers with an error', async () => {
        await under.control.setFaults({ error: 1 });
        expect((await under.gateway.findCharge(newReference())).outcome).toBe('unknown');
        expect(
          (await under.gateway.findRefund({ reference: newReference(), refundKey: 'key' })).outcome,
        ).toBe('unknown');
      });
    });

    describe('findCharge, when the gateway sends wrong transfers back', () => {
      beforeEach(() => under.control.setFaults({ shortTransfer: 'return' }));

      it.each([{ amountMinor: 800_00 }, { amountMinor: 1200_00 }, { currency: 'USD' }])(
        'finds the charge waiting after a transfer of %j',
        async (payment) => {
          const reference = await opened();
          await under.control.pay(reference, payment);
          expect(await chargeOf(reference)).toMatchObject({ state: 'waiting', paidAt: null });
        },
      );

      it('finds the right amount paid, also with its fee on top', async () => {
        for (const payment of [{}, { feesMinor: 1_00 }, { amountMinor: 1001_00, feesMinor: 1_00 }]) {
          const reference = await opened();
          await under.control.pay(reference, payment);
          expect((await chargeOf(reference)).state).toBe('paid');
        }
      });

      it('finds one payment of two', async () => {
        const reference = await opened();
        await under.control.pay(reference, { times: 2 });
        expect(await chargeOf(reference)).toMatchObject({ state: 'paid', received: naira(1000_00n) });
      });

      it('finds a wrong amount by card paid', async () => {
        const reference = await opened('CARD');
        await under.control.pay(reference, { amountMinor: 800_00 });
        expect(await chargeOf(reference)).toMatchObject({ state: 'paid', received: naira(800_00n) });
      });
    });

    describe('findCharge, after the account has expired', () => {
      // The clock of this gateway is ahead, so other tests do not use it.
      let later: ControlledGateway;
      beforeAll(async () => {
        later = await create();
      });
      afterAll(() => later.close());

      it.each([
        ['settle', 'paid'],
        ['return', 'abandoned'],
      ] as const)('under %s finds a late transfer %s', async (shortTransfer, state) => {
        const request = chargeBy('BANK_TRANSFER');
        valueOf(await later.gateway.charge(request));
        await later.control.setFaults({ shortTransfer });
        await later.control.advance(9 * HOUR_MS);
        expect((await foundCharge(later.gateway, request.reference)).state).toBe('abandoned');
        await later.control.pay(request.reference);
        expect((await foundCharge(later.gateway, request.reference)).state).toBe(state);
      });
    });
  });
}
