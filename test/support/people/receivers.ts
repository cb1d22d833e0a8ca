/**
 * The receivers of docs/examples, each started as its first lines say and given genuine and forged messages.
 * No receiver keeps running, and built files are removed.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { webhookHeaders } from '../../../src/platform/outbound/webhook-sender.ts';
import { sampleBody } from '../../../src/webhooks/event-samples.ts';
import { WEBHOOK_EVENTS } from '../../../src/webhooks/events.ts';
import { freePort } from '../../../src/dev/ports.ts';
import { until } from '../time/until.ts';

export const LANGUAGES = ['typescript', 'python', 'go'] as const;
type Language = (typeof LANGUAGES)[number];

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'docs', 'examples');
/** In docs/examples. */
export const FILES: Readonly<Record<Language, string>> = {
  typescript: 'webhook-receiver.ts',
  python: 'webhook_receiver.py',
  go: 'webhook_receiver.go',
};

/** Starts the example; resolves once it listens. */
async function startReceiver(language: Language, secret: string) {
  const { command, clean } = await commandOf(language);
  const port = await freePort();
  const child = spawn(command[0]!, command.slice(1), {
    env: { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const close = async (): Promise<void> => {
    await end(child);
    await clean();
  };
  try {
    await until(
      () => printed,
      (text) => text.includes('listening'),
      { what: `the ${language} receiver` },
    );
  } catch (error) {
    await close();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}/hooks`, printed: () => printed, close };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function commandOf(
  language: Language,
): Promise<{ readonly command: readonly string[]; readonly clean: () => Promise<void> }> {
  const file = join(EXAMPLES, FILES[language]);
  const nothing = (): Promise<void> => Promise.resolve();
  if (language === 'typescript') return { command: [process.execPath, file], clean: nothing };
  if (language === 'python') return { command: ['python3', '-B', file], clean: nothing };
  const folder = await mkdtemp(join(tmpdir(), 'simway-receiver-'));
  const clean = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const program = join(folder, 'receiver');
  try {
    await promisify(execFile)('go', ['build', '-o', program, file]);
  } catch (error) {
    await clean();
    throw error;
  }
  return { command: [program], clean };
}

/** A message to send to a receiver. */
interface Delivery {
  readonly what: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expected: 'taken' | 'refused';
}

/** Sends genuine messages and forged ones; answers what went wrong, one line each. */
export async function judgeReceiver(language: Language): Promise<string[]> {
  const secret = newSecret();
  const problems = await judgeStart(language);
  const receiver = await startReceiver(language, secret);
  try {
    for (const { what, body, headers, expected } of deliveries(secret)) {
      const { status } = await fetch(receiver.url, { method: 'POST', body, headers });
      const isRight = expected === 'taken' ? status >= 200 && status < 300 : status === 401;
      if (!isRight) problems.push(`${what}: ${status}`);
    }
    // The first message came twice and is printed once.
    const output = await until(receiver.printed, (text) => text.includes(WEBHOOK_EVENTS.at(-1)!));
    const count = output.split(' is SUCCESS').length - 1;
    if (count !== 1) problems.push(`taken ${count} times`);
    return problems;
  } finally {
    await receiver.close();
  }
}

/** With an empty secret everybody could sign: a receiver must not start with one. */
async function judgeStart(language: Language): Promise<string[]> {
  const { command, clean } = await commandOf(language);
  try {
    const starts = ['', 'whsec_'].map(async (secret) => {
      const env = { PATH: process.env['PATH'], PORT: String(await freePort()), WEBHOOK_SECRET: secret };
      const ended = await promisify(execFile)(command[0]!, command.slice(1), { env, timeout: 5_000 }).catch(
        (error: unknown) => error as { readonly code: number | null },
      );
      return 'code' in ended && ended.code === 1 ? [] : [`starts with the secret '${secret}'`];
    });
    return (await Promise.all(starts)).flat();
  } finally {
    await clean();
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function deliveries(secret: string): Delivery[] {
  const now = new Date();
  const body = sampleBody('esim.purchased', now);
  const failed = sampleBody('esim.purchased', now, 'FAILED');
  const signed = (
    id: string,
    text: string,
    secrets: readonly string[],
    at = now,
  ): Record<string, string> => ({
    'content-type': 'application/json',
    ...webhookHeaders({ messageId: id, body: text, secrets }, at),
  });
  const id = `msg-${randomBytes(16).toString('hex')}`;
  const genuine = signed(id, body, [secret]);
  const minutes = (count: number): Date => new Date(now.getTime() + count * 60_000);
  const refused = (what: string, headers: Record<string, string>, text = body): Delivery => ({
    what,
    body: text,
    headers,
    expected: 'refused',
  });
  const taken = (what: string, text: string, headers: Record<string, string>): Delivery => ({
    what,
    body: text,
    headers,
    expected: 'taken',
  });
  return [
    taken('a genuine message', body, genuine),
    taken('the same message again', body, genuine),
    refused('another body', genuine, body.replace('SUCCESS', 'FAILED')),
    refused('a body with a blank more', genuine, `${body} `),
    refused('another id', { ...genuine, 'webhook-id': 'msg-other' }),
    refused('a later timestamp', {
      ...genuine,
      'webhook-timestamp': String(Number(genuine['webhook-timestamp']) + 1),
    }),
    refused('signed six minutes ago', signed('msg-old', body, [secret], minutes(-6))),
    refused('signed for six minutes from now', signed('msg-new', body, [secret], minutes(6))),
    refused('signed with another secret', signed('msg-forged', body, [newSecret()])),
    refused('a signature of another version', {
      ...genuine,
      'webhook-signature': genuine['webhook-signature']!.replace('v1,', 'v2,'),
    }),
    refused('an empty signature', { ...genuine, 'webhook-signature': '' }),
    refused('no headers of ours', { 'content-type': 'application/json' }),
    refused('an invalid timestamp', { ...genuine, 'webhook-timestamp': '9'.repeat(400) }),
    taken('a secret being replaced', failed, signed('msg-rotated', failed, [newSecret(), secret])),
    ...WEBHOOK_EVENTS.slice(1).map((event, index) => {
      const other = sampleBody(event, now);
      return taken(event, other, signed(`msg-event-${index}`, other, [secret]));
    }),
  ];
}
