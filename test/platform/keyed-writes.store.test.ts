/**
 * Writes under an Idempotency-Key: a request that would be refused now gets the answer of the earlier
 * request, also if that came a moment before.
 */
import { describe, expect, it } from 'vitest';
import { DomainError } from '../../src/domain/errors.ts';
import { insertKey } from '../../src/platform/idempotency/store.ts';
import { writeOnce } from '../../src/platform/idempotency/keyed-writes.ts';
import type { Principal } from '../../src/domain/account.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const books: Books = await forFile(openBooks());

const LATER_MS = 11_000;
const deps = { db: books.world, clock: { now: () => new Date(Date.now() + LATER_MS) } };
const principal = (accountId: string) => ({ account: { id: accountId } }) as unknown as Principal;
const tag = { key: 'k', path: '/api/esim/quotes', fingerprint: 'f' };

function ask(
  accountId: string,
  given: { readonly fingerprint?: string; readonly meanwhile?: () => Promise<unknown> },
) {
  return writeOnce(
    deps,
    principal(accountId),
    { ...tag, fingerprint: given.fingerprint ?? 'f' },
    {
      prepare: async () => {
        await given.meanwhile?.();
        throw new DomainError('PACKAGE_NOT_FOUND', 'gone');
      },
      write: () => Promise.reject(new Error('never written')),
      readEarlier: (resultId) => Promise.resolve(`as ${resultId}`),
    },
  );
}

const first = (accountId: string) =>
  insertKey(books.world, { transactionId: 'quote-1', accountId, idempotency: tag });

describe('a request that would be refused now', () => {
  it('is refused where nothing was written before, and its key stays free', async () => {
    await expect(ask('acc-1', {})).rejects.toMatchObject({ code: 'PACKAGE_NOT_FOUND' });
    await first('acc-1');
  });

  it('answers as the earlier request', async () => {
    await first('acc-2');
    expect(await ask('acc-2', {})).toBe('as quote-1');
  });

  it('answers as the request that wrote while it was judged', async () => {
    expect(await ask('acc-3', { meanwhile: () => first('acc-3') })).toBe('as quote-1');
  });

  it('is told that its key was used with another body', async () => {
    const asked = ask('acc-4', { fingerprint: 'other', meanwhile: () => first('acc-4') });
    await expect(asked).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  });
});
