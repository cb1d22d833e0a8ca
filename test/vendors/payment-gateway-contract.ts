/**
 * What every implementation of the port payment-gateway must do, whatever vendor stands behind it. Runs on real calls. The first suite
 * needs nothing but an account, so that a vendor's own test mode can run it; the second one needs somebody who plays the buyers and has
 * the vendor misbehave.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OutsideMethod } from '../../src/domain/states.ts';
import { until } from '../support/until.ts';
import {
  chargeBy,
  lookAt,
  naira,
  newReference,
  valueOf,
  type ControlledGateway,
  type GatewayUnderTest,
} from './payment-gateway-kit.ts';

const HOUR_MS = 3_600_000;

/** What holds for an account without anybody paying. */
export function describePaymentGateway(name: string, create: () => Promise<GatewayUnderTest>): void {
  describe(name, () => {
    let under: GatewayUnderTest;
    beforeAll(async () => {
      under = await create();
    });
    afterAll(() => under.close());

    it('CARD: a page to pay on, told once; the charge waits', async () => {
      const request = chargeBy('CARD');
      const instructions = valueOf(await under.gateway.charge(request));
      expect(instructions).toEqual({
        kind: 'redirect',
        paymentUrl: expect.stringMatching(/^https?:\/\//) as unknown,
      });
      expect(await lookAt(under.gateway, request.reference)).toMatchObject({
        reference: request.reference,
        // Nobody has opened the page yet.
        state: 'abandoned',
        requested: request.amount,
        feesOnTopMinor: 0n,
        paidAt: null,
        gatewayId: expect.stringMatching(/^\d+$/) as unknown,
      });
      expect(await under.gateway.charge(request)).toMatchObject({
        outcome: 'refused',
        reason: 'REFERENCE_TAKEN',
      });
    });

    it('BANK_TRANSFER: an account to transfer to', async () => {
      const accountExpiresAt = new Date(Date.now() + HOUR_MS);
      const request = chargeBy('BANK_TRANSFER', { accountExpiresAt });
      const instructions = valueOf(await under.gateway.charge(request));
      expect(instructions).toMatchObject({
        kind: 'bank-transfer',
        bankName: expect.stringMatching(/./) as unknown,
        accountNumber: expect.stringMatching(/^\d+$/) as unknown,
        accountName: expect.stringMatching(/./) as unknown,
      });
      expect((await lookAt(under.gateway, request.reference)).state).toBe('waiting');
      const again = await under.gateway.charge(request);
      if (again.outcome === 'done') expect(again.value).toEqual(instructions);
      else expect(again).toMatchObject({ outcome: 'refused', reason: 'REFERENCE_TAKEN' });
    });

    it('a charge nobody opened is none', async () => {
      expect(valueOf(await under.gateway.findCharge(newReference()))).toBeNull();
    });

    it('a refund of a charge that does not exist is refused, and is not found', async () => {
      const request = { reference: newReference(), amount: naira(100_00n), refundKey: 'key-1' };
      expect(await under.gateway.refund(request)).toMatchObject({
        outcome: 'refused',
        reason: 'REQUEST_REFUSED',
      });
      expect(valueOf(await under.gateway.findRefund(request))).toBeNull();
    });

    it('limits are told for what is served, and refused beyond', async () => {
      const { gateway } = under;
      expect(gateway.limits('BANK_TRANSFER', 'USD')).toBeUndefined();
      const limits = gateway.limits('BANK_TRANSFER', 'NGN')!;
      expect(limits.minMinor > 0n && limits.maxMinor > limits.minMinor).toBe(true);
      for (const amountMinor of [limits.minMinor - 1n, limits.maxMinor + 1n]) {
        const request = chargeBy('BANK_TRANSFER', { amount: naira(amountMinor) });
        expect(await gateway.charge(request)).toMatchObject({
          outcome: 'refused',
          reason: 'AMOUNT_NOT_SERVED',
        });
      }
      const least = chargeBy('BANK_TRANSFER', { amount: naira(limits.minMinor) });
      expect((await gateway.charge(least)).outcome).toBe('done');
    });
  });
}

/** What holds when buyers pay and the vendor misbehaves. */
export function describeControlledGateway(name: string, create: () => Promise<ControlledGateway>): void {
  describe(name, () => {
    let under: ControlledGateway;
    beforeAll(async () => {
      under = await create();
    });
    afterEach(() => under.control.clearFaults());
    afterAll(() => under.close());

    async function opened(method: OutsideMethod = 'BANK_TRANSFER'): Promise<string> {
      const request = chargeBy(method);
      valueOf(await under.gateway.charge(request));
      return request.reference;
    }
    async function paid(): Promise<string> {
      const reference = await opened();
      await under.control.pay(reference);
      return reference;
    }

    describe('a charge', () => {
      it.each([
        ['CARD', 'USD'],
        ['APPLE_PAY', 'NGN'],
        ['MOBILE_MONEY', 'GHS'],
      ] as const)('by %s in %s: a page to pay on', async (method, currency) => {
        const amount = { amountMinor: 50_00n, currency };
        const request = chargeBy(method, { amount });
        expect(valueOf(await under.gateway.charge(request))).toMatchObject({ kind: 'redirect' });
        await under.control.pay(request.reference);
        expect(await lookAt(under.gateway, request.reference)).toMatchObject({
          state: 'paid',
          received: amount,
        });
      });

      it('whose answer is lost: unknown, found, told again, held once', async () => {
        await under.control.setFaults({ loseAnswer: { next: 1 } });
        const request = chargeBy('BANK_TRANSFER');
        expect((await under.gateway.charge(request)).outcome).toBe('unknown');
        expect((await lookAt(under.gateway, request.reference)).state).toBe('waiting');
        expect(valueOf(await under.gateway.charge(request))).toMatchObject({ kind: 'bank-transfer' });
        expect(await under.control.held(request.reference)).toEqual({ receivedMinor: 0, refunds: 0 });
      });

      it('that meets an error, or is answered too late: unknown, and never held twice', async () => {
        const request = chargeBy('BANK_TRANSFER');
        await under.control.setFaults({ error: { next: 1 } });
        expect((await under.gateway.charge(request)).outcome).toBe('unknown');
        expect(await under.control.held(request.reference)).toBeNull();
        await under.control.setFaults({ latencyMs: under.tooSlowMs });
        expect((await under.gateway.charge(request)).outcome).toBe('unknown');
        await under.control.clearFaults();
        // The slow one arrives as well.
        await until(
          () => under.control.held(request.reference),
          (held) => held !== null,
        );
        expect(valueOf(await under.gateway.charge(request))).toMatchObject({ kind: 'bank-transfer' });
      });
    });

    describe('a look at a charge', () => {
      it('that was paid', async () => {
        const look = await lookAt(under.gateway, await paid());
        expect(look).toMatchObject({
          state: 'paid',
          requested: naira(1000_00n),
          received: naira(1000_00n),
          feesOnTopMinor: 0n,
        });
        expect(Math.abs(Date.now() - look.paidAt!.getTime())).toBeLessThan(60_000);
      });

      it.each([
        ['short', { amountMinor: 800_00 }, { received: naira(800_00n), feesOnTopMinor: 0n }],
        ['over', { amountMinor: 1200_00 }, { received: naira(1200_00n), feesOnTopMinor: 0n }],
        ['twice', { times: 2 }, { received: naira(2000_00n) }],
        [
          'with fees on top',
          { amountMinor: 1050_00, feesMinor: 50_00 },
          { received: naira(1050_00n), feesOnTopMinor: 50_00n },
        ],
        [
          'in another currency',
          { amountMinor: 10_00, currency: 'USD' },
          { received: { amountMinor: 10_00n, currency: 'USD' } },
        ],
      ])('that was paid %s', async (_name, payment, expected) => {
        const reference = await opened();
        await under.control.pay(reference, payment);
        expect(await lookAt(under.gateway, reference)).toMatchObject({ state: 'paid', ...expected });
      });

      it.each([
        ['declined', 'fail', 'failed'],
        ['left', 'abandon', 'abandoned'],
      ] as const)('that was %s, and paid after all', async (_name, deed, state) => {
        const reference = await opened('CARD');
        await under.control.does(reference, deed);
        expect((await lookAt(under.gateway, reference)).state).toBe(state);
        await under.control.pay(reference);
        expect((await lookAt(under.gateway, reference)).state).toBe('paid');
      });

      it('whose transfer the gateway sent back: still waiting', async () => {
        await under.control.setFaults({ shortTransfer: 'return' });
        const reference = await opened();
        await under.control.pay(reference, { amountMinor: 800_00 });
        expect((await lookAt(under.gateway, reference)).state).toBe('waiting');
      });

      it('that was reversed', async () => {
        const reference = await paid();
        await under.control.does(reference, 'reverse');
        expect(await lookAt(under.gateway, reference)).toMatchObject({
          state: 'reversed',
          received: naira(1000_00n),
        });
      });

      it('in a state never seen before is unknown; in shapes never seen before is read', async () => {
        const reference = await paid();
        await under.control.setFaults({ unknownStatus: 'teleported' });
        expect(await lookAt(under.gateway, reference)).toMatchObject({
          state: 'unknown',
          gatewayStatus: 'teleported',
        });
        await under.control.clearFaults();
        const before = await lookAt(under.gateway, reference);
        await under.control.setFaults({ shapeDrift: true });
        const { gatewayId, ...drifted } = await lookAt(under.gateway, reference);
        expect({ ...drifted, gatewayId: before.gatewayId }).toEqual(before);
        expect(BigInt(gatewayId) > 2n ** 53n).toBe(true);
      });

      it.each([400, 404] as const)('that does not exist is none, by %s', async (unknownReference) => {
        await under.control.setFaults({ unknownReference });
        expect(valueOf(await under.gateway.findCharge(newReference()))).toBeNull();
      });

      it('is unknown, never none, when the gateway will not say', async () => {
        await under.control.setFaults({ error: 1 });
        expect((await under.gateway.findCharge(newReference())).outcome).toBe('unknown');
        expect(
          (await under.gateway.findRefund({ reference: newReference(), refundKey: 'key' })).outcome,
        ).toBe('unknown');
      });
    });
  });
}
