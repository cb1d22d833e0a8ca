/**
 * The tables of the Paystack client: what each published error means by its code, its message or its HTTP
 * status.
 */
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/vendors/paystack/client.ts';
import { isNotFound, meaningOf, type No } from '../../src/vendors/paystack/codes.ts';
import { effectFailure, readFailure, transferInstructionsOf } from '../../src/vendors/paystack/map.ts';

const no = (change: Partial<No>): No => ({
  httpStatus: 409,
  code: '',
  category: '',
  message: 'Because',
  ...change,
});
const refused = (reason: string) => ({ kind: 'refused', reason });
const UNSEEN = { kind: 'unseen' };

describe('the Paystack client, the meaning of an error', () => {
  it.each([
    ['duplicate_reference', 'REFERENCE_TAKEN'],
    ['transaction_reversed', 'ALREADY_REFUNDED'],
    ['transaction_not_found', 'REQUEST_REFUSED'],
    ['invalid_key', 'CREDENTIALS_REFUSED'],
    ['unsupported_currency', 'CURRENCY_NOT_SERVED'],
    ['missing_params', 'REQUEST_REFUSED'],
    ['invalid_params', 'REQUEST_REFUSED'],
  ])('by the code %s is %s', (code, reason) => {
    expect(meaningOf(no({ code }))).toEqual(refused(reason));
  });

  it('is decided by the code in upper or lower case, before message and status', () => {
    expect(meaningOf(no({ code: 'Duplicate_Reference', httpStatus: 401 }))).toEqual(
      refused('REFERENCE_TAKEN'),
    );
    expect(meaningOf(no({ code: 'invalid_key', message: 'Invalid amount' }))).toEqual(
      refused('CREDENTIALS_REFUSED'),
    );
  });

  /** By what they mean; LATER: unknown, with a wait of a minute. */
  const messages = {
    LATER: `
      Please wait a few minutes | Too many requests | too many attempts | Rate limited | Your balance is not
      enough to fulfil this request | Balance of your account: insufficient | Insufficient balance`,
    REFERENCE_TAKEN: 'Duplicate Transaction Reference | Duplicate charge request',
    ALREADY_REFUNDED: `
      Transaction has been fully reversed | Transaction is fully refunded | It has already been reversed |
      It has already been refunded`,
    CREDENTIALS_REFUSED: `
      Invalid key | No Authorization Header was found | Format is Authorization Bearer | Token expired |
      Your IP address is not allowed | Invalid merchant | Your integration has been deactivated | You lack
      the privileges`,
    CURRENCY_NOT_SERVED: `
      Currency not supported | The currency XYZ is not supported | Unsupported currency | Invalid currency`,
    METHOD_NOT_SERVED: `
      No active channel | Channel is not enabled | The channels that you chose are not available | This
      channel: not supported`,
    AMOUNT_NOT_SERVED: `
      Amount limit exceeded | Amount cannot be processed | It is less than NGN 100 | It is less than NGN100
      | Below the minimum charge amount | Minimum amount is 100 | Invalid amount | Enter a valid amount |
      Amount must be a number | amount should be above 0`,
  };
  const meanings = Object.entries(messages).flatMap(([reason, list]) =>
    list.split('|').map((message) => [message.trim().replaceAll(/\s+/g, ' '), reason] as const),
  );
  it.each(meanings)('is decided by the message %j, with any status: %s', (message, reason) => {
    const meaning = reason === 'LATER' ? { kind: 'unknown', retryAfterMs: 60_000 } : refused(reason);
    expect(meaningOf(no({ message }))).toEqual(meaning);
    expect(meaningOf(no({ message, httpStatus: 403, category: 'api_error' }))).toEqual(meaning);
  });

  it.each([
    'It is less than usual',
    'less than 100',
    'Your balance',
    'Channels',
    'minimum',
    'The subminimum amount',
    'invalid amounts of time',
  ])('is not decided by the similar message %j', (message) => {
    expect(meaningOf(no({ message }))).toEqual(UNSEEN);
  });

  it.each<[string, Partial<No>, object]>([
    ['401', { httpStatus: 401 }, refused('CREDENTIALS_REFUSED')],
    [
      '401, also with a known message',
      { httpStatus: 401, message: 'Invalid amount' },
      refused('CREDENTIALS_REFUSED'),
    ],
    ['403', { httpStatus: 403 }, refused('CREDENTIALS_REFUSED')],
    ['the category validation_error', { category: 'validation_error' }, refused('REQUEST_REFUSED')],
    ['400 without a code', { httpStatus: 400 }, refused('REQUEST_REFUSED')],
    ['404 without a code', { httpStatus: 404 }, refused('REQUEST_REFUSED')],
    ['422 without a code', { httpStatus: 422 }, refused('REQUEST_REFUSED')],
    ['409 without a code', { httpStatus: 409 }, UNSEEN],
    ['500 without a code', { httpStatus: 500 }, UNSEEN],
    ['400 with a new code', { httpStatus: 400, code: 'moon_phase' }, UNSEEN],
    ['400 with a new category', { httpStatus: 400, category: 'moon_error' }, UNSEEN],
  ])('without a known code and message is decided by %s', (_name, change, meaning) => {
    expect(meaningOf(no(change))).toEqual(meaning);
  });
});

describe('the Paystack client, whether an error means that a transaction does not exist', () => {
  it.each<[boolean, Partial<No>]>([
    [true, { httpStatus: 404 }],
    [true, { code: 'transaction_not_found' }],
    [true, { httpStatus: 400, message: 'Transaction not found' }],
    [true, { httpStatus: 400, message: 'Transaction reference not found.' }],
    [true, { httpStatus: 400, message: 'entity not found' }],
    [false, { httpStatus: 500, message: 'Transaction not found' }],
    [false, { httpStatus: 400, message: 'The customer of this transaction not found' }],
    [false, { httpStatus: 400, message: 'Customer not found' }],
    [false, { httpStatus: 400 }],
  ])('%s for %j', (is, change) => {
    expect(isNotFound(no(change))).toBe(is);
  });
});

describe('the Paystack client, the outcome of an error', () => {
  type Failed = Extract<Answer, { kind: 'failed' }>;
  const failed = (change: Partial<No>): Failed => ({ kind: 'failed', ...no(change) });

  it.each<[Partial<No>, string]>([
    [{ code: 'invalid_key', category: 'api_error', message: 'No' }, 'invalid_key: No'],
    [{ category: 'api_error', message: 'No' }, 'api_error: No'],
    [{ httpStatus: 400, message: 'No' }, 'HTTP 400: No'],
    [{ httpStatus: 400, message: '' }, 'HTTP 400'],
  ])('for %j has the detail %j', (change, detail) => {
    expect(readFailure(failed(change))).toEqual({ outcome: 'unknown', detail });
  });

  it('of a lookup is never refused, and has a wait only if the gateway is busy', () => {
    const detail = 'invalid_key: Because';
    expect(readFailure(failed({ code: 'invalid_key' }))).toStrictEqual({ outcome: 'unknown', detail });
    expect(readFailure(failed({ message: 'Too many requests' }))).toStrictEqual({
      outcome: 'unknown',
      detail: 'HTTP 409: Too many requests',
      retryAfterMs: 60_000,
    });
  });

  it('of an effect with an unknown error is unknown, and its detail says so', () => {
    const detail = 'unseen HTTP 409: Because';
    expect(effectFailure(failed({}))).toStrictEqual({ outcome: 'unknown', detail });
  });

  it('of a lost answer keeps its wait, for lookups and effects', () => {
    const lost: Answer = { kind: 'lost', detail: 'HTTP 429', retryAfterMs: 2_000 };
    const expected = { outcome: 'unknown', detail: 'HTTP 429', retryAfterMs: 2_000 };
    expect(effectFailure(lost)).toStrictEqual(expected);
    expect(readFailure(lost)).toStrictEqual(expected);
  });
});

describe('the Paystack client, a transfer account', () => {
  const account = { accountName: 'Simway', accountNumber: '0123456789', bankName: 'Test Bank' };
  const shown = (theirs: Date | null, asked: Date | undefined) =>
    transferInstructionsOf({ ...account, expiresAt: theirs }, asked);

  it('expires when the gateway says, or else when we requested it', () => {
    const [theirs, asked] = [new Date('2026-11-21T09:00:00.000Z'), new Date('2026-11-21T10:00:00.000Z')];
    const expected = { kind: 'bank-transfer', ...account };
    expect(shown(theirs, asked)).toEqual({ ...expected, expiresAt: theirs });
    expect(shown(null, asked)).toEqual({ ...expected, expiresAt: asked });
  });

  it('is not shown without a time of expiry', () => {
    expect(shown(null, undefined)).toBeNull();
  });
});
