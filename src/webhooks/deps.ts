import type { Clock } from '../domain/clock.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { UrlGuard } from '../platform/outbound/url-guard.ts';
import type { SecretBox } from '../platform/secret-box-port.ts';
import type { WebhookEngine } from './engine.ts';

/** What the use cases of webhooks work with, in one world. */
export interface WebhookDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly webhookEngine: WebhookEngine;
  /** Seals what endpoints' messages are signed with. */
  readonly secretBox: SecretBox;
  readonly urlGuard: UrlGuard;
}
