/**
 * Promise G4 at the client: verifyWebhook accepts an event only if its signature over the exact bytes is the
 * vendor's, in this mode; it accepts any bytes that are signed so, and never throws. That an event is no
 * proof of money is shown in test/payments/.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createPaystackGateway } from '../../src/vendors/paystack/gateway.ts';
import { fixture, SECRET_KEY } from '../support/vendors/answering-gateway.ts';
import { createRandom, size, withSeed } from '../support/time/size.ts';
import { naira } from './payment-gateway-kit.ts';

const gatewayOf = (options: object = {}) =>
  createPaystackGateway({ baseUrl: 'http://127.0.0.1:9', secretKey: SECRET_KEY, mode: 'test', ...options });
const gateway = gatewayOf();

const sign = (body: string | Uint8Array, key = SECRET_KEY, algorithm = 'sha512') =>
  createHmac(algorithm, key).update(body).digest('hex');
const headersFor = (body: string | Uint8Array, key?: string) => ({ 'x-paystack-signature': sign(body, key) });
const verify = (
  body: string | Uint8Array,
  headers: Record<string, string | undefined> = headersFor(body),
  by = gateway,
) => by.verifyWebhook(typeof body === 'string' ? Buffer.from(body) : body, headers);

const paid = fixture('event-charge-success');
const paidData = (JSON.parse(paid) as { data: Record<string, unknown> }).data;
const event = (data: unknown, type: unknown = 'charge.success') => JSON.stringify({ event: type, data });

describe('the Paystack client, verifyWebhook on the vendor’s examples', () => {
  const email = 'buyer@example.com';
  const charge = { about: 'charge', reference: 'txn-1', email };
  const refund = { about: 'refund', reference: 'txn-1', email };
  const dispute = { about: 'dispute', reference: 'txn-1', email, amount: naira(58_00n) };
  const nothing = { about: 'other', reference: null, amount: null };
  const expected: Record<string, object> = {
    'charge-success': { ...charge, type: 'charge.success', amount: naira(100_00n) },
    'charge-success-transfer': { ...charge, type: 'charge.success', amount: naira(250_00n) },
    'transfer-rejected': {
      about: 'transfer-rejected',
      type: 'bank.transfer.rejected',
      reference: null,
      email,
      amount: null,
    },
    'refund-pending': { ...refund, type: 'refund.pending', amount: naira(100_00n) },
    'refund-processing': { ...refund, type: 'refund.processing', amount: naira(100_00n) },
    'refund-processed': { ...refund, type: 'refund.processed', amount: naira(50_00n) },
    'refund-failed': { ...refund, type: 'refund.failed', amount: naira(200_00n) },
    'refund-needs-attention': { ...refund, type: 'refund.needs-attention', amount: naira(100_00n) },
    'dispute-create': { ...dispute, type: 'charge.dispute.create' },
    'dispute-remind': { ...dispute, type: 'charge.dispute.remind' },
    'dispute-resolve': { ...dispute, type: 'charge.dispute.resolve' },
    'account-assigned': { ...nothing, type: 'dedicatedaccount.assign.success', email },
    'expiring-cards': { ...nothing, type: 'subscription.expiring_cards', email: null },
    'transfer-success': { ...nothing, type: 'transfer.success', email: null },
  };

  it('has an expectation for each example', () => {
    const files = readdirSync(new URL('../fixtures/paystack/', import.meta.url));
    const names = files.filter((file) => file.startsWith('event-')).map((file) => file.slice(6, -5));
    expect(names.toSorted()).toEqual(Object.keys(expected).toSorted());
  });

  it.each(Object.entries(expected))('reads %s', (name, value) => {
    const body = fixture(`event-${name}`);
    const eventKey = createHash('sha256').update(body).digest('hex');
    expect(verify(body)).toEqual({ eventKey, ...value });
  });
});

describe('the Paystack client, verifyWebhook on unusual bytes', () => {
  const spaced = JSON.stringify(JSON.parse(paid) as object, null, '\t');
  const before = (more: string) => paid.replace('"reference"', `${more}"reference"`);
  const data = { ...paidData, note: 'Ọ̀ṣun 😀 </script> "é"' };
  const escaped = event(data).replaceAll(
    /[^\0-\x7f]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  it.each([
    ['compact', JSON.stringify(JSON.parse(paid))],
    ['with tabs and newlines', spaced],
    ['with Windows newlines', spaced.replaceAll('\n', '\r\n')],
    ['with blanks around', `\r\n  ${paid}\n\n`],
    ['with another order of fields', `{"data":${JSON.stringify(paidData)},"event":"charge.success"}`],
    ['with letters beyond ASCII', event(data)],
    ['with all of those escaped', escaped],
    ['with escaped slashes', event(data).replaceAll('/', '\\/')],
    ['with letters of several code points', event({ ...data, note: 'é'.normalize('NFD') })],
    ['with half a surrogate, escaped', event(data).replace('😀', '\\ud83d')],
    ['with a byte order mark', `\ufeff${paid}`],
    ['with a field twice, the last one counting', before('"reference":"txn-0",')],
    ['with __proto__ as a field', before('"__proto__":{"reference":"txn-0"},')],
    ['with numbers beyond 2^53', paid.replace('4099260516', '18446744073709551615')],
    ['with an amount as text', paid.replace('"amount": 10000', '"amount": "10000"')],
    ['with unknown fields', event({ ...paidData, novelty: [{ deep: [null, {}, ''] }] })],
    [
      'with fields that are empty in all ways',
      event({ ...paidData, metadata: null, plan: '', log: 0, customer: paidData['customer'] }),
    ],
  ])('accepts signed bytes %s', (_name, body) => {
    expect(verify(body)).toMatchObject({
      type: 'charge.success',
      reference: 'txn-1',
      amount: naira(100_00n),
    });
  });

  it('accepts signed bytes that are no UTF-8', () => {
    const body = Buffer.from(event({ ...paidData, note: '#' }));
    body[body.indexOf('#')] = 0xff;
    expect(verify(body)).toMatchObject({ reference: 'txn-1' });
  });

  it('has the same key for the same bytes, and another key for other bytes', () => {
    expect(verify(paid)?.eventKey).toBe(verify(paid)?.eventKey);
    expect(verify(`${paid} `)?.eventKey).not.toBe(verify(paid)?.eventKey);
  });

  it('accepts up to one mebibyte', () => {
    const padded = (bytes: number) => `${paid}${' '.repeat(bytes - Buffer.byteLength(paid))}`;
    expect(verify(padded(1024 * 1024))).toMatchObject({ reference: 'txn-1' });
    expect(verify(padded(1024 * 1024 + 1))).toBeUndefined();
    expect(verify(padded(5_000_000))).toBeUndefined();
  });
});

describe('the Paystack client, verifyWebhook on forged events', () => {
  const good = sign(paid);
  const other = (digit = '') => (digit === '0' ? '1' : '0');
  it.each<[string, unknown]>([
    ['an undefined signature', undefined],
    ['an empty signature', ''],
    ['the signature of other bytes', sign(`${paid} `)],
    ['the signature by another key', sign(paid, 'sk_test_other')],
    ['the signature by an empty key', sign(paid, '')],
    ['the signature by the public key', sign(paid, 'pk_test_simulator')],
    ['the signature by SHA-256', sign(paid, SECRET_KEY, 'sha256')],
    ['a plain hash', createHash('sha512').update(paid).digest('hex')],
    [
      'a hash of key and body',
      createHash('sha512')
        .update(SECRET_KEY + paid)
        .digest('hex'),
    ],
    ['the signature in base64', Buffer.from(good, 'hex').toString('base64')],
    ['the signature in capitals', good.toUpperCase()],
    ['the signature less one digit', good.slice(0, -1)],
    ['half of the signature', good.slice(0, 64)],
    ['the signature and one more digit', `${good}0`],
    ['a blank after the signature', `${good} `],
    ['the name of the algorithm before the signature', `sha512=${good}`],
    ['two signatures, one of them right', `${sign('x')}, ${good}`],
    ['another last digit', good.slice(0, -1) + other(good.at(-1))],
    ['another first digit', other(good[0]) + good.slice(1)],
    ['zeros', '0'.repeat(128)],
    ['no hexadecimal digits', 'z'.repeat(128)],
    ['a list in place of a text', [good]],
  ])('refuses an event with %s', (_name, signature) => {
    expect(verify(paid, { 'x-paystack-signature': signature as string })).toBeUndefined();
  });

  it('refuses an event without a signature, or with it in another header', () => {
    expect(verify(paid, {})).toBeUndefined();
    expect(verify(paid, { 'x-signature': good })).toBeUndefined();
  });

  it.each([
    ['its amount is raised', paid.replace('10000', '90000')],
    ['its reference is another', paid.replace('txn-1', 'txn-2')],
    ['its currency is another', paid.replace('NGN', 'USD')],
    ['its event is another', paid.replace('charge.success', 'refund.failed')],
    ['a blank is added', `${paid} `],
    ['a newline is taken away', paid.trimEnd()],
    ['it is serialised again', JSON.stringify(JSON.parse(paid))],
    ['a letter is escaped', paid.replace('reference', 'referenc\\u0065')],
    ['a byte order mark is put before it', `\ufeff${paid}`],
    ['it is empty', ''],
  ])('refuses an event with a right signature when %s', (_name, body) => {
    expect(body).not.toBe(paid);
    expect(verify(body, headersFor(paid))).toBeUndefined();
  });

  const dispute = fixture('event-dispute-create');
  it.each([
    ['a charge', paid.replace('"domain": "test"', '"domain": "live"')],
    [
      'a rejected transfer, by its customer',
      fixture('event-transfer-rejected').replace('"domain": "test"', '"domain": "live"'),
    ],
    [
      'a dispute, by its transaction',
      dispute.replace(/("transaction": \{[^}]*?"domain": )"test"/, '$1"live"'),
    ],
    ['an unknown mode', paid.replace('"domain": "test"', '"domain": "staging"')],
  ])('refuses an event of another mode: %s', (_name, body) => {
    expect(body).not.toBe(paid);
    expect(body).not.toBe(dispute);
    expect(verify(body)).toBeUndefined();
  });

  it('refuses an event of test mode in live mode', () => {
    const live = gatewayOf({ mode: 'live', secretKey: 'key-of-live' });
    const body = paid.replace('"domain": "test"', '"domain": "live"');
    expect(verify(paid, headersFor(paid, 'key-of-live'), live)).toBeUndefined();
    expect(verify(body, headersFor(body, 'key-of-live'), live)).toMatchObject({ reference: 'txn-1' });
  });

  it.each([
    ['no JSON', 'charge.success'],
    ['truncated JSON', paid.slice(0, -4)],
    ['JSON with more text after it', `${paid}{}`],
    ['two events', `${paid}\n${paid}`],
    ['a list', `[${paid}]`],
    ['a text', '"charge.success"'],
    ['a number', '1'],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['an event without a type', JSON.stringify({ data: paidData })],
    ['a type that is empty', event(paidData, '')],
    ['a type that is null', event(paidData, null)],
    ['a type that is a number', event(paidData, 5)],
    ['a type that is a list', event(paidData, ['charge.success'])],
    ['a type that is an object', event(paidData, { name: 'charge.success' })],
    ['a type with a newline', event(paidData, 'charge.success\n')],
    ['a type of 1,000 letters', event(paidData, 'a'.repeat(1000))],
    [
      'data with 100,000 levels',
      `{"event":"charge.success","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ],
    ['zero bytes', '\0\0\0'],
  ])('refuses signed bytes that are %s', (_name, body) => {
    expect(verify(body)).toBeUndefined();
  });
});

describe('the Paystack client, verifyWebhook on data of wrong types', () => {
  const [reference, rest] = ['txn-1', { amount: naira(100_00n), email: 'buyer@example.com' }];
  it.each([
    ['no data', undefined, {}],
    ['null', null, {}],
    ['a list', [paidData], {}],
    ['a text', 'txn-1', {}],
    ['a reference that is an object', { ...paidData, reference: { $ne: '' } }, rest],
    ['a reference of 100,000 letters', { ...paidData, reference: 'a'.repeat(100_000) }, rest],
    ['an amount with a fraction', { reference, amount: 100.5, currency: 'NGN' }, { reference }],
    ['a negative amount', { reference, amount: -100, currency: 'NGN' }, { reference }],
    ['an amount without a currency', { reference, amount: 100 }, { reference }],
    ['a currency of four letters', { reference, amount: 100, currency: 'NGNN' }, { reference }],
    ['a customer that is a list', { reference, customer: ['buyer@example.com'] }, { reference }],
  ])('reads only what is valid: %s', (_name, data, expected) => {
    expect(verify(event(data))).toMatchObject({
      type: 'charge.success',
      about: 'charge',
      reference: null,
      email: null,
      amount: null,
      ...expected,
    });
  });

  it('takes the subject of an event from its type', () => {
    const about = (type: string) => verify(event({}, type))?.about;
    const types = [
      'charge.failed',
      'charge.novelty',
      'refund.novelty',
      'charge.dispute.novelty',
      'charged',
      'x',
    ];
    expect(types.map(about)).toEqual(['charge', 'charge', 'refund', 'dispute', 'other', 'other']);
  });
});

describe('the Paystack client, verifyWebhook while a key is replaced', () => {
  const rotated = gatewayOf({
    secretKey: 'sk_test_new',
    previousSecretKeys: ['sk_test_old', 'sk_test_older'],
  });
  it.each(['sk_test_new', 'sk_test_old', 'sk_test_older'])('accepts %s', (key) => {
    expect(verify(paid, headersFor(paid, key), rotated)).toMatchObject({ reference: 'txn-1' });
  });

  it('refuses the old key once it is removed', () => {
    const later = gatewayOf({ secretKey: 'sk_test_new' });
    expect(verify(paid, headersFor(paid, 'sk_test_old'), later)).toBeUndefined();
  });
});

describe('the Paystack client, verifyWebhook on random bytes', () => {
  it('never throws, and refuses what is not signed', () =>
    withSeed((seed) => {
      const random = createRandom(seed);
      for (let i = 0; i < size({ ci: 2_000, prove: 200_000 }); i += 1) {
        const body = Buffer.from(paid);
        const flips = 1 + random.below(5);
        for (let flip = 0; flip < flips; flip += 1) body[random.below(body.length)]! ^= 1 << random.below(8);
        if (body.equals(Buffer.from(paid))) continue;
        expect(verify(body, headersFor(paid))).toBeUndefined();
        // With a signature the content may be anything, and must not make it throw.
        verify(body.subarray(0, random.below(body.length)));
        verify(body);
      }
      expect(verify(randomBytes(64))).toBeUndefined();
    }));
});
