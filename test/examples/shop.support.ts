// The shop of examples/shop as a process that a test may kill, and buyers in front of it.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
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
  const port = await freePort(0);
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  let printed = '';
  const start = (): void => {
    const hook = join(CHECKOUT, 'test/support/people/sdk-from-source.js');
    child = spawn(process.execPath, ['--import', hook, join(CHECKOUT, 'examples/shop/shop.ts')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...processEnv(),
        ...{ URL: apiUrl, KEY: apiKey, SMTP_URL: smtpUrl, MAIL_FROM: 'shop@simway.example' },
        ...{ SHOP_PORT: String(port), SHOP_DB: join(folder, 'shop.sqlite') },
      },
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  };
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
    close: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
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
        return new Response(await answer.text(), answer);
      } catch {
        return undefined;
      }
    },
    (answer) => answer !== undefined,
    { what: `an answer of ${url}`, withinMs: 150_000, everyMs: 50 },
  ).then((answer) => answer!);

export interface Form {
  readonly cookie: string;
  readonly token: string;
  /** Of the order that it makes. */
  readonly id: string;
}

export async function openForm(shopUrl: string, packageCode: string): Promise<Form> {
  const answer = await ask(`${shopUrl}/buy/${packageCode}`);
  const text = await answer.text();
  const token = unescaped(/name="token" value="([^"]+)"/.exec(text)?.[1] ?? '');
  if (token === '') throw new Error(`no form: ${answer.status} ${text}`);
  const [cookie = ''] = answer.headers.getSetCookie()[0]?.split(';') ?? [];
  return { cookie, token, id: (JSON.parse(token) as string[])[0] ?? '' };
}

export const order = (shopUrl: string, { cookie, token }: Form, email: string): Promise<Response> =>
  ask(`${shopUrl}/orders`, {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams({ token, email }),
  });

/** Reads the order's page until it has what is looked for; answers the first group. */
export async function untilShown(shopUrl: string, id: string, pattern: RegExp): Promise<string> {
  const read = async () => pattern.exec(await (await ask(`${shopUrl}/orders/${id}`)).text());
  const found = await until(read, (match) => match !== null, {
    what: `${String(pattern)} on the page of an order`,
    withinMs: 150_000,
    everyMs: 200,
  });
  return unescaped(found?.[1] ?? found?.[0] ?? '');
}

const unescaped = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
