/** One key, one request, one answer, if the engine does not know the outcome of the earlier request. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../src/domain/account.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { EngineUnavailable } from '../../src/domain/outcome.ts';
import { refusalOf } from '../../src/domain/refusals.ts';
import { refused, startOnce } from '../../src/payments/first-answer.ts';
import type { EngineAnswer } from '../../src/payments/engine.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { beginKey, refuseKey } from '../../src/platform/idempotency/store.ts';
import type { IdempotencyKeyInfo } from '../../src/platform/idempotency/tag.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { purchaseInput } from '../support/money/facts.ts';
import { forFile } from '../support/world/for-file.ts';

const books: Books = await forFile(openBooks());

const TAG = { key: 'k', path: '/api/esim/buy', fingerprint: 'f' };
const LATER_MS = 11_000;

interface Ask {
  /** Absent: accepted. */
  readonly refusal?: DomainError;
  readonly tag?: IdempotencyKeyInfo | null;
  readonly start?: (input: ReturnType<typeof purchaseInput>) => Promise<EngineAnswer>;
  readonly firstAnswer?: (transactionId: string) => Promise<EngineAnswer | 'no-workflow'>;
  /** What the rows say. */
  readonly read?: (transactionId: string) => Promise<string | undefined>;
}

/** Asks for an account of its own; answers the code of an error. */
async function ask({ refusal, tag = TAG, start, firstAnswer, read }: Ask) {
  const accountId = `acc-${randomUUID()}`;
  const never = (): never => {
    throw new Error('the engine is not asked for this');
  };
  const engine = {
    ...{ check: never, checkSoon: never, fundWallet: never },
    firstAnswer: firstAnswer ?? never,
  };
  const deps = {
    ...{ db: books.world, engine, idSecret: Buffer.from('a secret') },
    clock: { now: () => new Date(Date.now() + LATER_MS) },
    settings: { timings: { answerWithinMs: 1_000 } },
  };
  const principal = { account: { id: accountId }, environment: 'test' } as unknown as Principal;
  let transactionId = '';
  const answer = startOnce<ReturnType<typeof purchaseInput>, string>(deps, principal, tag ?? undefined, {
    judge: (found) => {
      transactionId = found.transactionId;
      if (refusal) throw refusal;
      const given = { transactionId, accountId, ...(tag ? { idempotency: tag } : {}) };
      return Promise.resolve(purchaseInput(given));
    },
    start: start ?? never,
    read: read ?? (() => Promise.resolve(undefined)),
    show: (_input, status) => Promise.resolve(status),
  });
  let error: DomainError | undefined;
  const code = await answer.catch((thrown: unknown) => {
    if (!(thrown instanceof DomainError)) return thrown;
    error = thrown;
    return thrown.code;
  });
  return { code, error, transactionId, accountId };
}

const EXPIRED = new DomainError('QUOTE_EXPIRED', 'expired');
const unanswered = (fingerprint: string) => () =>
  Promise.resolve({ status: 'UNANSWERED' as const, fingerprint });

describe('a request that would be refused now', () => {
  it('is refused without a key, and nobody is asked', async () => {
    expect((await ask({ refusal: EXPIRED, tag: null })).code).toBe('QUOTE_EXPIRED');
  });

  it.each([
    ['there is no workflow', () => Promise.resolve('no-workflow' as const)],
    ['Temporal does not say', () => Promise.resolve('unknown' as const)],
    ['Temporal is away', () => Promise.reject(new EngineUnavailable('away'))],
  ])('is refused where %s, and its id opens nothing any more', async (_what, firstAnswer) => {
    const { code, transactionId, accountId } = await ask({ refusal: EXPIRED, firstAnswer });
    expect(code).toBe('QUOTE_EXPIRED');
    const slower = purchaseInput({ transactionId, accountId, idempotency: TAG });
    const options = { now: new Date(), gateway: 'paystack', keepRefusal: () => false };
    expect(await openPurchase(books.world, slower, options)).toMatchObject({
      refusal: { reason: 'SUPERSEDED' },
    });
  });

  it('has to wait while the earlier request runs', async () => {
    expect((await ask({ refusal: EXPIRED, firstAnswer: unanswered('f') })).code).toBe(
      'IDEMPOTENCY_KEY_IN_USE',
    );
  });

  it('is told that another body runs under its key', async () => {
    const { code } = await ask({ refusal: EXPIRED, firstAnswer: unanswered('other') });
    expect(code).toBe('IDEMPOTENCY_KEY_REUSED');
  });
});

describe('a request that was started and not answered in time', () => {
  it('has the answer UNANSWERED', async () => {
    expect((await ask({ start: unanswered('f') })).code).toBe('UNANSWERED');
  });

  it('is told that another body had started it', async () => {
    expect((await ask({ start: unanswered('other') })).code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  it('is told that another body has its key, where only the row of the key shows it', async () => {
    const { code } = await ask({
      start: async (input) => {
        await beginKey(books.world, { ...input, idempotency: { ...TAG, fingerprint: 'other' } });
        return unanswered('f')();
      },
    });
    expect(code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  it('is refused where it was refused before its caller was answered, in the same words', async () => {
    const refusal = refusalOf('INSUFFICIENT_BALANCE', 'the wallet is empty');
    const { code, error } = await ask({
      start: async (input) => {
        await refuseKey(books.world, input, refusal);
        return unanswered('f')();
      },
    });
    expect([code, error?.details]).toEqual(['INSUFFICIENT_BALANCE', refused(refusal).details]);
    expect(error?.details).toContain('the wallet is empty');
  });

  it('is refused with what is lacking and the id, where a purchase was written that has its reason alone', async () => {
    const refusal = refusalOf('INSUFFICIENT_BALANCE', 'the wallet is empty');
    const { error, transactionId } = await ask({
      start: () => Promise.resolve({ status: 'REFUSED', refusal, fingerprint: TAG.fingerprint }),
      read: (id) => Promise.reject(refused({ reason: 'INSUFFICIENT_BALANCE', detail: '' }, id)),
    });
    expect(error).toMatchObject({ code: 'INSUFFICIENT_BALANCE', transactionId });
    expect(error?.details).toContain('the wallet is empty');
  });

  it.each([
    ['its own', 'f', 'UNANSWERED'],
    ['of another body', 'other', 'IDEMPOTENCY_KEY_REUSED'],
  ])('and whose row alone shows that it runs: the row is %s', async (_what, fingerprint, expected) => {
    const { code } = await ask({
      start: async (input) => {
        await beginKey(books.world, { ...input, idempotency: { ...TAG, fingerprint } });
        return 'unknown';
      },
    });
    expect(code).toBe(expected);
  });

  it('is not known to run without a row', async () => {
    expect((await ask({ start: () => Promise.resolve('unknown') })).code).toBe('SERVICE_UNAVAILABLE');
  });
});
