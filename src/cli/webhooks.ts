/**
 * The developer's commands around webhooks: listen and forward, make an event, look at messages and attempts, send one again. They use the
 * API with the key of a sandbox account and nothing else, so they can do no more than any merchant's program.
 */
import { parseArgs } from 'node:util';
import { isWebhookEvent, WEBHOOK_EVENTS } from '../webhooks/rules.ts';
import { OperatorMistake } from './operator-mistake.ts';
import {
  createApiClient,
  type ApiClient,
  type AttemptJson,
  type EndpointJson,
  type MessageJson,
  type Sandbox,
} from './webhooks-client.ts';
import { listen } from './webhooks-listen.ts';

export const WEBHOOKS_USAGE = `  webhooks listen [--forward <url>] [--events <a,b,…>] [--print-secret]
  webhooks trigger <event> [--endpoint <id>] [--status PROCESSING|SUCCESS|FAILED]
  webhooks trigger esim.purchased --package <code> [--method <paymentMethod>]
  webhooks messages [--status PENDING|DELIVERED|FAILED] [--event <event>] [--limit <n>]
  webhooks attempts <message id>
  webhooks resend <message id>
                 all: [--account ngn|usd] of the running \`npm start\`, or [--api-url <url> --key <key>]`;

/** What a running `npm start` tells: where it answers, and the keys of its sandbox accounts. */
export interface RunningSandbox {
  readonly apiUrl: string;
  readonly keys: { readonly ngn: string; readonly usd: string };
}

export interface WebhooksCommand {
  readonly words: readonly string[];
  /** Asked only where the words name no other place; null: nothing runs. */
  readonly findRunning: () => Promise<RunningSandbox | null>;
  readonly print: (line: string) => void;
  /** Resolves when the program is asked to end; called only by what runs until then. */
  readonly untilAsked: () => Promise<unknown>;
}

const FLAGS = {
  forward: { type: 'string' },
  events: { type: 'string' },
  'print-secret': { type: 'boolean' },
  endpoint: { type: 'string' },
  status: { type: 'string' },
  package: { type: 'string' },
  method: { type: 'string' },
  event: { type: 'string' },
  limit: { type: 'string' },
  account: { type: 'string' },
  'api-url': { type: 'string' },
  key: { type: 'string' },
} as const;

type Flags = ReturnType<typeof parseArgs<{ options: typeof FLAGS; allowPositionals: true }>>['values'];

interface Job extends WebhooksCommand {
  readonly flags: Flags;
  readonly client: ApiClient;
  /** Whose messages these are, in words. */
  readonly account: string;
  /** What stands behind the verb. */
  readonly subject: string | undefined;
}

/** Runs one command to its end; `listen` until it is stopped. Throws OperatorMistake where it cannot be done. */
export async function runWebhooks(command: WebhooksCommand): Promise<void> {
  const { values: flags, positionals } = parse(command.words);
  const [verb, subject] = positionals;
  const run = verb !== undefined && Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  if (!run) throw new OperatorMistake(`commands:\n${WEBHOOKS_USAGE}`);
  const sandbox = await sandboxOf(flags, command.findRunning);
  await run({ ...command, flags, client: createApiClient(sandbox), account: sandbox.account, subject });
}

const VERBS: Readonly<Record<string, (job: Job) => Promise<void>>> = {
  listen: (job) =>
    listen({
      client: job.client,
      account: job.account,
      events: job.flags.events?.split(',').map((event) => event.trim()) ?? WEBHOOK_EVENTS,
      forwardUrl: forwardUrlOf(job.flags),
      printSecret: job.flags['print-secret'] ?? false,
      print: job.print,
      untilAsked: job.untilAsked,
    }),
  trigger: (job) => (job.flags.package === undefined ? triggerSample(job) : triggerPurchase(job)),
  messages: async ({ client, flags, print }) => {
    const asked = new URLSearchParams({ limit: flags.limit ?? '20' });
    for (const name of ['status', 'event'] as const) if (flags[name]) asked.set(name, flags[name]);
    const messages = await client.list<MessageJson>(`${MESSAGES}?${asked.toString()}`);
    if (messages.length === 0) print('no messages');
    for (const message of messages) print(told(message));
  },
  attempts: async ({ client, subject, print }) => {
    await printAttempts({ client, print }, messageId(subject));
  },
  resend: async (job) => {
    const message = await job.client.call<MessageJson>(
      'POST',
      `${MESSAGES}/${messageId(job.subject)}/resend`,
    );
    await follow(job, message, message.attempts);
  },
};

const ENDPOINTS = '/api/webhooks/endpoints';
const MESSAGES = '/api/webhooks/messages';
/** How long a command waits for what comes of a message: longer than one attempt may take. */
const FOLLOW_MS = 20_000;
/** A look is a request, and the smallest plan has a hundred a minute. */
const FIRST_LOOK_AFTER_MS = 100;
const LOOKS_GROW_BY = 1.5;

async function triggerSample(job: Job): Promise<void> {
  const { client, flags, subject: event } = job;
  if (event === undefined || !isWebhookEvent(event))
    throw new OperatorMistake(`trigger takes an event: ${WEBHOOK_EVENTS.join(', ')}`);
  const sample = { event, ...(flags.status === undefined ? {} : { status: flags.status }) };
  const ids = flags.endpoint === undefined ? await endpointsFor(client, event) : [flags.endpoint];
  for (const id of ids) {
    const message = await client.call<MessageJson>(
      'POST',
      `${ENDPOINTS}/${encodeURIComponent(id)}/sample`,
      sample,
    );
    await follow(job, message, 0);
  }
}

async function endpointsFor(client: ApiClient, event: string): Promise<string[]> {
  const all = await client.list<EndpointJson>(`${ENDPOINTS}?limit=100`);
  const asking = all.filter(({ enabled, events }) => enabled && events.includes(event));
  if (asking.length > 0) return asking.map(({ id }) => id);
  throw new OperatorMistake(
    `no endpoint asks for ${event}: run \`npm run webhooks -- listen\`, or name one with --endpoint`,
  );
}

/** A purchase of the sandbox, whose events come as those of any purchase do. */
async function triggerPurchase(job: Job): Promise<void> {
  const { client, flags, print } = job;
  const bought = await client.call<{ transactionId: string; status: string; paymentUrl?: string }>(
    'POST',
    '/api/esim/buy',
    { packageCode: flags.package, packageType: 'BASE', paymentMethod: flags.method ?? 'WALLET' },
  );
  print(`bought    ${bought.transactionId} ${bought.status}`);
  if (bought.paymentUrl !== undefined) print(`pay at    ${bought.paymentUrl}`);
  if (bought.status === 'PENDING') return;
  const query = `${MESSAGES}?transactionId=${bought.transactionId}`;
  const messages = await lookUntil(
    () => client.list<MessageJson>(query),
    (found) => found.length > 0,
  );
  if (messages.length === 0) print('no endpoint was told');
  for (const message of messages) await follow(job, message, 0);
}

/** Prints what comes of a message: its next attempt, or where it stands when we stop waiting. */
async function follow(job: Job, message: MessageJson, attemptsBefore: number): Promise<void> {
  const last = await lookUntil(
    () => job.client.call<MessageJson>('GET', `${MESSAGES}/${message.id}`),
    ({ attempts, status }) => attempts > attemptsBefore || status === 'FAILED',
  );
  job.print(told(last));
  await printAttempts(job, last.id, attemptsBefore);
}

/** Looks again until it is so or the time is over; answers what was seen last. */
async function lookUntil<T>(look: () => Promise<T>, isSo: (seen: T) => boolean): Promise<T> {
  const endsAtMs = performance.now() + FOLLOW_MS;
  for (let pauseMs = FIRST_LOOK_AFTER_MS; ; pauseMs *= LOOKS_GROW_BY) {
    const seen = await look();
    if (isSo(seen) || performance.now() > endsAtMs) return seen;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function printAttempts(
  { client, print }: Pick<Job, 'client' | 'print'>,
  id: string,
  after = 0,
): Promise<void> {
  const attempts = await client.list<AttemptJson>(`${MESSAGES}/${id}/attempts?limit=100`);
  for (const { attempt, at, milliseconds, outcome, status, answer } of attempts) {
    if (attempt <= after) continue;
    const answered = status === null ? outcome : `${status}${outcome === 'answered' ? '' : ` ${outcome}`}`;
    const [firstLine = ''] = answer.split('\n');
    print(`  attempt ${attempt}  ${at}  ${answered}  ${milliseconds} ms  ${firstLine}`.trimEnd());
  }
}

function told({ createdAt, id, event, transactionId, status, attempts, nextAttemptAt }: MessageJson): string {
  const next = nextAttemptAt === null ? '' : `  next ${nextAttemptAt}`;
  const about = transactionId === null ? '' : `  ${transactionId}`;
  return `${createdAt}  ${id}  ${event}${about}  ${status}  attempts ${attempts}${next}`;
}

function messageId(subject: string | undefined): string {
  if (subject === undefined) throw new OperatorMistake('takes the id of a message: msg-…');
  return encodeURIComponent(subject);
}

function forwardUrlOf({ forward }: Flags): string | undefined {
  if (forward === undefined || /^https?:$/.test(URL.parse(forward)?.protocol ?? '')) return forward;
  throw new OperatorMistake('--forward takes a URL such as http://127.0.0.1:4000/hooks');
}

async function sandboxOf(
  flags: Flags,
  findRunning: WebhooksCommand['findRunning'],
): Promise<Sandbox & Pick<Job, 'account'>> {
  const { 'api-url': apiUrl, key, account = 'usd' } = flags;
  if ((apiUrl === undefined) !== (key === undefined)) throw new OperatorMistake('--api-url goes with --key');
  if (apiUrl !== undefined && key !== undefined) {
    if (!URL.canParse(apiUrl)) throw new OperatorMistake('--api-url takes a URL');
    return { apiUrl, key, account: 'only that of --key' };
  }
  if (account !== 'ngn' && account !== 'usd') throw new OperatorMistake('--account takes ngn or usd');
  const running = await findRunning();
  if (!running)
    throw new OperatorMistake('nothing runs in this checkout: `npm start` first, or name an --api-url');
  const other = account === 'ngn' ? 'usd' : 'ngn';
  return {
    apiUrl: running.apiUrl,
    key: running.keys[account],
    account: `only ${account.toUpperCase()}; for the other one: --account ${other}`,
  };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: FLAGS, allowPositionals: true });
  } catch (error) {
    // Node's own sentence names the flag.
    throw error instanceof TypeError ? new OperatorMistake(error.message) : error;
  }
}
