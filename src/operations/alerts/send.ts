/** Sends what waits about alerts, by mail and to chats. Any number of processes may do so. */
import type { Mailer } from '../../accounts/port.ts';
import type { Environment } from '../../domain/account.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { Poster } from '../../platform/outbound/poster.ts';
import type { SecretBox } from '../../platform/secret-box.ts';
import type { Events } from '../../platform/telemetry/events.ts';
import { noticeWaitMs } from '../../webhooks/rules.ts';
import {
  leaseMessage,
  markMessageSent,
  postponeMessage,
  resealChannel,
  type LeasedMessage,
} from '../store/alerts.ts';
import { mailText, slackBody, subjectOf, type AlertWords } from './alert-rules.ts';

export interface AlertSending {
  readonly environment: Environment;
  readonly publicUrl: string;
  /** undefined: no mail server is set, so mails wait. */
  readonly mailer: Mailer | undefined;
  readonly poster: Poster;
  readonly secretBox: SecretBox;
}

interface SendDeps {
  readonly db: WorldDb;
  readonly alerts: AlertSending;
  readonly events: Pick<Events, 'alertNotSent'>;
}

/** Longer than an attempt takes. After that another sender repeats a message whose sender died. */
const LEASE_MS = 120_000;
const MAX_FAILURE_CHARACTERS = 200;

/** All that are due until the time is over. What cannot be sent is tried again, more and more rarely. */
export async function sendAlerts(deps: SendDeps, isOver: () => boolean = () => false) {
  const [sent, left] = [{ count: 0 }, { count: 0 }];
  while (!isOver()) {
    const message = await leaseMessage(deps.db, LEASE_MS);
    if (!message) break;
    const failure = await send(deps, message);
    if (failure === undefined) await markMessageSent(deps.db, message.id);
    else await postpone(deps, message, failure);
    (failure === undefined ? sent : left).count += 1;
  }
  return { sent: sent.count, left: left.count };
}

async function postpone(
  { db, events }: SendDeps,
  { id, channelId, attempts }: LeasedMessage,
  failure: string,
) {
  const detail = failure.slice(0, MAX_FAILURE_CHARACTERS);
  await postponeMessage(db, id, noticeWaitMs(attempts), detail);
  events.alertNotSent({ channelId, attempts, detail });
}

/** Why it was not sent, without an address; undefined: it was. */
async function send(deps: SendDeps, message: LeasedMessage): Promise<string | undefined> {
  const { environment, publicUrl, mailer } = deps.alerts;
  const { what, severity, title, detail } = message;
  if (!message.isReachable) return 'the person is no operator any more: remove the channel';
  const url = `${publicUrl}/dashboard/operators/alerts`;
  const words: AlertWords = { what, severity, title, detail, environment, url };
  if (message.kind === 'WEBHOOK') return post(deps, message, words);
  if (!mailer) return 'no mail server is configured: SIMWAY_SMTP_URL';
  const mail = { id: `alert-${environment}-${message.id}`, to: message.shown };
  const outcome = await mailer.send({ ...mail, subject: subjectOf(words), text: mailText(words) });
  return outcome.outcome === 'done' ? undefined : outcome.detail;
}

async function post(
  { db, alerts: { poster, secretBox } }: SendDeps,
  { channelId, urlSealed }: LeasedMessage,
  words: AlertWords,
): Promise<string | undefined> {
  if (!urlSealed) return 'the channel has no address';
  let url: string;
  try {
    url = secretBox.open(urlSealed, channelId);
  } catch {
    return 'the key that sealed the address is not here: SIMWAY_SECRETS_PREVIOUS_KEYS';
  }
  if (!secretBox.isCurrent(urlSealed)) await resealChannel(db, channelId, secretBox.seal(url, channelId));
  const answer = await poster.post(url, slackBody(words));
  if (answer.outcome === 'failed') return answer.detail;
  return answer.status >= 200 && answer.status < 300 ? undefined : `answered ${answer.status}`;
}
