/**
 * For developers of a webhook receiver. The commands use the API with a key, as a merchant's program does.
 * Only `listen` for all accounts of the sandbox reads its database.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { SANDBOX_ACCOUNTS, USUAL_ACCOUNT } from '../dev/running-file.ts';
import { isWebhookEvent, WEBHOOK_EVENTS, type WebhookEvent } from '../webhooks/events.ts';
import { addCommand, defined, option, OperatorMistake, toggle, UsageMistake } from '../platform/command.ts';
import { print, type Cli } from './context.ts';
import { text } from './values.ts';
import {
  createApiClient,
  RefusedByApi,
  type ApiClient,
  type AttemptJson,
  type EndpointJson,
  type MessageJson,
} from './webhooks-client.ts';
import { followAll, followKey, MAX_FOLLOWED, type Source } from './webhooks-follow.ts';
import { listen } from './webhooks-listen.ts';

const ENDPOINTS = '/api/webhooks/endpoints';
const MESSAGES = '/api/webhooks/messages';
/** How long a command waits for the outcome of a message: longer than one attempt may take. */
const FOLLOW_MS = 20_000;
/** Each check is a request, and the smallest plan has a hundred a minute. */
const FIRST_CHECK_AFTER_MS = 100;
const CHECK_BACKOFF = 1.5;
const MAX_PAUSE_MS = 3_000;
/** How long a person may take to pay. */
const PAY_MS = 600_000;

const TARGET = {
  account: option(
    z.enum(SANDBOX_ACCOUNTS).default(USUAL_ACCOUNT),
    `account of the running npm start; ${USUAL_ACCOUNT} by default`,
    SANDBOX_ACCOUNTS.join('|'),
  ),
  apiUrl: option(z.url().optional(), 'another API, with --key', 'url'),
  key: option(text(200).optional(), 'an API key, with --api-url', 'key'),
};

/** As the dashboard shows keys. */
const LAST_OF_KEY = 4;
const EVERY_ACCOUNT = 'all';

const listenOptions = z.object({
  forward: option(
    z.url({ protocol: /^https?$/, error: 'must be a URL such as http://127.0.0.1:4000/hooks' }).optional(),
    'sends each message on to this URL',
    'url',
  ),
  events: option(z.string().optional(), 'only these events, separated by commas', 'events'),
  printSecret: toggle('prints the secret that verifies what is forwarded'),
  quiet: toggle('prints a line for each message, without its body'),
  ...TARGET,
  account: option(
    z.enum([EVERY_ACCOUNT, ...SANDBOX_ACCOUNTS]).default(EVERY_ACCOUNT),
    `account of the running npm start; all by default, the newest ${MAX_FOLLOWED}`,
    [EVERY_ACCOUNT, ...SANDBOX_ACCOUNTS].join('|'),
  ),
});

const triggerOptions = z.object({
  endpoint: option(text(100).optional(), 'only to this endpoint', 'id'),
  status: option(text(100).optional(), 'status in the sample: PROCESSING, SUCCESS or FAILED', 'status'),
  package: option(
    text(100).optional(),
    'buys this package in the sandbox instead of sending a sample',
    'code',
  ),
  method: option(text(100).default('WALLET'), 'payment method of that purchase, WALLET by default', 'method'),
  ...TARGET,
});

const messagesOptions = z.object({
  status: option(text(100).optional(), 'PENDING, DELIVERED or FAILED', 'status'),
  event: option(text(100).optional(), 'only this event', 'event'),
  limit: option(text(10).default('20'), '20 by default', 'n'),
  ...TARGET,
});

interface Job {
  readonly client: ApiClient;
  readonly print: (line: string) => void;
}

export function addWebhookCommands(cli: Cli, webhooks: Command): void {
  const log = (line: string): void => print(cli, line);
  const open = async (target: Target) => ({
    client: createApiClient(await findApi(cli, target)),
    print: log,
  });
  addCommand(webhooks, {
    syntax: 'listen',
    summary: 'Shows the events of all accounts, or of one, as they come, and forwards them',
    options: listenOptions,
    run: async ({ events, forward, printSecret, quiet, ...target }) =>
      listen({
        events: events === undefined ? WEBHOOK_EVENTS : eventsOf(events),
        source: await findSource(cli, target),
        forwardUrl: forward,
        printSecret,
        isQuiet: quiet,
        print: log,
        untilStopped: cli.untilStopped,
      }),
  });
  addCommand(webhooks, {
    syntax: 'trigger [event]',
    summary: 'Sends a sample of an event, and prints the outcome',
    help: `Sends a sample of an event, and prints the outcome. With --package it makes a purchase instead.
Events: ${WEBHOOK_EVENTS.join(', ')}`,
    options: triggerOptions,
    run: async (options, event) => {
      if (options.package !== undefined && /_live_/.test(options.key ?? ''))
        throw new OperatorMistake('--package buys: use a test key');
      const job = await open(options);
      if (options.package === undefined) await triggerSample(job, event, options);
      else await triggerPurchase(job, options.package, options.method);
    },
  });
  addCommand(webhooks, {
    syntax: 'messages',
    summary: 'Lists messages, newest first',
    options: messagesOptions,
    run: async ({ status, event, limit, ...target }) => {
      const { client } = await open(target);
      const query = new URLSearchParams(defined({ limit, status, event }));
      const messages = await client.list<MessageJson>(`${MESSAGES}?${query.toString()}`);
      if (messages.length === 0) log('no messages');
      for (const message of messages) log(lineOf(message));
    },
  });
  addCommand(webhooks, {
    syntax: 'attempts <messageId>',
    summary: 'Lists the attempts to deliver a message',
    options: z.object(TARGET),
    run: async (target, id = '') => printAttempts(await open(target), encodeURIComponent(id)),
  });
  addCommand(webhooks, {
    syntax: 'resend <messageId>',
    summary: 'Sends a message again, and prints the outcome',
    options: z.object(TARGET),
    run: async (target, id = '') => {
      const job = await open(target);
      const path = `${MESSAGES}/${encodeURIComponent(id)}/resend`;
      const message = await job.client.call<MessageJson>('POST', path);
      await follow(job, message, message.attempts);
    },
  });
}

type Target = z.output<z.ZodObject<typeof TARGET>>;

async function findApi({ findRunning }: Cli, { account, apiUrl, key }: Target) {
  if ((apiUrl === undefined) !== (key === undefined))
    throw new UsageMistake('--api-url and --key must be given together');
  if (apiUrl !== undefined && key !== undefined) return { apiUrl, key };
  const running = await requireRunning(findRunning);
  return { apiUrl: running.apiUrl, key: running.keys[account] };
}

async function requireRunning(findRunning: Cli['findRunning']) {
  const running = await findRunning();
  if (running) return running;
  throw new OperatorMistake(
    'Nothing is running in this checkout: start it with npm start, or give --api-url and --key',
  );
}

async function findSource(
  cli: Cli,
  { account, ...target }: Pick<z.output<typeof listenOptions>, keyof Target>,
): Promise<Source> {
  const isHere = target.apiUrl === undefined && target.key === undefined;
  if (isHere && account === EVERY_ACCOUNT) {
    const { settings, apiUrl } = await requireRunning(cli.findRunning);
    return followAll(cli, settings, apiUrl);
  }
  const usual = account === EVERY_ACCOUNT ? USUAL_ACCOUNT : account;
  const { apiUrl, key } = await findApi(cli, { ...target, account: usual });
  const name = isHere ? usual.toUpperCase() : `the key that ends in ${key.slice(-LAST_OF_KEY)}`;
  const environment = /_(live|test)_/.exec(key)?.[1] ?? 'unknown';
  const what = `${isHere ? `the account in ${name}` : `the account of ${name}`} in the ${environment} environment at ${apiUrl}`;
  return followKey(createApiClient({ apiUrl, key }), name, what);
}

function eventsOf(list: string): WebhookEvent[] {
  return list.split(',').map((word) => {
    const event = word.trim();
    if (isWebhookEvent(event)) return event;
    throw new UsageMistake(`--events: there is no event ${event}; there are ${WEBHOOK_EVENTS.join(', ')}`);
  });
}

async function triggerSample(
  job: Job,
  event: string | undefined,
  { endpoint, status }: z.output<typeof triggerOptions>,
): Promise<void> {
  if (event === undefined || !isWebhookEvent(event))
    throw new UsageMistake(`trigger takes an event: ${WEBHOOK_EVENTS.join(', ')}`);
  const sample = defined({ event, status });
  const ids = endpoint === undefined ? await endpointsFor(job.client, event) : [endpoint];
  for (const id of ids) {
    const path = `${ENDPOINTS}/${encodeURIComponent(id)}/sample`;
    await follow(job, await job.client.call<MessageJson>('POST', path, sample), 0);
  }
}

async function endpointsFor(client: ApiClient, event: WebhookEvent): Promise<string[]> {
  const all = await client.list<EndpointJson>(`${ENDPOINTS}?limit=100`);
  const subscribed = all.filter(({ enabled, events }) => enabled && events.includes(event));
  if (subscribed.length > 0) return subscribed.map(({ id }) => id);
  throw new OperatorMistake(
    `No endpoint is subscribed to ${event}: run \`npm run webhooks -- listen\`, or name one with --endpoint`,
  );
}

interface Bought {
  readonly transactionId: string;
  readonly status: string;
  readonly paymentUrl?: string;
}

/** A purchase in the sandbox sends the same events as any other. Follows it to its end. */
async function triggerPurchase(job: Job, packageCode: string, paymentMethod: string): Promise<void> {
  const { client, print: log } = job;
  const wanted = { packageCode, packageType: 'BASE', paymentMethod };
  const { transactionId, status, paymentUrl } = await client
    .call<Bought>('POST', '/api/esim/buy', wanted)
    .catch((error: unknown): Bought => {
      if (!(error instanceof RefusedByApi) || error.transactionId === undefined) throw error;
      log(error.message);
      return { transactionId: error.transactionId, status: 'FAILED' };
    });
  log(`bought    ${transactionId} ${status}`);
  if (paymentUrl !== undefined) log(`pay at    ${paymentUrl} (Ctrl-C stops waiting)`);
  const followed = new Set<string>();
  const followNew = async (): Promise<void> => {
    const messages = await client.list<MessageJson>(`${MESSAGES}?transactionId=${transactionId}&limit=100`);
    for (const message of messages.toReversed()) {
      if (followed.has(message.id)) continue;
      followed.add(message.id);
      await follow(job, message, 0);
    }
  };
  const last = await pollUntil(
    async () => {
      // The messages of a change are written with it: those of the last one are there once it is read.
      const read = await client.call<{ status: string }>('GET', `/api/esim/transactions/${transactionId}`);
      await followNew();
      return read.status;
    },
    (now) => now === 'SUCCESS' || now === 'FAILED',
    status === 'PENDING' ? PAY_MS : FOLLOW_MS,
  );
  if (followed.size === 0) log('no webhook message was sent');
  if (last !== status) log(`now       ${transactionId} ${last}`);
}

/** Prints the outcome of a message's next attempt, or its state when the wait is over. */
async function follow(job: Job, message: MessageJson, attemptsBefore: number): Promise<void> {
  const last = await pollUntil(
    () => job.client.call<MessageJson>('GET', `${MESSAGES}/${message.id}`),
    ({ attempts, status }) => attempts > attemptsBefore || status === 'FAILED',
  );
  job.print(lineOf(last));
  await printAttempts(job, last.id, attemptsBefore);
}

/** Answers what was read last, also where the time is over. */
async function pollUntil<T>(
  read: () => Promise<T>,
  isDone: (value: T) => boolean,
  limitMs = FOLLOW_MS,
): Promise<T> {
  const endsAtMs = performance.now() + limitMs;
  for (let pauseMs = FIRST_CHECK_AFTER_MS; ; pauseMs = Math.min(pauseMs * CHECK_BACKOFF, MAX_PAUSE_MS)) {
    const value = await read();
    if (isDone(value) || performance.now() > endsAtMs) return value;
    await sleep(pauseMs);
  }
}

async function printAttempts({ client, print: log }: Job, id: string, after = 0): Promise<void> {
  const attempts = await client.list<AttemptJson>(`${MESSAGES}/${id}/attempts?limit=100`);
  for (const { attempt, at, milliseconds, outcome, status, answer } of attempts) {
    if (attempt <= after) continue;
    const answered = status === null ? outcome : `${status}${outcome === 'answered' ? '' : ` ${outcome}`}`;
    const [firstLine = ''] = answer.split('\n');
    log(`  attempt ${attempt}  ${at}  ${answered}  ${milliseconds} ms  ${firstLine}`.trimEnd());
  }
}

function lineOf(message: MessageJson): string {
  const { createdAt, id, event, transactionId, status, attempts, nextAttemptAt } = message;
  const about = transactionId === null ? [] : [transactionId];
  const next = nextAttemptAt === null ? [] : [`next ${nextAttemptAt}`];
  return [createdAt, id, event, ...about, status, `attempts ${attempts}`, ...next].join('  ');
}
