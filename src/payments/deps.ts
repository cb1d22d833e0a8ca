import type { CatalogueDeps } from '../catalogue/deps.ts';
import type { Events } from '../platform/telemetry/events.ts';
import type { TermsSigner } from '../platform/frozen-terms.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import type { PaymentEngine } from './engine.ts';
import type { PaymentGateway } from './port.ts';
import type { FundingInput, UnpaidLimits } from './rules.ts';

/** What the use cases of payments work with, in one environment. */
export interface PaymentDeps extends Pick<CatalogueDeps, 'db' | 'clock' | 'catalogue'> {
  readonly gateway: PaymentGateway;
  readonly engine: PaymentEngine;
  readonly events: Events;
  /** For what callers say for themselves. */
  readonly secretBox: SecretBox;
  /** Key of the HMAC that turns an Idempotency-Key into a transactionId. */
  readonly idSecret: Buffer;
  /** Signs what is handed to the engine. */
  readonly terms: Pick<TermsSigner, 'sign'>;
  readonly settings: CatalogueDeps['settings'] & {
    readonly timings: FundingInput['timings'];
    /** What MOBILE_MONEY is charged in; undefined: not offered. */
    readonly mobileMoneyCurrency: string | undefined;
    readonly unpaidLimits: UnpaidLimits;
  };
}
