/** Turns: of each key a few at a time, and the others wait in the order in which they came. */

export interface Turns {
  /** Waits for a turn. Call what it answers when the work is over; undefined: there was none in time. */
  take(key: string): Promise<(() => void) | undefined>;
}

export interface TurnsOptions {
  /** Turns of one key at the same time: half of them, rounded up, while others have work too. */
  readonly atOnce: number;
  /**
   * The turn of work that takes longer is passed on: as a rule it waits for others, not for a processor. A
   * key that has half its turns keeps each for half this time: slow work begins at the same rate beside
   * others as alone.
   */
  readonly passedOnAfterMs: number;
  readonly withinMs: number;
  /** Of one key, at least 1. More are turned away at once. */
  readonly maxWaiting: number;
}

/**
 * Others have work while one of them began some within this time. Afterwards whoever waits has the other half
 * of the turns at the next end or arrival.
 */
const OTHERS_WITHIN_MS = 2_000;

interface Line {
  taken: number;
  readonly waiting: Set<() => void>;
}

/** For this process alone. */
export function createTurns({ atOnce, passedOnAfterMs, withinMs, maxWaiting }: TurnsOptions): Turns {
  const lines = new Map<string, Line>();
  let latest = { key: '', atMs: -Infinity };
  let latestOfAnother = latest;
  const turnsOf = (key: string): number => {
    const others = latest.key === key ? latestOfAnother : latest;
    return performance.now() - others.atMs < OTHERS_WITHIN_MS ? Math.ceil(atOnce / 2) : atOnce;
  };
  const grantWaiting = (key: string, line: Line): void => {
    for (const grant of line.waiting) {
      if (line.taken >= turnsOf(key)) return;
      line.taken += 1;
      if (latest.key !== key) latestOfAnother = latest;
      latest = { key, atMs: performance.now() };
      grant();
    }
  };
  const passOn = (key: string, line: Line): void => {
    line.taken -= 1;
    grantWaiting(key, line);
    if (line.taken === 0) lines.delete(key);
  };
  const wait = (key: string, line: Line): Promise<boolean> =>
    new Promise((resolve) => {
      const end = (isGranted: boolean): void => {
        clearTimeout(tooLate);
        line.waiting.delete(grant);
        resolve(isGranted);
      };
      const grant = (): void => end(true);
      const tooLate = setTimeout(() => end(false), withinMs);
      line.waiting.add(grant);
      grantWaiting(key, line);
    });
  return {
    take: async (key) => {
      const line = lines.get(key) ?? { taken: 0, waiting: new Set() };
      lines.set(key, line);
      grantWaiting(key, line);
      if (line.waiting.size >= maxWaiting || !(await wait(key, line))) return undefined;
      let isOver = false;
      const end = (): void => {
        clearTimeout(longWork);
        if (!isOver) passOn(key, line);
        isOver = true;
      };
      const longWork = setTimeout(end, (passedOnAfterMs * turnsOf(key)) / atOnce);
      return end;
    },
  };
}
