// What a fault is, and how a file's faults are listed.

export interface Fault {
  /** What the fault does, in words. */
  readonly name: string;
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The file of tests that could see it. */
  readonly test: string;
}

/** By name: what it finds, and what it puts in its place. */
export const faultsIn = (
  file: string,
  test: string,
  faults: Readonly<Record<string, readonly [find: string, replace: string]>>,
): Fault[] => Object.entries(faults).map(([name, [find, replace]]) => ({ name, file, find, replace, test }));
