import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { isId } from '../domain/ids.ts';
import type { Page, PageQuery } from '../domain/page.ts';
import { writeOnce } from '../platform/idempotency/keyed-writes.ts';
import type { IdempotencyContext } from '../platform/idempotency/tag.ts';
import type { WebhookDeps, WithDb } from './deps.ts';
import { getEndpoint } from './endpoints.ts';
import type { PurchaseEventStatus } from './event-rules.ts';
import { sampleBody } from './event-samples.ts';
import type { WebhookEvent } from './events.ts';
import { MAX_RECOVER_MS } from './rules.ts';
import * as store from './store/messages.ts';
import type { Message, MessageQuery } from './store/messages.ts';

interface Command {
  readonly idempotency?: IdempotencyContext | undefined;
}

interface SampleCommand extends Command {
  readonly event: WebhookEvent;
  /** Only for `esim.purchased`. */
  readonly status?: PurchaseEventStatus | undefined;
}

interface RecoverCommand extends Command {
  readonly from: Date;
  /** Default: now. */
  readonly to?: Date | undefined;
}

/** For requests that were exactly 14 days back when they were sent. */
const RANGE_SLACK_MS = 60_000;

/** An id that cannot exist finds nothing. */
export async function listMessages(
  deps: WithDb,
  principal: Principal,
  query: MessageQuery,
): Promise<Page<Message>> {
  const { page, limit, endpointId, eventId, transactionId } = query;
  const isPossible =
    (eventId === undefined || isId('event', eventId)) &&
    (endpointId === undefined || isId('endpoint', endpointId)) &&
    (transactionId === undefined || isId('transaction', transactionId));
  if (!isPossible) return { items: [], total: 0, page, limit };
  return store.listMessages(deps.db, principal.account.id, query);
}

type ReadDeps = Pick<WebhookDeps, 'db' | 'completeBodies'>;

/** With its body as it is sent, as far as the caller may read it. */
export async function getMessage(deps: ReadDeps, principal: Principal, messageId: string): Promise<Message> {
  const message = await findMessage(deps, principal, messageId);
  const [body = message.body] = await deps.completeBodies([message.body], principal);
  return { ...message, body };
}

async function findMessage({ db }: WithDb, { account }: Principal, messageId: string): Promise<Message> {
  return requireFound(await store.findMessage(db, account.id, messageId));
}

/** Each with what was sent, and what was answered. No headers: no connection came about. */
export async function listAttempts(
  deps: ReadDeps,
  principal: Principal,
  messageId: string,
  query: PageQuery,
) {
  const { id, body } = await getMessage(deps, principal, messageId);
  const { items, ...page } = await store.listAttempts(deps.db, id, query);
  const attempts = items.map(({ url, requestHeaders, ...attempt }) => ({
    ...attempt,
    request: { method: 'POST' as const, url, headers: requestHeaders ?? [], body },
  }));
  return { ...page, items: attempts };
}

/** As a message that is delivered. WEBHOOK_ENDPOINT_NOT_FOUND, WEBHOOK_ENDPOINT_DISABLED. */
export async function sendSample(
  deps: WebhookDeps,
  principal: Principal,
  endpointId: string,
  { event, status, idempotency }: SampleCommand,
): Promise<Message> {
  await requireEnabled(deps, principal, endpointId);
  const endpoint = { id: endpointId, accountId: principal.account.id };
  const now = deps.clock.now();
  const body = sampleBody(event, now, status);
  const message = await writeOnce(deps, principal, idempotency, {
    write: async (trx) => {
      const id = await store.addSample(trx, { endpoint, event, body, now });
      return { resultId: id, value: await findMessage({ db: trx }, principal, id) };
    },
    readEarlier: (resultId) => findMessage(deps, principal, resultId),
  });
  return message;
}

/** Starts the whole schedule of the message again. WEBHOOK_MESSAGE_NOT_FOUND, WEBHOOK_ENDPOINT_DISABLED. */
export async function resendMessage(
  deps: WebhookDeps,
  principal: Principal,
  messageId: string,
  idempotency: IdempotencyContext | undefined,
): Promise<Message> {
  const { endpointId } = await findMessage(deps, principal, messageId);
  await requireEnabled(deps, principal, endpointId);
  const now = deps.clock.now();
  const message = await writeOnce(deps, principal, idempotency, {
    write: async (trx) => {
      const reopened = await store.reopenMessage(trx, principal.account.id, messageId, now);
      return { resultId: messageId, value: requireFound(reopened) };
    },
    readEarlier: (resultId) => findMessage(deps, principal, resultId),
  });
  return message;
}

/** How many. VALIDATION_ERROR for the range, WEBHOOK_ENDPOINT_NOT_FOUND, WEBHOOK_ENDPOINT_DISABLED. */
export async function recoverMessages(
  deps: WebhookDeps,
  principal: Principal,
  endpointId: string,
  command: RecoverCommand,
): Promise<number> {
  const now = deps.clock.now();
  const { from, to } = requireRange(command, now);
  await requireEnabled(deps, principal, endpointId);
  return writeOnce(deps, principal, command.idempotency, {
    write: async (trx) => {
      const count = await store.reopenFailed(trx, principal.account.id, endpointId, { from, to, now });
      return { resultId: String(count), value: count };
    },
    readEarlier: (resultId) => Promise.resolve(Number(resultId)),
  });
}

async function requireEnabled(deps: WithDb, principal: Principal, endpointId: string): Promise<void> {
  if ((await getEndpoint(deps, principal, endpointId)).enabled) return;
  throw new DomainError('WEBHOOK_ENDPOINT_DISABLED', 'The endpoint is disabled: enable it first');
}

function requireRange({ from, to }: RecoverCommand, now: Date): { readonly from: Date; readonly to: Date } {
  const end = to ?? now;
  const problems: string[] = [];
  if (from.getTime() < now.getTime() - MAX_RECOVER_MS - RANGE_SLACK_MS)
    problems.push('from: must be at most 14 days ago');
  if (from >= end) problems.push(to ? 'to: must be after from' : 'from: must be in the past');
  if (problems.length === 0) return { from, to: end };
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: problems });
}

function requireFound<T>(found: T | undefined): T {
  if (found !== undefined) return found;
  throw new DomainError('WEBHOOK_MESSAGE_NOT_FOUND', 'Webhook message not found');
}
