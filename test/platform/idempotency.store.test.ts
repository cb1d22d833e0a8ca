/**
 * Stored answers for Idempotency-Keys: the first one stays, each account has its own, and they are removed
 * after thirty days.
 */
import { describe, expect, it } from 'vitest';
import {
  findIdempotencyKey,
  forgetOldKeys,
  keepAnswer,
  type AnswerOwner,
} from '../../src/platform/idempotency/store.ts';
import { openBooks, refusalOf, type Books } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const books: Books = await forFile(openBooks());

const plant = (accountId: string, key: string, createdAt?: Date) =>
  books.world
    .insertInto('idempotency_keys')
    .values({
      account_id: accountId,
      key,
      path: '/api/esim/buy',
      fingerprint: 'f',
      transaction_id: 'txn-1',
      refusal_reason: null,
      refusal_detail: null,
      answer_status: null,
      answer_body: null,
      ...(createdAt === undefined ? {} : { created_at: createdAt }),
    })
    .execute();

const ownerOf = (key: string): AnswerOwner => ({
  ...{ accountId: 'acc-1', key, path: '/api/esim/buy', fingerprint: 'f', transactionId: 'txn-1' },
});

describe('stored answers', () => {
  it('are only kept for their own request', async () => {
    await plant('acc-1', 'own');
    const answer = { statusCode: 201, body: '{}' };
    const others: Partial<AnswerOwner>[] = [
      { fingerprint: 'other' },
      { path: '/other' },
      { transactionId: 'txn-2' },
    ];
    for (const other of others)
      expect(await keepAnswer(books.world, { ...ownerOf('own'), ...other }, answer)).toBe(false);
    expect(await keepAnswer(books.world, ownerOf('own'), answer)).toBe(true);
  });

  it('are not kept for a request that was refused without effect: its key is free', async () => {
    await plant('acc-1', 'refused');
    const refused = { refusal_reason: 'INSUFFICIENT_BALANCE', refusal_detail: '' };
    await books.owner.updateTable('idempotency_keys').set(refused).where('key', '=', 'refused').execute();
    expect(await keepAnswer(books.world, ownerOf('refused'), { statusCode: 400, body: '{}' })).toBe(false);
  });

  it('of another write are kept where it made something, under the id of what it made', async () => {
    await plant('acc-1', 'quote');
    const update = books.owner.updateTable('idempotency_keys').set({ transaction_id: 'quote-1' });
    await update.where('key', '=', 'quote').execute();
    const owner = { ...ownerOf('quote'), transactionId: 'txn-9' };
    expect(await keepAnswer(books.world, owner, { statusCode: 400, body: '{}' })).toBe(false);
    expect(await keepAnswer(books.world, owner, { statusCode: 201, body: '{}' })).toBe(true);
  });

  it('are unknown, then running, then answered', async () => {
    expect(await findIdempotencyKey(books.world, 'acc-1', 'k')).toBeUndefined();
    expect(await keepAnswer(books.world, ownerOf('k'), { statusCode: 201, body: '{}' })).toBe(false);
    await plant('acc-1', 'k');
    expect(await findIdempotencyKey(books.world, 'acc-1', 'k')).toMatchObject({
      path: '/api/esim/buy',
      fingerprint: 'f',
      transactionId: 'txn-1',
      refusal: undefined,
      answer: undefined,
    });
    expect(await keepAnswer(books.world, ownerOf('k'), { statusCode: 201, body: '{"a":1.00}' })).toBe(true);
    expect((await findIdempotencyKey(books.world, 'acc-1', 'k'))?.answer).toEqual({
      statusCode: 201,
      body: '{"a":1.00}',
    });
  });

  it('are never replaced', async () => {
    await plant('acc-1', 'first');
    const bodies = Array.from({ length: 8 }, (_, i) => `{"answer":${i}}`);
    const kept = await Promise.all(
      bodies.map((body) => keepAnswer(books.world, ownerOf('first'), { statusCode: 201, body })),
    );
    expect(kept.filter(Boolean)).toHaveLength(1);
    const answer = (await findIdempotencyKey(books.world, 'acc-1', 'first'))?.answer;
    expect(answer?.body).toBe(bodies[kept.indexOf(true)]);
    expect(await keepAnswer(books.world, ownerOf('first'), { statusCode: 200, body: 'later' })).toBe(false);
    expect((await findIdempotencyKey(books.world, 'acc-1', 'first'))?.answer).toEqual(answer);
  });

  it('are returned byte for byte, whatever the key is', async () => {
    const key = 'ключ \'\\ " % _ \u2028 🔑'.padEnd(255, '.');
    await plant('acc-1', key);
    const body = '{"note":"\u0001ac\u0001 é \\u0000 \\ud83d"}';
    await keepAnswer(books.world, ownerOf(key), { statusCode: 201, body });
    expect((await findIdempotencyKey(books.world, 'acc-1', key))?.answer?.body).toBe(body);
  });

  it('are separate for each account', async () => {
    await plant('acc-2', 'k');
    expect((await findIdempotencyKey(books.world, 'acc-2', 'k'))?.answer).toBeUndefined();
    expect(await findIdempotencyKey(books.world, 'acc-3', 'k')).toBeUndefined();
    expect(await refusalOf(plant('acc-2', 'k'))).toBe('idempotency_keys_pkey');
  });

  it.each(['', 'x'.repeat(256)])('have a key of 1 to 255 characters, not %j', async (key) => {
    expect(await refusalOf(plant('acc-1', key))).toBe('idempotency_keys_key_check');
  });

  it('are removed when they are older than the given time', async () => {
    const now = Date.UTC(2026, 5, 1);
    const day = 24 * 3_600_000;
    for (const age of [29, 30, 31, 400]) await plant('acc-old', `${age} days`, new Date(now - age * day));
    expect(await forgetOldKeys(books.world, new Date(now - 30 * day))).toBe(2);
    const left = await Promise.all(
      [29, 30, 31, 400].map(
        async (age) => (await findIdempotencyKey(books.world, 'acc-old', `${age} days`)) !== undefined,
      ),
    );
    expect(left).toEqual([true, true, false, false]);
  });
});
