/**
 * The whole tables of transitions: every pair of states, so that a new transition is a decision and not an
 * accident.
 */
import { describe, expect, it } from 'vitest';
import {
  canChangeStatus,
  ESIM_STATUSES,
  MOVING_ESIM_STATUSES,
  PURCHASE_STATUSES,
  purchaseStatusesBefore,
} from '../../src/domain/states.ts';

describe('a purchase', () => {
  it.each([
    ['PENDING', []],
    ['PROCESSING', ['PENDING']],
    ['SUCCESS', ['PROCESSING']],
    ['FAILED', ['PENDING', 'PROCESSING']],
  ] as const)('becomes %s from %j only', (to, from) => {
    expect(purchaseStatusesBefore(to)).toEqual(from);
  });

  it('has final states that it never leaves', () => {
    const next = PURCHASE_STATUSES.filter((to) => {
      const before = purchaseStatusesBefore(to);
      return before.includes('SUCCESS') || before.includes('FAILED');
    });
    expect(next).toEqual([]);
  });
});

describe('an eSIM', () => {
  const MOVES: Record<string, string> = {
    PENDING: 'CREATED ACTIVE FAILED CANCELLED',
    CREATED: 'ACTIVE EXPIRED CANCELLED SUSPENDED',
    ACTIVE: 'EXPIRED CANCELLED SUSPENDED',
    SUSPENDED: 'CREATED ACTIVE EXPIRED CANCELLED',
    EXPIRED: '',
    FAILED: '',
    CANCELLED: '',
  };
  const pairs = ESIM_STATUSES.flatMap((from) => ESIM_STATUSES.map((to) => [from, to] as const));

  it.each(pairs)('goes from %s to %s only if the table allows it', (from, to) => {
    expect(canChangeStatus(from, to)).toBe(from === to || MOVES[from]!.split(' ').includes(to));
  });

  it('is checked again exactly while the supplier may still change it', () => {
    const moving = ESIM_STATUSES.filter(
      (from) => from !== 'PENDING' && ESIM_STATUSES.some((to) => to !== from && canChangeStatus(from, to)),
    );
    expect([...MOVING_ESIM_STATUSES].sort()).toEqual(moving.sort());
  });
});
