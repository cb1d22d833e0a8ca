/** Examples of the reference for webhook endpoints and messages. */

const AT = '2026-01-31T09:30:00.000Z';
const endpoint = {
  id: 'ep-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  url: 'http://127.0.0.1:4000/hooks',
  events: ['esim.purchased'],
  enabled: true,
  disabledReason: null,
  failingSince: null,
  createdAt: AT,
  updatedAt: AT,
};
const withSecret = { ...endpoint, secret: 'whsec_…' };
const disabled = { ...endpoint, enabled: false, disabledReason: 'BY_OWNER' };
const message = {
  id: 'msg-1b4e28ba2fa14d2e883f0016d3cca427',
  endpointId: endpoint.id,
  event: 'esim.purchased',
  transactionId: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11',
  attempts: 1,
  createdAt: AT,
};
const delivered = {
  ...message,
  status: 'DELIVERED',
  nextAttemptAt: null,
  closedAt: '2026-01-31T09:30:00.180Z',
};
const waiting = { ...message, status: 'PENDING', nextAttemptAt: '2026-01-31T09:30:05.000Z', closedAt: null };
const fresh = { ...waiting, attempts: 0, nextAttemptAt: AT };
const body = JSON.stringify({
  event: 'esim.purchased',
  data: {
    transactionId: message.transactionId,
    status: 'SUCCESS',
    esimId: 'esim-0f8fad5bd9cb469fa16570867728950e',
    iccid: '8944500102030405067',
    qrCodeUrl: 'https://p.qrsim.net/1a2b3c.png',
  },
  timestamp: AT,
});
const attempt = { attempt: 1, at: AT, milliseconds: 180, outcome: 'answered', status: 204, answer: '' };

function pageOf(item: object) {
  const pagination = {
    currentPage: 1,
    totalPages: 1,
    totalItems: 1,
    itemsPerPage: 10,
    hasNextPage: false,
    hasPrevPage: false,
  };
  return { success: true, data: { items: [item], pagination } };
}

/** By operation id. */
export const WEBHOOK_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  createWebhookEndpoint: {
    request: {
      'for purchases': { url: endpoint.url },
      'for events of your choice': { url: endpoint.url, events: ['esim.purchased', 'payment.received'] },
    },
    answers: { 201: { 'with its secret': withSecret } },
  },
  listWebhookEndpoints: { answers: { 200: { 'one endpoint': pageOf(endpoint) } } },
  getWebhookEndpoint: { answers: { 200: { enabled: endpoint, disabled } } },
  updateWebhookEndpoint: {
    request: { disable: { enabled: false }, enable: { enabled: true }, move: { url: endpoint.url } },
    answers: { 200: { disable: disabled, enable: endpoint, move: endpoint } },
  },
  deleteWebhookEndpoint: { answers: { 200: { deleted: { id: endpoint.id, deleted: true } } } },
  rotateWebhookSecret: { answers: { 200: { 'with its new secret': withSecret } } },
  sendWebhookSample: {
    request: {
      'a purchase that failed': { event: 'esim.purchased', status: 'FAILED' },
      'a wallet that runs low': { event: 'wallet.low_balance' },
    },
    answers: { 201: { 'on its way': { ...fresh, transactionId: null } } },
  },
  recoverWebhookMessages: {
    request: { 'since a time': { from: AT } },
    answers: { 200: { 'sent again': { recovered: 12 } } },
  },
  listWebhookMessages: { answers: { 200: { 'one message': pageOf(delivered) } } },
  getWebhookMessage: {
    answers: { 200: { delivered: { ...delivered, body }, 'to be tried again': { ...waiting, body } } },
  },
  listWebhookAttempts: {
    answers: {
      200: {
        answered: pageOf(attempt),
        'no answer': pageOf({ ...attempt, outcome: 'no-connection', status: null }),
      },
    },
  },
  resendWebhookMessage: { answers: { 200: { 'on its way': fresh } } },
};

export interface OperationExamples {
  readonly request?: Examples;
  /** By status. */
  readonly answers: Readonly<Record<number, Examples>>;
}

/** What examples of the reference are: values by the name of the case that each is true for. */
export type Examples = Readonly<Record<string, unknown>>;
