/** The supplier's faults, with their defaults. docs/SANDBOX.md describes each. */
import { z } from 'zod';
import { CHANCE, DURATION_MS, FLAG } from '../kit/control.ts';
import { WEBHOOK_MODE } from '../kit/events.ts';

export const FAULTS = z.strictObject({
  latencyMs: DURATION_MS.default(0),
  allocationMs: DURATION_MS.default(0),
  outOfStock: CHANCE.default(0),
  priceChanged: CHANCE.default(0),
  lowBalance: CHANCE.default(0),
  busy: CHANCE.default(0),
  loseAnswer: CHANCE.default(0),
  commitLate: CHANCE.default(0),
  lateCommitMs: DURATION_MS.default(10_000),
  refusalsFirst: FLAG.default(false),
  cancelUnseen: CHANCE.default(0),
  neverAllocate: CHANCE.default(0),
  wrongSignature: CHANCE.default(0),
  rateLimit: FLAG.default(false),
  reuseIccid: CHANCE.default(0),
  usageLagMs: DURATION_MS.default(0),
  nullErrorCode: FLAG.default(false),
  omitTopUpEsimTranNo: FLAG.default(false),
  webhooks: WEBHOOK_MODE.default('deliver'),
});
export type SupplierFaults = z.output<typeof FAULTS>;
