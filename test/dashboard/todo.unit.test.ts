// What Home says is to be done, and the balance that its chart shows.
import { describe, expect, it } from 'vitest';
import { balancePoints, daysLeft, todosOf, type Facts } from '../../dashboard/src/merchant/todo.ts';

const QUIET: Facts = {
  endpoints: [],
  wallet: { balance: 100, owed: 0, lowBelow: null, currency: 'USD' },
  spentByDay: Array<number>(30).fill(0),
  mayFund: true,
  openPayments: 0,
  returnsInReview: 0,
  replacementsInReview: 0,
  scheduledBatches: [],
  endingSoon: 0,
  endingIsMinimum: false,
  needsSecondFactor: false,
};
const wallet = (changes: Partial<Facts['wallet']>) => ({ wallet: { ...QUIET.wallet, ...changes } });
const spending = (aDay: number) => ({
  spentByDay: [...Array<number>(23).fill(0), ...Array<number>(7).fill(aDay)],
});

const plain = (text: string) => text.replaceAll('\u00a0', ' ');
const titles = (facts: Partial<Facts>) => todosOf({ ...QUIET, ...facts }).map(({ title }) => title);
const only = (facts: Partial<Facts>) => {
  const found = todosOf({ ...QUIET, ...facts });
  expect(found).toHaveLength(1);
  return { ...found[0], about: plain(found[0]?.about ?? '') };
};

describe('what is to be done', () => {
  it('is nothing where nothing waits', () => {
    expect(titles({})).toEqual([]);
  });

  it('is an endpoint that fails, but not one that is switched off', () => {
    const endpoint = { id: 'e', url: 'https://shop.example.com/hook', enabled: true, failingSince: null };
    const since = '2026-11-29T12:00:00.000Z';
    expect(titles({ endpoints: [endpoint] })).toEqual([]);
    expect(titles({ endpoints: [{ ...endpoint, enabled: false, failingSince: since }] })).toEqual([]);
    expect(only({ endpoints: [{ ...endpoint, failingSince: since }] }).about).toContain(endpoint.url);
  });

  it.each<[string, Partial<Facts>, string | undefined, string]>([
    ['enough and no warning', wallet({ balance: 0 }), undefined, ''],
    ['at the limit', wallet({ balance: 50, lowBelow: 50 }), undefined, ''],
    [
      'below it',
      wallet({ balance: 49.99, lowBelow: 50 }),
      'The balance is low',
      'USD 49.99 is left, less than USD 50.00.',
    ],
    ['enough for seven days', { ...wallet({ balance: 70 }), ...spending(10) }, undefined, ''],
    [
      'enough for six',
      { ...wallet({ balance: 69 }), ...spending(10) },
      'The balance will not last',
      'it lasts about 6 days',
    ],
    [
      'enough for one',
      { ...wallet({ balance: 10 }), ...spending(10) },
      'The balance will not last',
      'it lasts about 1 day.',
    ],
    [
      'not enough for today',
      { ...wallet({ balance: 9 }), ...spending(10) },
      'The balance will not last',
      'less than a day',
    ],
    [
      'low and not lasting',
      { ...wallet({ balance: 20, lowBelow: 30 }), ...spending(10) },
      'The balance is low',
      'it lasts about 2 days',
    ],
    [
      'owed',
      { ...wallet({ balance: 0, owed: 12, lowBelow: 30 }), ...spending(10) },
      'The account owes money',
      'USD 12.00',
    ],
  ])('with a balance that is %s', (_name, facts, title, about) => {
    if (title === undefined) {
      expect(titles(facts)).toEqual([]);
      return;
    }
    expect(only(facts).title).toBe(title);
    expect(only(facts).about).toContain(about);
    expect(only(facts).label).toBe('Fund the wallet');
    const other = only({ ...facts, mayFund: false });
    expect(other.label).toBe('See the wallet');
    expect(other.about).toContain('Ask an owner or finance');
  });

  it('counts what is open, and comes in the order of what costs most', () => {
    expect(
      titles({
        ...wallet({ balance: 1, lowBelow: 2 }),
        openPayments: 2,
        returnsInReview: 1,
        replacementsInReview: 2,
        scheduledBatches: [{ batchId: 'batch-1', startAt: '2026-12-01T00:00:00.000Z' }],
        endingSoon: 1,
        needsSecondFactor: true,
      }),
    ).toEqual([
      'The balance is low',
      '2 payments not made yet',
      'We look at 1 return',
      'We look at 2 replacements',
      'A batch waits for its time',
      '1 eSIM ends within 3 days',
      'Protect the account with a second factor',
    ]);
    expect(titles({ endingSoon: 50, endingIsMinimum: true })).toEqual([
      'At least 50 eSIMs end within 3 days',
    ]);
  });
});

describe('how long the balance lasts', () => {
  it.each([
    [100, [], null],
    [100, [0, 0], null],
    [70, [1_000, ...Array<number>(7).fill(10)], 7],
    [0, [70], 0],
    [-5, [70], 0],
  ])('%d, spent %j: %s days', (balance, spent, days) => {
    expect(daysLeft(balance, spent)).toBe(days);
  });
});

describe('the balance over time', () => {
  const FROM = '2026-11-01T00:00:00.000Z';
  it('is flat where nothing changed', () => {
    expect(balancePoints([], 25, FROM)).toEqual([{ at: FROM, balance: 25 }]);
  });

  it('begins with what it was before the oldest change', () => {
    const entry = (day: number, amount: number, balanceAfter: number) => ({
      ...{ at: `2026-11-0${day}T00:00:00.000Z`, amount, balanceAfter },
    });
    expect(
      balancePoints([entry(3, 20, 65), entry(2, -5, 45)], 65, FROM).map(({ balance }) => balance),
    ).toEqual([50, 45, 65]);
  });
});
