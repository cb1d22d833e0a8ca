// The OpenAPI test's requests to the webhook routes, in order: each row builds on the earlier ones, and the
// memory shop numbers the ids.
import type { Ask } from './api.ts';

const ENDPOINTS = '/api/webhooks/endpoints';
const MESSAGES = '/api/webhooks/messages';
const EVENTS = '/api/events';
const LOW_BALANCE = '/api/wallet/low-balance';
const EP = `ep-${'1'.padStart(32, '0')}`;
const MSG = `msg-${'1'.padStart(32, '0')}`;
const NONE = 'f'.repeat(32);
const key = 'ngn';

/** One expected answer: target, request, status. */
export type DocumentedAsk = readonly [target: string, ask: Ask, status: number];

const one = (way: string, id = EP): string => `${ENDPOINTS}/${id}${way}`;
const message = (way: string, id = MSG): string => `${MESSAGES}/${id}${way}`;
const from = new Date(Date.now() - 3_600_000).toISOString();

export const WEBHOOK_ASKS: readonly DocumentedAsk[] = [
  [ENDPOINTS, { key, body: { url: 'https://a.example.com/hook' } }, 201],
  [ENDPOINTS, { key, body: { url: 'https://10.0.0.1/' } }, 400],
  [ENDPOINTS, { key, body: {} }, 400],
  [ENDPOINTS, { key: 'readonly', body: { url: 'https://a.example.com/' } }, 403],
  [ENDPOINTS, { key }, 200],
  [one('/sample'), { key, body: { event: 'esim.purchased', status: 'FAILED' } }, 201],
  [one('/sample'), { key, body: { event: 'no.such' } }, 400],
  [one('/sample', `ep-${NONE}`), { key, body: { event: 'esim.purchased' } }, 404],
  [one(''), { key }, 200],
  [one('', 'x'), { key }, 404],
  [one(''), { key, method: 'PATCH', body: { events: ['payment.received'] } }, 200],
  [one(''), { key, method: 'PATCH', body: {} }, 400],
  [one('/rotate-secret'), { key, method: 'POST' }, 200],
  [one('/recover'), { key, body: { from } }, 200],
  [one('/recover'), { key, body: { from: 'yesterday' } }, 400],
  [`${MESSAGES}?endpointId=${EP}&status=PENDING&from=${from}`, { key }, 200],
  [`${MESSAGES}?status=SENT`, { key }, 400],
  [message(''), { key }, 200],
  [message('', `msg-${NONE}`), { key }, 404],
  [message('/attempts'), { key }, 200],
  [message('/resend'), { key, method: 'POST' }, 200],
  [message('/resend'), { method: 'POST' }, 401],
  [one(''), { key, method: 'PATCH', body: { enabled: false } }, 200],
  [message('/resend'), { key, method: 'POST' }, 400],
  [one(''), { key, method: 'DELETE' }, 200],
  [one(''), { key, method: 'DELETE' }, 404],
  [`${EVENTS}?limit=5&event=esim.purchased`, { key }, 200],
  [`${EVENTS}?after=x`, { key }, 400],
  [EVENTS, {}, 401],
  [LOW_BALANCE, { key }, 200],
  [LOW_BALANCE, { key, method: 'PUT', body: { amount: 12.5 } }, 200],
  [LOW_BALANCE, { key }, 200],
  [LOW_BALANCE, { key, method: 'PUT', body: { amount: null } }, 200],
  [LOW_BALANCE, { key, method: 'PUT', body: { amount: -1 } }, 400],
];
