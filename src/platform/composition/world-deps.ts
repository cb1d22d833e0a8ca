import type { Environment } from '../../domain/account.ts';
import type { PurchaseDeps } from '../../purchases/deps.ts';
import type { WebhookDeps } from '../../webhooks/deps.ts';

/** What the use cases of one world are handed. */
export interface WorldDeps extends PurchaseDeps, WebhookDeps {
  readonly environment: Environment;
}
