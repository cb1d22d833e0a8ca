/**
 * What was sent to an account's endpoints and what came of each attempt; sending samples, and sending again. Only its own, and only in its
 * world. Whatever is to be sent is due in its row first: handing it over only makes it go at once.
 */
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { isId } from '../domain/ids.ts';
import { MAX_RECOVER_MS, sampleBody } from './rules.ts';
import * as attempts from './store/attempts.ts';
import * as messages from './store/messages.ts';
import { writeOnce } from '../platform/idempotency/keyed-writes.ts';
import type { IdempotencyTag } from '../platform/idempotency/tag.ts';
import { requireEnabled } from './endpoints.ts';
import type {
  AttemptView,
  MessageDetailView,
  MessageQuery,
  MessageView,
  PageQuery,
  RecoverCommand,
  SampleCommand,
} from './views.ts';
import type { WebhookDeps } from './deps.ts';
import type { Page } from '../domain/page.ts';

/** A range that began fourteen days ago when its sender looked at a clock still does when it has come here. */
const RANGE_SLACK_MS = 60_000;

export async function listMessages(
  deps: Pick<WebhookDeps, 'db'>,
  principal: Principal,
  query: MessageQuery,
): Promise<Page<MessageView>> {
  const { page, limit, endpointId, transactionId } = query;
  const isPossible =
    (endpointId === undefined || isId('endpoint', endpointId)) &&
    (transactionId === undefined || isId('transaction', transactionId));
  if (!isPossible) return { items: [], total: 0, page, limit };
  const found = await messages.listMessages(deps.db, principal.account.id, query);
  return { ...found, page, limit };
}

export async function getMessage(
  deps: Pick<WebhookDeps, 'db'>,
  principal: Principal,
  messageId: string,
): Promise<MessageDetailView> {
  return requireFound(await messages.findMessage(deps.db, principal.account.id, messageId));
}

export async function listAttempts(
  deps: Pick<WebhookDeps, 'db'>,
  principal: Principal,
  messageId: string,
  query: PageQuery,
): Promise<Page<AttemptView>> {
  const { id } = await getMessage(deps, principal, messageId);
  const found = await attempts.listAttempts(deps.db, id, query);
  return { ...found, page: query.page, limit: query.limit };
}

export async function sendSample(
  deps: WebhookDeps,
  principal: Principal,
  endpointId: string,
  { event, status, idempotency }: SampleCommand,
): Promise<MessageView> {
  await requireEnabled(deps, principal, endpointId);
  const endpoint = { id: endpointId, accountId: principal.account.id };
  const now = deps.clock.now();
  const body = sampleBody(event, now, status);
  const message = await writeOnce<MessageView>(deps, principal, idempotency, {
    act: async (trx) => {
      const id = await messages.addSample(trx, { endpoint, event, body, now });
      return { about: id, value: await getMessage({ db: trx }, principal, id) };
    },
    again: (about) => getMessage(deps, principal, about),
  });
  await deps.webhookEngine.deliver([message.id]);
  return message;
}

export async function resendMessage(
  deps: WebhookDeps,
  principal: Principal,
  messageId: string,
  idempotency: IdempotencyTag | undefined,
): Promise<MessageView> {
  const { endpointId } = await getMessage(deps, principal, messageId);
  await requireEnabled(deps, principal, endpointId);
  const now = deps.clock.now();
  const message = await writeOnce<MessageView>(deps, principal, idempotency, {
    act: async (trx) => {
      const reopened = await messages.reopenMessage(trx, principal.account.id, messageId, now);
      return { about: messageId, value: requireFound(reopened) };
    },
    again: (about) => getMessage(deps, principal, about),
  });
  await deps.webhookEngine.deliver([messageId]);
  return message;
}

export async function recoverMessages(
  deps: WebhookDeps,
  principal: Principal,
  endpointId: string,
  command: RecoverCommand,
): Promise<number> {
  const now = deps.clock.now();
  const { from, to } = requireRange(command, now);
  await requireEnabled(deps, principal, endpointId);
  let reopened: readonly string[] = [];
  const count = await writeOnce(deps, principal, command.idempotency, {
    act: async (trx) => {
      reopened = await messages.reopenFailed(trx, principal.account.id, endpointId, { from, to, now });
      return { about: String(reopened.length), value: reopened.length };
    },
    again: (about) => Promise.resolve(Number(about)),
  });
  await deps.webhookEngine.deliver(reopened);
  return count;
}

function requireRange({ from, to }: RecoverCommand, now: Date): { readonly from: Date; readonly to: Date } {
  const end = to ?? now;
  const isTooOld = from.getTime() < now.getTime() - MAX_RECOVER_MS - RANGE_SLACK_MS;
  const problems = [
    ...(isTooOld ? ['from: must be at most 14 days ago'] : []),
    ...(from < end ? [] : [to ? 'to: must be after from' : 'from: must be in the past']),
  ];
  if (problems.length > 0) {
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: problems.join('; ') });
  }
  return { from, to: end };
}

function requireFound<T>(found: T | undefined): T {
  if (found !== undefined) return found;
  throw new DomainError('WEBHOOK_MESSAGE_NOT_FOUND', 'Webhook message not found');
}
