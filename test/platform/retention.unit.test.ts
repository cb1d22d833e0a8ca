/** How long rows are kept, in the days that docs/API.md and docs/CAPACITY.md promise. */
import { expect, it } from 'vitest';
import { DAY_MS } from '../../src/domain/clock.ts';
import { KEEP_NOTICES_MS } from '../../src/webhooks/rules.ts';
import {
  KEEP_GATEWAY_EVENTS_MS,
  KEEP_KEYS_MS,
  KEEP_QUOTES_MS,
  KEEP_RATES_MS,
  KEEP_REFUSED_IDS_MS,
} from '../../src/platform/database/retention.ts';

it.each([
  ['answers to Idempotency-Keys', KEEP_KEYS_MS, 30],
  ['applied events of the gateway', KEEP_GATEWAY_EVENTS_MS, 90],
  ['exchange rates', KEEP_RATES_MS, 90],
  ['expired quotes', KEEP_QUOTES_MS, 7],
  ['refusals without another row', KEEP_REFUSED_IDS_MS, 2],
  ['notices', KEEP_NOTICES_MS, 30],
])('%s', (_rows, keptMs, days) => {
  expect(keptMs).toBe(days * DAY_MS);
});
