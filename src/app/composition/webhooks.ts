/** Webhooks to the merchants of one environment, and mail to owners for what no webhook can report. */
import { createMailStops } from '../../accounts/mail-stops.ts';
import type { Mailer } from '../../accounts/port.ts';
import type { Environment } from '../../domain/account.ts';
import type { Clock } from '../../domain/clock.ts';
import { createSmtpMailer } from '../../vendors/mail/mailer.ts';
import type { Config, Secrets } from '../config/config.ts';
import { createNetwork } from '../../platform/outbound/network.ts';
import { createPoster } from '../../platform/outbound/poster.ts';
import { createUrlGuard } from '../../platform/outbound/url-guard.ts';
import { createWebhookSender } from '../../platform/outbound/webhook-sender.ts';
import { createSecretBox } from '../../platform/secret-box.ts';

export function composeWebhooks(
  { config, secrets }: { readonly config: Config; readonly secrets: Secrets },
  environment: Environment,
  clock: Clock,
) {
  const { httpsOnly, allowedRanges } = config.webhooks[environment];
  const outbound = { policy: { httpsOnly, allowedRanges }, network: createNetwork(), clock };
  return {
    urlGuard: createUrlGuard(outbound),
    sender: createWebhookSender(outbound),
    poster: createPoster(outbound),
    secretBox: createSecretBox(secrets.secretKeys),
  };
}

export const composeMailStops = ({
  config,
  secrets,
}: {
  readonly config: Config;
  readonly secrets: Secrets;
}) => createMailStops({ idSecret: Buffer.from(secrets.idSecret), publicUrl: config.publicUrl });

/** undefined while no mail server is set. */
export function composeMailer({ mail }: Secrets): Mailer | undefined {
  return mail && createSmtpMailer({ url: mail.smtpUrl, from: mail.from });
}
