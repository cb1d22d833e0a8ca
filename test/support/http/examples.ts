// The examples of the reference are answers of HTTP tests. `npm run record:examples` has the tests keep those
// that they name; every other run compares each with the recorded one.
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { DAY_MS } from '../../../src/domain/clock.ts';
import type { ExamplesByOperation } from '../../../src/platform/http/docs/openapi.ts';
import { compileRoutes } from '../../../src/platform/http/middleware/routing.ts';
import type { Route } from '../../../src/platform/http/route.ts';
import recorded from '../../../src/app/routes/examples.json' with { type: 'json' };

export const RECORD = 'npm run record:examples';

/**
 * The case that an answer is true for, and the request with a body. Apart, where one request has several
 * answers.
 */
export type ExampleName = string | { readonly request?: string; readonly answer?: string };

/** One of a request or of an answer, as a line of a recording. */
export interface RecordedExample {
  readonly operationId: string;
  readonly of: string;
  readonly name: string;
  readonly value: unknown;
}

interface Exchange {
  readonly method: string;
  readonly target: string;
  readonly body: unknown;
  readonly reply: { readonly status: number; readonly text: string; readonly json: unknown };
}

/**
 * Keeps what was exchanged, or compares it. A refusal is no example: the reference has those from the code
 * that renders them.
 */
export function createExamples(routes: readonly Route[]): (name: ExampleName, exchange: Exchange) => void {
  const match = compileRoutes(routes);
  return (name, { method, target, body, reply }) => {
    const found = match(method, target.replace(/\?.*/, ''));
    const operationId = found.kind === 'route' ? found.route.docs?.operationId : undefined;
    if (operationId === undefined) throw new Error(`${method} ${target} is not in the reference`);
    if (reply.status >= 400) return;
    const steady = JSON.parse(
      steadily(JSON.stringify({ request: body, answer: reply.json ?? reply.text })),
    ) as Record<string, unknown>;
    const names = typeof name === 'string' ? { request: name, answer: name } : name;
    const keep = keeperOf(operationId);
    if (names.request !== undefined && body !== undefined) keep('request', names.request, steady['request']);
    if (names.answer !== undefined) keep(String(reply.status), names.answer, steady['answer']);
  };
}

function keeperOf(operationId: string): (of: string, name: string, value: unknown) => void {
  // Set by a recording, which collects the lines of this folder.
  const folder = process.env['SIMWAY_EXAMPLES'];
  if (folder !== undefined) {
    const file = join(folder, `${basename(expect.getState().testPath ?? '')}.jsonl`);
    return (of, name, value) =>
      appendFileSync(file, `${JSON.stringify({ operationId, of, name, value } satisfies RecordedExample)}\n`);
  }
  return (of, name, value) => {
    const operation = (recorded as ExamplesByOperation)[operationId] as Record<string, object> | undefined;
    const kept = operation?.[of] as Record<string, unknown> | undefined;
    if (isDeepStrictEqual(shapeOf(kept?.[name]), shapeOf(value))) return;
    throw new Error(`the example "${name}" of ${operationId} (${of}) is not what this test gets: ${RECORD}`);
  };
}

/** Names of fields and types of values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return new Set(value.map((item) => JSON.stringify(shapeOf(item))));
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  const fields = Object.entries(value).map(([name, one]) => [name, shapeOf(one)] as const);
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What the reference says instead of "now". */
const MOMENT_MS = Date.parse('2026-01-31T09:30:00.000Z');
/** Times of a test that are further from now are the same in every run. */
const NEAR_MS = 45 * DAY_MS;

const around = (time: string, stepMs: number, start: number): number | undefined => {
  const difference = Date.parse(time) - start;
  if (Math.abs(difference) > NEAR_MS) return undefined;
  return Math.round(difference / stepMs) * stepMs;
};
const steadyTime = (time: string): string => {
  const difference = around(time, 60_000, Date.now());
  return difference === undefined ? time : new Date(MOMENT_MS + difference).toISOString();
};
const steadyDay = (day: string): string => {
  const difference = around(day, DAY_MS, Date.now() - (Date.now() % DAY_MS));
  return difference === undefined ? day : new Date(MOMENT_MS + difference).toISOString().slice(0, 10);
};
const hexOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/**
 * What differs between two runs, and what is said instead, by its place among those of its kind. Requests are
 * for the sandbox.
 */
const REPLACED: readonly (readonly [RegExp, (found: string, nth: number) => string])[] = [
  [/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, steadyTime],
  [/\b20\d\d-\d\d-\d\d(?=")/g, steadyDay],
  ...['txn', 'esim', 'ep', 'msg', 'batch', 'quote', 'checkout', 'evt', 'set'].map(
    (kind) =>
      [
        new RegExp(`\\b${kind}-[0-9a-f]{32}\\b`, 'g'),
        (_found: string, nth: number) => `${kind}-${hexOf(`${kind} ${nth}`)}`,
      ] as const,
  ),
  [/\b8944300\d{12}\b/g, (_found, nth) => String(8_944_500_102_030_405_067n + BigInt(nth))],
  [/(?<=")\d{12}(?=")/g, (_found, nth) => String(260_131_093_001 + nth)],
  [/(?<="rateId":")\d+/g, (_found, nth) => String(41 + nth)],
  [/(?<="nextCursor":")(?!esim|txn|entry)[\w-]{12,}/g, () => 'AAAAAAAAEtYAAAAAAAAAAHrS5k0pWQ4c'],
  [/(?<=\/i\/)[\w-]{32}/g, () => 'Zk3t8xq1Vw0yLr5cNs7aPd2hGe9jUb4m'],
  [/\bwhsec_[\w+/=]{44}/g, () => 'whsec_…'],
  [
    /(?<=data:image\/svg\+xml;base64,)[\w+/=]+/g,
    () => 'PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjwvc3ZnPg==',
  ],
  [/\bNG-5GB-30D\b/g, () => 'SIM-OK'],
  [/\bTOPUP_NG-1GB-7D\b/g, () => 'TOPUP_SIM-OK'],
  // Where `npm run webhooks -- listen --forward` can have them.
  [/https?:\/\/(?:shop|other)\.example\.com\/[^"]*/g, () => 'http://127.0.0.1:4000/hooks'],
];

function steadily(text: string): string {
  return REPLACED.reduce((replaced, [pattern, instead]) => {
    const seen: string[] = [];
    return replaced.replace(pattern, (found) => {
      if (!seen.includes(found)) seen.push(found);
      return instead(found, seen.indexOf(found));
    });
  }, text);
}
