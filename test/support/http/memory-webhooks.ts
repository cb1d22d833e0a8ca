/**
 * Webhook endpoints, messages and the low balance, kept in memory: enough to test the HTTP door. Nothing is sent; a test closes messages and
 * writes attempts itself.
 */
import type { Bound } from '../../../src/platform/composition/bind.ts';
import type { WorldUseCases } from '../../../src/platform/composition/world-use-cases.ts';
import type { webhookUseCases } from '../../../src/webhooks/use-cases.ts';
import type { Environment, Principal } from '../../../src/domain/account.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { makeId } from '../../../src/domain/ids.ts';
import { DEFAULT_EVENTS, MAX_ENDPOINTS, sampleBody } from '../../../src/webhooks/rules.ts';
import type { IdempotencyTag, StoredAnswer } from '../../../src/platform/idempotency/tag.ts';
import type { Endpoint } from '../../../src/webhooks/store/endpoints.ts';
import type { Attempt, Message, PageQuery } from '../../../src/webhooks/store/messages.ts';
import { NOW } from './goods.ts';
import type { Page } from '../../../src/domain/page.ts';

interface Owned {
  readonly environment: Environment;
  readonly accountId: string;
}

export interface MemoryWebhooks {
  endpoints: (Endpoint & Owned)[];
  messages: (Message & Owned)[];
  readonly attempts: Map<string, Attempt[]>;
  readonly thresholds: Map<string, bigint>;
  /** Hosts that the address guard refuses. */
  readonly refusedHosts: Set<string>;
  made: number;
}

interface WebhookShop {
  readonly webhooks: MemoryWebhooks;
  readonly answers: Map<string, { tag: IdempotencyTag; answer?: StoredAnswer }>;
}

export function createMemoryWebhooks(): MemoryWebhooks {
  return {
    endpoints: [],
    messages: [],
    attempts: new Map(),
    thresholds: new Map(),
    refusedHosts: new Set(['10.0.0.1']),
    made: 0,
  };
}

/** The n-th secret that the memory shop makes: no real one looks like it. */
export const secretOf = (number: number): string => `whsec_secret${number}`;

function pageOf<T>(all: readonly T[], { page, limit }: PageQuery): Page<T> {
  const start = (page - 1) * limit;
  return { items: all.slice(start, start + limit), total: all.length, page, limit };
}

/** `begin` notes the call and throws what the test wants thrown. */
export function webhookVerbs(
  environment: Environment,
  begin: (name: string) => WebhookShop,
): Bound<typeof webhookUseCases> & Pick<WorldUseCases, 'getLowBalance' | 'setLowBalance'> {
  const isOwn = (principal: Principal, owned: Owned): boolean =>
    owned.environment === environment && owned.accountId === principal.account.id;
  const endpointOf = ({ webhooks }: WebhookShop, principal: Principal, id: string): Endpoint & Owned => {
    const found = webhooks.endpoints.find((one) => one.id === id && isOwn(principal, one));
    if (!found) throw new DomainError('WEBHOOK_ENDPOINT_NOT_FOUND', 'Webhook endpoint not found');
    return found;
  };
  const messageOf = ({ webhooks }: WebhookShop, principal: Principal, id: string): Message & Owned => {
    const found = webhooks.messages.find((one) => one.id === id && isOwn(principal, one));
    if (!found) throw new DomainError('WEBHOOK_MESSAGE_NOT_FOUND', 'Webhook message not found');
    return found;
  };
  const keep = (shop: WebhookShop, principal: Principal, tag: IdempotencyTag | undefined): void => {
    if (tag) shop.answers.set(`${principal.account.id} ${tag.key}`, { tag });
  };
  const checkUrl = ({ webhooks }: WebhookShop, url: string | undefined): void => {
    if (url === undefined || !webhooks.refusedHosts.has(URL.parse(url)?.hostname ?? '')) return;
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
      details: 'url: must use a public address',
    });
  };
  const replace = <T extends { readonly id: string }>(list: T[], changed: T): T[] =>
    list.map((one) => (one.id === changed.id ? changed : one));
  const requireEnabled = (endpoint: Endpoint): void => {
    if (!endpoint.enabled)
      throw new DomainError('WEBHOOK_ENDPOINT_DISABLED', 'The endpoint is disabled: enable it first');
  };
  const nextId = ({ webhooks }: WebhookShop, kind: 'endpoint' | 'message'): string => {
    webhooks.made += 1;
    return makeId(kind, String(webhooks.made).padStart(32, '0'));
  };

  return {
    async createEndpoint(principal, { url, events = DEFAULT_EVENTS, idempotency }) {
      const shop = begin('createEndpoint');
      await Promise.resolve();
      checkUrl(shop, url);
      if (shop.webhooks.endpoints.filter((one) => isOwn(principal, one)).length >= MAX_ENDPOINTS)
        throw new DomainError('WEBHOOK_ENDPOINT_LIMIT', `An account has at most ${MAX_ENDPOINTS} endpoints`);
      keep(shop, principal, idempotency);
      const endpoint: Endpoint & Owned = {
        id: nextId(shop, 'endpoint'),
        url,
        events,
        enabled: true,
        disabledReason: null,
        failingSince: null,
        createdAt: NOW,
        updatedAt: NOW,
        environment,
        accountId: principal.account.id,
      };
      shop.webhooks.endpoints.push(endpoint);
      return { endpoint, secret: secretOf(shop.webhooks.made) };
    },
    async listEndpoints(principal, query) {
      const { webhooks } = begin('listEndpoints');
      await Promise.resolve();
      return pageOf(
        webhooks.endpoints.filter((one) => isOwn(principal, one)),
        query,
      );
    },
    async getEndpoint(principal, id) {
      const shop = begin('getEndpoint');
      await Promise.resolve();
      return endpointOf(shop, principal, id);
    },
    async updateEndpoint(principal, id, { enabled, ...change }) {
      const shop = begin('updateEndpoint');
      await Promise.resolve();
      const found = endpointOf(shop, principal, id);
      checkUrl(shop, change.url);
      const reason = enabled === true ? null : 'BY_OWNER';
      const moved = enabled === undefined ? {} : ({ enabled, disabledReason: reason } as const);
      const { url = found.url, events = found.events } = change;
      const changed = { ...found, url, events, ...moved };
      shop.webhooks.endpoints = replace(shop.webhooks.endpoints, changed);
      return changed;
    },
    async deleteEndpoint(principal, id) {
      const shop = begin('deleteEndpoint');
      await Promise.resolve();
      const found = endpointOf(shop, principal, id);
      shop.webhooks.endpoints = shop.webhooks.endpoints.filter((one) => one !== found);
    },
    async rotateEndpointSecret(principal, id, tag) {
      const shop = begin('rotateEndpointSecret');
      await Promise.resolve();
      const endpoint = endpointOf(shop, principal, id);
      keep(shop, principal, tag);
      shop.webhooks.made += 1;
      return { endpoint, secret: secretOf(shop.webhooks.made) };
    },
    async sendSample(principal, id, { event, status, idempotency }) {
      const shop = begin('sendSample');
      await Promise.resolve();
      requireEnabled(endpointOf(shop, principal, id));
      keep(shop, principal, idempotency);
      const message: Message & Owned = {
        id: nextId(shop, 'message'),
        endpointId: id,
        event,
        transactionId: null,
        status: 'PENDING',
        attempts: 0,
        nextAttemptAt: NOW,
        createdAt: NOW,
        closedAt: null,
        body: sampleBody(event, NOW, status),
        environment,
        accountId: principal.account.id,
      };
      shop.webhooks.messages.push(message);
      return message;
    },
    async recoverMessages(principal, id, { from, to = NOW, idempotency }) {
      const shop = begin('recoverMessages');
      await Promise.resolve();
      requireEnabled(endpointOf(shop, principal, id));
      keep(shop, principal, idempotency);
      const failed = shop.webhooks.messages.filter(
        (one) =>
          one.endpointId === id && one.status === 'FAILED' && one.createdAt >= from && one.createdAt <= to,
      );
      for (const one of failed)
        shop.webhooks.messages = replace(shop.webhooks.messages, {
          ...one,
          status: 'PENDING',
          nextAttemptAt: NOW,
          closedAt: null,
        });
      return failed.length;
    },
    async listMessages(principal, { page, limit, from, to, ...wanted }) {
      const { webhooks } = begin('listMessages');
      await Promise.resolve();
      const found = webhooks.messages
        .filter((one) => isOwn(principal, one))
        .filter(
          (one) => (from === undefined || one.createdAt >= from) && (to === undefined || one.createdAt < to),
        )
        .filter((one) =>
          Object.entries(wanted).every(([name, value]) => one[name as keyof typeof one] === value),
        );
      return pageOf(found, { page, limit });
    },
    async getMessage(principal, id) {
      const shop = begin('getMessage');
      await Promise.resolve();
      return messageOf(shop, principal, id);
    },
    async listAttempts(principal, id, query) {
      const shop = begin('listAttempts');
      await Promise.resolve();
      return pageOf(shop.webhooks.attempts.get(messageOf(shop, principal, id).id) ?? [], query);
    },
    async resendMessage(principal, id, tag) {
      const shop = begin('resendMessage');
      await Promise.resolve();
      const found = messageOf(shop, principal, id);
      requireEnabled(endpointOf(shop, principal, found.endpointId));
      keep(shop, principal, tag);
      const changed = { ...found, status: 'PENDING', nextAttemptAt: NOW, closedAt: null } as const;
      shop.webhooks.messages = replace(shop.webhooks.messages, changed);
      return changed;
    },
    async getLowBalance({ account }) {
      const { webhooks } = begin('getLowBalance');
      await Promise.resolve();
      const amountMinor = webhooks.thresholds.get(`${environment} ${account.id}`);
      return amountMinor === undefined ? null : { amountMinor, currency: account.currency };
    },
    async setLowBalance({ account }, thresholdMinor) {
      const { webhooks } = begin('setLowBalance');
      await Promise.resolve();
      if (thresholdMinor === null) webhooks.thresholds.delete(`${environment} ${account.id}`);
      else webhooks.thresholds.set(`${environment} ${account.id}`, thresholdMinor);
      return thresholdMinor === null ? null : { amountMinor: thresholdMinor, currency: account.currency };
    },
  };
}
