// A newcomer's first steps on a running `npm start`: the printed commands, the eSIM and the wallet, a top-up,
// a payment through the gateway, and the purchase in Temporal. Uses only what
// .data/running.json offers to every program.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRunningFile, SANDBOX_ACCOUNTS, type RunningInfo } from '../../src/dev/running-file.ts';
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

describe.each(SANDBOX_ACCOUNTS)('with the %s key', (currency) => {
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

  it('tops the eSIM up once it is in use', async () => {
    const key = running.keys[currency];
    const { esimId } = (await buy(key)).body.esimDetails;
    // Nobody has installed it: it stays as it is.
    await pause(6_000);
    expect((await call(key, 'GET', `/api/esim/${esimId}`)).body.esimStatus).toBe('CREATED');
    await call(key, 'POST', `/api/sandbox/esims/${esimId}/install`);
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
      const { status, body } = await call(running.keys[currency], 'POST', '/api/esim/buy', value);
      // The examples are in naira. In dollars another method is charged in another currency.
      const shown = (value: object) =>
        fieldsOf(value).filter((field) => currency === 'ngn' || !field.startsWith('charge.'));
      expect({ name, status, fields: shown(body) }).toEqual({
        name,
        status: 201,
        fields: shown(answers[name]!.value),
      });
    }
  });

  it('delivers after a payment by card, without another request', async () => {
    const wanted = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'CARD' };
    const { status, body } = await call(running.keys[currency], 'POST', '/api/esim/buy', wanted);
    expect({ status, body }).toMatchObject({ status: 201, body: { status: 'PENDING' } });
    expect((await fetch(body.paymentUrl)).status).toBe(200);
    const url = `${running.gatewayControlUrl}/charges/${body.transactionId}/pay`;
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(200);
    const read = async (): Promise<ApiBody> =>
      (await call(running.keys[currency], 'GET', `/api/esim/transactions/${body.transactionId}`)).body;
    await expect.poll(async () => (await read()).status, { timeout: 30_000, interval: 250 }).toBe('SUCCESS');
    expect((await read()).esimDetails.activationCode).toMatch(/^LPA:1\$/);
  });
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
    for (const key of Object.values(running.keys)) {
      const { transactionId } = (await buy(key)).body;
      await shown(
        new RegExp(
          `  esim\\.purchased  SUCCESS  ${transactionId}  evt-\\w+  Sandbox \\w+  → Received; not forwarded`,
        ),
      );
      await shown(new RegExp(`"transactionId": "${transactionId}"`));
    }
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
  expect(logins.map(([name]) => name)).toEqual([
    'merchant',
    'finance',
    'finance2',
    'operations',
    'admin',
    'admin2',
  ]);
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
