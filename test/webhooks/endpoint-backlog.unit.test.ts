// Thousands of messages at endpoints that hang: how often they are attempted, and what happens when their
// endpoint recovers. Simulated with the limiter only, hours in a moment.
import { describe, expect, it } from 'vitest';
import { createEndpointLimiter, type Ending } from '../../src/webhooks/endpoint-limiter.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/domain/clock.ts';
import { createRandom, withSeed } from '../support/time/size.ts';

const TICK_MS = 10;

/**
 * Messages for each endpoint, within their first second. A message is done after one attempt, whatever its
 * result.
 */
function play(
  seed: number,
  given: { readonly endpoints: number; readonly messages: number; readonly forMs: number },
  answer: (atMs: number) => { readonly takesMs: number; readonly ending: Ending },
) {
  let nowMs = 0;
  const random = createRandom(seed);
  const limiter = createEndpointLimiter({ attempts: 200, perEndpoint: 10, perAccount: 40 }, () => nowMs);
  const agenda = new Map<number, (() => void)[]>();
  const at = (atMs: number, does: () => void): void => {
    const tickMs = Math.ceil(atMs / TICK_MS) * TICK_MS;
    const others = agenda.get(tickMs);
    if (others) others.push(does);
    else agenda.set(tickMs, [does]);
  };
  const comeBacksAtMs: number[] = [];
  const calledAtMs: number[] = [];
  const come = (name: string) => (): void => {
    const request = { endpointId: name, accountId: name, isFailing: false };
    const acquired = limiter.acquire({ ...request, random: random.below(1_000) / 1_000 });
    if (!acquired.isGranted) {
      comeBacksAtMs.push(nowMs);
      at(nowMs + acquired.waitMs, come(name));
      return;
    }
    calledAtMs.push(nowMs);
    const { takesMs, ending } = answer(nowMs);
    at(nowMs + takesMs, () => acquired.release(ending));
  };
  for (let endpoint = 0; endpoint < given.endpoints; endpoint += 1)
    for (let message = 0; message < given.messages; message += 1)
      at(random.below(SECOND_MS), come(`hangs-${endpoint}`));
  for (; nowMs < given.forMs; nowMs += TICK_MS) {
    for (const does of agenda.get(nowMs) ?? []) does();
    agenda.delete(nowMs);
  }
  const comeBacks = (fromMs: number, toMs: number): number =>
    comeBacksAtMs.filter((ms) => ms >= fromMs && ms < toMs).length;
  return { calledAtMs, comeBacks };
}

const hangs = () => ({ takesMs: 15 * SECOND_MS, ending: 'unanswered' }) as const;

describe('an endpoint that hangs', () => {
  it('with thousands of messages is called a few times at first, and then twice an hour by each', () =>
    withSeed((seed) => {
      const messages = 5_000;
      const played = play(seed, { endpoints: 1, messages, forMs: 3 * HOUR_MS }, hangs);
      expect(played.comeBacks(0, MINUTE_MS) / messages).toBeLessThan(4);
      for (const hour of [1, 2])
        expect(played.comeBacks(hour * HOUR_MS, (hour + 1) * HOUR_MS) / messages).toBeLessThan(60 / 24 + 0.1);
      // Its two permits are used meanwhile: eight attempts end per minute.
      expect(played.calledAtMs.length).toBeGreaterThan(3 * 60 * 8 * 0.8);
    }));

  it('and has just begun to hang is not called again until its first attempt has timed out', () =>
    withSeed((seed) => {
      const given = { endpoints: 16, messages: 300 };
      const played = play(seed, { ...given, forMs: 20 * SECOND_MS }, hangs);
      const perSecond = played.comeBacks(SECOND_MS, 15 * SECOND_MS) / 14;
      expect(perSecond).toBeLessThan((given.endpoints * given.messages) / 10);
    }));

  it('and recovers gets all waiting messages within half an hour', () =>
    withSeed((seed) => {
      const recoversAtMs = HOUR_MS;
      const answersAgain = (atMs: number) =>
        atMs < recoversAtMs ? hangs() : ({ takesMs: 20, ending: 'answered' } as const);
      const given = { endpoints: 1, messages: 3_000, forMs: 2 * HOUR_MS };
      const { calledAtMs } = play(seed, given, answersAgain);
      expect(calledAtMs).toHaveLength(given.messages);
      expect(Math.max(...calledAtMs)).toBeLessThan(recoversAtMs + 31 * MINUTE_MS);
    }));
});
