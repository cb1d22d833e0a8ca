/** Over real HTTP. `stopAll` leaves no server and no folder behind. */
import type { WirePackage } from '../../packages/simulators/esim-access/catalogue.ts';
import {
  createEsimAccessSimulator,
  type EsimAccessSimulatorOptions,
} from '../../packages/simulators/esim-access/index.ts';
import type { WireEsim } from '../../packages/simulators/esim-access/operations/esims.ts';
import { controlOf, exchange, shareOne, startInProcess } from './simulator.support.ts';

export { exchange, startReceiver, stopAll, tempFolder, until } from './simulator.support.ts';

export const ACCESS_CODE = 'contract-access-code';
export const GIGABYTE = 1_073_741_824;
export const DAY_MS = 86_400_000;

export interface Reply {
  status: number;
  success: boolean;
  errorCode: string | null;
  errorMsg: string | null;
  obj: unknown;
}

let serial = 0;
export const fresh = () => `fresh-${(serial += 1)}`;

/** Functions that call the simulator at these addresses. */
export function clientOf(url: string, controlUrl: string) {
  const control = controlOf(controlUrl);
  const call = async (
    operation: string,
    body?: unknown,
    options: { headers?: Record<string, string>; rawBody?: string; method?: string } = {},
  ): Promise<Reply> => {
    const { headers = { 'RT-AccessCode': ACCESS_CODE }, method = 'POST' } = options;
    const text = options.rawBody ?? (body === undefined ? '' : JSON.stringify(body));
    const answer = await exchange(`${url}/api/v1/open/${operation}`, method, headers, text);
    return { status: answer.status, ...(JSON.parse(answer.text) as Omit<Reply, 'status'>) };
  };
  const objOf = async <Obj>(operation: string, body: object) => {
    const { success, errorCode, obj } = await call(operation, body);
    if (!success) throw new Error(`${operation} answered ${String(errorCode)}`);
    return obj as Obj;
  };
  const orderBody = (transactionId: string, packageCode: string) => ({
    transactionId,
    packageInfoList: [{ packageCode, count: 1 }],
  });
  const order = (transactionId: string, packageCode = 'SIM-OK') =>
    call('esim/order', orderBody(transactionId, packageCode));
  const ordered = async (packageCode = 'SIM-OK', transactionId = fresh()) =>
    (await objOf<{ orderNo: string }>('esim/order', orderBody(transactionId, packageCode))).orderNo;
  const query = (body: object, pageSize = 20, pageNum = 1) =>
    objOf<{ esimList: WireEsim[]; pager: { total: number } }>('esim/query', {
      pager: { pageNum, pageSize },
      ...body,
    });
  const esim = async (orderNo: string) => (await query({ orderNo })).esimList[0]!;
  return {
    call,
    control,
    order,
    ordered,
    query,
    esim,
    packages: async (body: object) =>
      (await objOf<{ packageList: WirePackage[] }>('package/list', body)).packageList,
    balance: async () => (await objOf<{ balance: number }>('balance/query', {})).balance,
    /** Buys one eSIM, to be read as the API shows it and acted on by the control interface. */
    buy: async (packageCode = 'SIM-OK', transactionId = fresh()) => {
      const orderNo = await ordered(packageCode, transactionId);
      const { esimTranNo, iccid } = await esim(orderNo);
      const path = `/esims/${esimTranNo}`;
      return {
        orderNo,
        transactionId,
        esimTranNo,
        iccid,
        read: () => esim(orderNo),
        change: (body: object) => control('PUT', path, body),
        act: (action: string, body?: object) => control('POST', `${path}/${action}`, body),
      };
    },
  };
}

export type TestSimulator = Awaited<ReturnType<typeof startSimulator>>;

/** Its clock stands still until the test moves it, unless `now` is given. */
export async function startSimulator(options: Partial<EsimAccessSimulatorOptions> = {}) {
  const started = await startInProcess(createEsimAccessSimulator, { accessCode: ACCESS_CODE, ...options });
  return { ...started, ...clientOf(started.url, started.controlUrl) };
}

/** One simulator for the tests of a file, without faults when each begins. */
export const sharedSimulator = (options: Partial<EsimAccessSimulatorOptions> = {}) =>
  shareOne(() => startSimulator(options));
