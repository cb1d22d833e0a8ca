/** One action on many purchases, approved by a second person. */
import { z } from 'zod';
import { MAX_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { JOB_ROW_STATUSES, JOB_STATUSES, MAX_JOB_ROWS } from '../../jobs/rules.ts';
import {
  isoTime,
  money,
  text,
  count,
  yesNo,
  namedObject,
  dataObject,
} from '../../platform/http/answer-fields.ts';
import { choiceField, countField, idParameter, textField } from '../../platform/http/fields.ts';
import { MAX_ACTION_KEY_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { pageFields, pageSchema, presentPage } from '../../platform/http/page.ts';
import { fromRow } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import { BATCH_REPAIR_ACTIONS, REPAIR_RESULTS, resultOfRepair } from '../batch-repair-rules.ts';
import { amountOfRow, movedByRow, type listBatchRepairs, type readBatchRepair } from '../batch-repairs.ts';
import type { OperatorCases } from '../operator-use-cases.ts';
import { DECISIONS } from '../store/batch-repairs.ts';
import {
  amountOf,
  CLASSES,
  currency,
  currencyCode,
  MAX_OLDER_SECONDS,
  moneyFields,
  reason,
  stuckClassField,
} from './shared.ts';

const routes = operatorRoutes<OperatorCases>('Batch repairs', {
  repairId: idParameter('repair', 'The `repairId` of a batch repair', 'No such batch repair'),
});

const filterFields = {
  class: stuckClassField.optional(),
  olderThanSeconds: countField({
    min: 0,
    max: MAX_OLDER_SECONDS,
    description: 'Only items unchanged for at least this long',
    example: 3_600,
  }).optional(),
  currency: currencyCode('Only money of this currency'),
  transactionIds: z
    .array(textField({ max: MAX_ACTION_KEY_CHARACTERS, description: 'As the stuck list names it' }))
    .min(1)
    .max(MAX_JOB_ROWS)
    .describe('Only these items')
    .optional(),
};

const asked = {
  action: choiceField(BATCH_REPAIR_ACTIONS, {
    description: '`replay` retries every step that can be retried; the others are actions on purchases',
    example: 'replay',
  }),
  filter: z
    .object(filterFields, 'must be an object')
    .refine((filter) => Object.keys(filter).length > 0, 'must name at least one filter')
    .describe('Which part of the stuck list; at least one field'),
  maxRows: countField({
    min: 1,
    max: MAX_JOB_ROWS,
    description: `At most this many items, the longest stuck first; at most ${MAX_JOB_ROWS}`,
    example: 100,
  }).default(100),
  evidence: textField({
    max: MAX_REASON_CHARACTERS,
    description: 'Link or reference to proof outside this system, where the action needs it',
  }).optional(),
};

const planBody = namedObject('BatchRepairPreviewRequest', asked);

const batchRepairBody = namedObject('BatchRepairRequest', {
  ...asked,
  reason,
  repairKey: textField({
    max: MAX_ACTION_KEY_CHARACTERS,
    description: 'The same key is the same batch repair, asked for once',
  }).optional(),
});

const decisionBody = namedObject('BatchRepairDecision', { reason });

const batchRepairsQuery = z.object({
  ...environmentField,
  ...pageFields,
  open: choiceField(['true', 'false'], {
    description: '`true`: only those that wait or run; `false`: only those that have ended',
  }).optional(),
});

const total = z.object(amountOf);

const rowFields = {
  transactionId: z.string(),
  class: z.enum(CLASSES),
  amount: money('Null where no money moves, or the amount is not known before').nullable(),
  currency: currency.nullable(),
  preview: text('What the action would do, or why it is not possible'),
};

const planSchema = dataObject('BatchRepairPreview', {
  items: z.array(
    z.object({
      ...rowFields,
      isPossible: yesNo('false: it would not be part of the batch repair'),
      isSure: yesNo('false: the supplier was not asked, or has yet to cancel the eSIM; `preview` says which'),
    }),
  ),
  totals: z.array(total).describe('What would move, for each currency'),
  matches: count('Items that the filter finds, before `maxRows`'),
  isCut: yesNo('true: the stuck list is truncated'),
  temporalAsked: yesNo('false: Temporal did not answer; `workflow-gone` items are missing'),
});

const counts = namedObject('BatchRepairCounts', {
  waiting: z.number().int(),
  done: z.number().int(),
  refused: z.number().int(),
  unknown: z.number().int(),
  skipped: z.number().int(),
});

const repairTotal = z.object({
  ...amountOf,
  movedAmount: money('Of it, what the items that are done moved'),
});

const batchRepair = {
  repairId: z.string().meta({ example: 'repair-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  action: z.enum(BATCH_REPAIR_ACTIONS),
  filter: z.object({
    class: z.enum(CLASSES).optional(),
    olderThanSeconds: z.number().int().optional(),
    currency: z.string().optional(),
    transactionIds: z.array(z.string()).optional(),
  }),
  status: z.enum(JOB_STATUSES),
  isStopping: yesNo('What is not begun is skipped'),
  result: z.enum(REPAIR_RESULTS).nullable().describe('What it did to its items; null: it has not ended'),
  reason: z.string(),
  evidence: z.string().nullable(),
  by: z.string(),
  decidedBy: z.string().nullable(),
  counts,
  totals: z.array(repairTotal).describe('What was asked for, for each currency, and what it has moved'),
  createdAt: isoTime('When it was asked for'),
  expiresAt: isoTime('It cannot be approved after that'),
  decidedAt: isoTime('When it was approved or declined').nullable(),
  closedAt: isoTime('When it ended').nullable(),
};

const summary = namedObject('BatchRepair', batchRepair);
const batchRepairPageSchema = pageSchema(summary, 'BatchRepairPage');

const batchRepairSchema = dataObject('BatchRepairDetails', {
  ...batchRepair,
  decisions: z
    .array(z.object({ what: z.enum(DECISIONS), by: z.string(), reason: z.string(), at: isoTime('ISO 8601') }))
    .describe('Who approved, declined or stopped it, and why; the oldest first'),
  items: z.array(
    z.object({
      row: z.number().int(),
      ...rowFields,
      movedAmount: money('What was moved; null: nothing, or its amount was not known before').nullable(),
      status: z
        .enum(JOB_ROW_STATUSES)
        .describe('UNKNOWN: no outcome in time; the action may still be carried out. SKIPPED: never begun'),
      detail: text('What was done, or why not').nullable(),
      closedAt: isoTime('When it ended').nullable(),
    }),
  ),
});

type Listed = Awaited<ReturnType<typeof listBatchRepairs>>['items'][number];

const presentBatchRepair = ({ repair, totals }: Listed) => ({
  ...fromRow(repair),
  repairId: repair.id,
  isStopping: repair.status === 'RUNNING' && repair.stop_asked_at !== null,
  by: repair.by_person,
  result: resultOfRepair(repair),
  totals,
});

const presentDetails = ({ rows, decisions, ...listed }: Awaited<ReturnType<typeof readBatchRepair>>) => ({
  ...presentBatchRepair(listed),
  decisions,
  items: rows.map((row) => ({
    ...fromRow(row),
    row: row.row_number,
    ...moneyFields(amountOfRow(row)),
    movedAmount: movedByRow(row),
  })),
});

const ALL = '/ops/batch-repairs';
const ONE = `${ALL}/{repairId}` as const;

const ONE_ANSWER = [200, 'The batch repair and its progress', batchRepairSchema] as const;

const decisionRoute = (verb: 'approve' | 'decline', description: string): Route<OperatorCases> =>
  routes.post(`${ONE}/${verb}`, {
    permission: 'approve',
    body: decisionBody,
    answer: ONE_ANSWER,
    operationId: `${verb}BatchRepair`,
    summary: verb === 'approve' ? 'Approve a batch repair' : 'Decline a batch repair',
    description,
    handle: async ({ cases, session, params, body }) =>
      presentDetails(await cases.decideBatchRepair(session, params.repairId, verb, body.reason)),
  });

export const batchRepairRoutes: readonly Route<OperatorCases>[] = [
  routes.post(`${ALL}/preview`, {
    confirmed: false,
    permission: 'action',
    body: planBody,
    answer: [200, 'What would be done with each item', planSchema],
    operationId: 'previewBatchRepair',
    summary: 'Try a batch repair out',
    description:
      'Tries the action out on each item that the filter finds, and asks the vendors as the action would, about at most 40 items. Nothing ' +
      'is changed.',
    async handle({ cases, session, body, context }) {
      const plan = await cases.previewBatchRepair(session, body, context);
      return { ...plan, items: plan.rows.map((row) => ({ ...row, ...moneyFields(row.amount) })) };
    },
  }),
  routes.post(ALL, {
    permission: 'action',
    body: batchRepairBody,
    answer: [201, 'It waits for a second person', batchRepairSchema],
    operationId: 'askForBatchRepair',
    summary: 'Ask for a batch repair',
    description:
      'One action on many items of the stuck list. The items on which it is possible now become its rows, and stay the same until it ends. ' +
      'Nothing is done before another person approves it, within 7 days. An item is part of one open batch repair at most.',
    handle: async ({ cases, session, body, context }) =>
      presentDetails(await cases.askForBatchRepair(session, body, context)),
  }),
  routes.get(ALL, {
    permission: 'see',
    query: batchRepairsQuery,
    answer: [200, 'One page, newest first', batchRepairPageSchema],
    operationId: 'listBatchRepairs',
    summary: 'List batch repairs',
    description: 'Those that wait for a second person, that run, and that have ended.',
    async handle({ cases, query: { page, limit, open } }) {
      const isOpen = open === undefined ? undefined : open === 'true';
      const repairs = await cases.listBatchRepairs({ page, limit, isOpen });
      return presentPage({ ...repairs, items: repairs.items.map(presentBatchRepair) });
    },
  }),
  routes.get(ONE, {
    permission: 'see',
    answer: ONE_ANSWER,
    operationId: 'getBatchRepair',
    summary: 'Read a batch repair',
    description: 'With a result for each row, also while it runs.',
    handle: async ({ cases, params }) => presentDetails(await cases.readBatchRepair(params.repairId)),
  }),
  decisionRoute(
    'approve',
    'The action is then taken on each row, as the person who asked for it; an amount above a limit counts as approved by you. The person ' +
      'who asked is refused, and that is on record. An item that has changed since is refused by itself.',
  ),
  decisionRoute('decline', 'Nothing is done. The person who asked for it may decline it too.'),
  routes.post(`${ONE}/stop`, {
    confirmed: false,
    permission: 'replay',
    body: decisionBody,
    answer: ONE_ANSWER,
    operationId: 'stopBatchRepair',
    summary: 'Stop a batch repair',
    description: 'Rows in progress finish. The others are skipped.',
    handle: async ({ cases, session, params, body }) =>
      presentDetails(await cases.stopBatchRepair(session, params.repairId, body.reason)),
  }),
];
