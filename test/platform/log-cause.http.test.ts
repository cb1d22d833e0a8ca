// The reason for a 503 is in that request's own log line, for the operator on call; never in the answer, and
// never with a secret.
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { DomainError } from '../../src/domain/errors.ts';
import { startApi, type TestApi } from '../support/http/api.ts';
import { keyOf } from '../support/http/shop.ts';
import { EngineUnavailable } from '../../src/domain/outcome.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

function unavailable(cause?: unknown): DomainError {
  const error = new DomainError('SERVICE_UNAVAILABLE', 'Try again in a moment');
  error.cause = cause;
  return error;
}

/** The text of the answer and the one log line of the request. */
async function lineFor(failure: Error) {
  api.shop.failNext = failure;
  const reply = await api.ask('/api/wallet/balance', {
    key: 'ngn',
    headers: { 'x-request-id': 'night-call' },
  });
  const lines = await expect
    .poll(() =>
      api.logLines.filter((line) => line.includes('"request answered"') && line.includes('night-call')),
    )
    .toHaveLength(1)
    .then(() => api.logLines.filter((line) => line.includes('"request answered"')));
  return { reply, line: JSON.parse(lines[0]!) as Record<string, unknown>, text: lines[0]! };
}

describe('the log line of a request that was answered 503', () => {
  it('has the whole chain of causes, outermost first, and a higher level', async () => {
    const grpc = Object.assign(new Error('14 UNAVAILABLE: connection dropped'), { code: 14 });
    const { reply, line } = await lineFor(
      unavailable(new EngineUnavailable('Temporal took no purchase', { cause: grpc })),
    );
    expect(reply.status).toBe(503);
    expect(reply.text).not.toContain('Temporal');
    expect(line).toMatchObject({
      level: 'warn',
      requestId: 'night-call',
      status: 503,
      errorCode: 'SERVICE_UNAVAILABLE',
      cause: 'Temporal took no purchase: 14 UNAVAILABLE: connection dropped',
    });
  });

  it.each([
    [
      'a cause without words by its code',
      Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
      'ECONNREFUSED',
    ],
    ['a cause without either by its name', new RangeError(), 'RangeError'],
    ['a cause that is no error', 'gone', 'gone'],
    ['a missing cause by the answer', undefined, 'Try again in a moment'],
  ])('explains %s', async (_what, cause, words) => {
    expect((await lineFor(unavailable(cause))).line).toMatchObject({ cause: words });
  });

  it('contains no secret, whatever the cause says, and has a limited length', async () => {
    const loop = new Error(
      `postgres://simway:hunter2hunter2@10.0.0.1/x ${keyOf('test', 'someone')} ${'x'.repeat(2_000)}`,
    );
    loop.cause = loop;
    const { text } = await lineFor(unavailable(loop));
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('someone');
    expect(text.length).toBeLessThan(1_500);
  });
});

test('a refusal without a fault has no cause, and is not a warning', async () => {
  const { line } = await lineFor(new DomainError('PACKAGE_NOT_FOUND', 'Package not found'));
  expect(line).toMatchObject({ level: 'info', status: 404 });
  expect(line).not.toHaveProperty('cause');
});
