/** Turns: of each key a few at a time, and the others wait in the order in which they came. */

export interface Turns {
  /** Waits for a turn. Call what it answers when the work is over; undefined: there was none in time. */
  take(key: string): Promise<(() => void) | undefined>;
}

export interface TurnsOptions {
  readonly atOnce: number;
  /** The turn of work that takes longer is passed on: as a rule it waits for others, not for a processor. */
  readonly passedOnAfterMs: number;
  readonly withinMs: number;
  /** Of one key. More are turned away at once. */
  readonly maxWaiting: number;
}

interface Line {
  taken: number;
  readonly waiting: Set<() => void>;
}

/** For this process alone. */
export function createTurns({ atOnce, passedOnAfterMs, withinMs, maxWaiting }: TurnsOptions): Turns {
  const lines = new Map<string, Line>();
  const passOn = (key: string, line: Line): void => {
    const [next] = line.waiting;
    if (next) next();
    else if ((line.taken -= 1) === 0) lines.delete(key);
  };
  const wait = ({ waiting }: Line): Promise<boolean> =>
    new Promise((resolve) => {
      const end = (isGranted: boolean): void => {
        clearTimeout(tooLate);
        waiting.delete(begin);
        resolve(isGranted);
      };
      const begin = (): void => end(true);
      const tooLate = setTimeout(() => end(false), withinMs);
      waiting.add(begin);
    });
  return {
    take: async (key) => {
      const line = lines.get(key) ?? { taken: 0, waiting: new Set() };
      lines.set(key, line);
      if (line.taken < atOnce) line.taken += 1;
      else if (line.waiting.size >= maxWaiting || !(await wait(line))) return undefined;
      let isOver = false;
      const end = (): void => {
        clearTimeout(longWork);
        if (!isOver) passOn(key, line);
        isOver = true;
      };
      const longWork = setTimeout(end, passedOnAfterMs);
      return end;
    },
  };
}
