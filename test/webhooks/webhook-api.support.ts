// A merchant on the whole service, using only the API: endpoints at its own inbox, and reads of its messages.
import { expect } from 'vitest';
import type { z } from 'zod';
import type { newEndpointSchema } from '../../src/webhooks/http/endpoints.ts';
import type { attemptPageSchema, messageDetailSchema } from '../../src/webhooks/http/messages.ts';
import type { Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { startInbox } from '../support/people/webhook-inbox.ts';

export const ENDPOINTS = '/api/webhooks/endpoints';
export const MESSAGES = '/api/webhooks/messages';

export interface Reply<T> {
  readonly status: number;
  readonly text: string;
  readonly replayed: string | null;
  readonly body: T;
}

export type Endpoint = z.infer<typeof newEndpointSchema>;
export type Message = z.infer<typeof messageDetailSchema>;
type Attempts = z.infer<typeof attemptPageSchema>;

export interface List<T> {
  readonly data: { readonly items: readonly T[]; readonly pagination: { readonly totalItems: number } };
}

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** Close its inbox afterwards. */
export async function openShop(stack: Stack) {
  const [inbox, account] = await Promise.all([startInbox(), stack.account()]);
  const ask = async <T>(
    method: string,
    path: string,
    body?: unknown,
    { idempotencyKey = '' } = {},
  ): Promise<Reply<T>> => {
    const answer = await stack.call(method, path, {
      key: account.apiKey,
      body,
      ...(idempotencyKey === '' ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
    });
    return {
      status: answer.status,
      text: answer.text,
      replayed: answer.headers.get('idempotent-replayed'),
      body: answer.body as unknown as T,
    };
  };
  const readMessage = async (id: string): Promise<Message> =>
    (await ask<Message>('GET', `${MESSAGES}/${id}`)).body;
  return {
    account,
    inbox,
    ask,
    readMessage,
    /** A new endpoint at this path of the inbox. */
    add: async (path: string, events?: readonly string[]) => {
      const url = inbox.url + path;
      const { status, body } = await ask<Endpoint>('POST', ENDPOINTS, { url, ...(events ? { events } : {}) });
      expect(status).toBe(201);
      return body;
    },
    sample: async ({ id }: Pick<Endpoint, 'id'>, event = 'esim.purchased') => {
      const { status, body } = await ask<Message>('POST', `${ENDPOINTS}/${id}/sample`, { event });
      expect(status).toBe(201);
      return body;
    },
    /** A purchase from the wallet; answers the id of its message. */
    bought: async () => {
      const body = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };
      const { transactionId } = (await ask<{ transactionId: string }>('POST', '/api/esim/buy', body)).body;
      const found = await until(
        () => ask<List<Message>>('GET', `${MESSAGES}?transactionId=${transactionId}`),
        ({ body: { data } }) => data.items.length > 0,
        { what: `the message of ${transactionId}` },
      );
      return found.body.data.items[0]!.id;
    },
    attemptsAt: async (id: string) =>
      (await ask<Attempts>('GET', `${MESSAGES}/${id}/attempts`)).body.data.items,
    untilMessage: (id: string, isSo: (message: Message) => boolean) =>
      until(() => readMessage(id), isSo, { what: id }),
  };
}

export const isDelivered = ({ status }: Message): boolean => status === 'DELIVERED';
