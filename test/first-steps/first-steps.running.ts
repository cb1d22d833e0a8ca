// A newcomer's first steps on a running `npm start`: the printed commands, the eSIM and the wallet, a top-up,
// a wallet with too little money, payments through the gateway, and the purchase in Temporal. Uses only what
// .data/running.json offers to every program.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRunningFile, type RunningInfo } from '../../src/dev/running-file.ts';
import type { ApiBody } from '../support/people/api-body.ts';
import { CHECKOUT } from '../support/world/checkout.ts';

const DATA_DIR = join(CHECKOUT, '.data');
const MAGIC = { packageCode: 'SIM-OK', paymentMethod: 'WALLET' } as const;
const OWNER_ONLY = 0o600;

let running: RunningInfo;
beforeAll(async () => {
  const found = await readRunningFile(DATA_DIR);
  if (found === null) throw new Error('Nothing is running in this checkout: start it with npm start');
  running = found;
});

interface Answer {
  readonly status: number;
  readonly body: ApiBody & { readonly total: number };
}

async function call(key: string, method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
  const response = await fetch(running.apiUrl + path, {
    method,
    headers: { 'X-API-Key': key, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

const buy = (key: string): Promise<Answer> =>
  call(key, 'POST', '/api/esim/buy', { ...MAGIC, packageType: 'BASE' });

const cents = (amount: number): number => Math.round(amount * 100);

describe.each(['ngn', 'usd'] as const)('with the %s key', (currency) => {
  it('buys an eSIM, and every read agrees with it', async () => {
    const key = running.keys[currency];
    const before = await call(key, 'GET', '/api/wallet/balance');
    const bought = await buy(key);
    expect(bought).toMatchObject({ status: 201, body: { status: 'SUCCESS' } });
    const { esimDetails, transactionId } = bought.body;
    expect(esimDetails.activationCode).toMatch(/^LPA:1\$/);

    const esim = await call(key, 'GET', `/api/esim/${esimDetails.esimId}`);
    expect(esim).toMatchObject({
      status: 200,
      body: {
        _id: esimDetails.esimId,
        transactionId,
        iccid: esimDetails.iccid,
        ac: esimDetails.activationCode,
      },
    });
    const mine = await call(key, 'GET', `/api/esim/my-esims?search=${esimDetails.iccid}`);
    expect(mine.body).toMatchObject({ total: 1, esims: [{ _id: esimDetails.esimId }] });
    const after = await call(key, 'GET', '/api/wallet/balance');
    expect(after.body.data.currency).toBe(currency.toUpperCase());
    expect(cents(before.body.data.balance) - cents(after.body.data.balance)).toBe(
      cents(bought.body.package.price),
    );
  });
});

it('tops the eSIM up once it is in use', async () => {
  const key = running.keys.usd;
  const { esimId } = (await buy(key)).body.esimDetails;
  await expect
    .poll(async () => (await call(key, 'GET', `/api/esim/${esimId}`)).body.esimStatus, {
      timeout: 30_000,
      interval: 500,
    })
    .toBe('ACTIVE');
  const topUp = await call(key, 'POST', '/api/esim/buy', {
    ...MAGIC,
    packageCode: `TOPUP_${MAGIC.packageCode}`,
    packageType: 'TOPUP',
    esimId,
  });
  expect(topUp).toMatchObject({ status: 200, body: { status: 'SUCCESS' } });
  const esim = await call(key, 'GET', `/api/esim/${esimId}`);
  expect(topUp.body.esimDetails.totalVolume).toBe(esim.body.totalVolume);
  expect(esim.body.totalVolume).toBe(2 * 1024 ** 3);
});

it('runs each example of the reference, and answers with the fields shown there', async () => {
  const documents = (await (await fetch(`${running.apiUrl}/api/openapi.json`)).json()) as {
    paths: Record<string, { post: { requestBody: Shown; responses: Record<string, Shown> } }>;
  };
  const { requestBody, responses } = documents.paths['/api/esim/buy']!.post;
  const answers = examplesOf(responses['201']!);
  const requests = Object.entries(examplesOf(requestBody)).filter(([name]) => name in answers);
  expect(requests.length).toBe(5);
  for (const [name, { value }] of requests) {
    const { status, body } = await call(running.keys.ngn, 'POST', '/api/esim/buy', value);
    expect({ name, status, fields: fieldsOf(body) }).toEqual({
      name,
      status: 201,
      fields: fieldsOf(answers[name]!.value),
    });
  }
});

interface Shown {
  readonly content: Readonly<
    Record<string, { readonly examples: Readonly<Record<string, { readonly value: object }>> }>
  >;
}
const examplesOf = ({ content }: Shown) => content['application/json']!.examples;
/** Names of the fields, and of theirs. */
const fieldsOf = (value: object): string[] =>
  Object.entries(value)
    .flatMap(([name, inner]: [string, unknown]) =>
      typeof inner === 'object' && inner !== null
        ? fieldsOf(inner).map((field) => `${name}.${field}`)
        : [name],
    )
    .sort();

it('refuses a purchase that the wallet cannot pay', async () => {
  const by = ['--by', 'first steps'];
  const { accountId } = await command(
    'account',
    'create',
    '--name',
    'Poor',
    '--email',
    'poor@first-steps.example',
    ...by,
  );
  const { apiKey } = await command(
    ...[
      'key',
      'create',
      '--account',
      accountId ?? '',
      '--environment',
      'test',
      '--addresses',
      '127.0.0.1,::1',
    ],
    ...['--company', 'Poor', '--website', running.docsUrl, ...by],
  );
  expect(await buy(apiKey ?? '')).toMatchObject({
    status: 400,
    body: { success: false, error: { code: 'INSUFFICIENT_BALANCE' } },
  });
  expect((await call(apiKey ?? '', 'GET', '/api/esim/my-esims')).body.total).toBe(0);
});

describe('paying through the gateway', () => {
  const open = async (paymentMethod: 'CARD' | 'BANK_TRANSFER', packageCode = 'SIM-OK'): Promise<string> => {
    const wanted = { packageCode, packageType: 'BASE', paymentMethod };
    const { status, body } = await call(running.keys.ngn, 'POST', '/api/esim/buy', wanted);
    expect({ status, body }).toMatchObject({ status: 201, body: { status: 'PENDING' } });
    if (paymentMethod === 'CARD') expect((await fetch(body.paymentUrl)).status).toBe(200);
    else expect(body.bankAccounts).toHaveLength(1);
    return body.transactionId;
  };
  const pay = async (reference: string, payment: object = {}): Promise<void> => {
    const url = `${running.gatewayControlUrl}/charges/${reference}/pay`;
    expect((await fetch(url, { method: 'POST', body: JSON.stringify(payment) })).status).toBe(200);
  };
  const statusOf = async (transactionId: string): Promise<ApiBody> =>
    (await call(running.keys.ngn, 'GET', `/api/esim/transactions/${transactionId}`)).body;
  const untilStatus = (transactionId: string, status: string) =>
    expect
      .poll(async () => (await statusOf(transactionId)).status, { timeout: 30_000, interval: 250 })
      .toBe(status);

  it('by card: the eSIM is delivered after the payment, without another request', async () => {
    const transactionId = await open('CARD');
    await pay(transactionId);
    await untilStatus(transactionId, 'SUCCESS');
    expect((await statusOf(transactionId)).esimDetails.activationCode).toMatch(/^LPA:1\$/);
  });

  it('by card, with every event of the gateway dropped', async () => {
    const faults = `${running.gatewayControlUrl}/faults`;
    await fetch(faults, { method: 'PUT', body: JSON.stringify({ webhooks: 'drop' }) });
    try {
      const transactionId = await open('CARD');
      await pay(transactionId);
      await untilStatus(transactionId, 'SUCCESS');
    } finally {
      await fetch(faults, { method: 'DELETE' });
    }
  });

  it('by transfer, a fifth short: no eSIM is delivered, and the money is in the wallet', async () => {
    const key = running.keys.ngn;
    const before = (await call(key, 'GET', '/api/wallet/balance')).body.data.balance;
    const transactionId = await open('BANK_TRANSFER');
    const paidMinor = Math.trunc(cents((await statusOf(transactionId)).package.price) * 0.8);
    await pay(transactionId, { amountMinor: paidMinor });
    await untilStatus(transactionId, 'FAILED');
    expect((await statusOf(transactionId)).reason).toBe('PAYMENT_UNDERPAID');
    const after = (await call(key, 'GET', '/api/wallet/balance')).body.data.balance;
    expect(cents(after) - cents(before)).toBe(paidMinor);
  });
});

it('shows a purchase to a listener for webhooks, which leaves nothing behind', async () => {
  const words = ['src/main.ts', 'webhooks', 'listen'];
  const listener = spawn(process.execPath, words, {
    cwd: CHECKOUT,
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  listener.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  try {
    const shown = (pattern: RegExp) =>
      expect.poll(() => printed, { timeout: 30_000, interval: 100 }).toMatch(pattern);
    await shown(/^listening$/m);
    const { transactionId } = (await buy(running.keys.usd)).body;
    await shown(
      new RegExp(`  esim\\.purchased  SUCCESS  ${transactionId}  evt-\\w+  → Received; not forwarded`),
    );
  } finally {
    listener.kill('SIGINT');
    await once(listener, 'exit');
  }
  expect(printed).toMatch(/^deleted ep-\w+$/m);
});

it('finds the purchase in Temporal by its TransactionId', async () => {
  const { transactionId } = (await buy(running.keys.ngn)).body;
  const connection = await Connection.connect({ address: running.temporalAddress });
  try {
    const client = new Client({ connection, namespace: 'simway-test' });
    const find = async (): Promise<string[]> => {
      const found: string[] = [];
      const workflows = client.workflow.list({ query: `TransactionId="${transactionId}"` });
      for await (const { workflowId, status } of workflows) found.push(`${workflowId} ${status.name}`);
      return found;
    };
    await expect.poll(find, { timeout: 20_000, interval: 250 }).toEqual([`${transactionId} COMPLETED`]);
  } finally {
    await connection.close();
  }
});

it('serves the other addresses that it printed', async () => {
  for (const url of [
    running.docsUrl,
    running.temporalUiUrl,
    `${running.adminUrl}/readyz`,
    `${running.supplierControlUrl}/faults`,
    `${running.gatewayControlUrl}/faults`,
  ]) {
    expect((await fetch(url)).status, url).toBe(200);
  }
});

it('lets each login that it printed into the dashboard', async () => {
  const page = await fetch(running.dashboardUrl);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const logins = Object.entries(running.logins ?? {});
  expect(logins.map(([name]) => name)).toEqual(['merchant', 'finance', 'finance2', 'operations', 'admin']);
  for (const [name, login] of logins) {
    const session = await fetch(`${running.apiUrl}/auth/sessions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: new URL(running.apiUrl).origin },
      body: JSON.stringify(login),
    });
    expect(session.status, name).toBe(200);
    const cookie = session.headers.getSetCookie().map((line) => line.split(';')[0]);
    const me = await fetch(`${running.apiUrl}/auth/me`, { headers: { Cookie: cookie.join('; ') } });
    const { data } = (await me.json()) as { data: { memberships: object[]; operator: object | null } };
    expect([data.memberships.length > 0, data.operator !== null], name).toEqual(
      name === 'merchant' ? [true, false] : [false, true],
    );
  }
});

it('makes the keys, and the session of finance, readable for their owner only', async () => {
  expect((await stat(join(DATA_DIR, 'session.json'))).mode & 0o777).toBe(OWNER_ONLY);
  expect((await stat(join(DATA_DIR, 'running.json'))).mode & 0o777).toBe(OWNER_ONLY);
});

/**
 * One of the operator's commands on the running service, with its environment only. The commands print one
 * JSON object.
 */
async function command(...words: string[]): Promise<Partial<Record<'accountId' | 'apiKey', string>>> {
  const { stdout } = await promisify(execFile)(process.execPath, ['src/main.ts', ...words], {
    cwd: CHECKOUT,
    env: {},
  });
  return JSON.parse(stdout) as Partial<Record<'accountId' | 'apiKey', string>>;
}
