/**
 * What every implementation of the port payment-gateway must do about money that goes back, about its statement and its events, whatever
 * vendor stands behind it. Needs somebody who plays the buyers and has the vendor misbehave.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import {
  chargeBy,
  linesAbout,
  lookAt,
  naira,
  valueOf,
  type ControlledGateway,
} from './payment-gateway-kit.ts';

const HOUR_MS = 3_600_000;

/** Runs the suite on one implementation. */
export function describeGatewayRefunds(name: string, create: () => Promise<ControlledGateway>): void {
  describe(name, () => {
    let under: ControlledGateway;
    beforeAll(async () => {
      under = await create();
    });
    afterEach(() => under.control.clearFaults());
    afterAll(() => under.close());

    async function opened(): Promise<string> {
      const request = chargeBy('BANK_TRANSFER');
      valueOf(await under.gateway.charge(request));
      return request.reference;
    }
    async function paid(): Promise<string> {
      const reference = await opened();
      await under.control.pay(reference);
      return reference;
    }
    const refundOf = (reference: string, refundKey: string, amountMinor = 1000_00n) => ({
      reference,
      refundKey,
      amount: naira(amountMinor),
    });
    const refundState = async (request: { reference: string; refundKey: string }) =>
      valueOf(await under.gateway.findRefund(request))?.state;

    describe('a refund', () => {
      it('is pending, then done; the charge is reversed; again is refused', async () => {
        const reference = await paid();
        const request = refundOf(reference, 'key-1');
        expect(valueOf(await under.gateway.findRefund(request))).toBeNull();
        const made = valueOf(await under.gateway.refund(request));
        expect(made).toMatchObject({ state: 'pending', amount: naira(1000_00n) });
        await until(
          () => refundState(request),
          (state) => state === 'done',
        );
        expect(valueOf(await under.gateway.findRefund(request))?.refundId).toBe(made.refundId);
        expect((await lookAt(under.gateway, reference)).state).toBe('reversed');
        expect(await under.gateway.refund(refundOf(reference, 'key-2'))).toMatchObject({
          outcome: 'refused',
          reason: 'ALREADY_REFUNDED',
        });
      });

      it('of a part, and of another part, are told apart by their keys', async () => {
        const reference = await paid();
        const [first, second] = [
          refundOf(reference, 'key-1', 300_00n),
          refundOf(reference, 'key-11', 200_00n),
        ];
        const made = [
          valueOf(await under.gateway.refund(first)),
          valueOf(await under.gateway.refund(second)),
        ];
        expect(made.map((look) => look.amount)).toEqual([naira(300_00n), naira(200_00n)]);
        const found = [
          valueOf(await under.gateway.findRefund(first)),
          valueOf(await under.gateway.findRefund(second)),
        ];
        expect(found.map((look) => look?.refundId)).toEqual(made.map((look) => look.refundId));
        expect(valueOf(await under.gateway.findRefund({ reference, refundKey: 'key' }))).toBeNull();
      });

      it('whose answer is lost: unknown, and found, so that nobody sends it twice', async () => {
        const reference = await paid();
        const request = refundOf(reference, 'key-1', 300_00n);
        await under.control.setFaults({ loseAnswer: { next: 1 } });
        expect((await under.gateway.refund(request)).outcome).toBe('unknown');
        expect(valueOf(await under.gateway.findRefund(request))).toMatchObject({ amount: naira(300_00n) });
        expect(await under.control.held(reference)).toEqual({ receivedMinor: 1000_00, refunds: 1 });
      });

      it.each([
        ['fail', 'failed'],
        ['needs-attention', 'needs-attention'],
      ] as const)('that ends in %s', async (refund, state) => {
        const request = refundOf(await paid(), 'key-1');
        await under.control.setFaults({ refund });
        valueOf(await under.gateway.refund(request));
        const ended = await until(
          () => refundState(request),
          (seen) => seen !== 'pending',
        );
        expect(ended).toBe(state);
      });

      it('that has to wait for our balance: unknown with a wait, and none', async () => {
        const request = refundOf(await paid(), 'key-1');
        await under.control.setFaults({ refund: 'refuse' });
        expect(await under.gateway.refund(request)).toMatchObject({
          outcome: 'unknown',
          retryAfterMs: expect.any(Number) as unknown,
        });
        expect(valueOf(await under.gateway.findRefund(request))).toBeNull();
      });

      it('of more than came, or of what never came: refused', async () => {
        const refusal = { outcome: 'refused' };
        expect(await under.gateway.refund(refundOf(await paid(), 'key-1', 1000_01n))).toMatchObject(refusal);
        expect(await under.gateway.refund(refundOf(await opened(), 'key-1'))).toMatchObject(refusal);
      });
    });

    describe('a statement', () => {
      it('has what moved, once', async () => {
        const from = new Date(Date.now() - 1000);
        const [whole, part, taken, waiting] = [await paid(), await paid(), await paid(), await opened()];
        const refunds = [refundOf(whole, 'key-1'), refundOf(part, 'key-2', 300_00n)];
        for (const request of refunds) valueOf(await under.gateway.refund(request));
        for (const request of refunds)
          await until(
            () => refundState(request),
            (state) => state === 'done',
          );
        await under.control.does(taken, 'reverse');
        const window = { from, to: new Date(Date.now() + 1000) };
        const lines = await linesAbout(under.gateway, [whole, part, taken, waiting], window);
        const told = lines.map(({ reference, kind, amount }) => [reference, kind, amount.amountMinor]);
        const expected = [
          [whole, 'charge', 1000_00n],
          [part, 'charge', 1000_00n],
          [taken, 'charge', 1000_00n],
          [whole, 'refund', 1000_00n],
          [part, 'refund', 300_00n],
          [taken, 'reversal', 1000_00n],
        ];
        expect(told).toHaveLength(expected.length);
        expect(told).toEqual(expect.arrayContaining(expected));
        const later = { from: window.to, to: new Date(window.to.getTime() + HOUR_MS) };
        expect(await linesAbout(under.gateway, [whole, part, taken], later)).toEqual([]);
      });

      it('is not to be had when the gateway will not say', async () => {
        await under.control.setFaults({ error: 1 });
        const window = { from: new Date(Date.now() - 1000), to: new Date() };
        await expect(linesAbout(under.gateway, [], window)).rejects.toMatchObject({ retryable: true });
      });
    });

    describe('events', () => {
      const verified = () =>
        under.events.map(({ rawBody, headers }) => under.gateway.verifyWebhook(rawBody, headers));
      const heard = (reference: string, about: string) =>
        until(
          () => verified().find((event) => event?.reference === reference && event.about === about),
          (event) => event !== undefined,
        );

      it.each(['compact', 'pretty', 'escaped', 'reordered'] as const)(
        'are verified when written %s',
        async (webhookBytes) => {
          await under.control.setFaults({ webhookBytes });
          const reference = await paid();
          expect(await heard(reference, 'charge')).toMatchObject({ amount: naira(1000_00n) });
        },
      );

      it('are about refunds and disputes, too', async () => {
        const [refunded, disputed] = [await paid(), await paid()];
        valueOf(await under.gateway.refund(refundOf(refunded, 'key-1')));
        expect(await heard(refunded, 'refund')).toMatchObject({ amount: naira(1000_00n) });
        await under.control.does(disputed, 'dispute');
        expect(await heard(disputed, 'dispute')).toMatchObject({ amount: naira(1000_00n) });
      });

      it('about a rejected transfer tell whose it was, since they tell no reference', async () => {
        const request = chargeBy('BANK_TRANSFER');
        valueOf(await under.gateway.charge(request));
        await under.control.setFaults({ shortTransfer: 'return' });
        await under.control.pay(request.reference, { amountMinor: 1_00 });
        const event = await until(
          () => verified().find((each) => each?.email === request.email),
          (each) => each !== undefined,
        );
        expect(event).toMatchObject({ about: 'transfer-rejected', reference: null });
      });

      it('that were changed on the way count no longer', async () => {
        await heard(await paid(), 'charge');
        const { rawBody, headers } = under.events.at(-1)!;
        expect(under.gateway.verifyWebhook(Buffer.from(`${rawBody.toString()} `), headers)).toBeUndefined();
      });
    });
  });
}
