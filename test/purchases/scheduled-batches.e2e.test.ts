// Batches that are ordered for later: bought at their start, at the prices, by the wallet and by the
// permission of then; or not at all.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { startInbox } from '../support/people/webhook-inbox.ts';
import { makeKey } from '../support/people/keys.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack } from '../support/world/stack.ts';

const stack = await forFile(startStack());
const inbox = await forFile(startInbox());

const PATH = '/api/esim/orders/batch';
const TWO = ['a', 'b'].map((reference) => ({ reference, packageCode: 'SIM-OK' }));

interface Batch {
  readonly batchId: string;
  readonly status: string;
  readonly cancelReason: string;
  readonly startAt: string;
  readonly totalPrice: number;
  readonly items: readonly {
    readonly status: string;
    readonly reason: string;
    readonly transactionId: string;
  }[];
}

async function order(key: string, more: object = {}, rows: readonly object[] = TWO): Promise<Batch> {
  const startAt = new Date(Date.now() + 86_400_000).toISOString();
  const answer = await stack.call('POST', PATH, { key, body: { rows, startAt, ...more } });
  expect(answer.status, answer.text).toBe(202);
  return answer.body.data as unknown as Batch;
}
const read = async (key: string, { batchId }: Batch): Promise<Batch> =>
  (await stack.call('GET', `${PATH}/${batchId}`, { key })).body.data as unknown as Batch;
/** In place of a day. */
const comes = ({ batchId }: Batch) =>
  sql`update jobs set start_at = clock_timestamp() where id = ${batchId}`.execute(stack.owner);
const ended = (key: string, batch: Batch): Promise<Batch> =>
  until(
    () => read(key, batch),
    ({ status }) => status === 'COMPLETED' || status === 'CANCELLED',
    { what: 'the end of a batch' },
  );
const balanceOf = async (key: string): Promise<number> => {
  const { text } = await stack.call('GET', '/api/wallet/balance', { key });
  return Number(/"balance":(\d+(?:\.\d+)?)/.exec(text)?.[1]);
};
const outcome = ({ status, cancelReason, items }: Batch) => ({
  status,
  cancelReason,
  rows: items.map((row) => [row.status, row.reason].join(' ').trim()),
});
const nothing = (reason: string) => ({
  status: 'CANCELLED',
  cancelReason: reason,
  rows: [`FAILED ${reason}`, `FAILED ${reason}`],
});

describe('a batch with startAt', () => {
  it('buys nothing before, and everything then, though the wallet was empty when it was ordered', async () => {
    const { apiKey: key } = await stack.account({ fundsMinor: 0n });
    await stack.call('POST', '/api/webhooks/endpoints', {
      key,
      body: { url: `${inbox.url}/bought`, events: ['batch.completed'] },
    });
    const batch = await order(key);
    expect(batch).toMatchObject({ status: 'SCHEDULED', cancelReason: '' });
    expect(outcome(await read(key, batch)).rows).toEqual(['QUEUED', 'QUEUED']);
    const funded = await stack.account({ fundsMinor: 10_000_000n });
    const rich = await order(funded.apiKey);
    await Promise.all([comes(batch), comes(rich)]);
    expect(outcome(await ended(funded.apiKey, rich))).toEqual({
      status: 'COMPLETED',
      cancelReason: '',
      rows: ['SUCCESS', 'SUCCESS'],
    });
    expect(outcome(await ended(key, batch))).toEqual(nothing('INSUFFICIENT_BALANCE'));
    const [told] = await inbox.untilAt('/bought', 1);
    expect(JSON.parse(told!.body)).toMatchObject({ data: { rows: 2, succeeded: 0, failed: 2 } });
  });

  it('goes behind the purchases of those who wait for their answer', async () => {
    const { apiKey: key } = await stack.account({ fundsMinor: 10_000_000n });
    const batch = await order(key);
    await comes(batch);
    const priorityOf = async (transactionId: string | undefined) => {
      const { raw } = await stack.temporal.workflow.getHandle(transactionId ?? '').describe();
      return raw.workflowExecutionInfo?.priority?.priorityKey || 3;
    };
    expect(await priorityOf((await ended(key, batch)).items[0]?.transactionId)).toBe(4);
    const body = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };
    const bought = await stack.call('POST', '/api/esim/buy', { key, body });
    expect(await priorityOf(bought.body['transactionId'])).toBe(3);
  });

  it('is priced at its start, and cancelled where that is above maxTotalPrice', async () => {
    const { apiKey: key } = await stack.account();
    const most = { amount: 1_000_000, currency: 'USD' };
    const [within, above] = [
      await order(key, { maxTotalPrice: most }),
      await order(key, { maxTotalPrice: most }),
    ];
    // As if prices had risen since.
    await sql`update jobs set total_minor = 1, max_total_minor = case id when ${above.batchId} then 1 else max_total_minor end
               where id in (${within.batchId}, ${above.batchId})`.execute(stack.owner);
    const before = await balanceOf(key);
    await Promise.all([comes(within), comes(above)]);
    expect(outcome(await ended(key, above))).toEqual(nothing('PRICE_ABOVE_MAX'));
    const bought = await ended(key, within);
    expect(bought.totalPrice).toBe(within.totalPrice);
    expect(await balanceOf(key)).toBeCloseTo(before - bought.totalPrice, 2);
  });

  it.each([['at once'], ['at its start']])(
    'gives its metadata to the purchases of its rows: %s',
    async (when) => {
      const { apiKey: key } = await stack.account();
      const metadata = { booking: '4711' };
      const rows = [{ ...TWO[0]!, metadata }, TWO[1]!];
      const batch = await order(key, when === 'at once' ? { startAt: undefined } : {}, rows);
      if (when !== 'at once') await comes(batch);
      await ended(key, batch);
      const { body } = await stack.call('GET', '/api/esim/transactions', { key });
      const { items: bought } = body.data as unknown as {
        items: { reference: string; metadata: object }[];
      };
      expect(Object.fromEntries(bought.map((one) => [one.reference, one.metadata]))).toEqual({
        a: metadata,
        b: {},
      });
    },
  );

  it('is bought beside others that fail again and again', async () => {
    const { apiKey: key } = await stack.account();
    const broken = await Promise.all(Array.from({ length: 21 }, () => order(key)));
    await sql`create function no_start() returns trigger language plpgsql as $$ begin raise 'no start'; end $$`.execute(
      stack.owner,
    );
    const ids = sql.join(broken.map(({ batchId }) => sql.lit(batchId)));
    await sql`create trigger no_start before update of status on jobs for each row
                when (old.id in (${ids})) execute function no_start()`.execute(stack.owner);
    for (const batch of broken) await comes(batch);
    const sound = await order(key);
    await comes(sound);
    expect(outcome(await ended(key, sound)).rows).toEqual(['SUCCESS', 'SUCCESS']);
    expect((await read(key, broken[0]!)).status).toBe('SCHEDULED');
    await sql`drop trigger no_start on jobs`.execute(stack.owner);
    await sql`drop function no_start`.execute(stack.owner);
    for (const batch of broken)
      await stack.call('POST', `${PATH}/${batch.batchId}/cancel`, { key, body: {} });
  });

  it('is not bought once its key is revoked, nor by a key that may only read now', async () => {
    const { accountId, apiKey: other } = await stack.account();
    const keys = await Promise.all(
      [1, 2].map(() => makeKey(stack.accounts, accountId, { scopes: ['read', 'purchase'] })),
    );
    const [revoked, reading] = keys.map(({ keyId }) => keyId);
    const batches = await Promise.all(keys.map(({ apiKey }) => order(apiKey)));
    await sql`update accounts.api_keys set revoked_at = now() where id = ${revoked}`.execute(stack.owner);
    await sql`update accounts.api_keys set scopes = '{read}' where id = ${reading}`.execute(stack.owner);
    const before = await balanceOf(other);
    await Promise.all(batches.map(comes));
    for (const batch of batches)
      expect(outcome(await ended(other, batch))).toEqual(nothing('CALLER_NOT_ALLOWED'));
    expect(await balanceOf(other)).toBe(before);
  });

  it('can be cancelled until it starts, again and again, and nothing is bought', async () => {
    const { apiKey: key } = await stack.account();
    // Further ahead than fits a number of milliseconds with 32 bits.
    const startAt = new Date(Date.now() + 80 * 86_400_000).toISOString();
    const [cancelled, started] = [await order(key, { startAt }), await order(key)];
    const cancel = ({ batchId }: Batch) => stack.call('POST', `${PATH}/${batchId}/cancel`, { key, body: {} });
    for (const answer of [await cancel(cancelled), await cancel(cancelled)])
      expect([answer.status, answer.body.data]).toMatchObject([200, { status: 'CANCELLED' }]);
    await Promise.all([
      comes(started),
      sql`update jobs set start_at = now() where id = ${cancelled.batchId}`.execute(stack.owner),
    ]);
    await ended(key, started);
    const late = await cancel(started);
    expect([late.status, late.text]).toEqual([409, expect.stringContaining('BATCH_STARTED')]);
    expect(outcome(await read(key, cancelled))).toEqual(nothing('CANCELLED'));
  });

  it('leaves out a package that is not sold any more', async () => {
    const { apiKey: key } = await stack.account();
    const batch = await order(key, {}, [TWO[0]!, { reference: 'gone', packageCode: 'SIM-OUT-OF-STOCK' }]);
    await sql`update job_rows set package_code = 'GONE' where job_id = ${batch.batchId} and reference = 'gone'`.execute(
      stack.owner,
    );
    await comes(batch);
    expect(outcome(await ended(key, batch)).rows).toEqual(['SUCCESS', 'FAILED PACKAGE_WITHDRAWN']);
  });

  it('starts in the future, and within 90 days', async () => {
    const { apiKey: key } = await stack.account();
    const answers = await Promise.all(
      [-1_000, 91 * 86_400_000].map((ms) =>
        stack.call('POST', PATH, {
          key,
          body: { rows: TWO, startAt: new Date(Date.now() + ms).toISOString() },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect(answers.map(({ text }) => /startAt: [^"]+/.exec(text)?.[0])).toEqual([
      'startAt: must be in the future',
      'startAt: must be at most 90 days ahead',
    ]);
  });
});
