/**
 * Promise M3 when processes die: the API, the worker or both killed while requests with Idempotency-Keys are
 * at 25 marked points between the first row and the last byte of the answer. A retry gets the one effect
 * there is, and from then on the same answer, byte for byte. A refusal without effect is only said again.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { plantGates, type Gate, type Gates } from '../support/time/gates.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { KINDS, saidBy, type Keyed, type Kind } from '../support/people/keyed.ts';
import { runConcurrently } from '../support/time/concurrency.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

/**
 * Where a request waits when the process is killed: inside a statement (its transaction is lost, if it has
 * more statements) or at a commit (it is done, without an answer).
 */
const POINTS: readonly { readonly kind: Kind; readonly gate: Gate }[] = [
  { kind: 'bought', gate: 'open:inside' },
  { kind: 'bought', gate: 'open:commit' },
  { kind: 'bought', gate: 'profile:inside' },
  { kind: 'bought', gate: 'profile:commit' },
  { kind: 'bought', gate: 'close:inside' },
  { kind: 'bought', gate: 'close:commit' },
  { kind: 'bought', gate: 'answer:commit' },
  { kind: 'out of stock', gate: 'close:inside' },
  { kind: 'out of stock', gate: 'close:commit' },
  { kind: 'out of stock', gate: 'answer:commit' },
  { kind: 'topped up', gate: 'open:commit' },
  { kind: 'topped up', gate: 'top-up:inside' },
  { kind: 'topped up', gate: 'top-up:commit' },
  { kind: 'topped up', gate: 'answer:commit' },
  { kind: 'refused: too poor', gate: 'refuse:inside' },
  { kind: 'refused: too poor', gate: 'refuse:commit' },
  { kind: 'paid by card', gate: 'pay:inside' },
  { kind: 'paid by card', gate: 'pay:commit' },
  { kind: 'paid by card', gate: 'instructed:inside' },
  { kind: 'paid by card', gate: 'instructed:commit' },
  { kind: 'paid by card', gate: 'answer:commit' },
  { kind: 'wallet funded', gate: 'fund:inside' },
  { kind: 'wallet funded', gate: 'fund:commit' },
  { kind: 'wallet funded', gate: 'instructed:commit' },
  { kind: 'wallet funded', gate: 'answer:commit' },
];
const ROUNDS = size({ ci: 1, prove: 40 });
/** All points in one round; each holds a database session that waits. */
const AT_ONE_BLOW = size({ ci: 6, prove: POINTS.length });
const BLOWS = ['worker', 'api', 'both'] as const;
const REPEATS = 3;
const ANSWERED_WITHIN_MS = 90_000;

let stack: Stack;
let gates: Gates;
beforeAll(async () => {
  stack = await startStack({
    processes: 'own',
    timings: {
      answerWithinMs: 4_000,
      checkMaxMs: 300,
      inFlightGraceMs: 500,
      pollFirstMs: 1_000,
    },
    env: { SIMWAY_DATABASE_CONNECTIONS: '60' },
  });
  gates = await plantGates(stack.databaseUrl);
}, 120_000);
afterAll(async () => {
  await gates.close();
  await stack.close();
});

interface Cut {
  readonly keyed: Keyed;
  readonly where: string;
  /** The caller's answer, if it got one before its connection broke. */
  readonly firstAnswer: Promise<Answer | undefined>;
}

/** Buyers are prepared a few at a time; then all of them send their requests, and each waits at its gate. */
async function waitAtAll(points: readonly (typeof POINTS)[number][]): Promise<Cut[]> {
  const ready: { keyed: Keyed; kind: Kind; gate: Gate }[] = [];
  await runConcurrently(points, 4, async ({ kind, gate }) => {
    ready.push({ keyed: await KINDS[kind](stack), kind, gate });
  });
  return Promise.all(
    ready.map(async ({ keyed, kind, gate }) => {
      await gates.shut(gate, keyed.accountId);
      const firstAnswer = keyed.ask().catch(() => undefined);
      await gates.reached(gate, keyed.accountId);
      return { keyed, where: `${kind} at ${gate}`, firstAnswer };
    }),
  );
}

async function strike(blow: (typeof BLOWS)[number]): Promise<void> {
  const { api, worker } = stack.children;
  await Promise.all([
    blow === 'api' ? undefined : worker!.kill(),
    blow === 'worker' ? undefined : api!.kill(),
  ]);
  await gates.openAll();
  await Promise.all([
    blow === 'api' ? undefined : stack.startWorker(),
    blow === 'worker' ? undefined : stack.startApi(),
  ]);
}

/** Nothing was decided yet, or the outcome is unknown: retry. */
const isNoAnswer = ({ status }: Answer): boolean => status === 409 || status === 503;

/** Like a careful caller: sends the same request until it is answered. */
const retry = ({ keyed, where }: Cut): Promise<Answer> =>
  until(keyed.ask, (answer) => !isNoAnswer(answer), {
    what: `an answer to the retry of: ${where}`,
    withinMs: ANSWERED_WITHIN_MS,
    everyMs: 200,
  });

async function expectOnce(cut: Cut): Promise<void> {
  const { keyed, where } = cut;
  const answer = await retry(cut);
  const firstAnswer = await cut.firstAnswer;
  if (firstAnswer && !isNoAnswer(firstAnswer))
    expect(saidBy(keyed, answer), `${where}: equal to the first answer`).toEqual(saidBy(keyed, firstAnswer));
  await keyed.expectOnce();
  const replays = await Promise.all(Array.from({ length: REPEATS }, () => retry(cut)));
  for (const replay of replays) {
    expect(saidBy(keyed, replay), where).toEqual(saidBy(keyed, answer));
    expect(replay.headers.get('Idempotent-Replayed'), where).toBe(keyed.isKept(replay) ? 'true' : null);
  }
  await keyed.expectOnce();
}

function pickPoints(random: Random): (typeof POINTS)[number][] {
  const shuffled = POINTS.map((point) => ({ point, at: random.below(1_000_000) }));
  return shuffled
    .toSorted((one, other) => one.at - other.at)
    .slice(0, AT_ONE_BLOW)
    .map(({ point }) => point);
}

it(`${ROUNDS} kills with requests at ${AT_ONE_BLOW} marked points each leave one effect and one answer`, () =>
  withSeed(async (seed) => {
    const random = createRandom(seed);
    for (let round = 0; round < ROUNDS; round += 1) {
      const cuts = await waitAtAll(pickPoints(random));
      await strike(BLOWS[(seed + round) % BLOWS.length]!);
      await Promise.all(cuts.map(expectOnce));
    }
    await expectSoundBooks(stack);
  }));
