/**
 * The URL that the supplier sends its events to: checked once an hour, and less often after failures, however
 * often a worker polls.
 */
import { expect, it } from 'vitest';
import { SECOND_MS } from '../../src/domain/clock.ts';
import { createRegistration } from '../../src/esims/supplier-events.ts';

const URL = 'https://api.example/webhooks/esim-access/live';

function watched({ saved = '', isDown = false } = {}) {
  let nowMs = 0;
  const asked: number[] = [];
  const logged: string[] = [];
  const supplier = { saved, isDown };
  const register = createRegistration({
    url: URL,
    clock: { now: () => new Date(nowMs) },
    source: {
      eventsUrl: () => {
        asked.push(nowMs / SECOND_MS);
        return supplier.isDown ? Promise.reject(new Error('no answer')) : Promise.resolve(supplier.saved);
      },
      saveEventsUrl: (url) => {
        supplier.saved = url;
        return Promise.resolve();
      },
    },
    events: {
      supplierEventsRegistered: ({ url }) => void logged.push(`registered ${url}`),
      supplierEventsNotRegistered: ({ detail }) => void logged.push(detail),
    },
  });
  return {
    supplier,
    asked,
    logged,
    /** As a worker does, every 2 s. */
    pollFor: async (seconds: number) => {
      for (const endsAtMs = nowMs + seconds * SECOND_MS; nowMs < endsAtMs; nowMs += 2 * SECOND_MS)
        await register();
    },
  };
}

it('a worker saves our URL where another one is saved, and checks again after an hour', async () => {
  const { asked, logged, supplier, pollFor } = watched({ saved: 'https://other.example' });
  await pollFor(2 * 3_600);
  expect(supplier.saved).toBe(URL);
  expect(asked).toEqual([0, 3_600]);
  expect(logged).toEqual([`registered ${URL}`]);
});

it('a worker asks less and less often while the supplier does not answer, at least every 5 minutes', async () => {
  const { asked, logged, pollFor } = watched({ isDown: true });
  await pollFor(1_800);
  expect(asked).toEqual([0, 2, 6, 14, 30, 62, 126, 254, 510, 810, 1_110, 1_410, 1_710]);
  expect(logged).toEqual(asked.map(() => 'no answer'));
});

it('a worker starts with short pauses again after a success', async () => {
  const { asked, supplier, pollFor } = watched({ isDown: true });
  await pollFor(20);
  supplier.isDown = false;
  await pollFor(3_600);
  supplier.isDown = true;
  await pollFor(42);
  expect(asked.slice(0, 5)).toEqual([0, 2, 6, 14, 30]);
  expect(asked.slice(5)).toEqual([3_630, 3_632, 3_636, 3_644, 3_660]);
});
