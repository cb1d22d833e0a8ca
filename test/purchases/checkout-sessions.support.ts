// What an agent sends to the agentic checkout, and what it may get.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { acpError, acpSession } from '../support/http/acp-shapes.ts';
import type { Ask, Reply, TestApi } from '../support/http/api.ts';

export const SESSIONS = '/acp/checkout_sessions';
export const PACKAGE = 'NG-5GB-30D';
export const CREATE = { line_items: [{ id: PACKAGE }], currency: 'usd', capabilities: {} };
const NONE = { type: 'none', token: 'none' };
export const payBy = (handler_id: string, type: string) => ({
  payment_data: { handler_id, instrument: { type, credential: NONE } },
});
export const WALLET = payBy('wallet', 'wallet');
export const CARD = payBy('hosted_page', 'card');

export interface Session {
  readonly id: string;
  readonly status: string;
  readonly quote_id: string;
  readonly continue_url?: string;
  readonly order?: { readonly id: string; readonly permalink_url: string; readonly status: string };
  readonly messages: readonly object[];
}

/** Of the body alone, in the shape of the protocol. */
export function expectRefusal(reply: Reply, status: number, code: string, param?: string): void {
  expect(reply.json, reply.text).toEqual({
    type: 'invalid_request',
    code,
    message: expect.stringMatching(/^\S/) as unknown,
    ...(param === undefined ? {} : { param }),
  });
  expect(reply.status).toBe(status);
}

export const keyed = (key: string = randomUUID()): Ask => ({ headers: { 'idempotency-key': key } });

/** The agent of "usd". */
export function checkoutOf(apiOf: () => TestApi) {
  /** Every answer is one that the protocol allows. */
  async function ask(path: string, given: Ask): Promise<Reply> {
    const reply = await apiOf().ask(`${SESSIONS}${path}`, { key: 'usd', ...given });
    const shape = reply.status < 400 ? acpSession : acpError;
    expect(shape.safeParse(reply.json).error, reply.text).toBeUndefined();
    return reply;
  }
  const post = (path: string, body: object, given: Ask = {}): Promise<Reply> =>
    ask(path, { method: 'POST', body, ...given });
  const read = (id: string, given: Ask = {}): Promise<Reply> => ask(`/${id}`, given);

  async function created(body: object = CREATE, given: Ask = {}): Promise<Session> {
    const reply = await post('', body, given);
    expect(reply.status, reply.text).toBe(201);
    return reply.json as Session;
  }

  async function completed(id: string, body: object = WALLET, given: Ask = {}): Promise<Session> {
    const reply = await post(`/${id}/complete`, body, given);
    expect(reply.status, reply.text).toBe(200);
    return reply.json as Session;
  }

  /** Nothing is bought, and no money moves. */
  async function nothingBought(work: () => Promise<void>): Promise<void> {
    const before = [await apiOf().shop.balance('usd'), await apiOf().shop.purchases('usd')];
    await work();
    expect([await apiOf().shop.balance('usd'), await apiOf().shop.purchases('usd')]).toEqual(before);
  }
  return { post, read, created, completed, nothingBought };
}
