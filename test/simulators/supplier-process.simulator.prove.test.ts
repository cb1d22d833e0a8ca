import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { describeProcess } from './process.support.ts';
import { ACCESS_CODE, clientOf, exchange, tempFolder } from './supplier-simulator.support.ts';

const SECRETS = { SANDBOX_SUPPLIER_CODE: ACCESS_CODE, SANDBOX_SUPPLIER_SECRET_KEY: 'own-key' };

const start = describeProcess('the supplier simulator', {
  main: fileURLToPath(new URL('../../packages/simulators/esim-access/main.ts', import.meta.url)),
  secrets: SECRETS,
  secretFlags: ['--access-code', '--secret-key'],
  clientOf,
  work: (simulator) => simulator.ordered(),
  greeting: '',
  mistakes: [
    [{}, ['--data', '/nonexistent'], /SANDBOX_SUPPLIER_CODE/],
    [{ SANDBOX_SUPPLIER_CODE: '' }, ['--data', '/nonexistent'], /SANDBOX_SUPPLIER_CODE/],
  ],
});

describe('the supplier simulator as a process', () => {
  it('keeps orders, top-ups, balance, webhook, overrides and faults when it is killed', async () => {
    const dataDir = await tempFolder();
    const first = await start(dataDir, ['--activate-after-ms', 'never']);
    const { orderNo, esimTranNo, read } = await first.buy('ES_3_30', 'kept');
    const topUp = { transactionId: 'kept-topup', esimTranNo, packageCode: 'ES_3_30' };
    const topUpReply = await first.call('esim/topup', topUp);
    await first.control('PUT', '/packages/FR_1_7', { price: 77_700 });
    await first.control('PUT', '/faults', { latencyMs: 1, neverAllocate: 1, outOfStock: { next: 2 } });
    await first.order('kept-refused');
    await first.order('kept-held', 'ES_1_7');
    const held = await first.ordered('ES_1_7', 'kept-held');
    const balance = await first.balance();
    const orders = (await first.control('GET', '/orders')).body;
    const before = await read();
    first.child.kill('SIGKILL');
    await first.exit;

    const second = await start(dataDir, ['--activate-after-ms', 'never']);
    expect(await second.esim(orderNo)).toEqual(before);
    expect(await second.balance()).toBe(balance);
    expect((await second.control('GET', '/orders')).body).toEqual(orders);
    expect(await second.ordered('SIM-OK', 'kept')).toBe(orderNo);
    expect((await second.call('esim/topup', topUp)).obj).toEqual(topUpReply.obj);
    expect((await second.packages({ slug: 'FR_1_7' }))[0]?.price).toBe(77_700);
    expect((await second.control('GET', '/faults')).body).toMatchObject({
      latencyMs: 1,
      neverAllocate: 1,
      outOfStock: { next: 0 },
    });
    await expect(second.esim(held)).rejects.toThrow('200010');
    await second.control('DELETE', '/faults');
    expect(await second.esim(held)).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    expect((await second.ordered()) > held).toBe(true);
    second.child.kill('SIGINT');
    expect(await second.exit).toBe(0);
  });

  it('serves QR images itself with --public-host self', async () => {
    const hosts = ['--public-host', 'self', '--smdp-host', 'smdp.sandbox.example'];
    const simulator = await start(await tempFolder(), hosts);
    const esim = await simulator.esim(await simulator.ordered());
    expect(esim.ac).toMatch(/^LPA:1\$smdp\.sandbox\.example\$/);
    expect(esim.qrCodeUrl.startsWith(`${simulator.url}/qr/`)).toBe(true);
    const picture = await exchange(esim.qrCodeUrl, 'GET', {}, undefined);
    expect(picture.status).toBe(200);
    expect(picture.text).toContain('PNG');
    const unknown = await exchange(`${simulator.url}/qr/${'0'.repeat(32)}.png`, 'GET', {}, undefined);
    expect(unknown.status).toBe(404);
  });

  it('obeys its flags for signing, balance and allocation', async () => {
    const simulator = await start(await tempFolder(), ['--balance', '20000', '--allocation-ms', '60000']);
    expect(await simulator.balance()).toBe(20_000);
    await expect(simulator.esim(await simulator.ordered())).rejects.toThrow('200010');
    expect((await simulator.order('flagged-2')).errorCode).toBe('200007');
    const strict = await start(await tempFolder(), ['--require-signature']);
    expect((await strict.call('balance/query')).errorCode).toBe('000101');
  });
});
