// Each cause of the diagnosis, produced by a simulated life of an eSIM; and the install data, shown until the
// eSIM is installed.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DiagnosisCode } from '../../src/esims/diagnosis.ts';
import { startStack, type Stack, type TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

/** The simulator's clock, moved by its control interface. */
let behindMs = 0;
let stack: Stack;
let account: TestAccount;
beforeAll(async () => {
  stack = await startStack({
    supplier: { activateAfterMs: null, now: () => Date.now() - behindMs },
    env: { SIMWAY_PUBLIC_URL: 'https://api.example.com/' },
  });
  account = await stack.account();
});
afterAll(() => stack.close());

const GB = 1_073_741_824;

async function buy(): Promise<{ esimId: string; iccid: string }> {
  const { body } = await stack.call('POST', '/api/esim/buy', {
    key: account.apiKey,
    body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
  });
  return body.esimDetails;
}

/** Makes the simulator report what happened, `agoMs` ago. */
async function happens(iccid: string, change: object, agoMs = 0): Promise<void> {
  behindMs = agoMs;
  const answer = await fetch(`${stack.supplierControlUrl}/esims/${iccid}`, {
    method: 'PUT',
    body: JSON.stringify(change),
  });
  behindMs = 0;
  if (!answer.ok) throw new Error(await answer.text());
}

interface Found {
  readonly code: DiagnosisCode;
  readonly usageAsOf: string;
}

/** As after the next read of outdated data. */
async function found(esimId: string): Promise<Found> {
  const checkedAt = new Date(Date.now() - 86_400_000);
  await stack.owner.updateTable('esims').set({ checked_at: checkedAt }).where('id', '=', esimId).execute();
  const answer = await stack.call('GET', `/api/esim/${esimId}/diagnosis`, { key: account.apiKey });
  expect(answer.status).toBe(200);
  return answer.body as unknown as Found;
}

async function expectCode(esimId: string, code: DiagnosisCode): Promise<void> {
  const { usageAsOf } = await until(
    () => found(esimId),
    (now) => now.code === code,
    { what: code },
  );
  expect(Date.now() - new Date(usageAsOf).getTime()).toBeLessThan(30_000);
}

const LIFE: readonly (readonly [DiagnosisCode, object, number?])[] = [
  ['NOT_SCANNED', { esimStatus: 'GOT_RESOURCE', smdpStatus: 'RELEASED' }],
  ['DOWNLOAD_INTERRUPTED', { smdpStatus: 'DOWNLOAD' }],
  ['SWITCHED_OFF', { smdpStatus: 'INSTALLATION' }],
  ['NOT_CONNECTED', { smdpStatus: 'ENABLED' }],
  ['ROAMING_LIKELY_OFF', { esimStatus: 'IN_USE' }, 4 * 3_600_000],
  ['WORKING', { orderUsage: GB / 4 }],
  ['SWITCHED_OFF', { smdpStatus: 'DISABLED' }],
  ['USED_UP', { esimStatus: 'USED_UP', smdpStatus: 'ENABLED' }],
  ['SUSPENDED', { esimStatus: 'SUSPENDED', smdpStatus: 'DISABLED' }],
  ['DELETED', { esimStatus: 'IN_USE', smdpStatus: 'DELETED' }],
  ['EXPIRED', { esimStatus: 'USED_EXPIRED' }],
];

it('the diagnosis names each cause over a whole life, and the page shows the install data until the eSIM is installed', async () => {
  const { esimId, iccid } = await buy();
  const install = await stack.call('GET', `/api/esim/${esimId}/install`, { key: account.apiKey });
  const { installUrl, activationCode } = install.body as unknown as Record<string, string>;
  expect(installUrl).toMatch(/^https:\/\/api\.example\.com\/i\/[\w-]{32}$/);
  expect(activationCode).toMatch(/^LPA:1\$rsp\.sandbox\.example\$/);
  const page = async (): Promise<string> => (await stack.call('GET', new URL(installUrl!).pathname)).text;
  for (const [code, change, agoMs] of LIFE) {
    await happens(iccid, change, agoMs);
    await expectCode(esimId, code);
    const isReady = code === 'NOT_SCANNED' || code === 'DOWNLOAD_INTERRUPTED';
    const text = await page();
    expect(text.includes(activationCode!), code).toBe(isReady);
    expect(text).not.toContain('qr.sandbox.example');
    if (code !== 'NOT_SCANNED') expect(text).toContain(`data-code="${code}"`);
  }
});

it('the diagnosis distinguishes an eSIM activated a moment ago from one cancelled unused', async () => {
  const [first, second] = [await buy(), await buy()];
  await happens(first.iccid, { esimStatus: 'IN_USE' });
  await expectCode(first.esimId, 'NO_USAGE_YET');
  await happens(second.iccid, { esimStatus: 'CANCEL' });
  await expectCode(second.esimId, 'CANCELLED');
});

it('the diagnosis distinguishes an eSIM not delivered yet from one never delivered', async () => {
  const codeOf = async (transactionId: string): Promise<string> => {
    const row = await stack.owner
      .selectFrom('esims')
      .select('id')
      .where('transaction_id', '=', transactionId)
      .executeTakeFirstOrThrow();
    const answer = await stack.call('GET', `/api/esim/${row.id}/diagnosis`, { key: account.apiKey });
    return (answer.body as unknown as Found).code;
  };
  const body = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'CARD' };
  const open = await stack.call('POST', '/api/esim/buy', { key: account.apiKey, body });
  expect(await codeOf(open.body.transactionId)).toBe('NOT_DELIVERED');
  const refused = { ...body, packageCode: 'SIM-OUT-OF-STOCK', paymentMethod: 'WALLET' };
  await stack.call('POST', '/api/esim/buy', { key: account.apiKey, body: refused });
  const row = await until(
    () =>
      stack.owner
        .selectFrom('purchases')
        .select('transaction_id')
        .where('package_code', '=', 'SIM-OUT-OF-STOCK')
        .where('status', '=', 'FAILED')
        .executeTakeFirst(),
    (one) => one !== undefined,
    { what: 'a purchase that failed' },
  );
  expect(await codeOf(row!.transaction_id)).toBe('DELIVERY_FAILED');
});
