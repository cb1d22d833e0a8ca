/**
 * How the Paystack client reads the answers to charge and findCharge: every example on the vendor's pages
 * (retyped under test/fixtures/paystack), and what deviates from them.
 */
import { describe, expect, it } from 'vitest';
import { CHARGE_STATES } from '../../src/vendors/paystack/map.ts';
import {
  byCard,
  byTransfer,
  example,
  fixture,
  no,
  transaction,
  yes,
  startAnsweringGateway,
} from '../support/vendors/answering-gateway.ts';
import { json, sentBody } from '../support/vendors/answering-server.ts';
import { done, refused } from './outcomes.ts';
import { naira } from './payment-gateway-kit.ts';
import { forFile } from '../support/world/for-file.ts';

const server = await forFile(startAnsweringGateway());

describe('the Paystack client, a charge on a hosted page', () => {
  it.each([
    ['CARD', 'NGN', 'card'],
    ['APPLE_PAY', 'USD', 'apple_pay'],
    ['MOBILE_MONEY', 'GHS', 'mobile_money'],
  ] as const)('by %s in %s opens a page for the channel %s only', async (method, currency, channel) => {
    server.answerWith(example('initialize'));
    const request = {
      ...byCard,
      method,
      amount: { amountMinor: 250_00n, currency },
      returnUrl: 'https://shop.example.com/back',
      scenario: 'late',
    };
    expect(await server.gateway().charge(request)).toEqual(
      done({ kind: 'redirect', paymentUrl: 'https://checkout.paystack.com/ac-0001' }),
    );
    expect(sentBody(server.calls[0])).toEqual({
      email: 'buyer@example.com',
      amount: 25000,
      currency,
      reference: 'txn-1',
      channels: [channel],
      callback_url: 'https://shop.example.com/back',
      metadata: { sandbox_scenario: 'late' },
    });
  });

  it('leaves out of its request what it was not given', async () => {
    server.answerWith(example('initialize'));
    await server.gateway().charge(byCard);
    expect(Object.keys(sentBody(server.calls[0]))).toEqual([
      'email',
      'currency',
      'reference',
      'amount',
      'channels',
    ]);
  });

  it('whose reference was used is refused, since the vendor sends the address once', async () => {
    server.answerWith(example('duplicate-reference', 400));
    expect(await server.gateway().charge(byCard)).toEqual({
      outcome: 'refused',
      reason: 'REFERENCE_TAKEN',
      detail: 'duplicate_reference: Duplicate Transaction Reference',
    });
    expect(server.calls).toHaveLength(1);
  });

  it.each([
    ['for another reference', { authorization_url: 'https://checkout.example.com/x', reference: 'txn-2' }],
    ['without an address', { reference: 'txn-1' }],
    ['with an address that is no web page', { authorization_url: 'javascript:alert(1)', reference: 'txn-1' }],
  ])('with an answer %s is unknown and raises an alert', async (_name, data) => {
    server.answerWith(json(yes(data)));
    expect((await server.gateway().charge(byCard)).outcome).toBe('unknown');
    expect(server.alerts).toMatchObject([{ what: 'answer', operation: 'initialize' }]);
  });
});

describe('the Paystack client, a charge by bank transfer', () => {
  const instructions = {
    kind: 'bank-transfer',
    bankName: 'Test Bank',
    accountNumber: '0000000001',
    accountName: 'SIMULATED CHECKOUT',
    expiresAt: new Date('2026-09-27T12:30:55.000Z'),
  };

  it('returns the account and its time of expiry', async () => {
    server.answerWith(example('charge-bank-transfer'));
    expect(await server.gateway().charge(byTransfer)).toEqual(done(instructions));
    expect(server.calls[0]).toMatchObject({ method: 'POST', path: '/charge' });
    expect(sentBody(server.calls[0])).toEqual({
      email: 'buyer@example.com',
      amount: '25000',
      currency: 'NGN',
      reference: 'txn-1',
      bank_transfer: { account_expires_at: '2026-09-27T12:30:00.000Z' },
    });
  });

  it('expires when we requested it, if the answer has no time of expiry', async () => {
    const { data } = JSON.parse(fixture('charge-bank-transfer')) as { data: object };
    server.answerWith(json(yes({ ...data, account_expires_at: null })));
    const expiresAt = byTransfer.accountExpiresAt;
    expect(await server.gateway().charge(byTransfer)).toEqual(done({ ...instructions, expiresAt }));
  });

  it('whose reference was used returns the same account, if the vendor still shows it', async () => {
    server.answerWith(example('duplicate-reference', 400), example('charge-bank-transfer'));
    expect(await server.gateway().charge(byTransfer)).toEqual(done(instructions));
    expect(server.calls.map((call) => `${call.method} ${call.path}`)).toEqual([
      'POST /charge',
      'GET /charge/txn-1',
    ]);
  });

  it.each([
    ['does not show it', 'refused', example('charge-pending')],
    ['shows it failed', 'refused', example('charge-failed')],
    ['shows it paid', 'unknown', example('charge-success')],
    ['has a new status', 'unknown', json(fixture('charge-pending').replace('"pending"', '"teleporting"'))],
    [
      'shows one of another amount',
      'refused',
      json(fixture('charge-bank-transfer').replace('25000', '26000')),
    ],
    ['answers with 503', 'unknown', json('{}', 503)],
    ['does not know the charge', 'unknown', example('not-found', 404)],
  ])('whose reference was used, when the vendor %s, is %s', async (_name, outcome, answer) => {
    server.answerWith(example('duplicate-reference', 400), answer);
    const repeated = await server.gateway().charge(byTransfer);
    expect(repeated).toMatchObject(
      outcome === 'refused' ? { outcome, reason: 'REFERENCE_TAKEN' } : { outcome },
    );
  });

  it('that failed at once, with HTTP 200, is refused', async () => {
    server.answerWith(example('charge-failed'));
    expect(await server.gateway().charge(byTransfer)).toMatchObject(refused('REQUEST_REFUSED'));
  });

  it('that is pending without an account is unknown, with a wait of ten seconds', async () => {
    server.answerWith(example('charge-pending'));
    expect(await server.gateway().charge(byTransfer)).toMatchObject({
      outcome: 'unknown',
      retryAfterMs: 10_000,
    });
  });

  it('that is paid already is unknown', async () => {
    server.answerWith(example('charge-success'));
    expect((await server.gateway().charge(byTransfer)).outcome).toBe('unknown');
  });

  const steps = JSON.parse(fixture('charge-steps')) as Record<string, object>;
  it.each(Object.entries(steps))(
    'with the step %s, which transfers do not have, is unknown',
    async (_step, body) => {
      server.answerWith(json(body));
      expect((await server.gateway().charge(byTransfer)).outcome).toBe('unknown');
      expect(server.alerts).toEqual([]);
    },
  );

  it('with a new status is unknown and raises an alert', async () => {
    server.answerWith(json(fixture('charge-bank-transfer').replace('pending_bank_transfer', 'teleporting')));
    expect((await server.gateway().charge(byTransfer)).outcome).toBe('unknown');
    expect(server.alerts).toEqual([{ what: 'charge status', operation: 'charge', word: 'teleporting' }]);
  });
});

describe('the Paystack client, a charge that the vendor refuses', () => {
  it.each([
    ['a wrong key', example('invalid-key', 401), 'CREDENTIALS_REFUSED'],
    ['a wrong key, in an older answer', example('invalid-key-older', 400), 'CREDENTIALS_REFUSED'],
    ['a missing field', example('missing-params', 400), 'REQUEST_REFUSED'],
    [
      'a reason in an older answer, whose status is text',
      example('older-bad-request', 400),
      'REQUEST_REFUSED',
    ],
    [
      'a category in the field of the code',
      json(no('Reference is invalid', { code: 'validation_error' }), 400),
      'REQUEST_REFUSED',
    ],
    [
      'an error with HTTP 200',
      json(no('Email is not allowed to be empty', { type: 'validation_error' })),
      'REQUEST_REFUSED',
    ],
  ])('because of %s is refused', async (_name, answer, reason) => {
    server.answerWith(answer);
    expect(await server.gateway().charge(byCard)).toMatchObject(refused(reason));
    expect(server.alerts).toEqual([]);
  });

  it.each([
    ['a new code', no('Because', { type: 'api_error', code: 'moon_phase' }), 400, 'moon_phase'],
    ['a processor that failed', no('Unable to process', { type: 'processor_error' }), 400, 'processor_error'],
    ['an HTTP status without a meaning', no('Because'), 409, 'HTTP 409'],
  ])('with %s is unknown and raises an alert', async (_name, body, status, word) => {
    server.answerWith(json(body, status));
    expect((await server.gateway().charge(byCard)).outcome).toBe('unknown');
    expect(server.alerts).toEqual([{ what: 'error', operation: 'initialize', word }]);
  });

  it('has no e-mail address and no account number in its detail', async () => {
    server.answerWith(json(no('buyer@example.com with 0123456789 is not accepted'), 400));
    const outcome = await server.gateway().charge(byCard);
    expect(outcome).toMatchObject({
      reason: 'REQUEST_REFUSED',
      detail: 'HTTP 400: … with … is not accepted',
    });
  });
});

describe('the Paystack client, a charge that it does not send', () => {
  it.each([
    ['a reference with an underscore', { reference: 'txn_1' }, 'REQUEST_REFUSED'],
    ['a reference that is a path', { reference: '..' }, 'REQUEST_REFUSED'],
    ['no reference', { reference: '' }, 'REQUEST_REFUSED'],
    ['too little', { amount: naira(49_99n) }, 'AMOUNT_NOT_SERVED'],
    ['too much', { amount: naira(10_000_000_01n) }, 'AMOUNT_NOT_SERVED'],
    [
      'a currency that the vendor does not have',
      { amount: { amountMinor: 1000_00n, currency: 'EUR' } },
      'CURRENCY_NOT_SERVED',
    ],
    ['a currency of other methods', { method: 'MOBILE_MONEY', amount: naira(1000_00n) }, 'METHOD_NOT_SERVED'],
  ] as const)('has %s', async (_name, change, reason) => {
    server.answerWith(example('initialize'));
    expect(await server.gateway().charge({ ...byCard, ...change })).toMatchObject(refused(reason));
    expect(server.calls).toHaveLength(0);
  });
});

describe('the Paystack client, findCharge', () => {
  const found = {
    reference: 'txn-1',
    state: 'paid',
    gatewayStatus: 'success',
    requested: naira(200_00n),
    received: naira(200_00n),
    feesOnTopMinor: 0n,
    paidAt: new Date('2026-09-27T12:05:02.000Z'),
    gatewayId: '4099260516',
  };
  it.each([
    ['verify-success', {}],
    ['verify-fees-on-top', { requested: naira(300_50n), received: naira(403_33n), feesOnTopMinor: 102_83n }],
    ['verify-bank-transfer', { requested: naira(250_00n), received: naira(250_00n) }],
    ['verify-abandoned', { state: 'abandoned', gatewayStatus: 'abandoned', paidAt: null }],
    ['verify-failed', { state: 'failed', gatewayStatus: 'failed', paidAt: null }],
    ['verify-reversed', { state: 'reversed', gatewayStatus: 'reversed' }],
  ])('reads the example %s', async (name, change) => {
    server.answerWith(example(name));
    const value = { ...found, ...change };
    expect(await server.gateway().findCharge('txn-1')).toEqual({ outcome: 'done', value });
    expect(server.calls[0]).toMatchObject({ method: 'GET', path: '/transaction/verify/txn-1', body: '' });
    expect(server.calls[0]?.headers).not.toHaveProperty('content-type');
  });

  it.each([
    ['an amount as text', { amount: '25000', requested_amount: '25000.00', fees: '375' }, {}],
    ['no requested amount', { requested_amount: null }, {}],
    ['camel-case dates only', { paid_at: undefined, paidAt: '2026-09-27T12:05:00Z' }, {}],
    ['a date without a zone', { paid_at: '2026-09-27 12:05:00' }, {}],
    ['an id of 64 bits', { id: 1 }, { gatewayId: '18446744073709551615' }],
    ['no id', { id: null }, { gatewayId: '' }],
    [
      'fields that are empty in all ways',
      { metadata: 0, plan: '', split: null, customer: [], log: {}, fees: null },
      {},
    ],
    ['fees that do not add up', { amount: 30000, fees: 1 }, { received: naira(300_00n) }],
    ['less than was requested', { amount: 20000, fees: 375 }, { received: naira(200_00n) }],
    ['another currency', { currency: 'usd' }, { received: { amountMinor: 250_00n, currency: 'USD' } }],
    ['no mode', { domain: undefined }, {}],
  ])('reads a charge with %s', async (name, change, expected) => {
    const body = JSON.stringify(yes(transaction(change)));
    server.answerWith(
      json(name === 'an id of 64 bits' ? body.replace('"id":1', '"id":18446744073709551615') : body),
    );
    expect(await server.gateway().findCharge('txn-1')).toMatchObject({
      outcome: 'done',
      value: {
        state: 'paid',
        received: naira(250_00n),
        feesOnTopMinor: 0n,
        paidAt: new Date('2026-09-27T12:05:00.000Z'),
        ...expected,
      },
    });
  });

  it.each([
    ['with another reference', { reference: 'txn-2' }],
    ['of the other mode', { domain: 'live' }],
    ['with half a kobo', { amount: 250.5 }],
    ['with a negative amount', { amount: -25000 }],
    ['with an amount in words', { amount: 'much' }],
    ['with an amount beyond all bounds', { amount: 1e30 }],
    ['without a currency', { currency: null }],
    ['without a status', { status: null }],
  ])('is unknown and raises an alert after a charge %s', async (_name, change) => {
    server.answerWith(json(yes(transaction(change))));
    expect((await server.gateway().findCharge('txn-1')).outcome).toBe('unknown');
    expect(server.alerts).toMatchObject([{ what: 'answer', operation: 'verify' }]);
  });

  it.each([
    ['404', example('not-found', 404)],
    ['400 with the code', example('transaction-not-found', 400)],
    ['400 with the message alone', json(no('Transaction reference not found'), 400)],
  ])('finds none after %s', async (_name, answer) => {
    server.answerWith(answer);
    expect(await server.gateway().findCharge('txn-1')).toEqual({ outcome: 'done', value: null });
  });

  it.each([
    ['a wrong key', example('invalid-key', 401)],
    ['an older answer', example('older-bad-request', 400)],
    ['an answer that something else was not found', json(no('Customer not found'), 400)],
    ['a web page with 404', json('<!doctype html>', 404)],
  ])('is unknown, never none, after %s', async (_name, answer) => {
    server.answerWith(answer);
    expect((await server.gateway().findCharge('txn-1')).outcome).toBe('unknown');
  });

  it('finds none under an impossible reference, without a request', async () => {
    server.answerWith(example('verify-success'));
    for (const reference of ['../refund', 'a b', 'txn_1', '.', '']) {
      expect(await server.gateway().findCharge(reference)).toEqual({ outcome: 'done', value: null });
    }
    expect(server.calls).toHaveLength(0);
  });

  it('reads a new status as unknown, and raises an alert', async () => {
    server.answerWith(json(yes(transaction({ status: 'teleported' }))));
    expect(await server.gateway().findCharge('txn-1')).toMatchObject({
      outcome: 'done',
      value: { state: 'unknown', gatewayStatus: 'teleported' },
    });
    expect(server.alerts).toEqual([{ what: 'charge status', operation: 'verify', word: 'teleported' }]);
  });

  const states = {
    waiting:
      'ongoing pending processing queued timeout send_pin send_otp send_phone send_birthday send_address open_url pay_offline pending_bank_transfer reversal-pending',
    abandoned: 'abandoned',
    paid: 'success',
    failed: 'failed',
    reversed: 'reversed',
  };
  const words = Object.entries(states).flatMap(([state, list]) =>
    list.split(' ').map((word) => [word, state] as const),
  );
  it.each(words)('reads the status %s as %s', async (status, state) => {
    server.answerWith(json(yes(transaction({ status }))));
    expect(await server.gateway().findCharge('txn-1')).toMatchObject({
      value: { state, gatewayStatus: status },
    });
    expect(server.alerts).toEqual([]);
  });

  it('has no statuses but those of the vendor’s pages', () => {
    expect([...CHARGE_STATES.keys()].toSorted()).toEqual(words.map(([word]) => word).toSorted());
  });
});

describe('the Paystack client is not created', () => {
  it.each([
    ['without a web address', { baseUrl: 'ftp://127.0.0.1' }],
    ['without a key', { secretKey: '' }],
    ['with an empty key among the replaced ones', { previousSecretKeys: [''] }],
    ['with a live key for test mode', { secretKey: 'sk_live_key' }],
    ['with a test key for live mode', { mode: 'live' as const }],
  ])('%s', (_name, options) => {
    expect(() => server.gateway(options)).toThrow(TypeError);
  });
});
