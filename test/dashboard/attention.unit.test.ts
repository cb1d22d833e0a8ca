import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { UNATTENDED_AFTER_MS, watchAttention } from '../../dashboard/src/app/attention.ts';
import { setSessionEnded } from '../../dashboard/src/app/session.ts';

class Page extends EventTarget {
  visibilityState = 'visible';
  show(state: 'visible' | 'hidden'): void {
    this.visibilityState = state;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

const [page, view] = [new Page(), new EventTarget()];
let end: () => void;
let isAttended: boolean | undefined;
beforeEach(() => {
  vi.useFakeTimers();
  end = watchAttention(page, view, (is) => {
    isAttended = is;
  });
});
afterEach(() => {
  end();
  vi.useRealTimers();
});

it('the dashboard polls until 5 minutes have passed without input, and again from the next input', () => {
  vi.advanceTimersByTime(UNATTENDED_AFTER_MS - 1);
  expect(isAttended).toBe(true);
  view.dispatchEvent(new Event('keydown'));
  vi.advanceTimersByTime(UNATTENDED_AFTER_MS - 1);
  expect(isAttended).toBe(true);
  vi.advanceTimersByTime(1);
  expect(isAttended).toBe(false);
  view.dispatchEvent(new Event('pointermove'));
  expect(isAttended).toBe(true);
});

it('the dashboard does not poll in a hidden tab', () => {
  page.show('hidden');
  expect(isAttended).toBe(false);
  page.show('visible');
  expect(isAttended).toBe(true);
});

it('the dashboard does not poll after the session has ended, whatever the reader does', () => {
  setSessionEnded(true);
  view.dispatchEvent(new Event('pointermove'));
  expect(isAttended).toBe(false);
  setSessionEnded(false);
  expect(isAttended).toBe(true);
});
