/**
 * Promise M3: one key, one effect, one answer byte for byte, however many requests come at once; and a key
 * means nothing to another account, nor to the other environment. Crashes of processes are tested in
 * idempotency-killed.promise.test.ts.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareNamespaces } from '../../src/app/temporal/namespaces.ts';
import { createKey } from '../../src/accounts/keys/manage-keys.ts';
import { openWorld } from '../../src/app/composition/context.ts';
import { newBuyer } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { KINDS, saidBy, type Keyed, type Kind } from '../support/people/keyed.ts';
import { runConcurrently } from '../support/time/concurrency.ts';
import { ownSupplier } from '../support/vendors/own-simulators.ts';
import { createRandom, size, withSeed } from '../support/time/size.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { fund } from '../../src/ledger/fund-by-hand.ts';

const KEYS = size({ ci: 4, prove: 2_000 });
const AT_ONCE = size({ ci: 20, prove: 50 });
/** Keys in use at one time. */
const CONCURRENCY = size({ ci: 3, prove: 4 });
const ALL_KINDS = Object.keys(KINDS) as Kind[];
const ANSWERED_WITHIN_MS = 60_000;

const closers: (() => Promise<unknown>)[] = [];
let stack: Stack;
beforeAll(async () => {
  const live = await ownSupplier({}, closers);
  stack = await startStack({
    processes: 'own',
    worker: false,
    timings: { pollFirstMs: 1_000 },
    env: {
      SIMWAY_LIVE_SUPPLIER_URL: live.url,
      SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: 'test-access',
    },
  });
  await prepareNamespaces({
    address: stack.env['TEMPORAL_ADDRESS']!,
    namespaces: [stack.namespace.replace(/test$/, 'live')],
    retentionDays: 1,
  });
  await stack.startWorker();
  await until(
    async () => (await fetch(`${stack.adminUrl}/readyz`)).status,
    (status) => status === 200,
    { what: 'both environments ready' },
  );
}, 180_000);
afterAll(async () => {
  await stack.close();
  for (const close of closers.toReversed()) await close();
});

/** Still running, or the service is overloaded at the moment: nothing is decided yet, and a retry is safe. */
const isNoAnswer = ({ status }: Answer): boolean => status === 409 || status === 503;

/** Retries until it gets a final answer; later answers must equal the first, byte for byte. */
async function replayOf({ ask, isKept }: Keyed): Promise<Answer> {
  const replay = await until(ask, (answer) => !isNoAnswer(answer), {
    what: 'a final answer',
    withinMs: ANSWERED_WITHIN_MS,
  });
  expect(replay.headers.get('Idempotent-Replayed')).toBe(isKept(replay) ? 'true' : null);
  return replay;
}

async function expectOneEffect(keyed: Keyed): Promise<void> {
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, keyed.ask));
  const answered = answers.filter((answer) => !isNoAnswer(answer));
  expect([...new Set(answered.map(({ status }) => status))]).toEqual([keyed.status]);
  const first = saidBy(keyed, await replayOf(keyed));
  for (const answer of answered) expect(saidBy(keyed, answer)).toEqual(first);
  await keyed.expectOnce();
  expect(saidBy(keyed, await replayOf(keyed)), 'the first answer, also after all is done').toEqual(first);
  await keyed.expectOnce();
}

it(`${KEYS} keys, each used ${AT_ONCE} times at once have one effect and one answer each`, () =>
  withSeed(async (seed) => {
    const random = createRandom(seed);
    const kinds = Array.from({ length: KEYS }, (_, nth) => ALL_KINDS[nth] ?? random.pick(ALL_KINDS));
    await runConcurrently(kinds, CONCURRENCY, async (kind) => expectOneEffect(await KINDS[kind](stack)));
    await expectSoundBooks(stack);
  }));

it('a key of one environment means nothing in the other, nor to another account', async () => {
  const [one, other] = await Promise.all([1, 2].map(() => newBuyer(stack, { fundsMinor: 10_000n })));
  const live = openWorld(stack.context, stack.context.config.worlds.live!);
  closers.push(() => live.destroy());
  const { accountId } = one!.account;
  const funding = { amount: { amountMinor: 10_000n, currency: 'USD' }, reason: 'a test' } as const;
  await fund(
    { accounts: stack.accounts, world: live },
    { accountId, ...funding, reference: accountId },
    'a test',
  );
  const { apiKey } = await createKey(
    stack.accounts,
    {
      accountId,
      environment: 'live',
      brand: 'simway',
      scopes: ['read', 'purchase', 'fund'],
      allowedAddresses: ['127.0.0.1', '::1'],
      companyName: 'Test',
      websiteUrl: 'https://test.example',
      expiresAt: null,
    },
    'a test',
  );
  const headers = { 'Idempotency-Key': randomUUID() };
  const ask = (key: string): Promise<Answer> =>
    stack.call('POST', '/api/esim/buy', {
      key,
      body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
      headers,
    });
  const keys = [one!.account.apiKey, apiKey, other!.account.apiKey];
  const first = await Promise.all(keys.map(ask));
  expect(first.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(first.map((answer) => answer.headers.get('Idempotent-Replayed'))).toEqual([null, null, null]);
  expect(new Set(first.map(({ body }) => body.transactionId)).size).toBe(3);
  const again = await Promise.all(keys.map(ask));
  expect(again.map(({ text }) => text)).toEqual(first.map(({ text }) => text));
  const bought = await live.selectFrom('purchases').select('transaction_id').execute();
  expect(bought.map((row) => row.transaction_id)).toEqual([first[1]!.body.transactionId]);
});
