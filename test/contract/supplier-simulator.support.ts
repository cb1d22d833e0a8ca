/**
 * Starts supplier simulators for the contract tests and speaks their wire over real HTTP.
 * Guarantee: `stopAll` leaves no server and no folder behind.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSupplierSimulator, type SupplierSimulatorOptions } from '../../src/sandbox/supplier/index.ts';

export const ACCESS_CODE = 'contract-access-code';
export const GIGABYTE = 1_073_741_824;
export const DAY_MS = 86_400_000;

/** What came back: `lost` when the connection was cut without an answer. */
export interface Reply {
  status: number;
  success: boolean;
  errorCode: string | null;
  errorMsg: string | null;
  obj: unknown;
}

export interface TestSimulator {
  url: string;
  controlUrl: string;
  dataDir: string;
  clock: { nowMs: number };
  call(operation: string, body?: unknown, options?: CallOptions): Promise<Reply>;
  /** One control request; answers status and parsed JSON. */
  control(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  order(transactionId: string, packageCode?: string, extra?: Record<string, unknown>): Promise<Reply>;
  esim(orderNo: string): Promise<unknown>;
  stop(): Promise<void>;
}

export interface CallOptions {
  headers?: Record<string, string>;
  rawBody?: string;
  method?: string;
}

const cleanups: (() => Promise<void>)[] = [];

/** Stops every simulator that is still running and removes its folder. */
export async function stopAll(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

/** Registers something to be undone by stopAll. */
export function onCleanup(work: () => Promise<void>): void {
  cleanups.push(work);
}

/** A fresh folder, removed by stopAll. */
export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'supplier-simulator-'));
  onCleanup(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** One HTTP exchange; rejects when the connection is cut. */
export function exchange(
  url: string,
  method: string,
  headers: Record<string, string>,
  body: string | undefined,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body ?? '')) };
    const request = httpRequest(
      url,
      { method, headers: { ...headers, ...length }, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** Waits until `look` answers something, at most `deadlineMs`. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  deadlineMs = 4000,
): Promise<T> {
  const endsAtMs = Date.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > endsAtMs) throw new Error(`not within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Client functions for a simulator that runs at these addresses. */
export function clientOf(
  url: string,
  controlUrl: string,
): Pick<TestSimulator, 'call' | 'control' | 'order' | 'esim'> {
  const call: TestSimulator['call'] = async (operation, body, options = {}) => {
    const headers = options.headers ?? { 'RT-AccessCode': ACCESS_CODE };
    const text = options.rawBody ?? (body === undefined ? '' : JSON.stringify(body));
    const answer = await exchange(`${url}/api/v1/open/${operation}`, options.method ?? 'POST', headers, text);
    return { status: answer.status, ...(JSON.parse(answer.text) as Omit<Reply, 'status'>) };
  };
  return {
    call,
    control: async (method, path, body) => {
      const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await exchange(`${controlUrl}${path}`, method, {}, text);
      return { status: answer.status, body: JSON.parse(answer.text) as unknown };
    },
    order: (transactionId, packageCode = 'SIM-OK', extra = {}) =>
      call('esim/order', { transactionId, packageInfoList: [{ packageCode, count: 1 }], ...extra }),
    esim: async (orderNo) => {
      const reply = await call('esim/query', { orderNo, pager: { pageNum: 1, pageSize: 20 } });
      if (!reply.success) throw new Error(`esim/query answered ${String(reply.errorCode)}`);
      return (reply.obj as { esimList: unknown[] }).esimList[0];
    },
  };
}

/**
 * Starts a simulator in this process. Its clock stands still until the test moves `clock.nowMs`, unless `now` is given, so that a
 * slow machine changes no outcome.
 */
export async function startSimulator(
  options: Partial<SupplierSimulatorOptions> = {},
): Promise<TestSimulator> {
  const clock = { nowMs: Date.now() };
  const dataDir = options.dataDir ?? (await tempFolder());
  const bugs: string[] = [];
  const simulator = createSupplierSimulator({
    accessCode: ACCESS_CODE,
    now: () => clock.nowMs,
    log: (line) => bugs.push(line),
    ...options,
    dataDir,
  });
  const { url, controlUrl } = await simulator.start();
  const stop = async () => {
    await simulator.stop(0);
    if (bugs.length > 0) throw new Error(`the simulator logged: ${bugs.join('\n')}`);
  };
  onCleanup(stop);
  return { url, controlUrl, dataDir, clock, stop, ...clientOf(url, controlUrl) };
}
