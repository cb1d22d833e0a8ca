// The shop of examples/shop as a process that a test may kill, and buyers in front of it.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { freePort } from '../../src/dev/ports.ts';
import { CHECKOUT } from '../support/world/checkout.ts';
import { processEnv } from '../support/world/processes.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { until } from '../support/time/until.ts';

export interface ShopOptions {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly smtpUrl: string;
}

export async function openShop({ apiUrl, apiKey, smtpUrl }: ShopOptions) {
  const folder = await makeTestFolder();
  const file = join(folder, 'shop.sqlite');
  const port = await freePort(0);
  const url = `http://127.0.0.1:${port}`;
  const secret = await registerWebhooks(apiUrl, apiKey, `${url}/webhooks`);
  let child: ChildProcess | undefined;
  let printed = '';
  const launch = (ownPort: number) => {
    const hook = join(CHECKOUT, 'test/support/people/sdk-from-source.js');
    const launched = spawn(process.execPath, ['--import', hook, join(CHECKOUT, 'examples/shop/shop.ts')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...processEnv(),
        ...{ URL: apiUrl, KEY: apiKey, SMTP_URL: smtpUrl, MAIL_FROM: 'shop@simway.example' },
        ...{ SHOP_PORT: String(ownPort), SHOP_DB: file, WEBHOOK_SECRET: secret },
      },
    });
    for (const stream of [launched.stdout, launched.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
    return launched;
  };
  const start = (): void => void (child = launch(port));
  const kill = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  start();
  return {
    url,
    start,
    kill,
    printed: () => printed,
    /** Starts a second process with the same file of orders: its exit code, or that it opens. */
    startSecond: async (): Promise<unknown> => {
      const second = launch(0);
      const ended = once(second, 'exit').then(([code]) => code as number);
      const opened = once(second.stdout, 'data').then(() => 'open');
      const how = await Promise.race([ended, opened]);
      second.kill('SIGKILL');
      return how;
    },
    /** Changes the file of orders while the shop is closed. */
    changeFile: async (sql: string) => {
      await kill();
      const db = new DatabaseSync(file);
      db.exec(sql);
      db.close();
      start();
    },
    close: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function registerWebhooks(apiUrl: string, apiKey: string, url: string): Promise<string> {
  const answer = await fetch(`${apiUrl}/api/webhooks/endpoints`, {
    method: 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url }),
  });
  return ((await answer.json()) as { readonly secret: string }).secret;
}

/** Stands between the shop and the API: changes the text of answers, and loses them. */
export async function startBetween(apiUrl: string) {
  let change = (text: string): string => text;
  let losesPurchases = false;
  let lost = 0;
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    void (async () => {
      const body = await buffer(request);
      const sent = Object.entries(headers).filter(
        ([name]) => !/^(host|connection|content-length)$/.test(name),
      );
      const answer = await fetch(apiUrl + url, {
        method,
        headers: sent.map(([name, value]) => [name, String(value)] as [string, string]),
        ...(method === 'POST' && { body }),
      });
      const text = change(await answer.text());
      if (losesPurchases && method === 'POST') lost += 1;
      else response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(text);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    changeAnswers: (by: (text: string) => string) => void (change = by),
    /** What the API answers to a purchase does not arrive any more. */
    losePurchases: (isLosing: boolean) => void (losesPurchases = isLosing),
    lost: () => lost,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** As a person repeats what a closed shop did not answer. */
export const ask = (url: string, init: RequestInit = {}): Promise<Response> =>
  until(
    async () => {
      try {
        const answer = await fetch(url, { redirect: 'manual', ...init });
        // Read before the shop may be killed.
        return new Response((await answer.text()) || null, answer);
      } catch {
        return undefined;
      }
    },
    (answer) => answer !== undefined,
    { what: `an answer of ${url}`, withinMs: 150_000, everyMs: 50 },
  ).then((answer) => answer!);

/** The hidden fields of a form. */
export interface Form {
  /** Of the order that it makes. */
  readonly id: string;
  readonly packageCode: string;
  readonly maxPrice: string;
}

export async function openForm(shopUrl: string, packageCode: string): Promise<Form> {
  const answer = await ask(`${shopUrl}/buy/${packageCode}`);
  const text = await answer.text();
  const hidden = text.matchAll(/type="hidden" name="(\w+)" value="([^"]+)"/g);
  const form = Object.fromEntries(
    Array.from(hidden, ([, name = '', value = '']) => [name, unescaped(value)]),
  );
  if (form['id'] === undefined) throw new Error(`no form: ${answer.status} ${text}`);
  return form as unknown as Form;
}

export const order = (shopUrl: string, form: Form, email: string): Promise<Response> =>
  ask(`${shopUrl}/orders`, { method: 'POST', body: new URLSearchParams({ ...form, email }) });

/** Reads the order's page until it has what is looked for; answers the first group. */
export async function untilShown(
  shopUrl: string,
  id: string,
  pattern: RegExp,
  withinMs = 150_000,
): Promise<string> {
  const read = async () => pattern.exec(await (await ask(`${shopUrl}/orders/${id}`)).text());
  const found = await until(read, (match) => match !== null, {
    what: `${String(pattern)} on the page of an order`,
    withinMs,
    everyMs: 200,
  });
  return unescaped(found?.[1] ?? found?.[0] ?? '');
}

const unescaped = (text: string): string =>
  text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
