/**
 * Two bodies under one key, both slower than the answer time: one of them gets 422, and the stored answer
 * belongs to the other.
 */
import { describe, expect, it } from 'vitest';
import { newBuyer } from '../support/people/buyer.ts';
import type { Answer } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const stack = await soundStack({ timings: { answerWithinMs: 2_000 } });

const base = { packageType: 'BASE', paymentMethod: 'WALLET' };
const CASES = {
  'two packages from the wallet': [
    '/api/esim/buy',
    { packageCode: 'SIM-OK', ...base },
    { packageCode: 'SIM-SLOW', ...base },
  ],
  'two packages by card': [
    '/api/esim/buy',
    { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'CARD' },
    { packageCode: 'SIM-SLOW', packageType: 'BASE', paymentMethod: 'CARD' },
  ],
  'two amounts into the wallet': [
    '/api/wallet/fund',
    { amount: 100, paymentMethod: 'CARD' },
    { amount: 200, paymentMethod: 'CARD' },
  ],
} as const;

describe('one key with two bodies', () => {
  it.each(Object.entries(CASES))('%s', async (_what, [path, one, other]) => {
    const buyer = await newBuyer(stack, { fundsMinor: 10_000n });
    const { apiKey: key, accountId } = buyer.account;
    const headers = { 'Idempotency-Key': 'one key' };
    const ask = (body: object): Promise<Answer> => stack.call('POST', path, { key, body, headers });

    await stack.stopWorker();
    const bodies = [one, other];
    const answers = await Promise.all(bodies.map(ask));
    await stack.startWorker();
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422]);
    const lost = answers.findIndex(({ status }) => status === 422);
    expect(answers[lost]!.text).toContain('IDEMPOTENCY_KEY_REUSED');
    const [won, wonBody] = [answers[1 - lost]!, bodies[1 - lost]!];

    // What is bought or opened is what the accepted body says, and its answer stays.
    const rows = await until(
      async () => [
        ...(await buyer.purchases()).map(({ package_code }) => package_code),
        ...(
          await stack.owner
            .selectFrom('fundings')
            .select('amount_minor')
            .where('account_id', '=', accountId)
            .execute()
        ).map(({ amount_minor }) => Number(amount_minor) / 100),
      ],
      (found) => found.length > 0,
      { what: 'its row' },
    );
    expect(rows).toEqual(['packageCode' in wonBody ? wonBody.packageCode : wonBody.amount]);
    const replayed = await until(
      () => ask(wonBody),
      ({ status }) => status !== 409,
      { what: 'no longer in use' },
    );
    expect([replayed.status, replayed.text]).toEqual([201, won.text]);
    expect((await ask(bodies[lost]!)).status).toBe(422);
  });
});
