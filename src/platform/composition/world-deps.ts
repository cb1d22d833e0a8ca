/** What every use case of one world is handed. */
import type { Environment } from '../../domain/account.ts';
import type { PurchaseTimings } from '../../purchases/purchase.ts';
import type { Events } from '../telemetry/events.ts';
import type { Clock } from '../../domain/clock.ts';
import type { EsimSupplier } from '../../esims/port.ts';
import type { PaymentGateway } from '../../payments/port.ts';
import type { PurchaseEngine } from '../../purchases/engine.ts';
import type { SecretBox } from '../secret-box-port.ts';
import type { UrlGuard } from '../../webhooks/url-guard-port.ts';
import type { WebhookEngine } from '../../webhooks/engine.ts';
import type { WorldDb } from '../database/tables.ts';
import type { CatalogueMemory } from '../../catalogue/memory.ts';

export interface WorldSettings {
  readonly timings: PurchaseTimings;
  /** A read looks an eSIM up again at the supplier when what we know is older. */
  readonly esimFreshMs: number;
  /** A package's top-ups are asked for again when the list is older. */
  readonly topUpsFreshMs: number;
  /** A closed payment is looked at again for a caller only after this: one who asks all the time costs that many looks. */
  readonly closedPaymentFreshMs: number;
  /** Sales that need an older rate are refused (promise F1). */
  readonly rateMaxAgeMs: number;
  /** What MOBILE_MONEY is charged in; undefined: not offered. */
  readonly mobileMoneyCurrency: string | undefined;
}

export interface WorldDeps {
  readonly environment: Environment;
  readonly db: WorldDb;
  readonly supplier: EsimSupplier;
  readonly gateway: PaymentGateway;
  readonly engine: PurchaseEngine;
  readonly webhookEngine: WebhookEngine;
  /** Seals what endpoints' messages are signed with. */
  readonly secretBox: SecretBox;
  readonly urlGuard: UrlGuard;
  readonly clock: Clock;
  readonly events: Events;
  readonly catalogue: CatalogueMemory;
  readonly settings: WorldSettings;
  /** Key of the HMAC that turns an Idempotency-Key into a transactionId. */
  readonly idSecret: Buffer;
}
