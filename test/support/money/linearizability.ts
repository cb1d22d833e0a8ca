// Decides whether a recorded history of concurrent operations could have happened one at a time, each at some
// moment between its call and its return (Herlihy and Wing). A depth-first search in the manner of Wing and
// Gong with Lowe's cache of states already seen, as in porcupine. Written here rather than taken from
// porcupine, a Go module, so that it runs wherever the tests run. Two things keep 64 concurrent callers
// feasible: operations without effect are placed as soon as they fit, and those that returned first are tried
// first.

export interface Model<State, Input, Output> {
  readonly initial: State;
  /** What the operation does and must answer in this state; it is deterministic. */
  readonly apply: (state: State, input: Input) => { readonly state: State; readonly output: Output };
  /** Two states with the same text are the same state. */
  readonly keyOf: (state: State) => string;
  readonly sameOutput: (a: Output, b: Output) => boolean;
  /**
   * True when an operation with this answer leaves the state as it is, in whatever state it gives that
   * answer.
   */
  readonly changesNothing: (input: Input, output: Output) => boolean;
}

export interface Operation<Input, Output> {
  readonly input: Input;
  /** Place in the order of all calls and returns of the history, all different. */
  readonly calledAt: number;
  /**
   * Absent: it is unknown whether it happened, and what it answered. It may take effect at any time after its
   * call.
   */
  readonly returned?: { readonly at: number; readonly output: Output };
}

/** `undecided`: the search was given up after so many steps. Treat it as a failure. */
type Verdict = 'linearizable' | 'not linearizable' | 'undecided';

const DEFAULT_MAX_STEPS = 2_000_000;

/** One choice: the operations that could come next here, and how many of them were tried. */
interface Fork<State> {
  readonly state: State;
  readonly options: readonly number[];
  tried: number;
  /** Everything placed since this choice, the choice itself first. */
  placed: number[];
}

/** Searches for an order of the operations that keeps real time and satisfies the model. */
export function checkLinearizable<State, Input, Output>(
  model: Model<State, Input, Output>,
  history: readonly Operation<Input, Output>[],
  options: { readonly maxSteps?: number } = {},
): Verdict {
  // By return, so that the first that is left bounds what may come next; unknown ones last.
  const operations = history.toSorted((a, b) => endOf(a) - endOf(b) || a.calledAt - b.calledAt);
  const left = createLeft(operations);
  const seen = new Set<string>();
  const forks: Fork<State>[] = [];
  let stepsLeft = options.maxSteps ?? DEFAULT_MAX_STEPS;
  let state = model.initial;
  let justPlaced: number[] = [];
  for (;;) {
    const moves = placeWhatChangesNothing(model, operations, left, state, justPlaced);
    if (left.known() === 0) return 'linearizable';
    forks.push({ state, options: moves, tried: 0, placed: justPlaced });
    // Go back to the last choice that has another way, and take that.
    for (;;) {
      const fork = forks.at(-1);
      if (!fork) return 'not linearizable';
      const choice = fork.options[fork.tried];
      if (choice === undefined) {
        for (const id of fork.placed) left.putBack(id);
        forks.pop();
        continue;
      }
      stepsLeft -= 1;
      if (stepsLeft < 0) return 'undecided';
      fork.tried += 1;
      const next = model.apply(fork.state, operations[choice]!.input).state;
      left.take(choice);
      const place = `${left.key()} ${model.keyOf(next)}`;
      if (seen.has(place)) {
        left.putBack(choice);
        continue;
      }
      seen.add(place);
      state = next;
      justPlaced = [choice];
      break;
    }
  }
}

const endOf = <Input, Output>({ returned }: Operation<Input, Output>): number =>
  returned?.at ?? Number.POSITIVE_INFINITY;

/**
 * Places every operation that fits here and, by its answer, changed nothing: its place makes no difference to
 * others, so this is never wrong. Answers the others that could come next.
 */
function placeWhatChangesNothing<State, Input, Output>(
  model: Model<State, Input, Output>,
  operations: readonly Operation<Input, Output>[],
  left: Left,
  state: State,
  placed: number[],
): number[] {
  for (;;) {
    const moves: number[] = [];
    let quiet = 0;
    for (const id of left.candidates()) {
      const { input, returned } = operations[id]!;
      if (returned && !model.sameOutput(model.apply(state, input).output, returned.output)) continue;
      if (!returned || !model.changesNothing(input, returned.output)) moves.push(id);
      else {
        left.take(id);
        placed.push(id);
        quiet += 1;
      }
    }
    if (quiet === 0) return moves;
  }
}

type Left = ReturnType<typeof createLeft>;

/** The operations not placed yet, by their number in the order of returns. */
function createLeft<Input, Output>(operations: readonly Operation<Input, Output>[]) {
  const taken = new Uint16Array(Math.trunc(operations.length / 16) + 1);
  const isTaken = (id: number): boolean => ((taken[id >> 4]! >> (id & 15)) & 1) === 1;
  let known = operations.filter((operation) => operation.returned !== undefined).length;
  const flip = (id: number, change: number): void => {
    taken[id >> 4] = taken[id >> 4]! ^ (1 << (id & 15));
    if (operations[id]!.returned !== undefined) known += change;
  };
  return {
    known: () => known,
    take: (id: number) => flip(id, -1),
    putBack: (id: number) => flip(id, 1),
    key: () => String.fromCharCode(...taken),
    /** Those that were called before the first one left returned: any of them may be next. */
    candidates: (): number[] => {
      const found: number[] = [];
      let firstReturn: number | undefined;
      for (const [id, operation] of operations.entries()) {
        if (isTaken(id)) continue;
        firstReturn ??= endOf(operation);
        if (operation.calledAt < firstReturn || endOf(operation) === firstReturn) found.push(id);
      }
      return found;
    },
  };
}

interface Recorder<Input, Output> {
  readonly history: readonly Operation<Input, Output>[];
  /**
   * Runs the action and notes its call, its return and its answer; an action that throws is noted as unknown,
   * and thrown on.
   */
  run(input: Input, action: () => Promise<Output>): Promise<Output>;
}

/** Records one history. Calls and returns of one process are numbered as they happen. */
export function createRecorder<Input, Output>(): Recorder<Input, Output> {
  const history: Operation<Input, Output>[] = [];
  let clock = 0;
  const tick = (): number => (clock += 1);
  return {
    history,
    run: async (input, action) => {
      const calledAt = tick();
      try {
        const output = await action();
        history.push({ input, calledAt, returned: { at: tick(), output } });
        return output;
      } catch (error) {
        history.push({ input, calledAt });
        throw error;
      }
    },
  };
}
