import { isId } from '../../domain/ids.ts';
import { toJson } from '../../platform/http/json.ts';
import { presentPage } from '../../platform/http/page.ts';
import { opsRoutesFor, environmentQuery } from '../../platform/http/ops-route.ts';
import type { PathParameter, Route } from '../../platform/http/route.ts';
import {
  batchRepairBody,
  batchRepairPageSchema,
  batchRepairSchema,
  batchRepairsQuery,
  decisionBody,
  planBody,
  planSchema,
  presentBatchRepair,
  presentDetails,
  presentPlan,
} from './batch-repair-schema.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { dataAnswer } from '../../platform/http/answer-fields.ts';

const defineOpsRoute = opsRoutesFor<OperatorCases>();

const TAG = 'Batch repairs';
const ALL = '/ops/batch-repairs';
const ONE = `${ALL}/{repairId}`;

const repairId: PathParameter = {
  description: 'The `repairId` of a batch repair',
  example: 'repair-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('repair', text),
  notFound: { code: 'NOT_FOUND', message: 'No such batch repair' },
};

const ABOUT_ONE = { params: { repairId }, query: environmentQuery } as const;
const ONE_RESPONSE = { 200: { description: 'The batch repair and its progress', schema: batchRepairSchema } };

const previewRoute = defineOpsRoute({
  method: 'POST',
  path: `${ALL}/preview`,
  permission: 'action',
  query: environmentQuery,
  body: planBody,
  responses: { 200: { description: 'What would be done with each item', schema: planSchema } },
  docs: {
    operationId: 'previewBatchRepair',
    tag: TAG,
    summary: 'Try a batch repair out',
    description: 'Tries the action out on each item that the filter finds. Nothing is changed.',
  },
  async handle({ cases, session, body, context }) {
    return dataAnswer(presentPlan(await cases.planBatchRepair(session, body, context)));
  },
});

const askRoute = defineOpsRoute({
  method: 'POST',
  path: ALL,
  permission: 'action',
  query: environmentQuery,
  body: batchRepairBody,
  responses: { 201: { description: 'It waits for a second person', schema: batchRepairSchema } },
  docs: {
    operationId: 'askForBatchRepair',
    tag: TAG,
    summary: 'Ask for a batch repair',
    description:
      'One action on many items of the stuck list. The items on which it is possible now become its rows, and stay the same until it ends. ' +
      'Nothing is done before another person approves it, within 7 days. An item is part of one open batch repair at most.',
  },
  async handle({ cases, session, body, context }) {
    return dataAnswer(presentDetails(await cases.askForBatchRepair(session, body, context)), 201);
  },
});

const listRoute = defineOpsRoute({
  method: 'GET',
  path: ALL,
  permission: 'see',
  query: batchRepairsQuery,
  responses: { 200: { description: 'One page, newest first', schema: batchRepairPageSchema } },
  docs: {
    operationId: 'listBatchRepairs',
    tag: TAG,
    summary: 'List batch repairs',
    description: 'Those that wait for a second person, that run, and that have ended.',
  },
  async handle({ cases, query: { page, limit, open } }) {
    const isOpen = open === undefined ? undefined : open === 'true';
    const repairs = await cases.listBatchRepairs({ page, limit, isOpen });
    return { status: 200, body: toJson(presentPage(repairs, presentBatchRepair)) };
  },
});

const readRoute = defineOpsRoute({
  ...ABOUT_ONE,
  method: 'GET',
  path: ONE,
  permission: 'see',
  responses: ONE_RESPONSE,
  docs: {
    operationId: 'getBatchRepair',
    tag: TAG,
    summary: 'Read a batch repair',
    description: 'With a result for each row, also while it runs.',
  },
  async handle({ cases, params }) {
    return dataAnswer(presentDetails(await cases.readBatchRepair(params['repairId'] ?? '')));
  },
});

const decisionRoute = (verb: 'approve' | 'decline', description: string): Route<OperatorCases> =>
  defineOpsRoute({
    ...ABOUT_ONE,
    method: 'POST',
    path: `${ONE}/${verb}`,
    permission: 'approve',
    body: decisionBody,
    responses: ONE_RESPONSE,
    docs: {
      operationId: `${verb}BatchRepair`,
      tag: TAG,
      summary: verb === 'approve' ? 'Approve a batch repair' : 'Decline a batch repair',
      description,
    },
    async handle({ cases, session, params, body: { reason } }) {
      const id = params['repairId'] ?? '';
      return dataAnswer(presentDetails(await cases.decideBatchRepair(session, id, verb, reason)));
    },
  });

const stopRoute = defineOpsRoute({
  ...ABOUT_ONE,
  method: 'POST',
  path: `${ONE}/stop`,
  permission: 'replay',
  body: decisionBody,
  responses: ONE_RESPONSE,
  docs: {
    operationId: 'stopBatchRepair',
    tag: TAG,
    summary: 'Stop a batch repair',
    description: 'Rows in progress finish. The others are skipped.',
  },
  async handle({ cases, session, params, body: { reason } }) {
    const id = params['repairId'] ?? '';
    return dataAnswer(presentDetails(await cases.stopBatchRepair(session, id, reason)));
  },
});

export const batchRepairRoutes: readonly Route<OperatorCases>[] = [
  previewRoute,
  askRoute,
  listRoute,
  readRoute,
  decisionRoute(
    'approve',
    'The action is then taken on each row, as the person who asked for it; an amount above a limit counts as approved by you. The person ' +
      'who asked is refused, and that is on record. An item that has changed since is refused by itself.',
  ),
  decisionRoute('decline', 'Nothing is done. The person who asked for it may decline it too.'),
  stopRoute,
];
