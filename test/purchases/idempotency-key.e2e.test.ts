// Promise M3 through the whole service: one key, one purchase, one answer, byte for byte, however often it is
// repeated, and whatever was restarted or emptied in between.
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunningRedis } from '../../src/dev/redis.ts';
import { newBuyer, untilClosed, type Buyer } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { ownRedis, type OwnServer } from '../support/world/own-servers.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

let redis: OwnServer<RunningRedis>;
let stack: Stack;
beforeAll(async () => {
  redis = await ownRedis();
  stack = await startStack({
    processes: 'own',
    redisUrl: redis.server.url,
    timings: { answerWithinMs: 6_000, checkMaxMs: 300 },
  });
}, 120_000);
afterEach(() => stack.clearFaults());
afterAll(async () => {
  await stack.close();
  await redis.close();
});
afterAll(() => expectSoundBooks(stack));

/** Sends the same request, and answers once it is neither "still running" nor, on a busy machine, unknown. */
const again = (buyer: Buyer, idempotencyKey: string, code = 'SIM-OK', esimId?: string): Promise<Answer> =>
  until(
    () => buyer.buy(code, { idempotencyKey, ...(esimId === undefined ? {} : { esimId }) }),
    ({ status }) => status !== 409 && status !== 503,
    { what: 'an answer that is known' },
  );

function expectReplay(replay: Answer, first: Answer): void {
  expect(replay.status).toBe(first.status);
  expect(replay.text).toBe(first.text);
  expect(replay.headers.get('Idempotent-Replayed')).toBe('true');
}

async function restartEverythingButPostgres(): Promise<void> {
  await stack.children.api!.kill();
  const client = new Redis(redis.server.url);
  await client.flushall();
  client.disconnect();
  await stack.startApi();
}

describe('the first answer is repeated', () => {
  it('after the API was killed and Redis emptied: BASE, TOPUP, refused and PROCESSING alike', async () => {
    const buyer = await newBuyer(stack);
    const { esimId } = await buyer.activeEsim();
    const base = await buyer.buy('SIM-OK', { idempotencyKey: 'base' });
    const topUp = await buyer.buy('TOPUP_SIM-OK', { idempotencyKey: 'top-up', esimId });
    const withdrawn = await buyer.buy('SIM-OUT-OF-STOCK', { idempotencyKey: 'withdrawn' });
    await stack.faults({ neverAllocate: 1 });
    const processing = await buyer.buy('SIM-OK', { idempotencyKey: 'processing' });
    await stack.clearFaults();
    expect([base, topUp, withdrawn, processing].map(({ status }) => status)).toEqual([201, 200, 400, 201]);
    expect(processing.body.status).toBe('PROCESSING');
    expect((await untilClosed(stack, processing.body.transactionId)).status).toBe('SUCCESS');
    const before = await buyer.purchases();

    await restartEverythingButPostgres();
    expectReplay(await again(buyer, 'base'), base);
    expectReplay(await again(buyer, 'top-up', 'TOPUP_SIM-OK', esimId), topUp);
    expectReplay(await again(buyer, 'withdrawn', 'SIM-OUT-OF-STOCK'), withdrawn);
    expectReplay(await again(buyer, 'processing'), processing);
    // Reads are more current than the first answer.
    const read = await buyer.read(`/api/esim/transactions/${processing.body.transactionId}`);
    expect(read.body.status).toBe('SUCCESS');
    expect(await buyer.purchases()).toEqual(before);
  });

  it('as PROCESSING when it was given without a running worker, whatever the purchase became', async () => {
    const [rich, poor] = [await newBuyer(stack), await newBuyer(stack, { fundsMinor: 1n })];
    await stack.stopWorker();
    const first = await Promise.all([rich, poor].map((buyer) => again(buyer, 'early')));
    expect(first.map(({ status, body }) => `${status} ${body.status}`)).toEqual(
      Array(2).fill('201 PROCESSING'),
    );
    await stack.startWorker();
    const ended = await Promise.all(first.map(({ body }) => untilClosed(stack, body.transactionId)));
    expect(ended.map(({ status }) => status)).toEqual(['SUCCESS', 'FAILED']);
    for (const [nth, buyer] of [rich, poor].entries()) {
      expectReplay(await again(buyer, 'early'), first[nth]!);
      expect(await buyer.purchases()).toHaveLength(1);
      const read = await buyer.read(`/api/esim/transactions/${first[nth]!.body.transactionId}`);
      expect(read.body.status).toBe(ended[nth]!.status);
    }
  });

  it('with its secrets, which are not stored', async () => {
    const buyer = await newBuyer(stack);
    const { body } = await buyer.buy('SIM-OK', { idempotencyKey: 'secret' });
    const { answer_body: kept } = await stack.owner
      .selectFrom('idempotency_keys')
      .select('answer_body')
      .where('account_id', '=', buyer.account.accountId)
      .executeTakeFirstOrThrow();
    expect(kept).toContain(body.transactionId);
    for (const secret of [
      body.esimDetails.activationCode,
      body.esimDetails.matchingId,
      body.esimDetails.qrCodeUrl,
    ]) {
      expect(secret).not.toBe('');
      expect(kept).not.toContain(secret);
    }
  });
});

describe('a key', () => {
  it('used with another body is refused, and nothing is bought', async () => {
    const buyer = await newBuyer(stack);
    await buyer.buy('SIM-OK', { idempotencyKey: 'mine' });
    await buyer.buy('SIM-OUT-OF-STOCK', { idempotencyKey: 'refused' });
    for (const key of ['mine', 'refused']) {
      const other = await buyer.buy('SIM-SLOW', { idempotencyKey: key });
      expect(other.status).toBe(422);
      expect(other.body).toMatchObject({ success: false, error: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    }
    expect((await buyer.purchases()).map((row) => row.package_code)).toEqual(['SIM-OK', 'SIM-OUT-OF-STOCK']);
  });

  it('is free again after a request that never became a purchase', async () => {
    const buyer = await newBuyer(stack);
    expect((await buyer.buy('NO-SUCH-PACKAGE', { idempotencyKey: 'tried' })).status).toBe(404);
    const bought = await buyer.buy('SIM-OK', { idempotencyKey: 'tried' });
    expect(bought.status).toBe(201);
    expect(bought.headers.get('Idempotent-Replayed')).toBeNull();
  });
});
