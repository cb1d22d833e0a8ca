/** `stopAll` leaves no server, no process and no folder behind. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Simulator, SimulatorOptions } from '../../packages/simulators/kit/simulator.ts';
import { until as untilGood } from '../support/time/until.ts';

const cleanups: (() => Promise<void>)[] = [];

export async function stopAll(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

export function onCleanup(work: () => Promise<void>): void {
  cleanups.push(work);
}

export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-'));
  onCleanup(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface Exchanged {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export function exchange(
  url: string,
  method: string,
  headers: Record<string, string>,
  body: string | undefined,
  signal?: AbortSignal,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body ?? '')) };
    const options = { method, headers: { ...headers, ...length }, agent: false };
    const request = httpRequest(url, signal === undefined ? options : { ...options, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

export type Control = (
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ status: number; body: unknown }>;

/** Sends control requests to this address; returns status and parsed JSON. A text is sent as it is. */
export function controlOf(controlUrl: string): Control {
  return async (method, path, body) => {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await exchange(`${controlUrl}${path}`, method, {}, text);
    return { status: answer.status, body: JSON.parse(answer.text) as unknown };
  };
}

type Found<T> = T | undefined | false;

export async function until<T>(read: () => Found<T> | Promise<Found<T>>): Promise<T> {
  const isFound = (value: Found<T>): boolean => value !== undefined && value !== false;
  return (await untilGood(read, isFound, { everyMs: 10 })) as T;
}

/** The clock stands still until the test moves it, unless `now` is given. Fails if a bug was logged. */
export async function startInProcess<Options extends Partial<SimulatorOptions>>(
  create: (options: Options & { dataDir: string }) => Simulator,
  options: Options,
) {
  const clock = { nowMs: Date.now() };
  const dataDir = options.dataDir ?? (await tempFolder());
  const bugs: string[] = [];
  const simulator = create({
    now: () => clock.nowMs,
    log: (line: string) => bugs.push(line),
    ...options,
    dataDir,
  });
  const { url, controlUrl } = await simulator.start();
  const stop = async () => {
    await simulator.stop(0);
    if (bugs.length > 0) throw new Error(`the simulator logged: ${bugs.join('\n')}`);
  };
  onCleanup(stop);
  return { url, controlUrl, dataDir, clock, stop, control: controlOf(controlUrl) };
}

/** One simulator for the tests of a file, without faults when each begins. */
export function shareOne<Started extends { control: Control }>(start: () => Promise<Started>): Started {
  const shared = {} as Started;
  beforeAll(async () => {
    Object.assign(shared, await start());
  });
  afterEach(async () => {
    await shared.control('DELETE', '/faults');
  });
  afterAll(stopAll);
  return shared;
}

export interface Received {
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Receiver {
  url: string;
  attempts: Received[];
  /** The POSTs that were answered with 2xx. */
  messages: Received[];
  /** Status for the next answers, `hang` for none; 200 when empty. */
  answers: (number | 'hang')[];
}

export async function startReceiver(): Promise<Receiver> {
  const attempts: Received[] = [];
  const messages: Received[] = [];
  const answers: Receiver['answers'] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const status = answers.shift() ?? 200;
      const received = { headers: request.headers, text };
      attempts.push(received);
      if (status === 'hang') return;
      if (status < 300) messages.push(received);
      response.writeHead(status).end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onCleanup(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, attempts, messages, answers };
}

export interface Launched {
  child: ChildProcess;
  exit: Promise<number | null>;
  stdout: () => string;
  stderr: () => string;
}

/** Starts a simulator as a process, with nothing but `env` in its environment. */
export function launch(main: string, args: string[], env: Record<string, string>): Launched {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['pipe', 'pipe', 'pipe'], env });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  onCleanup(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  return { child, exit, stdout: () => out, stderr: () => err };
}

export async function launchReady(main: string, args: string[], env: Record<string, string>) {
  const launched = launch(main, args, env);
  const { child, exit, stdout, stderr } = launched;
  const ready = new Promise<void>((resolve) =>
    child.stdout?.on('data', () => {
      if (stdout().includes('\n')) resolve();
    }),
  );
  await Promise.race([
    ready,
    exit.then((code) => Promise.reject(new Error(`exit ${String(code)}: ${stderr()}`))),
  ]);
  const { url, controlUrl } = JSON.parse(stdout()) as { url: string; controlUrl: string };
  return { ...launched, url, controlUrl };
}

export function describeRefusedFaults(simulator: { control: Control }, bodies: readonly unknown[]): void {
  it.each(bodies.map((body) => [body]))(
    'PUT /faults refuses %j with 400 and changes nothing',
    async (body) => {
      const before = (await simulator.control('GET', '/faults')).body;
      const reply = await simulator.control('PUT', '/faults', body);
      expect(reply.status).toBe(400);
      expect((reply.body as { error: { message: string } }).error.message).not.toBe('');
      expect((await simulator.control('GET', '/faults')).body).toEqual(before);
    },
  );
}

/** A share of 0.3 hits as many of a hundred calls, the same ones for the same seed. */
export async function expectShare(start: () => Promise<(nth: number) => Promise<boolean>>): Promise<void> {
  const draw = async () => {
    const isHit = await start();
    const hits: boolean[] = [];
    for (let nth = 0; nth < 100; nth += 1) hits.push(await isHit(nth));
    return hits;
  };
  const [first, second] = [await draw(), await draw()];
  expect(first).toEqual(second);
  const hits = first.filter(Boolean).length;
  expect(hits).toBeGreaterThan(20);
  expect(hits).toBeLessThan(40);
}
