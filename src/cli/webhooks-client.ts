import type { z } from 'zod';
import type { endpointSchema } from '../webhooks/http/endpoints.ts';
import type { attemptPageSchema, messageSchema } from '../webhooks/http/messages.ts';
import { OperatorMistake } from '../platform/command.ts';

export type EndpointJson = z.output<typeof endpointSchema>;
export type MessageJson = z.output<typeof messageSchema>;
export type AttemptJson = z.output<typeof attemptPageSchema>['data']['items'][number];

export interface ApiClient {
  /**
   * The answer's body. Throws OperatorMistake with the API's message, and when nothing answers. The key is
   * never part of it.
   */
  call<T>(method: string, path: string, body?: object): Promise<T>;
  /** The items of one page of a list. */
  list<T>(path: string): Promise<readonly T[]>;
}

/** A refusal. A purchase that failed is one, and names its transaction. */
export class RefusedByApi extends OperatorMistake {
  readonly transactionId: string | undefined;
  constructor(message: string, transactionId: string | undefined) {
    super(message);
    this.transactionId = transactionId;
  }
}

/** Longer than the longest answer of the API, which is a purchase. */
const TIME_LIMIT_MS = 30_000;

export function createApiClient({ apiUrl, key }: { apiUrl: string; key: string }): ApiClient {
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await fetch(new URL(path, apiUrl), {
      method,
      headers: { 'X-API-Key': key, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    }).catch(() => {
      throw new OperatorMistake(`Nothing answers at ${apiUrl}: is \`npm start\` running?`);
    });
    const text = await answer.text();
    if (!answer.ok) {
      const { message, transactionId } = refusalOf(text);
      throw new RefusedByApi(`${method} ${path}: ${answer.status} ${message}`, transactionId);
    }
    return JSON.parse(text) as T;
  };
  return {
    call,
    list: async <T>(path: string) => (await call<{ data: { items: readonly T[] } }>('GET', path)).data.items,
  };
}

interface Refusal {
  readonly message?: string;
  readonly transactionId?: string;
}

/** Of any body of docs/ERRORS.md. */
function refusalOf(text: string): { readonly message: string; readonly transactionId?: string | undefined } {
  try {
    const body = JSON.parse(text) as Refusal & { readonly error?: string | Refusal };
    const { message, transactionId } = typeof body.error === 'object' ? body.error : body;
    return { message: message ?? text, transactionId };
  } catch {
    return { message: text.slice(0, 200) };
  }
}
