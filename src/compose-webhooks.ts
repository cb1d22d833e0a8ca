/**
 * What webhooks to merchants are made of in one world: guard, sender, the box for secrets, and the engine that begins deliveries; and the mail
 * by which owners hear what no webhook can tell them.
 */
import { createUrlGuard } from './adapters/outbound/guard.ts';
import { createNetwork } from './adapters/outbound/network.ts';
import { createWebhookSender } from './adapters/outbound/sender.ts';
import { createSecretBox } from './adapters/secret-box/secret-box.ts';
import { createSmtpMailer } from './adapters/smtp/mailer.ts';
import type { TemporalClient } from './adapters/temporal/connect.ts';
import { createWebhookEngine } from './adapters/temporal/webhook-engine.ts';
import type { Config, Secrets } from './config.ts';
import type { Environment } from './domain/account.ts';
import type { Events } from './observe/events.ts';
import type { Clock } from './ports/clock.ts';
import type { Mailer } from './ports/mailer.ts';
import type { SecretBox } from './ports/secret-box.ts';
import type { UrlGuard } from './ports/url-guard.ts';
import type { WebhookEngine, WebhookSweeper } from './ports/webhook-engine.ts';
import type { WebhookSender } from './ports/webhook-sender.ts';
import { whoseMessages } from './store/webhook-deliveries.ts';
import type { WorldDb } from './store/tables.ts';

export interface WebhookParts {
  readonly urlGuard: UrlGuard;
  readonly sender: WebhookSender;
  readonly secretBox: SecretBox;
}

export function composeWebhooks(
  { config, secrets }: { readonly config: Config; readonly secrets: Secrets },
  environment: Environment,
  clock: Clock,
): WebhookParts {
  const { httpsOnly, allowedRanges } = config.webhooks[environment];
  const outbound = { policy: { httpsOnly, allowedRanges }, network: createNetwork(), clock };
  return {
    urlGuard: createUrlGuard(outbound),
    sender: createWebhookSender(outbound),
    secretBox: createSecretBox(secrets.secretKeys),
  };
}

export function composeWebhookEngine(
  db: WorldDb,
  temporal: TemporalClient,
  events: Events,
): WebhookEngine & WebhookSweeper {
  return createWebhookEngine({
    temporal,
    whose: (messageIds) => whoseMessages(db, messageIds),
    onNotHandedOver: (fields) => events.webhooksNotHandedOver(fields),
  });
}

/** undefined while nobody has said how mail is sent. */
export function composeMailer({ mail }: Secrets): Mailer | undefined {
  return mail && createSmtpMailer({ url: mail.smtpUrl, from: mail.from });
}
