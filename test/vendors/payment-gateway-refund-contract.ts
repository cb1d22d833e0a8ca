/**
 * What every client of a payment gateway must do about refunds, disputes, the statement and events, for every
 * vendor. Needs a gateway that the test controls.
 */
import { createFence } from '../../src/platform/fence.ts';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/domain/clock.ts';
import { until } from '../support/time/until.ts';
import { refused } from './outcomes.ts';
import {
  chargeBy,
  linesAbout,
  naira,
  sharedGateway,
  valueOf,
  type ControlledGateway,
} from './payment-gateway-kit.ts';

/** Runs the suite on one client. */
export function describeGatewayRefunds(name: string, create: () => Promise<ControlledGateway>): void {
  describe(name, () => {
    const { under, opened, paid, chargeOf } = sharedGateway(create);
    const refundOf = (reference: string, refundKey: string, amountMinor = 1000_00n) => ({
      reference,
      refundKey,
      amount: naira(amountMinor),
      fence: createFence(60_000),
    });
    const refundState = async (request: { reference: string; refundKey: string }) =>
      valueOf(await under.gateway.findRefund(request))?.state;

    /** Waits until the refund has this state. */
    const expectRefund = async (request: { reference: string; refundKey: string }, state: string) => {
      const seen = await until(
        () => refundState(request),
        (now) => now === state,
      );
      expect(seen).toBe(state);
    };

    describe('refund and findRefund', () => {
      it('a whole refund is pending, then done; the charge is reversed, and another refund is refused', async () => {
        const reference = await paid();
        const request = refundOf(reference, 'key-1');
        expect(valueOf(await under.gateway.findRefund(request))).toBeNull();
        const made = valueOf(await under.gateway.refund(request));
        expect(made).toMatchObject({ state: 'pending', amount: naira(1000_00n) });
        await expectRefund(request, 'done');
        expect(valueOf(await under.gateway.findRefund(request))?.refundId).toBe(made.refundId);
        expect((await chargeOf(reference)).state).toBe('reversed');
        expect(await under.gateway.refund(refundOf(reference, 'key-2'))).toMatchObject(
          refused('ALREADY_REFUNDED'),
        );
      });

      it('refunds of parts are found by their keys, and together never exceed the payment', async () => {
        const reference = await paid();
        const requests = [refundOf(reference, 'key-1', 300_00n), refundOf(reference, 'key-11', 200_00n)];
        const made = [];
        for (const request of requests) made.push(valueOf(await under.gateway.refund(request)));
        expect(made.map(({ amount }) => amount)).toEqual([naira(300_00n), naira(200_00n)]);
        const found = [];
        for (const request of requests) found.push(valueOf(await under.gateway.findRefund(request)));
        expect(found.map((refund) => refund?.refundId)).toEqual(made.map(({ refundId }) => refundId));
        expect(valueOf(await under.gateway.findRefund({ reference, refundKey: 'key' }))).toBeNull();
        const tooMuch = refundOf(reference, 'key-2', 500_01n);
        expect(await under.gateway.refund(tooMuch)).toMatchObject({ outcome: 'refused' });
        for (const request of requests) await expectRefund(request, 'done');
        expect((await chargeOf(reference)).state).toBe('paid');
        const rest = refundOf(reference, 'key-3', 500_00n);
        valueOf(await under.gateway.refund(rest));
        await expectRefund(rest, 'done');
        expect((await chargeOf(reference)).state).toBe('reversed');
      });

      it('a charge that was paid twice is refunded up to both payments', async () => {
        const reference = await opened();
        await under.control.pay(reference, { times: 2 });
        valueOf(await under.gateway.refund(refundOf(reference, 'key-1', 1800_00n)));
        expect(await under.gateway.refund(refundOf(reference, 'key-2', 200_01n))).toMatchObject({
          outcome: 'refused',
        });
      });

      it('a refund whose answer is lost is unknown, and is found, so that it is not sent twice', async () => {
        const reference = await paid();
        const request = refundOf(reference, 'key-1', 300_00n);
        await under.control.setFaults({ loseAnswer: { next: 1 } });
        expect((await under.gateway.refund(request)).outcome).toBe('unknown');
        expect(valueOf(await under.gateway.findRefund(request))).toMatchObject({ amount: naira(300_00n) });
        expect(await under.control.held(reference)).toEqual({ receivedMinor: 1000_00, refunds: 1 });
      });

      it('findRefund answers that a refund needs attention', async () => {
        const request = refundOf(await paid(), 'key-1');
        await under.control.setFaults({ refund: 'needs-attention' });
        valueOf(await under.gateway.refund(request));
        await expectRefund(request, 'needs-attention');
      });

      it('findRefund answers that a refund failed, and another one may follow', async () => {
        const reference = await paid();
        const failing = refundOf(reference, 'key-1');
        await under.control.setFaults({ refund: 'fail' });
        valueOf(await under.gateway.refund(failing));
        await expectRefund(failing, 'failed');
        expect((await chargeOf(reference)).state).toBe('paid');
        await under.control.clearFaults();
        const second = refundOf(reference, 'key-2');
        valueOf(await under.gateway.refund(second));
        await expectRefund(second, 'done');
        expect((await chargeOf(reference)).state).toBe('reversed');
      });

      it('a refund fails when the money was taken back in another way meanwhile', async () => {
        const reference = await paid();
        const request = refundOf(reference, 'key-1');
        await under.control.setFaults({ refund: 'pending' });
        valueOf(await under.gateway.refund(request));
        await under.control.act(reference, 'reverse');
        await under.control.clearFaults();
        await expectRefund(request, 'failed');
        expect((await chargeOf(reference)).state).toBe('reversed');
      });

      it('a refund that our balance does not cover is unknown with a wait, and is not found', async () => {
        const request = refundOf(await paid(), 'key-1');
        await under.control.setFaults({ refund: 'refuse' });
        expect(await under.gateway.refund(request)).toMatchObject({
          outcome: 'unknown',
          retryAfterMs: expect.any(Number) as unknown,
        });
        expect(valueOf(await under.gateway.findRefund(request))).toBeNull();
      });

      it('a refund of more than came, or of a charge that was not paid, is refused', async () => {
        const refusal = { outcome: 'refused' };
        expect(await under.gateway.refund(refundOf(await paid(), 'key-1', 1000_01n))).toMatchObject(refusal);
        expect(await under.gateway.refund(refundOf(await opened(), 'key-1'))).toMatchObject(refusal);
      });
    });

    describe('findDisputes and disputed', () => {
      it.each([
        ['merchant-accepted', 'lost'],
        ['declined', 'won'],
      ])('a dispute is found open, and when it was resolved as %s it is %s', async (resolution, state) => {
        const [reference, other] = [await paid(), await paid()];
        const window = [new Date(Date.now() - 1000), new Date(Date.now() + HOUR_MS)] as const;
        await under.control.act(reference, 'dispute');
        expect(valueOf(await under.gateway.findDisputes(reference))).toMatchObject([{ state: 'open' }]);
        expect(valueOf(await under.gateway.findDisputes(other))).toEqual([]);
        const disputed: string[] = [];
        for await (const each of under.gateway.disputed(...window)) disputed.push(each);
        expect([reference, other].map((each) => disputed.includes(each))).toEqual([true, false]);
        await under.control.act(reference, 'dispute', { action: 'resolve', resolution });
        expect(valueOf(await under.gateway.findDisputes(reference))).toMatchObject([{ state }]);
      });
    });

    describe('statement', () => {
      it('lists payments, refunds and reversals, each once', async () => {
        const from = new Date(Date.now() - 1000);
        const [whole, part, taken, waiting] = [await paid(), await paid(), await paid(), await opened()];
        const refunds = [refundOf(whole, 'key-1'), refundOf(part, 'key-2', 300_00n)];
        for (const request of refunds) valueOf(await under.gateway.refund(request));
        for (const request of refunds) await expectRefund(request, 'done');
        await under.control.act(taken, 'reverse');
        const window = { from, to: new Date(Date.now() + 1000) };
        const lines = await linesAbout(under.gateway, [whole, part, taken, waiting], window);
        const moved = lines.map(({ reference, kind, amount }) => [reference, kind, amount.amountMinor]);
        const expected = [
          [whole, 'charge', 1000_00n],
          [part, 'charge', 1000_00n],
          [taken, 'charge', 1000_00n],
          [whole, 'refund', 1000_00n],
          [part, 'refund', 300_00n],
          [taken, 'reversal', 1000_00n],
        ];
        expect(moved).toHaveLength(expected.length);
        expect(moved).toEqual(expect.arrayContaining(expected));
        const later = { from: window.to, to: new Date(window.to.getTime() + HOUR_MS) };
        expect(await linesAbout(under.gateway, [whole, part, taken], later)).toEqual([]);
      });

      it('throws when the gateway answers with an error', async () => {
        await under.control.setFaults({ error: 1 });
        const window = { from: new Date(Date.now() - 1000), to: new Date() };
        await expect(linesAbout(under.gateway, [], window)).rejects.toMatchObject({ retryable: true });
      });
    });

    describe('verifyWebhook', () => {
      const verified = () =>
        under.events().map(({ rawBody, headers }) => under.gateway.verifyWebhook(rawBody, headers));
      const eventOf = (reference: string, about: string) =>
        until(
          () => verified().find((event) => event?.reference === reference && event.about === about),
          (event) => event !== undefined,
        );

      it.each(['compact', 'pretty', 'escaped', 'reordered'] as const)(
        'accepts an event whose bytes are %s',
        async (webhookBytes) => {
          await under.control.setFaults({ webhookBytes });
          const reference = await paid();
          expect(await eventOf(reference, 'charge')).toMatchObject({ amount: naira(1000_00n) });
        },
      );

      it('reads events about refunds and disputes', async () => {
        const [refunded, disputed] = [await paid(), await paid()];
        valueOf(await under.gateway.refund(refundOf(refunded, 'key-1')));
        expect(await eventOf(refunded, 'refund')).toMatchObject({ amount: naira(1000_00n) });
        await under.control.act(disputed, 'dispute');
        expect(await eventOf(disputed, 'dispute')).toMatchObject({ amount: naira(1000_00n) });
      });

      it('reads the e-mail address in the event of a transfer that was sent back, since it has no reference', async () => {
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

      it('refuses an event that was changed on the way', async () => {
        await eventOf(await paid(), 'charge');
        const { rawBody, headers } = under.events().at(-1)!;
        expect(under.gateway.verifyWebhook(Buffer.from(`${rawBody.toString()} `), headers)).toBeUndefined();
      });
    });
  });
}
