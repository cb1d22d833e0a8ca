/** Actions that await a second person. */
import { z } from 'zod';
import { isId } from '../../domain/ids.ts';
import { dataAnswer, listSchema } from '../../platform/http/answer-fields.ts';
import { environmentQuery, opsRoutesFor } from '../../platform/http/ops-route.ts';
import type { PathParameter, Route } from '../../platform/http/route.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { ACTION_RESPONSES, actionAnswer, actionEffectSchema, presentEffect } from './actions.ts';
import { presentActionRecord, reason, record } from './shared.ts';

const defineOpsRoute = opsRoutesFor<OperatorCases>();
const ACTIONS_TAG = 'Actions';
const waitingActionsSchema = listSchema(record, 'WaitingActions');
const actionDecisionBody = z.object({ reason: reason.optional() }).meta({ id: 'ActionDecision' });

const actionId: PathParameter = {
  description: 'The `actionId` of an action that waits for approval',
  example: 'action-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('action', text),
  notFound: { code: 'NOT_FOUND', message: 'No such action' },
};

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
  handle: async ({ cases }) =>
    dataAnswer({ items: (await cases.listWaitingActions()).map(presentActionRecord) }),
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
  handle: async ({ cases, params }) =>
    dataAnswer(presentEffect(await cases.previewApproval(params['actionId'] ?? ''))),
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

export const approvalRoutes: readonly Route<OperatorCases>[] = [
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
