// A vendor whose every answer a test writes itself, and supplier adapters that call it. Only what is closed here is left behind.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createEsimAccessSupplier,
  type EsimAccessOptions,
  type EsimAccessSupplier,
} from '../../src/adapters/esim-access/supplier.ts';

export interface Call {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly socketPort: number;
}
export type Answering = (response: ServerResponse, call: Call) => void;

export interface AnsweringVendor {
  readonly baseUrl: string;
  /** What was asked since the last `answerWith`. */
  readonly calls: readonly Call[];
  readonly warnings: readonly { readonly fields: object; readonly message: string }[];
  /** Forgets calls and warnings; answers come in this order, the last one for all further calls. */
  answerWith(...answers: Answering[]): void;
  /** A supplier at this vendor, without pace or signature and with a time limit of 300 ms unless told otherwise. */
  supplier(options?: Partial<EsimAccessOptions>): EsimAccessSupplier;
  close(): Promise<void>;
}

/** Starts the vendor on a free port. */
export async function startAnsweringVendor(): Promise<AnsweringVendor> {
  let calls: Call[] = [];
  let answers: Answering[] = [];
  let warnings: { fields: object; message: string }[] = [];
  const suppliers: EsimAccessSupplier[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '', headers, socket } = request;
      const body = Buffer.concat(chunks).toString('utf8');
      const call: Call = { path: url, headers, body, socketPort: socket.remotePort ?? 0 };
      calls.push(call);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      answer?.(response, call);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl,
    get calls() {
      return calls;
    },
    get warnings() {
      return warnings;
    },
    answerWith: (...next) => {
      [calls, warnings, answers] = [[], [], next];
    },
    supplier: (options = {}) => {
      const supplier = createEsimAccessSupplier({
        baseUrl,
        accessCode: 'code-1',
        sign: false,
        pacer: { takeSlot: () => Promise.resolve(true) },
        clock: { now: () => new Date() },
        logger: { warn: (fields, message) => warnings.push({ fields, message }) },
        timeLimitMs: 300,
        ...options,
      });
      suppliers.push(supplier);
      return supplier;
    },
    close: async () => {
      for (const supplier of suppliers) supplier.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with JSON, or with text as it is. */
export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answering =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** The vendor's envelope of a failure. */
export const failure = (errorCode: unknown) => ({
  success: false,
  errorCode,
  errorMsg: 'because',
  obj: null,
});

/** An order, and the vendor's yes to it. */
export const order = { transactionId: 'txn-1', packageCode: 'ES-1', costUsdE4: 8600n };
export const taken = {
  success: true,
  errorCode: '0',
  errorMsg: null,
  obj: { orderNo: 'B1', transactionId: 'txn-1' },
};
