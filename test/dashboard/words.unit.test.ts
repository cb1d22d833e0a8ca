// The operators' pages say what to do next in the words of their buttons.
import { describe, expect, it } from 'vitest';
import {
  ACTIONS,
  amountOfRepair,
  APPROVE,
  BATCH_ACTIONS,
  IGNORE_EVENT,
  itemsOfRepair,
  nextStep,
  REPLAY,
} from '../../dashboard/src/operators/words.ts';
import { STUCK_CLASSES, stuckRule } from '../../src/operations/stuck-rules.ts';

const BUTTONS = [
  ...[REPLAY.label, APPROVE, IGNORE_EVENT],
  ...Object.values(ACTIONS).map(({ label }) => label),
];
/** A part of the page of a purchase, where nothing is to be pressed. */
const PARTS = ['Timeline'];

describe('what to do next', () => {
  it.each(STUCK_CLASSES)('%s: begins with a button or a part of the page', (stuckClass) => {
    const [name] = nextStep(stuckRule(stuckClass).next).split(':');
    expect([...BUTTONS, ...PARTS]).toContain(name);
  });

  it('names no action as the command line does', () => {
    const texts = STUCK_CLASSES.map((stuckClass) => nextStep(stuckRule(stuckClass).next)).join('\n');
    expect(texts).not.toMatch(/replay|mark-paid|credit:|settle:|dismiss|show:/);
    expect(texts).toContain('with proof of payment, use “Mark as paid”');
  });

  it('says what an unknown command is as the API says it', () => {
    expect(nextStep('wait: it goes on by itself')).toBe('wait: it goes on by itself');
    expect(nextStep('Nothing')).toBe('Nothing');
  });
});

it('a batch repair calls its actions as the buttons of one purchase do', () => {
  for (const { label } of Object.values(BATCH_ACTIONS)) expect(BUTTONS).toContain(label);
});

it('a batch repair says what it would move while it waits, then what it has moved', () => {
  const totals = [{ currency: 'USD', amount: 30, movedAmount: 20 }];
  const counts = { waiting: 0, done: 2, refused: 1, unknown: 0, skipped: 0 };
  const waits = { status: 'WAITS_FOR_APPROVAL', totals, counts, by: 'ada' } as const;
  // Between a currency's code and its amount stands a space that does not break.
  const words = (text: string) => text.replaceAll('\u00a0', ' ');
  expect(words(itemsOfRepair(waits))).toBe('3 items, USD 30.00 to move, requested by ada');
  expect(words(amountOfRepair({ status: 'COMPLETED', totals }))).toBe('USD 20.00 of USD 30.00 moved');
  expect(itemsOfRepair({ ...waits, totals: [] })).toBe('3 items, requested by ada');
});
