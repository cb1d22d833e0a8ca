/** One attempt at a merchant's endpoint: sent, judged, recorded. */
import type { Clock } from '../domain/clock.ts';
import type { RequestOutcome } from '../platform/outbound/request.ts';
import type { WebhookSender } from '../platform/outbound/webhook-sender.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import type { Events } from '../platform/telemetry/events.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { Acquired, EndpointLimiter } from './endpoint-limiter.ts';
import { keptAnswer, keptAnswerHeaders, keptRequestHeaders, nextAttempt, shouldDisable } from './rules.ts';
import {
  recordAttempt,
  type AttemptMade,
  type Recorded,
  type Verdict,
  type WebhookDelivery,
} from './store/deliveries.ts';
import type { DisablingReason } from './store/endpoints.ts';

export interface AttemptDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly events: Pick<Events, 'webhookAttempted' | 'webhookEndpointDisabled'>;
  readonly sender: WebhookSender;
  readonly secretBox: SecretBox;
  /** One for the dispatcher and for what workflows carry. */
  readonly limiter: EndpointLimiter;
  /** A stored body as it is sent: what is sealed is filled in. */
  readonly completeBody: (body: string) => Promise<string>;
  /** The wait before each attempt, counted from the one before. */
  readonly waitsMs: readonly number[];
  /** An endpoint that has only failed for this long is disabled. */
  readonly failingLimitMs: number;
  /** A message that waits so long is carried by a workflow. */
  readonly handOverFromMs: number;
  /** At least 0, below 1. */
  readonly random: () => number;
}

/** An attempt that was made, and what it means. */
export interface Attempted {
  readonly delivery: WebhookDelivery;
  readonly made: AttemptMade;
  readonly verdict: Verdict;
  readonly disabling: DisablingReason | undefined;
}

const GONE = 410;

type Message = Parameters<WebhookSender['send']>[0];

export const acquirePermit = (
  { limiter, random }: Pick<AttemptDeps, 'limiter' | 'random'>,
  { accountId, endpoint }: WebhookDelivery,
): Acquired =>
  limiter.acquire({
    endpointId: endpoint.id,
    accountId,
    isFailing: endpoint.failingSince !== null,
    random: random(),
  });

/** What is sent. Throws where the body or a secret cannot be opened. */
export async function prepare(
  { secretBox, completeBody }: AttemptDeps,
  { webhookId, endpoint, body }: WebhookDelivery,
): Promise<Message> {
  return {
    url: endpoint.url,
    messageId: webhookId,
    body: await completeBody(body),
    secrets: endpoint.secretsSealed.map((sealed) => secretBox.open(sealed, endpoint.id)),
  };
}

/** `orStopped` may reject while it is sent: then nobody knows whether the message arrived. */
export async function makeAttempt(
  deps: AttemptDeps,
  delivery: WebhookDelivery,
  message: Message,
  orStopped: <T>(send: () => Promise<T>) => Promise<T>,
): Promise<Attempted> {
  const outcome = await orStopped(() => deps.sender.send(message));
  const made = toAttempt(outcome, message, deps.clock.now());
  return {
    delivery,
    made,
    verdict: judge(deps, delivery, outcome, made.endedAt),
    disabling: disablingReason(deps, delivery, outcome, made.endedAt),
  };
}

/** Records it. The verdict that counts is returned: a disabled endpoint fails the message. */
export async function recordOne(
  deps: AttemptDeps,
  { delivery, made, verdict, disabling }: Attempted,
): Promise<Verdict> {
  const recorded = await recordAttempt(deps.db, delivery, made, verdict, disabling);
  logAttempt(deps, { delivery, made, disabling }, recorded);
  return recorded.verdict;
}

/** Once for each attempt: an earlier run of the step may have recorded it. */
export function logAttempt(
  { events }: Pick<AttemptDeps, 'events'>,
  { delivery, made, disabling }: Omit<Attempted, 'verdict'>,
  { isNew, isDisabled, verdict }: Pick<Recorded, 'isNew' | 'isDisabled'> & { readonly verdict: Verdict },
): void {
  if (!isNew) return;
  const { messageId, accountId, endpoint, attempts } = delivery;
  events.webhookAttempted({
    messageId,
    endpointId: endpoint.id,
    attempt: attempts + 1,
    outcome: verdict.status === 'DELIVERED' ? 'delivered' : made.outcome,
    status: made.status,
    ms: made.ms,
  });
  if (isDisabled)
    events.webhookEndpointDisabled({ endpointId: endpoint.id, accountId, reason: disabling ?? '' });
}

/** Why its next attempt waits, for people. */
export const whyAgain = ({ delivery, made: { outcome, status } }: Attempted): string => {
  const result = outcome === 'answered' ? `got status ${status}` : `ended as ${outcome}`;
  return `until attempt ${delivery.attemptsInSeries + 2}: the last ${result}`;
};

function isTaken(outcome: RequestOutcome): boolean {
  return outcome.outcome === 'answered' && outcome.status >= 200 && outcome.status < 300;
}

function judge(
  { waitsMs, random, handOverFromMs }: AttemptDeps,
  { attemptsInSeries }: WebhookDelivery,
  outcome: RequestOutcome,
  endedAt: Date,
): Verdict {
  if (isTaken(outcome)) return { status: 'DELIVERED' };
  const nowMs = endedAt.getTime();
  const retryAfterMs = outcome.outcome === 'answered' ? outcome.retryAfterMs : undefined;
  const nextMs = nextAttempt(attemptsInSeries + 1, nowMs, random(), retryAfterMs, waitsMs);
  if (nextMs === undefined) return { status: 'FAILED' };
  const waitMs = nextMs - nowMs;
  return { status: 'PENDING', waitMs, isHandedOver: waitMs >= handOverFromMs };
}

function disablingReason(
  { failingLimitMs }: AttemptDeps,
  { attemptsInSeries, endpoint }: WebhookDelivery,
  outcome: RequestOutcome,
  endedAt: Date,
): DisablingReason | undefined {
  if (isTaken(outcome)) return undefined;
  if (outcome.outcome === 'answered' && outcome.status === GONE) return 'GONE';
  if (endpoint.failingSince === null) return undefined;
  const failures = { failingSinceMs: endpoint.failingSince.getTime(), attempts: attemptsInSeries + 1 };
  return shouldDisable(failures, endedAt.getTime(), failingLimitMs) ? 'FAILING' : undefined;
}

function toAttempt(
  outcome: RequestOutcome,
  { url, body }: { readonly url: string; readonly body: string },
  endedAt: Date,
): AttemptMade {
  return {
    at: new Date(endedAt.getTime() - outcome.ms),
    endedAt,
    ms: outcome.ms,
    outcome: outcome.outcome === 'answered' ? 'answered' : outcome.reason,
    status: outcome.status ?? null,
    answerStart: keptAnswer(outcome.bodyStart, body),
    url,
    requestHeaders: outcome.sentHeaders ? keptRequestHeaders(outcome.sentHeaders) : null,
    answerHeaders: outcome.answerHeaders ? keptAnswerHeaders(outcome.answerHeaders, body) : null,
  };
}
