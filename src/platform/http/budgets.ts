/** Numbers by name; a name whose number is zero takes no memory. */
export function createCounts() {
  const counts = new Map<string, number>();
  const of = (name: string): number => counts.get(name) ?? 0;
  return {
    of,
    add: (name: string, change: number): void => {
      const count = of(name) + change;
      if (count > 0) counts.set(name, count);
      else counts.delete(name);
    },
  };
}

export type ByteBudget = ReturnType<typeof createByteBudget>;

/**
 * Memory that many senders share. One of them gets at most a quarter of it, so that it takes four to keep the
 * others out.
 */
export function createByteBudget({
  maxBytes,
  maxItemBytes,
}: {
  readonly maxBytes: number;
  readonly maxItemBytes: number;
}) {
  const maxBytesPerSender = Math.max(maxItemBytes, Math.trunc(maxBytes / 4));
  const perSender = createCounts();
  let taken = 0;
  return {
    /** False: there is no room, and nothing is taken. */
    take: (sender: string, bytes: number): boolean => {
      if (taken + bytes > maxBytes || perSender.of(sender) + bytes > maxBytesPerSender) return false;
      taken += bytes;
      perSender.add(sender, bytes);
      return true;
    },
    giveBack: (sender: string, bytes: number): void => {
      taken -= bytes;
      perSender.add(sender, -bytes);
    },
  };
}
