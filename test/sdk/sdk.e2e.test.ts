// The SDK with the whole service: its README as it stands there, and what each kind of intent does once.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { intend, isCode, sandboxEsim, Simway, topUpOf, verifyWebhook } from '../../packages/sdk/src/index.ts';
import { newBuyer } from '../support/people/buyer.ts';
import { startReceiver } from '../support/people/webhook-receiver.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';
import { processEnv } from '../support/world/processes.ts';
import { soundStack } from '../support/world/sound-stack.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

const SDK = join(import.meta.dirname, '../../packages/sdk');
const BODY = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' } as const;
const stack = await soundStack();
const receiver = await forFile(startReceiver());

async function newCustomer() {
  const buyer = await newBuyer(stack);
  return { buyer, simway: new Simway({ baseUrl: stack.apiUrl, apiKey: buyer.account.apiKey }) };
}

it('does what its README shows, with a first purchase in at most ten lines', async () => {
  const { buyer } = await newCustomer();
  const readme = readFileSync(join(SDK, 'README.md'), 'utf8');
  const blocks = Array.from(readme.matchAll(/```typescript\n(.+?)```/gs), ([, block]) => block!);
  expect(blocks[0]!.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
  const folder = await makeTestFolder();
  const program = blocks.join('\n').replaceAll(`'simway-sdk'`, `'${join(SDK, 'src/index.ts')}'`);
  writeFileSync(join(folder, 'readme.mts'), `${program}\nconsole.log('same', same.transactionId);\n`);
  const { stdout } = await promisify(execFile)(process.execPath, ['readme.mts'], {
    cwd: folder,
    env: { ...processEnv(), URL: stack.apiUrl, KEY: buyer.account.apiKey },
  });
  const [first, second, third] = (await buyer.purchases()).filter(({ status }) => status === 'SUCCESS');
  expect(stdout).toContain(`SUCCESS ${first!.transaction_id}\nSUCCESS\n`);
  expect(stdout).toContain(`same ${second!.transaction_id}`);
  expect(third!.package_code).toBe('SIM-MANUAL-LIFE');
  for (const line of ['fund the wallet', '89999', '0.35 true 1234n', 'EXPIRED'])
    expect(stdout).toContain(line);
  // Whoever has an activation code can install the eSIM, so no sample prints one.
  expect(stdout).not.toMatch(/LPA:|qrCode/i);
});

it('carries out every kind of intent once', async () => {
  const { buyer, simway } = await newCustomer();
  const { esimId } = await buyer.activeEsim();
  const intents = [
    intend('buy', { body: BODY }),
    intend('buy', { body: { ...BODY, packageType: 'TOPUP', packageCode: topUpOf('SIM-OK'), esimId } }),
    intend('fundWallet', { body: { amount: 50.5, paymentMethod: 'CARD' } }),
    intend('orderBatch', { body: { rows: [{ reference: 'one', packageCode: 'SIM-OK' }] } }),
    intend('createQuote', { body: { packageCode: 'SIM-OK', packageType: 'BASE' } }),
    intend('createWebhookEndpoint', { body: { url: `${receiver.baseUrl}/hooks` } }),
  ];
  for (const intent of intents) {
    const first = await simway.send<unknown>(intent);
    expect(await simway.send<unknown>(JSON.parse(JSON.stringify(intent)) as typeof intent)).toEqual(first);
  }
  const use = intend('sandboxUseEsim', { path: { esimId }, body: { bytes: 1_000 } });
  await simway.send(use);
  expect((await simway.send(use)).orderUsage).toBe(1_000);
  const transactions = await until(
    () => Array.fromAsync(simway.each('listTransactions', { query: { limit: 1 } })),
    ({ length }) => length === 5,
    { what: 'the purchase of the batch' },
  );
  expect(transactions.map(({ type }) => type).toSorted()).toEqual([
    'BASE',
    'BASE',
    'BASE',
    'FUNDING',
    'TOPUP',
  ]);
  const other = await simway
    .send<unknown>({ ...intents[0]!, body: { ...BODY, packageCode: 'SIM-SLOW' } })
    .catch((error: unknown) => error);
  expect(isCode(other, 'IDEMPOTENCY_KEY_REUSED')).toBe(true);
});

it('gives the entries of the wallet as CSV, and refusals with their fields', async () => {
  const { simway } = await newCustomer();
  await simway.buy({ body: BODY });
  const csv: unknown = await simway.listWalletEntries({ headers: { Accept: 'text/csv' } });
  const [columns, newest] = (csv as string).split('\n');
  expect(columns).toContain('id,at,kind,amount,currency');
  expect(newest).toContain(',HOLD,');
  const error: unknown = await simway.buy({ body: {} as never }).catch((refusal: unknown) => refusal);
  expect(error).toMatchObject({ code: 'VALIDATION_ERROR', fields: { packageCode: 'is required' } });
});

it('gives each list page by page', async () => {
  const { simway } = await newCustomer();
  // Nothing changes between two pages: all are delivered, and none is installed.
  const body = { ...BODY, packageCode: 'SIM-MANUAL-LIFE' };
  for (const key of ['a', 'b', 'c']) await simway.send(intend('buy', { key, body }));
  await until(
    () => Array.fromAsync(simway.each('listEvents')),
    ({ length }) => length === 3,
    { what: 'the events of three deliveries' },
  );
  for (const list of ['listEsims', 'listTransactions', 'listWalletEntries', 'listEvents'] as const) {
    const all = await Array.fromAsync<unknown>(simway.each(list, { query: { limit: 2 } }));
    expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(list === 'listWalletEntries' ? 4 : 3);
    expect(all).toEqual(await Array.fromAsync<unknown>(simway.each(list)));
  }
  for await (const { data } of simway.pages('listPackageChanges', { query: { since: 'now' } }))
    expect(data.items).toEqual([]);
  const endpoint = (path: string) => ({ body: { url: `${receiver.baseUrl}/${path}` } });
  for (const path of ['one', 'two']) await simway.createWebhookEndpoint(endpoint(path));
  const endpoints = await Array.fromAsync(simway.each('listWebhookEndpoints', { query: { limit: 1 } }));
  expect(endpoints).toHaveLength(2);
});

it('verifies the messages that are sent, and plays the life of an eSIM', async () => {
  const { buyer, simway } = await newCustomer();
  const listener = await receiver.listen(stack, buyer.account);
  const purchase = await simway.buy({ body: { ...BODY, packageCode: 'SIM-MANUAL-LIFE' } });
  const [message] = await listener.untilReceived(1);
  const event = verifyWebhook(message!.body, message!.headers, listener.secret);
  expect(event).toMatchObject({
    event: 'esim.purchased',
    data: { transactionId: purchase.transactionId, status: 'SUCCESS' },
  });
  const { esimId } = purchase.esimDetails as { esimId: string };
  const traveller = sandboxEsim(simway, esimId);
  expect(await traveller.resume().catch((error: unknown) => isCode(error, 'SANDBOX_ACTION_REFUSED'))).toBe(
    true,
  );
  await traveller.install('ENABLED');
  await traveller.use(1_000);
  await traveller.useUp();
  await traveller.switchOff();
  await traveller.switchOn();
  await traveller.suspend();
  await traveller.resume();
  await traveller.advanceClock({ hours: 1 });
  expect((await traveller.expire()).esimStatus).toBe('EXPIRED');
  await traveller.deleteProfile();
});
