/**
 * What a value sent to a control interface may be, in words that its sender is told. Guarantee: pure.
 */
export interface Check {
  ok: (value: unknown) => boolean;
  /** Completes "… must be". */
  wants: string;
}

/** A share of the calls (1 = every call), or the next n calls it could apply to. */
export type Chance = number | { next: number };

const LONGEST_MS = 86_400_000;

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Whether this is an object and nothing else that JSON knows. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isChance(value: unknown): value is Chance {
  if (typeof value === 'number') return value >= 0 && value <= 1;
  if (!isObject(value)) return false;
  const { next, ...rest } = value;
  return Object.keys(rest).length === 0 && isCount(next);
}

export const CHANCE: Check = {
  ok: isChance,
  wants: 'a share from 0 to 1 or {"next": n} with a whole number n',
};
export const FLAG: Check = { ok: (value) => typeof value === 'boolean', wants: 'true or false' };
export const AMOUNT: Check = { ok: isCount, wants: 'a whole number from 0' };
export const DURATION_MS: Check = {
  ok: (value) => isCount(value) && value <= LONGEST_MS,
  wants: `whole milliseconds from 0 to ${LONGEST_MS}`,
};

/** One of these words (or numbers). */
export function oneOf(words: readonly (string | number)[]): Check {
  return {
    ok: (value) => (typeof value === 'string' || typeof value === 'number') && words.includes(value),
    wants: `one of ${words.join(', ')}`,
  };
}

/** Whether a chance can never hit any more. */
export function isOff(chance: Chance): boolean {
  return chance === 0 || (typeof chance === 'object' && chance.next === 0);
}
