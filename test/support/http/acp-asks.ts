// One request for each answer of agentic checkout, in an order in which they can be asked.
import type { DocumentedAsk } from './webhook-asks.ts';

const key = 'ngn';
const SESSIONS = '/acp/checkout_sessions';
/** The first one that is made. */
const SESSION = `${SESSIONS}/checkout-00000000000000000000000000000001`;
const CREATE = { line_items: [{ id: 'NG-5GB-30D' }], currency: 'ngn', capabilities: {} };
const instrument = { type: 'wallet', credential: { type: 'none', token: 'none' } };
const PAY = { payment_data: { handler_id: 'wallet', instrument } };
const UNKNOWN = { payment_data: { handler_id: 'card_tokenized', instrument } };

export const ACP_ASKS: readonly DocumentedAsk[] = [
  ['/.well-known/acp.json', {}, 200],
  [SESSIONS, { key, body: CREATE }, 201],
  [SESSIONS, { key, body: {} }, 400],
  [SESSIONS, { key, body: CREATE, headers: { 'api-version': '2025-09-29' } }, 400],
  [SESSIONS, { key, body: CREATE, headers: { 'idempotency-key': [] } }, 400],
  [SESSIONS, { key, body: { ...CREATE, line_items: [{ id: 'X' }] } }, 404],
  [SESSIONS, { key, rawBody: '{' }, 400],
  [SESSIONS, { key: 'readonly', body: CREATE }, 403],
  [SESSIONS, { body: CREATE }, 401],
  [SESSIONS, { key: 'live/ngn', body: CREATE }, 503],
  [SESSION, { key }, 200],
  [SESSION, { key: 'usd' }, 404],
  [SESSION, { key, body: CREATE }, 200],
  [`${SESSION}/complete`, { key, body: UNKNOWN }, 400],
  [`${SESSION}/complete`, { key, body: PAY, headers: { 'idempotency-key': 'complete' } }, 200],
  [`${SESSION}/complete`, { key, body: UNKNOWN, headers: { 'idempotency-key': 'complete' } }, 422],
  [`${SESSION}/cancel`, { key, body: {} }, 405],
  [SESSION, { key, body: CREATE }, 409],
  [SESSIONS, { key, body: CREATE }, 201],
  [`${SESSION.slice(0, -1)}2/cancel`, { key, body: {} }, 200],
];
