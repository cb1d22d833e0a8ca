import type { z } from 'zod';
import { isId } from '../../domain/ids.ts';
import { noteTransaction } from '../../platform/telemetry/subject.ts';
import { toJson } from '../../platform/http/json.ts';
import type { PathParameter, Route } from '../../platform/http/route.ts';
import { anyId, opsRoutesFor, transactionId, environmentQuery } from '../../platform/http/ops-route.ts';
import {
  presentActionRecord,
  presentEffect,
  presentActions,
  presentPurchaseTimeline,
  presentStuck,
  actionAnswer,
} from './present.ts';
import {
  dismissBody,
  actionBody,
  actionDecisionBody,
  actionDoneSchema,
  actionEffectSchema,
  actionRefusedSchema,
  actionWaitsSchema,
  actionsSchema,
  replayBody,
  replaySchema,
  purchaseTimelineSchema,
  stuckPageSchema,
  stuckQuery,
  waitingActionsSchema,
} from './schema.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { doneSchema, dataAnswer } from '../../platform/http/answer-fields.ts';

const defineOpsRoute = opsRoutesFor<OperatorCases>();

const TAG = 'Purchases';
const ACTIONS_TAG = 'Actions';
const ONE = '/ops/purchases/{transactionId}';
const EVENT_ID = /^event-\d{1,18}$/;

const actionId: PathParameter = {
  description: 'The `actionId` of an action that waits for approval',
  example: 'action-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('action', text),
  notFound: { code: 'NOT_FOUND', message: 'No such action' },
};

const stuckRoute = defineOpsRoute({
  method: 'GET',
  path: '/ops/stuck',
  permission: 'see',
  query: stuckQuery,
  responses: { 200: { description: 'One page, the longest stuck first', schema: stuckPageSchema } },
  docs: {
    operationId: 'listStuck',
    tag: TAG,
    summary: 'List stuck purchases and payments',
    description:
      'One line for each cause, with what to do next. Items within their time limit are not listed.',
  },
  async handle({ cases, query }) {
    const { page, limit, class: wanted, olderThanSeconds, currency } = query;
    const classes = wanted === undefined ? undefined : [wanted];
    const stuck = await cases.listStuck({ page, limit, olderThanSeconds, classes, currency });
    return { status: 200, body: toJson(presentStuck(stuck)) };
  },
});

const timelineRoute = defineOpsRoute({
  method: 'GET',
  path: ONE,
  permission: 'see',
  params: { transactionId: anyId },
  query: environmentQuery,
  responses: { 200: { description: 'Everything that happened', schema: purchaseTimelineSchema } },
  docs: {
    operationId: 'getPurchaseTimeline',
    tag: TAG,
    summary: 'Read what happened to a purchase or a funding',
    description:
      'How it stands, its money, the vendors’ side, and a timeline of everything that happened, ours and theirs. No activation code, PIN ' +
      'or PUK is in it.',
  },
  async handle({ cases, params }) {
    const timeline = await cases.readTimeline(params['transactionId'] ?? '');
    noteTransaction(timeline.transactionId);
    return dataAnswer(presentPurchaseTimeline(timeline));
  },
});

const ABOUT_ONE = {
  params: { transactionId },
  query: environmentQuery,
} as const;

const ACTION_RESPONSES = {
  200: { description: 'Done', schema: actionDoneSchema },
  202: { description: 'It waits for a second person', schema: actionWaitsSchema },
  409: {
    description: '`ACTION_REFUSED`: not possible now, and nothing was done',
    schema: actionRefusedSchema,
  },
};

const actionsRoute = defineOpsRoute({
  ...ABOUT_ONE,
  method: 'GET',
  path: `${ONE}/actions`,
  permission: 'see',
  responses: { 200: { description: 'Available actions and past ones', schema: actionsSchema } },
  docs: {
    operationId: 'listActions',
    tag: ACTIONS_TAG,
    summary: 'List available actions and past ones',
    description:
      'The actions that are possible now, those your role may take, what a replay would do, and every attempt so far.',
  },
  async handle({ cases, session, params }) {
    const id = params['transactionId'] ?? '';
    noteTransaction(id);
    const actions = await cases.listActions(id);
    return dataAnswer(presentActions(actions, session.person.role));
  },
});

const actionRoute = defineOpsRoute({
  ...ABOUT_ONE,
  method: 'POST',
  path: `${ONE}/actions`,
  permission: 'action',
  body: actionBody,
  responses: ACTION_RESPONSES,
  docs: {
    operationId: 'performAction',
    tag: ACTIONS_TAG,
    summary: 'Take an action',
    description:
      'Recorded under your name with your reason. `getMe` lists the actions your role may take. The same action sent twice is done once. ' +
      'An amount above a limit, by itself or with what was moved within 24 hours, waits for a second person.',
  },
  async handle({ cases, session, params, body, context }) {
    const request = requestedAction(params['transactionId'] ?? '', body);
    noteTransaction(request.transactionId);
    return actionAnswer(await cases.makeAction(session, request, context));
  },
});

function requestedAction(
  transactionId: string,
  { amount: amountMinor, currency, override: overrides, ...asked }: z.output<typeof actionBody>,
) {
  const amount = amountMinor === undefined || currency === undefined ? undefined : { amountMinor, currency };
  return { ...asked, transactionId, amount, overrides };
}

const actionPreviewRoute = defineOpsRoute({
  ...ABOUT_ONE,
  method: 'POST',
  path: `${ONE}/actions/preview`,
  permission: 'action',
  body: actionBody,
  responses: { 200: { description: 'What it would do now', schema: actionEffectSchema } },
  docs: {
    operationId: 'previewAction',
    tag: ACTIONS_TAG,
    summary: 'Preview an action',
    description:
      'The same request as for the action itself. Runs the effect in a transaction and rolls it back. No vendor is asked, so the real ' +
      'outcome may differ.',
  },
  async handle({ cases, session, params, body, context }) {
    const request = requestedAction(params['transactionId'] ?? '', body);
    noteTransaction(request.transactionId);
    return dataAnswer(presentEffect(await cases.previewAction(session, request, context)));
  },
});

const replayRoute = defineOpsRoute({
  ...ABOUT_ONE,
  params: { transactionId: anyId },
  method: 'POST',
  path: `${ONE}/replay`,
  permission: 'replay',
  body: replayBody,
  responses: { 200: { description: 'What was done', schema: replaySchema } },
  docs: {
    operationId: 'replay',
    tag: ACTIONS_TAG,
    summary: 'Retry every step that can be retried',
    description:
      'Applies stored events, sends messages again, checks the gateway, then the supplier, then retries the delivery, and stops when one ' +
      'of them has settled it. Takes every id of the stuck list, also events and messages without a transaction.',
  },
  async handle({ cases, session, params, body }) {
    const report = await cases.replay(session, params['transactionId'] ?? '', body);
    noteTransaction(report.transactionId);
    return dataAnswer(report);
  },
});

const eventId: PathParameter = {
  description: 'The `event-<number>` of an event, as the stuck list names it',
  example: 'event-42',
  isPossible: (text) => EVENT_ID.test(text),
  notFound: { code: 'NOT_FOUND', message: 'No unmatched gateway event has this id' },
};

const dismissRoute = defineOpsRoute({
  method: 'POST',
  path: '/ops/events/{eventId}/dismiss',
  permission: 'reconcile',
  params: { eventId },
  query: environmentQuery,
  body: dismissBody,
  responses: { 200: { description: 'Removed from the list', schema: doneSchema } },
  docs: {
    operationId: 'dismissEvent',
    tag: ACTIONS_TAG,
    summary: 'Ignore an unmatched gateway event',
    description:
      'For events of class `inbox-without-purchase` in the stuck list, once you know what they are about.',
  },
  async handle({ cases, session, params, body }) {
    await cases.dismissEvent(session, params['eventId'] ?? '', body.reason);
    return dataAnswer({ done: true });
  },
});

const waitingRoute = defineOpsRoute({
  method: 'GET',
  path: '/ops/actions/pending',
  permission: 'see',
  query: environmentQuery,
  responses: { 200: { description: 'Oldest first', schema: waitingActionsSchema } },
  docs: {
    operationId: 'listWaitingActions',
    tag: ACTIONS_TAG,
    summary: 'List actions that await a second approval',
    description:
      'Anyone with the role may decide, except the requester. An approver must be independent of the requester: within the last 24 hours ' +
      'neither gave or confirmed the other’s access, and no third person did so for both.',
  },
  async handle({ cases }) {
    return dataAnswer({ items: (await cases.listWaitingActions()).map(presentActionRecord) });
  },
});

const approvalPreviewRoute = defineOpsRoute({
  method: 'GET',
  path: '/ops/actions/{actionId}/preview',
  permission: 'approve',
  params: { actionId },
  query: environmentQuery,
  responses: { 200: { description: 'What it would do now', schema: actionEffectSchema } },
  docs: {
    operationId: 'previewApproval',
    tag: ACTIONS_TAG,
    summary: 'Preview the approval of an action',
    description: 'As the preview of an action, for one that waits for a second person. Nothing is changed.',
  },
  async handle({ cases, params }) {
    return dataAnswer(presentEffect(await cases.previewApproval(params['actionId'] ?? '')));
  },
});

const decisionRoute = (verb: 'approve' | 'decline', description: string): Route<OperatorCases> =>
  defineOpsRoute({
    method: 'POST',
    path: `/ops/actions/{actionId}/${verb}`,
    permission: 'approve',
    params: { actionId },
    query: environmentQuery,
    body: actionDecisionBody,
    responses: ACTION_RESPONSES,
    docs: {
      operationId: `${verb}Action`,
      tag: ACTIONS_TAG,
      summary: verb === 'approve' ? 'Approve an action' : 'Decline an action',
      description,
    },
    handle: async ({ cases, session, params: { actionId: id = '' }, body: { reason: why } }) =>
      actionAnswer(await cases[`${verb}Action`](session, id, why), 'NOT_FOUND'),
  });

export const repairRoutes: readonly Route<OperatorCases>[] = [
  stuckRoute,
  timelineRoute,
  actionsRoute,
  actionRoute,
  actionPreviewRoute,
  replayRoute,
  dismissRoute,
  waitingRoute,
  approvalPreviewRoute,
  decisionRoute(
    'approve',
    'The action is then taken at once. The person who asked for it is refused, and that is on record. A `reason` is kept beside the action.',
  ),
  decisionRoute(
    'decline',
    'The action is not taken and cannot be approved later. It can be asked for again. A `reason` is kept beside the action.',
  ),
];
