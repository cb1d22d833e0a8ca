/**
 * Starts supplier simulators and calls them over real HTTP. `stopAll` leaves no server and no folder behind.
 */
import {
  createEsimAccessSimulator,
  type EsimAccessSimulatorOptions,
} from '../../packages/simulators/esim-access/index.ts';
import { controlOf, exchange, startInProcess, type Control } from './simulator.support.ts';

export { exchange, startReceiver, stopAll, tempFolder, until } from './simulator.support.ts';

export const ACCESS_CODE = 'contract-access-code';
export const GIGABYTE = 1_073_741_824;
export const DAY_MS = 86_400_000;

/** An answer of the API. */
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
  /** Sends a control request; returns status and parsed JSON. */
  control: Control;
  order(transactionId: string, packageCode?: string, extra?: Record<string, unknown>): Promise<Reply>;
  esim(orderNo: string): Promise<unknown>;
  stop(): Promise<void>;
}

export interface CallOptions {
  headers?: Record<string, string>;
  rawBody?: string;
  method?: string;
}

/** Functions that call the simulator at these addresses. */
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
    control: controlOf(controlUrl),
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
 * Starts a simulator in this process; its clock stands still until the test moves it, unless `now` is given.
 */
export async function startSimulator(
  options: Partial<EsimAccessSimulatorOptions> = {},
): Promise<TestSimulator> {
  const started = await startInProcess(createEsimAccessSimulator, { accessCode: ACCESS_CODE, ...options });
  return { ...started, ...clientOf(started.url, started.controlUrl) };
}
