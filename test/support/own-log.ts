// What the API of a stack of its own processes wrote about one request.
import { expect } from 'vitest';
import type { Answer, Stack } from './stack.ts';
import { until } from './until.ts';

/** The request's own line names the cause that its caller was not told. The stack must log warnings. */
export async function expectCauseInLog(stack: Stack, answer: Answer, cause: RegExp): Promise<void> {
  const requestId = String(answer.headers.get('X-Request-Id'));
  // Lines are written in batches.
  const line = await until(
    () =>
      stack.children.api
        ?.tail()
        .split('\n')
        .find((one) => one.includes(requestId)),
    (found) => found !== undefined,
    { what: `a log line of request ${requestId}` },
  );
  expect(JSON.parse(line!)).toMatchObject({
    status: answer.status,
    cause: expect.stringMatching(cause) as string,
  });
  expect(answer.text).not.toMatch(cause);
}
