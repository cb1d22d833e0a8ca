/**
 * Promise A7 over real HTTP, on two API processes: a revocation reaches both in time, and a test key touches
 * nothing of the live environment on any route.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { revoke } from '../../src/accounts/keys/manage-keys.ts';
import { openWorld } from '../../src/app/composition/context.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { startApiProcesses } from '../support/world/processes.ts';
import { makeKey } from '../support/people/keys.ts';
import { size } from '../support/time/size.ts';
import { startStack, type TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { fund } from '../../src/ledger/fund-by-hand.ts';

const PROCESSES = 2;
const REVOCATIONS = size({ ci: 2, prove: 40 });
const REVOKED_WITHIN_MS = 5_000;

const stack = await startStack();
const env = {
  ...stack.env,
  SIMWAY_LIVE_SUPPLIER_URL: stack.supplierUrl,
  SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: 'test-access',
};
/** Both environments are switched on in these. */
const apis = await startApiProcesses(env, PROCESSES);
const { config, secrets } = readConfig(env);
const live = openWorld({ ...stack.context, config, secrets }, config.worlds.live!);
afterAll(async () => {
  await live.destroy();
  await apis.stop();
  await stack.close();
});

const BUYING = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };

async function call(url: string, key: string, method: string, path: string, body?: unknown, headers = {}) {
  const response = await fetch(url + path, {
    method,
    headers: {
      'X-API-Key': key,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

const statusOf = async (url: string, key: string) =>
  (await call(url, key, 'GET', '/api/wallet/balance')).status;

describe('a revocation', () => {
  it(`reaches every process within ${REVOKED_WITHIN_MS} ms`, async () => {
    const slowest = await Promise.all(
      Array.from({ length: REVOCATIONS }, async (_, i) => {
        const { apiKey, keyId } = await stack.account();
        for (const url of apis.urls) expect(await statusOf(url, apiKey)).toBe(200);
        // Spread over the polling interval of the processes.
        await new Promise((resolve) => setTimeout(resolve, (i * 137) % 2_000));
        expect(await revoke(stack.accounts, { keyId }, 'a test')).toBe(1);
        const startedAtMs = performance.now();
        const refused = apis.urls.map(async (url) => {
          await until(
            () => statusOf(url, apiKey),
            (status) => status === 401,
            {
              withinMs: 2 * REVOKED_WITHIN_MS,
              everyMs: 100,
              what: `${url} refuses the key`,
            },
          );
          return performance.now() - startedAtMs;
        });
        const slowestMs = Math.max(...(await Promise.all(refused)));
        for (const url of apis.urls) expect(await statusOf(url, apiKey)).toBe(401);
        return slowestMs;
      }),
    );
    expect(Math.max(...slowest)).toBeLessThan(REVOKED_WITHIN_MS);
  });
});

describe('a test key', () => {
  /** All rows of the live environment as one text. */
  async function liveWorld(): Promise<string> {
    const { rows: tables } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'live' order by 1`.execute(stack.owner);
    const texts = await Promise.all(
      tables.map(async ({ name }) => {
        const { rows } = await sql<{ text: string | null }>`
          select string_agg(t::text, ' ' order by t::text) as text from ${sql.table(`live.${name}`)} t`.execute(
          stack.owner,
        );
        return `${name}: ${rows[0]?.text ?? ''}`;
      }),
    );
    return texts.join('\n');
  }

  const MARK = `live-only-${randomBytes(6).toString('hex')}`;
  const planted = {
    esimId: `esim-${randomBytes(16).toString('hex')}`,
    transactionId: `txn-${randomBytes(16).toString('hex')}`,
    packageCode: `LIVE-${randomBytes(4).toString('hex')}`,
  };

  /**
   * Money, a purchase, its eSIM and a package in the live environment, of the account that owns the test key.
   */
  async function plant({ accountId }: TestAccount): Promise<void> {
    await fund(
      { accounts: stack.accounts, world: live },
      { accountId, amount: { amountMinor: 77_777n, currency: 'USD' }, reason: MARK, reference: MARK },
      'a test',
    );
    await sql`
      insert into live.packages (package_code, supplier, package_type, slug, name, region_code, region_type, cost_usd_e4, volume_bytes, data_type,
        duration, duration_unit, unused_valid_days, speed, description, active_type, top_up_available, location, location_code, networks)
      values (${planted.packageCode}, 's', 'BASE', 'x', ${MARK}, 'NG', 'LC', 1, 1, 1, 1, 'DAY', 1, '', '', 1, true, 'NG', 'NG', '[]')`.execute(
      stack.owner,
    );
    await sql`
      insert into live.purchases (transaction_id, account_id, package_type, payment_method, status, package_code, package_name,
        volume_bytes, duration, esim_id, price_minor, currency, price_usd_minor, cost_usd_e4, settings_id, request_id, created_at, closed_at)
      values (${planted.transactionId}, ${accountId}, 'BASE', 'WALLET', 'SUCCESS', ${planted.packageCode}, ${MARK},
        1, 1, ${planted.esimId}, 1, 'USD', 1, 1, 'initial', 'r', now(), now())`.execute(stack.owner);
    await sql`
      insert into live.esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
        iccid, total_volume_bytes, total_duration, duration_unit, data_type, created_at, checked_at)
      values (${planted.esimId}, ${accountId}, ${planted.transactionId}, ${planted.packageCode}, ${MARK}, 'ACTIVE', 1, 'USD', '{}', 's',
        '890000', 1, 1, 'DAY', 1, now(), now())`.execute(stack.owner);
    await sql`
      insert into live.idempotency_keys (account_id, key, path, fingerprint, transaction_id, answer_status, answer_body)
      values (${accountId}, 'same-key', '/api/esim/buy', 'f', ${planted.transactionId}, 201, ${MARK})`.execute(
      stack.owner,
    );
  }

  it('reads and changes nothing of the live environment, not even of its own account', async () => {
    const account = await stack.account({ fundsMinor: 50_000n });
    await plant(account);
    const before = await liveWorld();
    const { apiKey } = account;
    const requests: [string, string, unknown?][] = [
      ['GET', '/api/wallet/balance'],
      ['GET', '/api/esim/my-esims'],
      ['GET', `/api/esim/my-esims?search=${MARK}`],
      ['GET', `/api/esim/${planted.esimId}`],
      ['GET', `/api/esim/transactions/${planted.transactionId}`],
      ['GET', `/api/esim/packages/${planted.packageCode}`],
      ['GET', '/api/esim/packages?regionCode=NG&packageType=BASE'],
      ['GET', '/api/esim/regions'],
      ['POST', '/api/esim/buy', BUYING],
      ['POST', '/api/esim/buy', { ...BUYING, packageCode: planted.packageCode }],
      [
        'POST',
        '/api/esim/buy',
        { ...BUYING, packageType: 'TOPUP', packageCode: 'TOPUP_SIM-OK', esimId: planted.esimId },
      ],
    ];
    const texts: string[] = [];
    for (const url of apis.urls)
      for (const [method, path, body] of requests)
        texts.push((await call(url, apiKey, method, path, body)).text);
    const seen = texts.join('\n');
    for (const secret of [MARK, planted.transactionId, '890000', '777.77'])
      expect(seen).not.toContain(secret);
    // The requests did what they could in their own environment: one purchase a process.
    const bought = await stack.owner
      .selectFrom('purchases')
      .select('status')
      .where('account_id', '=', account.accountId)
      .execute();
    expect(bought.map((row) => row.status)).toEqual(['SUCCESS', 'SUCCESS']);
    expect(await liveWorld()).toBe(before);
  });

  it('gets the answer of its own environment where both environments hold the same Idempotency-Key', async () => {
    const account = await stack.account();
    await sql`
      insert into live.idempotency_keys (account_id, key, path, fingerprint, transaction_id, answer_status, answer_body)
      values (${account.accountId}, 'shared', '/api/esim/buy', 'f', 'txn-live', 201, ${MARK})`.execute(
      stack.owner,
    );
    const before = await liveWorld();
    const headers = { 'Idempotency-Key': 'shared' };
    const answer = await call(apis.urls[0]!, account.apiKey, 'POST', '/api/esim/buy', BUYING, headers);
    expect(answer.status).toBe(201);
    expect(answer.text).not.toContain(MARK);
    expect(await liveWorld()).toBe(before);
  });

  it('reads only the test environment, where a live key of the same account reads only the live environment', async () => {
    const account = await stack.account({ fundsMinor: 123n });
    const { accountId } = account;
    const { apiKey: liveKey } = await makeKey(stack.accounts, accountId, { environment: 'live' });
    const amount = { amountMinor: 456n, currency: 'USD' };
    const request = { accountId, amount, reason: 'a test', reference: `live-${accountId}` };
    await fund({ accounts: stack.accounts, world: live }, request, 'a test');
    for (const url of apis.urls) {
      expect((await call(url, account.apiKey, 'GET', '/api/wallet/balance')).text).toContain('1.23');
      expect((await call(url, liveKey, 'GET', '/api/wallet/balance')).text).toContain('4.56');
    }
  });
});
