/** Retrying what can be retried, and events that nothing matches. */
import { z } from 'zod';
import { text, namedObject, dataObject } from '../../platform/http/answer-fields.ts';
import { anyId, operatorRoutes } from '../../platform/http/ops-route.ts';
import type { Route } from '../../platform/http/route.ts';
import { noteTransaction } from '../../platform/telemetry/subject.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { flag, ONE, reason } from './shared.ts';

const EVENT_ID = /^event-\d{1,18}$/;
const routes = operatorRoutes<OperatorCases>('Actions', {
  transactionId: anyId,
  eventId: {
    description: 'The `event-<number>` of an event, as the stuck list names it',
    example: 'event-42',
    isPossible: (text) => EVENT_ID.test(text),
    notFound: { code: 'NOT_FOUND', message: 'No unmatched gateway event has this id' },
  },
});

const replayBody = namedObject('ReplayRequest', {
  reason,
  dryRun: flag.default(false).describe('true: changes nothing and answers what would be done'),
});

const statusWords = text('Status and state; null if it is not a purchase or funding').nullable();

const replaySchema = dataObject('Replay', {
  transactionId: z.string(),
  before: statusWords,
  after: statusWords,
  steps: z.array(
    z.object({
      step: z.string().meta({ example: 'check-gateway' }),
      outcome: z.enum(['done', 'waits-for-approval', 'refused', 'unknown', 'would-do']),
      detail: z.string(),
    }),
  ),
});

const dismissBody = namedObject('DismissRequest', { reason });
export const replayRoutes: readonly Route<OperatorCases>[] = [
  routes.post(`${ONE}/replay`, {
    permission: 'replay',
    body: replayBody,
    answer: [200, 'What was done', replaySchema],
    operationId: 'replay',
    summary: 'Retry every step that can be retried',
    description:
      'Applies stored events, sends messages again, checks the gateway, then the supplier, then retries the delivery, and stops when one ' +
      'of them has settled it. Takes every id of the stuck list, also events and messages without a transaction.',
    async handle({ cases, session, params, body }) {
      const report = await cases.replay(session, params.transactionId, body);
      noteTransaction(report.transactionId);
      return report;
    },
  }),
  routes.post('/ops/events/{eventId}/dismiss', {
    permission: 'reconcile',
    body: dismissBody,
    answer: 'Removed from the list',
    operationId: 'dismissEvent',
    summary: 'Ignore an unmatched gateway event',
    description:
      'For events of class `inbox-without-purchase` in the stuck list, once you know what they are about.',
    handle: ({ cases, session, params, body }) => cases.dismissEvent(session, params.eventId, body.reason),
  }),
];
