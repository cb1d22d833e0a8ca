// Promise W4: a failing endpoint affects only itself. A tenth of the endpoints hang and a tenth fail; the
// others wait for a message, from its row to its receiver, at most half as long again as they waited with all
// endpoints healthy, in the same run. On a busy machine waits mean little: there the test shows that hanging
// endpoints hold their share of the permits and no more.
import { afterAll, describe, expect, it } from 'vitest';
import { createRandom, perSecond, size, withSeed, type Random } from '../support/time/size.ts';
import { startStack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { answerStatus, startReceiver, type Answering } from '../support/people/webhook-receiver.ts';
import { createDeliveryHarness } from './deliver-webhook.support.ts';

const ENDPOINTS = size({ ci: 20, prove: 100 });
const PER_SECOND = perSecond({ ci: 10, prove: 200 });
const FOR_MS = size({ ci: 10_000, prove: 120_000 });
const TROUBLE_MS = size({ ci: 10_000, prove: 600_000 });
const WARM_UP_MS = 2_000;
/** Few, so that two hanging endpoints would soon hold them all. */
const ATTEMPTS = size({ ci: 8, prove: 200 });
const QUANTILE = 0.99;
const TIMES = 1.5;
/** The share of the permits for all slow endpoints together, as in docs/WEBHOOKS.md. */
const SHARE = 1 / 4;
/** A machine that cannot keep the pace lets a queue grow, for all alike, and catches up afterwards. */
const WORKED_OFF_WITHIN_MS = size({ ci: 60_000, prove: 30 * 60_000 });
const TICK_MS = 100;

const stack = await startStack({
  processes: size({ ci: 'in-test', prove: 'own' }),
  env: { SIMWAY_WEBHOOK_ATTEMPTS: String(ATTEMPTS) },
});
const harness = createDeliveryHarness(stack);
const receiver = await startReceiver();
afterAll(async () => {
  await harness.close();
  await receiver.close();
  await stack.close();
}, 120_000);

const shops = await Promise.all(
  Array.from({ length: ENDPOINTS }, async () => {
    const account = await stack.account({ fundsMinor: 0n });
    return { account, listener: await receiver.listen(stack, account) };
  }),
);
type Shop = (typeof shops)[number];

/** Messages to random shops at a steady pace; the time when each was started, by its id. */
async function sendSteadily(
  random: Random,
  forMs: number = FOR_MS,
): Promise<Map<string, { shop: Shop; atMs: number }>> {
  const sent = new Map<string, { shop: Shop; atMs: number }>();
  const sending: Promise<void>[] = [];
  const send = async (shop: Shop): Promise<void> => {
    const atMs = performance.now();
    const id = await harness.send(shop.account, shop.listener);
    sent.set(id, { shop, atMs });
  };
  const startedMs = performance.now();
  let begun = 0;
  while (performance.now() - startedMs < forMs) {
    const dueCount = ((performance.now() - startedMs) / 1_000) * PER_SECOND;
    for (; begun < dueCount; begun += 1) sending.push(send(random.pick(shops)));
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(sending);
  return sent;
}

/** How long these shops waited for each of theirs. */
async function waitsOf(
  sent: ReadonlyMap<string, { shop: Shop; atMs: number }>,
  well: readonly Shop[],
): Promise<number[]> {
  const theirs = [...sent].filter(([, { shop }]) => well.includes(shop));
  const arrivals = () =>
    new Map(well.flatMap(({ listener }) => listener.received.map(({ id, atMs }) => [id, atMs] as const)));
  const arrived = await until(arrivals, (all) => theirs.every(([id]) => all.has(id)), {
    withinMs: WORKED_OFF_WITHIN_MS,
    // All of them are counted each time.
    everyMs: 250,
    what: 'every message of healthy endpoints',
  });
  return theirs.map(([id, { atMs }]) => arrived.get(id)! - atMs);
}

function quantile(waits: readonly number[]): number {
  const sorted = waits.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * QUANTILE) - 1] ?? Number.NaN;
}

/** Attempts that are never answered: how many there are, and the most at once since the last reset. */
function createHanging() {
  let [begun, open, most] = [0, 0, 0];
  const answer: Answering = (response) => {
    begun += 1;
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => (open -= 1));
  };
  return {
    answer,
    isOver: (count: number): boolean => begun >= count && open === 0,
    reset: () => void (most = open),
    most: () => most,
  };
}

const TENTH = ENDPOINTS / 10;
const parts = () => ({
  hanging: shops.slice(0, TENTH),
  failing: shops.slice(TENTH, 2 * TENTH),
  well: shops.slice(2 * TENTH),
});

/** From now on, a tenth hangs and a tenth fails. */
function beginTrouble() {
  const hanging = createHanging();
  for (const { listener } of parts().hanging) listener.answerWith(hanging.answer);
  for (const { listener } of parts().failing) listener.answerWith(answerStatus(500));
  return hanging;
}

const troubledOf = <Sent extends { readonly shop: Shop }>(sent: ReadonlyMap<string, Sent>) =>
  [...sent].filter(([, { shop }]) => !parts().well.includes(shop));

async function delayNoOthers(random: Random): Promise<void> {
  const { well } = parts();
  // The first ones include the cost of connections, and of code that has not run yet.
  await waitsOf(await sendSteadily(random, WARM_UP_MS), well);
  const before = quantile(await waitsOf(await sendSteadily(random), well));
  beginTrouble();
  const sent = await sendSteadily(random, TROUBLE_MS);
  const during = quantile(await waitsOf(sent, well));
  const troubled = troubledOf(sent);
  console.log(
    `W4: ${PER_SECOND} messages a second, p${QUANTILE * 100} ${Math.round(before)} ms with all well, ${Math.round(during)} ms with ${troubled.length} of ${sent.size} messages in trouble`,
  );
  expect(during).toBeLessThanOrEqual(before * TIMES);
  await expectNoneLost(troubled);
}

async function holdTheirShare(random: Random): Promise<void> {
  const { hanging, well } = parts();
  const places = beginTrouble();
  // After one attempt at each, they are known not to answer.
  await Promise.all(hanging.map(({ account, listener }) => harness.send(account, listener)));
  await until(() => places.isOver(hanging.length), Boolean, { what: 'the first given up' });
  places.reset();
  const sent = await sendSteadily(random);
  await waitsOf(sent, well);
  expect(places.most()).toBeGreaterThan(0);
  expect(places.most()).toBeLessThanOrEqual(ATTEMPTS * SHARE);
  await expectNoneLost(troubledOf(sent));
}

/** Their messages wait for better times. */
async function expectNoneLost(
  troubled: readonly (readonly [string, { readonly shop: Shop }])[],
): Promise<void> {
  expect(troubled.length).toBeGreaterThan(0);
  for (const [id, { shop }] of troubled)
    expect((await harness.message(shop.account, id)).status).toBe('PENDING');
}

describe('endpoints that hang or fail', () => {
  const [what, proof] = size<readonly [string, (random: Random) => Promise<void>]>({
    ci: ['hold their share of the places', holdTheirShare],
    prove: ['do not delay other endpoints', delayNoOthers],
  });
  it(what, () => withSeed((seed) => proof(createRandom(seed))), 3 * WORKED_OFF_WITHIN_MS);
});
