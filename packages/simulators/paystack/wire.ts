import { isObject } from '../kit/server.ts';

/** Added to ids while shapes drift: above 2^53 and above 2^63. */
const DRIFT_OFFSET = 2n ** 63n;

// Not yet in TypeScript's library.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };

/** bigint goes out as a plain JSON number, however large. */
function exact(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? rawJSON(String(value)) : value;
}

export function toJson(value: unknown): string {
  return JSON.stringify(value, exact);
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, each]) => [name, reversed(each)]),
  );
}

function escaped(json: string): string {
  return json
    .replaceAll('/', '\\/')
    .replaceAll(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The ways to write JSON that parses to the same value. */
export const TO_BYTES = {
  compact: toJson,
  pretty: (value: unknown) => JSON.stringify(value, exact, 2),
  escaped: (value: unknown) => escaped(toJson(value)),
  reordered: (value: unknown) => toJson(reversed(value)),
};
export const WEBHOOK_BYTES = Object.keys(TO_BYTES) as (keyof typeof TO_BYTES)[];

export function wireId(id: number, isDrifting: boolean): number | bigint {
  return isDrifting ? BigInt(id) + DRIFT_OFFSET : id;
}

/** The id behind digits that went out, whether shapes drifted then or not. */
export function idOf(digits: string): number {
  const id = BigInt(digits);
  return Number(id >= DRIFT_OFFSET ? id - DRIFT_OFFSET : id);
}

/** `2024-08-22T09:14:24.000Z`. */
export function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : iso(atMs);
}
