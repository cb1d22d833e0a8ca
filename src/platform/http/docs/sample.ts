/** The buyer of all examples of the reference. `SIM-OK` is a package of the sandbox, so that requests can be tried as they stand. */

/** Values by the name of the case that each is true for. */
export type Examples = Readonly<Record<string, unknown>>;

/** Of requests, and of answers by their status. */
export interface OperationExamples {
  readonly request?: Examples;
  readonly [status: number]: Examples;
}

/** By operation id. A test checks each against its route's schemas. */
export type ExamplesByOperation = Readonly<Record<string, OperationExamples>>;

export const TRANSACTION = 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11';
export const FUNDING = 'txn-1f0d3b5e60a117c9e6679f4a84ba3a2c';
export const ESIM = 'esim-0f8fad5bd9cb469fa16570867728950e';
export const ICCID = '8944500102030405067';
export const QR_CODE_URL = 'https://p.qrsim.net/1a2b3c.png';
export const PACKAGE = 'Sandbox SIM-OK 1GB 7Days';
export const OPENED = '2026-01-31T09:30:00.000Z';
export const DELIVERED = '2026-01-31T09:31:13.021Z';
