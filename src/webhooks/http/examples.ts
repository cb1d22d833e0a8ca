/** Examples of the reference: webhook endpoints, their messages and the feed of events. */
import { presentPage } from '../../platform/http/page.ts';
import {
  ESIM,
  ICCID,
  OPENED,
  QR_CODE_URL,
  TRANSACTION,
  type ExamplesByOperation,
} from '../../platform/http/docs/sample.ts';

const endpoint = {
  id: 'ep-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  url: 'http://127.0.0.1:4000/hooks',
  events: ['esim.purchased'],
  enabled: true,
  disabledReason: null,
  failingSince: null,
  createdAt: OPENED,
  updatedAt: OPENED,
};
const withSecret = { ...endpoint, secret: 'whsec_…' };
const disabled = { ...endpoint, enabled: false, disabledReason: 'BY_OWNER' };
const message = {
  id: 'msg-1b4e28ba2fa14d2e883f0016d3cca427',
  eventId: 'evt-3f2504e04f8941d39a0c0305e82c3301',
  endpointId: endpoint.id,
  event: 'esim.purchased',
  transactionId: TRANSACTION,
  attempts: 1,
  createdAt: OPENED,
};
const delivered = {
  ...message,
  status: 'DELIVERED',
  nextAttemptAt: null,
  closedAt: '2026-01-31T09:30:00.180Z',
};
const waiting = { ...message, status: 'PENDING', nextAttemptAt: '2026-01-31T09:30:05.000Z', closedAt: null };
const fresh = { ...waiting, attempts: 0, nextAttemptAt: OPENED };
const purchased = {
  event: 'esim.purchased',
  data: {
    transactionId: message.transactionId,
    status: 'SUCCESS',
    esimId: ESIM,
    iccid: ICCID,
    qrCodeUrl: QR_CODE_URL,
  },
  timestamp: OPENED,
};
const messageBody = JSON.stringify(purchased);
const feedOf = (items: readonly object[], hasMore: boolean) => ({
  success: true,
  data: { items, nextCursor: 'AAAAAAAAEtYAAAAAAAAAAHrS5k0pWQ4c', hasMore },
});
const attempt = { attempt: 1, at: OPENED, milliseconds: 180, outcome: 'answered', status: 204, answer: '' };

const request = {
  method: 'POST',
  url: 'https://shop.example/hooks',
  headers: [
    { name: 'content-type', value: 'application/json' },
    { name: 'webhook-id', value: 'evt-3f2504e04f8941d39a0c0305e82c3301' },
    { name: 'webhook-timestamp', value: '1769851800' },
    { name: 'webhook-signature', value: 'v1,K5oZfzN9…' },
  ],
  body: `{"event":"esim.purchased","data":{"transactionId":"${TRANSACTION}","status":"PROCESSING","esimId":"","iccid":"","qrCodeUrl":""},"timestamp":"${OPENED}"}`,
};

/** Fields of an attempt. */
const answered = { request, answerHeaders: [{ name: 'server', value: 'nginx' }] };
const unanswered = { request: { ...request, headers: [] }, answerHeaders: null };

/** A list with this one item. */
const pageOf = (item: object) => presentPage({ items: [item], total: 1, page: 1, limit: 10 }, (one) => one);

export const WEBHOOK_EXAMPLES: ExamplesByOperation = {
  createWebhookEndpoint: {
    request: {
      'for purchases': { url: endpoint.url },
      'for events of your choice': { url: endpoint.url, events: ['esim.purchased', 'payment.received'] },
    },
    201: { 'with its secret': withSecret },
  },
  listWebhookEndpoints: { 200: { 'one endpoint': pageOf(endpoint) } },
  getWebhookEndpoint: { 200: { enabled: endpoint, disabled } },
  updateWebhookEndpoint: {
    request: { disable: { enabled: false }, enable: { enabled: true }, move: { url: endpoint.url } },
    200: { disable: disabled, enable: endpoint, move: endpoint },
  },
  deleteWebhookEndpoint: { 200: { deleted: { id: endpoint.id, deleted: true } } },
  rotateWebhookSecret: { 200: { 'with its new secret': withSecret } },
  sendWebhookSample: {
    request: {
      'a purchase that failed': { event: 'esim.purchased', status: 'FAILED' },
      'a wallet that runs low': { event: 'wallet.low_balance' },
    },
    201: { 'on its way': { ...fresh, eventId: null, transactionId: null } },
  },
  recoverWebhookMessages: {
    request: { 'since a time': { from: OPENED } },
    200: { 'sent again': { recovered: 12 } },
  },
  listWebhookMessages: { 200: { 'one message': pageOf(delivered) } },
  getWebhookMessage: {
    200: {
      delivered: { ...delivered, body: messageBody },
      'to be tried again': { ...waiting, body: messageBody },
    },
  },
  listWebhookAttempts: {
    200: {
      answered: pageOf({ ...attempt, ...answered }),
      'no answer': pageOf({ ...attempt, outcome: 'no-connection', status: null, ...unanswered }),
    },
  },
  listEvents: {
    200: {
      'one event': feedOf([{ id: message.eventId, ...purchased }], false),
      'nothing new': feedOf([], false),
    },
  },
  resendWebhookMessage: { 200: { 'on its way': fresh } },
};
