// The developer's webhook commands as a shell runs them, against the whole service: listen and forward,
// trigger, read, send again, and clean up. Nothing they print contains a key, nor a secret that was not
// requested.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/webhooks/events.ts';
import type { RunningInfo } from '../../src/dev/running-file.ts';
import { CHECKOUT } from '../support/world/checkout.ts';
import { runCommand, runHere, type CommandResult } from '../support/world/commands.ts';
import { startStack, type TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { isSigned, startInbox, type Inbox } from '../support/people/webhook-inbox.ts';
import { forFile } from '../support/world/for-file.ts';
let inbox: Inbox;
let me: TestAccount;

const stack = await forFile(startStack());
beforeEach(async () => {
  [inbox, me] = await Promise.all([startInbox(), stack.account()]);
});
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await inbox.close();
});

interface Listener {
  readonly printed: () => string;
  /** Stops it, and waits until it has ended. */
  stop(): Promise<unknown>;
}

const where = (): string[] => ['--api-url', stack.apiUrl, '--key', me.apiKey];

function untilListening(printed: () => string, hasEnded: () => boolean): Promise<string> {
  return until(printed, (text) => /^listening/m.test(text) || hasEnded(), { what: 'a listener' });
}

/** In this process, where it starts at once. */
async function listen(target: readonly string[], ...flags: string[]): Promise<Listener> {
  const asked = Promise.withResolvers<undefined>();
  let printed = '';
  let hasEnded = false;
  const print = (text: string): void => void (printed += text);
  const running = runHere(['webhooks', 'listen', ...target, ...flags], {
    findRunning: sandbox(me.apiKey),
    terminal: { stdout: print, stderr: print, isTerminal: false, ask: () => Promise.resolve('') },
    untilStopped: () => asked.promise,
  }).finally(() => (hasEnded = true));
  running.catch(() => undefined);
  const stop = (): Promise<CommandResult> => {
    asked.resolve(undefined);
    return running;
  };
  ends.push(stop);
  await untilListening(
    () => printed,
    () => hasEnded,
  );
  return { printed: () => printed, stop };
}

/** As `npm run webhooks` does. */
async function listenAsChild(...flags: string[]): Promise<Listener & { readonly child: ChildProcess }> {
  const words = ['src/main.ts', 'webhooks', 'listen', ...where(), ...flags];
  const child = spawn(process.execPath, words, { cwd: CHECKOUT, env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
  ends.push(() => end(child, 'SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await untilListening(
    () => printed,
    () => child.exitCode !== null,
  );
  return { child, printed: () => printed, stop: () => end(child, 'SIGINT') };
}

async function end(child: ChildProcess, signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** What a command prints that is not an error. */
async function run(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere(['webhooks', ...words, ...where()], {});
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function endpoints(): Promise<readonly { readonly id: string; readonly events: readonly string[] }[]> {
  const { body } = await stack.call('GET', '/api/webhooks/endpoints', { key: me.apiKey });
  return (body as unknown as { data: { items: { id: string; events: string[] }[] } }).data.items;
}

describe('listen', () => {
  it('shows and forwards every event with its bytes and signature, returns the program’s answer, and deletes its endpoint', async () => {
    const forward = `${inbox.url}/hooks?a=1`;
    const listener = await listenAsChild('--forward', forward, '--print-secret');
    const secret = /^secret +(whsec_\S+)$/m.exec(listener.printed())?.[1] ?? '';
    expect((await endpoints()).map(({ events }) => events)).toEqual([WEBHOOK_EVENTS]);

    const triggered = await run('trigger', 'wallet.low_balance');
    expect(triggered).toMatch(/ {2}wallet\.low_balance {2}DELIVERED {2}attempts 1\n {2}attempt 1 .* {2}204 /);
    const [letter] = await inbox.untilAt('/hooks?a=1', 1);
    expect(isSigned(letter!, secret)).toBe(true);
    expect(letter!.headers['content-type']).toBe('application/json');
    expect(letter!.headers['user-agent']).toMatch(/^Simway-Webhooks\//);
    expect(triggered).toContain(String(letter!.headers['webhook-id']));
    expect(JSON.parse(letter!.body)).toMatchObject({ event: 'wallet.low_balance' });
    await until(listener.printed, (text) =>
      / {2}wallet\.low_balance {2}4\.20 {2}USD {2}msg-\w+ {2}the key that ends in \w+ {2}→ 204 \(\d+ ms\)$/m.test(
        text,
      ),
    );

    inbox.answerWith({ status: 503, body: 'busy\nnot now' });
    const refused = await run('trigger', 'esim.purchased', '--status', 'FAILED');
    expect(refused).toMatch(
      / {2}PENDING {2}attempts 1 {2}next \S+\n {2}attempt 1 .* {2}503 {2}\d+ ms {2}busy\n/,
    );
    await until(listener.printed, (text) => / {2}esim\.purchased {2}FAILED {2}txn-0+ .* → 503 /.test(text));

    await listener.stop();
    expect(listener.child.exitCode).toBe(0);
    expect(listener.printed()).toMatch(/^deleted ep-/m);
    expect(await endpoints()).toEqual([]);
    expect(listener.printed() + triggered).not.toContain(me.apiKey);
  });

  it('shows a purchase of the sandbox; prints a secret only on request; a forged message is refused', async () => {
    const listener = await listen(where(), '--events', 'esim.purchased');
    const bought = await run('trigger', 'esim.purchased', '--package', 'SIM-OK');
    const transactionId = /^bought +(txn-\w+) SUCCESS$/m.exec(bought)?.[1] ?? 'none';
    expect(bought).toMatch(new RegExp(`esim\\.purchased  ${transactionId}  DELIVERED  attempts 1`));
    await until(listener.printed, (text) => text.includes(`esim.purchased  SUCCESS  ${transactionId}`));
    expect(listener.printed()).not.toContain('whsec_');

    const [url] = await stack.owner
      .selectFrom('webhook_endpoints')
      .select('url')
      .where('account_id', '=', me.accountId)
      .execute();
    const forged = await fetch(url!.url, { method: 'POST', body: '{}', headers: { 'webhook-id': 'msg-1' } });
    expect(forged.status).toBe(401);
    await until(listener.printed, (text) => text.includes('refused: not signed'));
  });

  it('deletes what a killed listener left behind, and leaves a running one', async () => {
    const killed = await listenAsChild();
    await end(killed.child, 'SIGKILL');
    const living = await listen(where());
    const [left] = await endpoints();
    const third = await listen(where());
    const now = (await endpoints()).map(({ id }) => id);
    expect(now.length).toBe(2);
    expect(now).toContain(left?.id);
    for (const listener of [living, third]) await listener.stop();
    expect(await endpoints()).toEqual([]);
  });

  it('reports a program that is not running as 502', async () => {
    await listen(where(), '--forward', 'http://127.0.0.1:9/');
    const triggered = await run('trigger', 'payment.received');
    expect(triggered).toMatch(/ {2}attempt 1 .* {2}502 /);
  });
});

describe('messages, attempts, resend', () => {
  it('show received messages, and send them again', async () => {
    await listen(where());
    const id = /msg-\w+/.exec(await run('trigger', 'endpoint.disabled'))?.[0] ?? 'none';
    const resent = await run('resend', id);
    expect(resent).toMatch(new RegExp(`${id}  endpoint\\.disabled  DELIVERED  attempts 2\\n  attempt 2 `));
    const attempts = await run('attempts', id);
    expect(attempts.match(/^ {2}attempt \d {2}\S+ {2}204 /gm)?.length).toBe(2);
    const messages = await run('messages', '--event', 'endpoint.disabled', '--status', 'DELIVERED');
    expect(messages.match(/msg-\w+/g)).toEqual([id]);
    expect(await run('messages', '--status', 'FAILED')).toBe('no messages\n');
  });
});

describe('mistakes', () => {
  it.each([
    [['constructor'], /^unknown command 'constructor'\n[^]*npm run webhooks -- [^]*listen/],
    [['listen', '--forward', 'nowhere'], /--forward: must be a URL/],
    [['listen', '--events', 'no.such'], /--events: there is no event no\.such; there are esim\.purchased, /],
    [['trigger'], /trigger takes an event: esim\.purchased, /],
    [['trigger', 'esim.nothing'], /trigger takes an event: esim\.purchased, /],
    [['trigger', 'esim.purchased'], /No endpoint is subscribed to esim\.purchased: run /],
    [['trigger', 'esim.purchased', '--endpoint', 'ep-1'], /404 Webhook endpoint not found/],
    [['trigger', 'esim.purchased', '--package', 'NO-SUCH'], /404 /],
    [['attempts'], /missing required argument 'messageId'/],
    [['resend', 'msg-1'], /404 Webhook message not found/],
    [['messages', '--status', 'SENT'], /400 status: must be one of PENDING, DELIVERED, FAILED/],
    [['messages', '--color'], /--color/],
  ])('are refused: %j', async (words, message) => {
    const { code, stdout, stderr } = await runHere(['webhooks', ...words, ...where()], {});
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain(me.apiKey);
  });

  it('a purchase with a live key is refused before it is asked for', async () => {
    const target = ['--api-url', 'http://127.0.0.1:9', '--key', 'simway_live_x'];
    const words = ['webhooks', 'trigger', 'esim.purchased', '--package', 'SIM-OK', ...target];
    const { code, stderr } = await runHere(words, {});
    expect([code, stderr]).toEqual([1, '--package buys: use a test key\n']);
  });

  it('an unreachable API, half of the settings, and a missing npm start are explained without a stack trace, with exit code 1', async () => {
    const answerless = await runCommand(
      ['webhooks', 'messages', '--api-url', 'http://127.0.0.1:9', '--key', 'k'],
      {},
    );
    expect(answerless.code).toBe(1);
    expect(answerless.stderr).toBe('Nothing answers at http://127.0.0.1:9: is `npm start` running?\n');
    for (const [flags, message] of [
      [['--key', 'k'], '--api-url and --key must be given together'],
      [[], 'Nothing is running in this checkout'],
      [['--account', 'eur'], '--account: '],
    ] as const) {
      const { code, stderr } = await runHere(['webhooks', 'messages', ...flags], {});
      expect(code).toBe(1);
      expect(stderr).toContain(message);
    }
    const bare = await runHere(['webhooks'], {});
    expect({ code: bare.code, stdout: bare.stdout }).toEqual({ code: 1, stdout: '' });
    expect(bare.stderr).toContain('npm run webhooks -- ');
  });

  it('by default the running sandbox is used, with the requested account', async () => {
    const other = await stack.account();
    await listen(where());
    const id = /msg-\w+/.exec(await run('trigger', 'payment.received'))?.[0] ?? 'none';
    const beside = async (...words: string[]) =>
      (await runHere(['webhooks', ...words], { findRunning: sandbox(other.apiKey) })).stdout;
    expect(await beside('messages', '--account', 'usd')).toContain(id);
    expect(await beside('messages')).toBe('no messages\n');
  });

  it('a listener says whom it follows: every account by default, one, or that of a key', async () => {
    const at = `in the test environment at ${stack.apiUrl}`;
    for (const [words, whom] of [
      [['listen'], `every account ${at}`],
      [['listen', '--account', 'usd'], `the account in USD ${at}`],
      [['listen', ...where()], `the account of the key that ends in ${me.apiKey.slice(-4)} ${at}`],
    ] as const) {
      const listening = { findRunning: sandbox(me.apiKey), untilStopped: () => Promise.resolve() };
      const { stdout } = await runHere(['webhooks', ...words], listening);
      expect(stdout.split('\n')[0]).toBe(`following ${whom}`);
      expect(stdout).not.toContain(me.apiKey);
    }
  });
});

describe('listen to every account', () => {
  it('shows the bodies of an account that is made meanwhile, and signs what it forwards with one secret', async () => {
    const listener = await listen([], '--forward', `${inbox.url}/hooks`, '--print-secret');
    expect(listener.printed()).toMatch(/^account {3}.+: endpoint ep-\w+ for esim\.purchased, /m);
    const secret = /^secret +(whsec_\S+)$/m.exec(listener.printed())?.[1] ?? '';
    const newcomer = await stack.account();
    const isFollowed = async () =>
      (await stack.owner.selectFrom('webhook_endpoints').select('account_id').execute()).some(
        ({ account_id }) => account_id === newcomer.accountId,
      );
    await until(isFollowed, (is) => is, { what: 'an endpoint of the new account' });
    for (const { apiKey } of [me, newcomer]) {
      const body = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };
      const bought = await stack.call('POST', '/api/esim/buy', { key: apiKey, body });
      const { transactionId } = bought.body;
      await until(listener.printed, (text) => text.includes(`    "transactionId": "${transactionId}",\n`));
    }
    const letters = await inbox.untilAt('/hooks', 2);
    expect(letters.map((letter) => isSigned(letter, secret))).toEqual(letters.map(() => true));
    expect(listener.printed()).not.toContain('LPA:1$');
    await listener.stop();
    const left = stack.owner.selectFrom('webhook_endpoints').select('id').where('deleted_at', 'is', null);
    expect(await left.execute()).toEqual([]);
  });

  it('prints a line for each message with --quiet', async () => {
    const listener = await listen([], '--quiet');
    await run('trigger', 'payment.received');
    await until(listener.printed, (text) => text.includes('  payment.received  '));
    expect(listener.printed()).not.toContain('{');
  });
});

describe('trigger with a purchase', () => {
  it.each([
    ['SIM-PAY-NOW', 'CARD', 'SUCCESS'],
    ['SIM-OUT-OF-STOCK', 'WALLET', 'FAILED'],
  ])('follows %s, paid by %s, to %s', async (packageCode, method, status) => {
    const listener = await listen(where(), '--quiet');
    const printed = await run('trigger', 'esim.purchased', '--package', packageCode, '--method', method);
    expect(printed).toMatch(/^bought +txn-\w+ (PENDING|PROCESSING|FAILED)$/m);
    const transactionId = /txn-\w+/.exec(printed)?.[0] ?? '';
    await until(listener.printed, (text) => text.includes(`esim.purchased  ${status}  ${transactionId}`));
    expect(printed).toMatch(new RegExp(`esim\\.purchased  ${transactionId}  DELIVERED`));
    expect(printed).toContain(`${transactionId} ${status}\n`);
  });
});

/** As npm start publishes it; only what webhook commands read. */
const sandbox = (ngn: string) => () =>
  Promise.resolve({
    apiUrl: stack.apiUrl,
    keys: { usd: me.apiKey, ngn },
    settings: stack.env,
  } as unknown as RunningInfo);
