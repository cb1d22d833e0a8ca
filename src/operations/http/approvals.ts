/** Actions that await a second person. */
import { listSchema, namedObject } from '../../platform/http/answer-fields.ts';
import { idParameter } from '../../platform/http/fields.ts';
import { operatorRoutes } from '../../platform/http/ops-route.ts';
import type { Route } from '../../platform/http/route.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { ACTION_RESPONSES, actionAnswer, actionEffectSchema, presentEffect } from './actions.ts';
import { presentActionRecord, reason, record } from './shared.ts';

const routes = operatorRoutes<OperatorCases>('Actions', {
  actionId: idParameter('action', 'The `actionId` of an action that waits for approval', 'No such action'),
});

const waitingActionsSchema = listSchema(record, 'WaitingActions');
const actionDecisionBody = namedObject('ActionDecision', { reason: reason.optional() });

const decisionRoute = (verb: 'approve' | 'decline', description: string): Route<OperatorCases> =>
  routes.post(`/ops/actions/{actionId}/${verb}`, {
    permission: 'approve',
    body: actionDecisionBody,
    answer: ACTION_RESPONSES,
    operationId: `${verb}Action`,
    summary: verb === 'approve' ? 'Approve an action' : 'Decline an action',
    description,
    handle: async ({ cases, session, params, body }) =>
      actionAnswer(await cases[`${verb}Action`](session, params.actionId, body.reason), 'NOT_FOUND'),
  });

export const approvalRoutes: readonly Route<OperatorCases>[] = [
  routes.get('/ops/actions/pending', {
    permission: 'see',
    answer: [200, 'Oldest first', waitingActionsSchema],
    operationId: 'listWaitingActions',
    summary: 'List actions that await a second approval',
    description:
      'Anyone with the role may decide, except the requester. An approver must be independent of the requester: within the last 24 hours ' +
      'neither gave or confirmed the other’s access, and no third person did so for both.',
    handle: async ({ cases }) => ({ items: (await cases.listWaitingActions()).map(presentActionRecord) }),
  }),
  routes.get('/ops/actions/{actionId}/preview', {
    permission: 'approve',
    answer: [200, 'What it would do now', actionEffectSchema],
    operationId: 'previewApproval',
    summary: 'Preview the approval of an action',
    description: 'As the preview of an action, for one that waits for a second person. Nothing is changed.',
    handle: async ({ cases, params }) => presentEffect(await cases.previewApproval(params.actionId)),
  }),
  decisionRoute(
    'approve',
    'The action is then taken at once. The person who asked for it is refused, and that is on record. A `reason` is kept beside the action.',
  ),
  decisionRoute(
    'decline',
    'The action is not taken and cannot be approved later. It can be asked for again. A `reason` is kept beside the action.',
  ),
];
