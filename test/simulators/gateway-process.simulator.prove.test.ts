import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  clientOf,
  exchange,
  HOUR_MS,
  SECRET_KEY,
  startReceiver,
  tempFolder,
  until,
} from './gateway-simulator.support.ts';
import { describeProcess } from './process.support.ts';
import { launchReady } from './simulator.support.ts';

const MAIN = fileURLToPath(new URL('../../packages/simulators/paystack/main.ts', import.meta.url));
const SECRETS = { SANDBOX_GATEWAY_KEY: SECRET_KEY };
const NOWHERE = ['--data', '/nonexistent'];

const start = describeProcess('the gateway simulator', {
  main: MAIN,
  secrets: SECRETS,
  secretFlags: ['--secret-key'],
  clientOf,
  work: (gateway) => gateway.transfer(),
  greeting: '{"level":"info","msg":"gateway simulator","seed":77}',
  mistakes: [
    [{}, NOWHERE, /SANDBOX_GATEWAY_KEY/],
    [SECRETS, [...NOWHERE, '--bank-country', 'FR'], /--bank-country/],
    [SECRETS, [...NOWHERE, '--currency', 'EUR'], /--currency/],
    [SECRETS, [...NOWHERE, '--retries', 'never'], /--retries/],
    [SECRETS, [...NOWHERE, '--webhook-url', 'nowhere'], /--webhook-url/],
    [SECRETS, [...NOWHERE, '--public-url', 'ftp://x'], /--public-url/],
  ],
});

describe('the gateway simulator as a process', () => {
  it('keeps charges, payments, refunds, faults, its clock and what is planned when it is killed', async () => {
    const dataDir = await tempFolder();
    const first = await start(dataDir, ['--scenario-ms', '1000000', '--refund-delay-ms', '1000000']);
    await first.advance(HOUR_MS);
    const paid = await first.transfer();
    await first.pay(paid, { amountMinor: 400_000 });
    const { data: refund } = await first.call('POST', '/refund', { transaction: paid, amount: 1000 });
    const scenario = await first.transfer({ metadata: { sandbox_scenario: 'pay-now' } });
    const { reference: hosted, page } = await first.initialize();
    await first.setFaults({ latencyMs: 1, refund: 'pending', loseAnswer: { next: 2 } });
    await first.call('PUT', '/integration/payment_session_timeout', { timeout: 3600 }).catch(() => undefined);
    const references = [paid, scenario, hosted];
    const before = await Promise.all(references.map((reference) => first.held(reference)));
    const verified = await first.verify(paid);
    const instructions = (await first.call('GET', `/charge/${scenario}`)).data;
    const { body: time } = await first.control('GET', '/clock');
    const { aheadMs } = time as { aheadMs: number };
    first.child.kill('SIGKILL');
    await first.exit;

    const port = new URL(first.url).port;
    const second = await start(dataDir, ['--port', port]);
    expect(await Promise.all(references.map((reference) => second.held(reference)))).toEqual(before);
    expect(await second.verify(paid)).toEqual(verified);
    expect((await second.call('GET', `/charge/${scenario}`)).data).toEqual(instructions);
    expect((await second.control('GET', '/clock')).body).toMatchObject({ aheadMs });
    expect(aheadMs).toBeGreaterThan(HOUR_MS - 1_000);
    expect((await second.control('GET', '/faults')).body).toMatchObject({
      latencyMs: 1,
      refund: 'pending',
      loseAnswer: { next: 1 },
    });
    await second.control('DELETE', '/faults');
    expect((await second.call('GET', '/integration/payment_session_timeout')).data).toEqual({
      payment_session_timeout: 3600,
    });
    expect((await exchange(page, 'GET', {}, undefined)).status).toBe(200);
    await second.advance(1_000_000);
    await second.advance(1_000_000);
    expect((await second.verify(scenario))['status']).toBe('success');
    const { data } = await second.call('GET', `/refund/${String(refund['id'])}`);
    expect(data['status']).toBe('processed');
    second.child.kill('SIGINT');
    expect(await second.exit).toBe(0);
  });

  it('sends a webhook again after a restart if its answer was missing', async () => {
    const dataDir = await tempFolder();
    const receiver = await startReceiver();
    receiver.answers.push('hang');
    const first = await start(dataDir, ['--webhook-url', receiver.url]);
    const reference = await first.paid();
    await until(() => receiver.attempts.length === 1);
    first.child.kill('SIGKILL');
    await first.exit;
    await start(dataDir);
    await until(() => receiver.messages.length === 1);
    expect(receiver.messages[0]?.text).toContain(reference);
  });

  it('obeys its flags', async () => {
    const gateway = await start(await tempFolder(), [
      ...['--public-url', 'https://pay.example', '--merchant', 'Flag Shop'],
      ...['--bank-country', 'KE', '--currency', 'KES', '--currency', 'USD', '--scenario-ms', '10'],
      ...[
        '--retries',
        'live',
        '--webhook-url',
        'http://127.0.0.1:9/a',
        '--webhook-url',
        'http://127.0.0.1:9/b',
      ],
    ]);
    const { page, reference } = await gateway.initialize({ metadata: { sandbox_scenario: 'pay-now' } });
    expect(page).toMatch(/^https:\/\/pay\.example\/checkout\//);
    await until(async () => (await gateway.verify(reference))['status'] === 'success');
    expect((await gateway.verify(reference))['currency']).toBe('KES');
    expect((await gateway.control('GET', '/webhook-urls')).body).toEqual({
      urls: ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b'],
    });
    expect((await gateway.control('GET', '/faults')).body).toMatchObject({ retries: 'live' });
    const transfer = await gateway.transfer();
    const { data } = await gateway.call('GET', `/charge/${transfer}`);
    expect(data['account_name']).toBe('Flag Shop / Checkout');
  });

  it('has the domain live with a live key', async () => {
    const dataDir = await tempFolder();
    const secrets = { SANDBOX_GATEWAY_KEY: 'sk_live_simulator' };
    const launched = await launchReady(MAIN, ['--data', dataDir], secrets);
    const body = JSON.stringify({ email: 'a@example.com', amount: 5000, reference: 'live-1' });
    const headers = { authorization: 'Bearer sk_live_simulator' };
    await exchange(`${launched.url}/transaction/initialize`, 'POST', headers, body);
    const { text } = await exchange(`${launched.url}/transaction/verify/live-1`, 'GET', headers, undefined);
    expect(text).toContain('"domain":"live"');
    expect(launched.stderr()).not.toContain('sk_live_');
  });
});
