/**
 * The checker that promise M2 relies on: legal and illegal histories made by hand, and the same verdict as
 * trying every order.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLinearizable, createRecorder, type Model, type Operation } from './linearizability.ts';
import { walletModel, type WalletInput, type WalletOutput } from './wallet-model.ts';

type WalletOperation = Operation<WalletInput, WalletOutput>;

/** `[called, returned, input, output]`; a null return is an operation without an answer. */
type Row = readonly [number, number | null, WalletInput, WalletOutput?];

const history = (rows: readonly Row[], money = 10n): WalletOperation[] =>
  [[0, 0.5, fund(money), 'done'] as Row, ...rows].map(([calledAt, at, input, output]) => ({
    input,
    calledAt,
    ...(at === null ? {} : { returned: { at, output: output! } }),
  }));

const fund = (amountMinor: bigint, key = 'f'): WalletInput => ({ verb: 'fund', key, amountMinor });
const hold = (id: string, amountMinor: bigint): WalletInput => ({ verb: 'hold', id, amountMinor });
const post = (id: string): WalletInput => ({ verb: 'post', id });
const undo = (id: string): WalletInput => ({ verb: 'void', id });
const read: WalletInput = { verb: 'read' };

/** Each begins with a wallet of ten. */
const legal: Record<string, Row[]> = {
  'a purchase on its own': [
    [3, 4, hold('a', 10n), 'held'],
    [5, 6, post('a'), 'posted'],
    [7, 8, read, 0n],
  ],
  'two buyers side by side, money for one': [
    [3, 6, hold('a', 10n), 'insufficient'],
    [4, 5, hold('b', 10n), 'held'],
  ],
  'a read beside a hold may see either side': [
    [3, 8, hold('a', 4n), 'held'],
    [4, 5, read, 10n],
    [6, 7, read, 6n],
  ],
  'money that comes back is spent again': [
    [3, 4, hold('a', 10n), 'held'],
    [5, 9, undo('a'), 'voided'],
    [6, 8, hold('b', 10n), 'held'],
  ],
  'an answer that got lost, and the hold was placed': [
    [3, null, hold('a', 10n)],
    [4, 5, read, 0n],
  ],
  'an answer that got lost, and the hold was never placed': [
    [3, null, hold('a', 10n)],
    [4, 5, read, 10n],
    [6, 7, hold('b', 10n), 'held'],
  ],
  'the same hold twice at once': [
    [3, 5, hold('a', 4n), 'already'],
    [4, 6, hold('a', 4n), 'held'],
  ],
};

const illegal: Record<string, Row[]> = {
  'an overdraft': [
    [3, 6, hold('a', 10n), 'held'],
    [4, 5, hold('b', 10n), 'held'],
  ],
  'a refusal while there was money enough all along': [[3, 4, hold('a', 10n), 'insufficient']],
  'a read that went back in time': [
    [3, 8, hold('a', 4n), 'held'],
    [4, 5, read, 6n],
    [6, 7, read, 10n],
  ],
  'a stale read after the hold was answered': [
    [3, 4, hold('a', 4n), 'held'],
    [5, 6, read, 10n],
  ],
  'a read of money that never was': [
    [3, 5, fund(10n, 'g'), 'done'],
    [4, 6, read, 15n],
  ],
  'a lost update: both holds answered, one counted': [
    [3, 6, hold('a', 4n), 'held'],
    [4, 5, hold('b', 4n), 'held'],
    [7, 8, read, 6n],
  ],
  'funding booked twice': [[3, 4, fund(10n), 'done']],
  'a hold both posted and voided': [
    [3, 4, hold('a', 10n), 'held'],
    [5, 8, post('a'), 'posted'],
    [6, 7, undo('a'), 'voided'],
  ],
  'money spent before it came back': [
    [3, 4, hold('a', 10n), 'held'],
    [5, 6, hold('b', 10n), 'held'],
    [7, 8, undo('a'), 'voided'],
  ],
  'a lost operation cannot take effect before it was called': [
    [3, 4, read, 6n],
    [5, null, hold('a', 4n)],
  ],
};

describe('checkLinearizable on the wallet', () => {
  it.each(Object.entries(legal))('accepts %s', (_name, rows) => {
    expect(checkLinearizable(walletModel, history(rows))).toBe('linearizable');
  });

  it.each(Object.entries(illegal))('rejects %s', (_name, rows) => {
    expect(checkLinearizable(walletModel, history(rows))).toBe('not linearizable');
  });

  it('reports when it gives up', () => {
    expect(checkLinearizable(walletModel, history(illegal['an overdraft']!), { maxSteps: 1 })).toBe(
      'undecided',
    );
  });

  it.each([
    [12, 5, 'linearizable'],
    [12, 6, 'not linearizable'],
    [12, 4, 'not linearizable'],
    [64, 5, 'linearizable'],
  ] as const)('%i buyers at once and money for 5, %i served: %s', (buyers, served, verdict) => {
    const rows = Array.from({ length: buyers }, (_, i): Row => {
      const output = i % 2 === 0 && i < 2 * served ? 'held' : 'insufficient';
      return [1 + i, 100 + i, hold(`b${i}`, 10n), output];
    });
    expect(checkLinearizable(walletModel, history(rows, 50n))).toBe(verdict);
  });
});

type CellInput = { readonly write: number } | 'read' | 'add';

/** A cell that can be set, read and added to: small enough to try every order. */
const cellModel: Model<number, CellInput, number> = {
  initial: 0,
  apply: (state, input) => {
    if (input === 'read') return { state, output: state };
    const next = input === 'add' ? state + 1 : input.write;
    return { state: next, output: next };
  },
  keyOf: String,
  sameOutput: (a, b) => a === b,
  changesNothing: (input) => input === 'read',
};

/** The definition itself: some order keeps real time, and every known answer equals the model's. */
function tryEveryOrder(left: readonly Operation<CellInput, number>[], state = cellModel.initial): boolean {
  if (left.length === 0) return true;
  const firstReturn = Math.min(...left.map(({ returned }) => returned?.at ?? Number.POSITIVE_INFINITY));
  return left.some((operation) => {
    if (operation.calledAt > firstReturn) return false;
    const next = cellModel.apply(state, operation.input);
    if (operation.returned && operation.returned.output !== next.output) return false;
    return tryEveryOrder(
      left.filter((other) => other !== operation),
      next.state,
    );
  });
}

const cellInput: fc.Arbitrary<CellInput> = fc.oneof(
  fc.constant<CellInput>('read'),
  fc.constant<CellInput>('add'),
  fc.record({ write: fc.nat(2) }),
);

const cellHistory = fc
  .array(
    fc.record({
      input: cellInput,
      output: fc.nat(3),
      start: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.double({ min: 0, max: 1, noNaN: true }),
      known: fc.boolean(),
    }),
    { minLength: 1, maxLength: 7 },
  )
  .map((rows) => {
    const times = rows.flatMap(({ start, length }, i) => [
      { at: start, i, end: false },
      { at: start + length, i, end: true },
    ]);
    times.sort((a, b) => a.at - b.at || Number(a.end) - Number(b.end) || a.i - b.i);
    return rows.map(({ input, output, known }, i): Operation<CellInput, number> => {
      const calledAt = times.findIndex((time) => time.i === i && !time.end);
      const at = times.findIndex((time) => time.i === i && time.end);
      return { input, calledAt, ...(known || i % 3 > 0 ? { returned: { at, output } } : {}) };
    });
  });

describe('checkLinearizable against every order', () => {
  it('gives the same verdict', () => {
    const verdicts = { linearizable: 0, 'not linearizable': 0, undecided: 0 };
    fc.assert(
      fc.property(cellHistory, (operations) => {
        const verdict = checkLinearizable(cellModel, operations);
        verdicts[verdict] += 1;
        expect(verdict).toBe(tryEveryOrder(operations) ? 'linearizable' : 'not linearizable');
      }),
      { numRuns: 20_000 },
    );
    // Both verdicts occurred.
    expect(verdicts.linearizable).toBeGreaterThan(200);
    expect(verdicts['not linearizable']).toBeGreaterThan(200);
  });
});

describe('createRecorder', () => {
  it('numbers calls and returns as they happen, and keeps operations that threw as unknown', async () => {
    const recorder = createRecorder<string, number>();
    const gate = Promise.withResolvers<number>();
    const slow = recorder.run('slow', () => gate.promise);
    await expect(recorder.run('broken', () => Promise.reject(new Error('cut off')))).rejects.toThrow(
      'cut off',
    );
    await recorder.run('quick', () => Promise.resolve(2));
    gate.resolve(1);
    await slow;
    expect(recorder.history).toEqual([
      { input: 'broken', calledAt: 2 },
      { input: 'quick', calledAt: 3, returned: { at: 4, output: 2 } },
      { input: 'slow', calledAt: 1, returned: { at: 5, output: 1 } },
    ]);
  });
});
