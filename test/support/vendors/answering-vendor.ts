// A supplier whose answers a test writes itself, and supplier adapters that call it. The test must close it.
import {
  createEsimAccessSupplier,
  type EsimAccessOptions,
  type EsimAccessSupplier,
} from '../../../src/vendors/esim-access/supplier.ts';
import { startAnsweringServer, type Answering } from './answering-server.ts';

export { json, type Answering } from './answering-server.ts';

export type AnsweringVendor = Awaited<ReturnType<typeof startAnsweringVendor>>;

/** Starts the vendor on a free port. */
export async function startAnsweringVendor() {
  const server = await startAnsweringServer();
  const { baseUrl } = server;
  let warnings: { fields: object; message: string }[] = [];
  const suppliers: EsimAccessSupplier[] = [];
  return {
    baseUrl,
    get calls() {
      return server.calls;
    },
    /** The warnings since the last `answerWith`. */
    get warnings() {
      return warnings;
    },
    answerWith: (...next: Answering[]) => {
      warnings = [];
      server.answerWith(...next);
    },
    /** A supplier at this vendor, without pacing or signature and with a time limit of 5 s by default. */
    supplier: (options: Partial<EsimAccessOptions> = {}) => {
      const supplier = createEsimAccessSupplier({
        baseUrl,
        accessCode: 'code-1',
        sign: false,
        pacer: { takeSlot: () => Promise.resolve(true) },
        clock: { now: () => new Date() },
        logger: { warn: (fields, message) => warnings.push({ fields, message }) },
        timeLimitMs: 5_000,
        ...options,
      });
      suppliers.push(supplier);
      return supplier;
    },
    close: async () => {
      for (const supplier of suppliers) supplier.close();
      await server.close();
    },
  };
}

/** The vendor's envelope of a failure. */
export const failure = (errorCode: unknown) => ({
  success: false,
  errorCode,
  errorMsg: 'because',
  obj: null,
});

/** An order, and the vendor's success answer to it. */
export const order = {
  transactionId: 'txn-1',
  accountId: 'acc-1',
  packageCode: 'ES-1',
  costUsdE4: 8600n,
};
export const taken = {
  success: true,
  errorCode: '0',
  errorMsg: null,
  obj: { orderNo: 'B1', transactionId: 'txn-1' },
};
