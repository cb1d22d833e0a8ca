/**
 * How often each operation was called and how it ended, since the process began. Guarantee: counts only, no request data.
 */
export interface StatsSnapshot {
  calls: Record<string, number>;
  /** By operation and error code, "0" being success. */
  codes: Record<string, Record<string, number>>;
  lostAnswers: number;
  /** Requests received and not yet answered. */
  inFlight: number;
}

export interface Stats {
  begin(): void;
  end(): void;
  count(operation: string, code: string): void;
  countLostAnswer(): void;
  snapshot(): StatsSnapshot;
}

/** Fresh counters, all zero. */
export function createStats(): Stats {
  const calls: Record<string, number> = {};
  const codes: Record<string, Record<string, number>> = {};
  let lostAnswers = 0;
  let inFlight = 0;
  return {
    begin: () => {
      inFlight += 1;
    },
    end: () => {
      inFlight -= 1;
    },
    count: (operation, code) => {
      calls[operation] = (calls[operation] ?? 0) + 1;
      const ofOperation = (codes[operation] ??= {});
      ofOperation[code] = (ofOperation[code] ?? 0) + 1;
    },
    countLostAnswer: () => {
      lostAnswers += 1;
    },
    snapshot: () => ({ calls, codes, lostAnswers, inFlight }),
  };
}
