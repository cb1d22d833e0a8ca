/** Requests and answers of batch repairs. Amounts are numbers with two decimals. */
import { z } from 'zod';
import { amountJson, isoTime, money, dataSchema } from '../../platform/http/answer-fields.ts';
import { choiceField, countField, textField } from '../../platform/http/fields.ts';
import { MAX_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { MAX_ACTION_KEY_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField } from '../../platform/http/ops-route.ts';
import { pageFields, pageSchema } from '../../platform/http/page.ts';
import { JOB_ROW_STATUSES, JOB_STATUSES, MAX_JOB_ROWS } from '../../jobs/rules.ts';
import type { Job, JobRow } from '../../jobs/store/jobs.ts';
import { BATCH_REPAIR_ACTIONS } from '../batch-repair-rules.ts';
import { amountOfRow, type BatchRepairPlan, type BatchRepairs } from '../batch-repairs.ts';
import type { Money } from '../../domain/money.ts';
import { CLASSES, currencyCode, MAX_OLDER_SECONDS, reason, stuckClassField } from './schema.ts';

const filterFields = {
  class: stuckClassField.optional(),
  olderThanSeconds: countField({
    min: 0,
    max: MAX_OLDER_SECONDS,
    description: 'Only items unchanged for at least this long',
    example: 3_600,
  }).optional(),
  currency: currencyCode('Only money of this currency'),
};

const asked = {
  action: choiceField(BATCH_REPAIR_ACTIONS, {
    description: '`replay` retries every step that can be retried; the others are actions on purchases',
    example: 'replay',
  }),
  filter: z
    .object(filterFields, 'must be an object')
    .refine((filter) => Object.keys(filter).length > 0, 'must name at least one filter')
    .meta({ description: 'Which part of the stuck list; at least one field' }),
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

export const planBody = z.object(asked).meta({ id: 'BatchRepairPreviewRequest' });

export const batchRepairBody = z
  .object({
    ...asked,
    reason,
    repairKey: textField({
      max: MAX_ACTION_KEY_CHARACTERS,
      description: 'The same key is the same batch repair, asked for once',
    }).optional(),
  })
  .meta({ id: 'BatchRepairRequest' });

export const decisionBody = z.object({ reason }).meta({ id: 'BatchRepairDecision' });

export const batchRepairsQuery = z.object({
  ...environmentField,
  ...pageFields,
  open: choiceField(['true', 'false'], {
    description: '`true`: only those that wait or run; `false`: only those that have ended',
  }).optional(),
});

const currency = z.string().meta({ example: 'NGN' });
const total = z.object({ amount: money('In `currency`'), currency });

const rowFields = {
  transactionId: z.string(),
  class: z.enum(CLASSES),
  amount: money('Null where no money moves, or the amount is not known before').nullable(),
  currency: currency.nullable(),
  preview: z.string().meta({ description: 'What the action would do, or why it is not possible' }),
};

export const planSchema = dataSchema(
  z.object({
    items: z.array(
      z.object({
        ...rowFields,
        isPossible: z.boolean().meta({ description: 'false: it would not be part of the batch repair' }),
      }),
    ),
    totals: z.array(total).meta({ description: 'What would move, for each currency' }),
    matches: z.number().int().meta({ description: 'Items that the filter finds, before `maxRows`' }),
    isCut: z.boolean().meta({ description: 'true: the stuck list is truncated' }),
    temporalAsked: z
      .boolean()
      .meta({ description: 'false: Temporal did not answer; `workflow-gone` items are missing' }),
  }),
  'BatchRepairPreview',
);

const counts = z
  .object({
    waiting: z.number().int(),
    done: z.number().int(),
    refused: z.number().int(),
    unknown: z.number().int(),
    skipped: z.number().int(),
  })
  .meta({ id: 'BatchRepairCounts' });

const batchRepair = {
  repairId: z.string().meta({ example: 'repair-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  action: z.enum(BATCH_REPAIR_ACTIONS),
  filter: z.object({
    class: z.enum(CLASSES).optional(),
    olderThanSeconds: z.number().int().optional(),
    currency: z.string().optional(),
  }),
  status: z.enum(JOB_STATUSES),
  isStopping: z.boolean().meta({ description: 'What is not begun is skipped' }),
  reason: z.string(),
  evidence: z.string().nullable(),
  by: z.string(),
  decidedBy: z.string().nullable(),
  counts,
  createdAt: isoTime('When it was asked for'),
  expiresAt: isoTime('It cannot be approved after that'),
  decidedAt: isoTime('When it was approved or declined').nullable(),
  closedAt: isoTime('When it ended').nullable(),
};

const summary = z.object(batchRepair).meta({ id: 'BatchRepair' });
export const batchRepairPageSchema = pageSchema(summary, 'BatchRepairPage');

export const batchRepairSchema = dataSchema(
  z.object({
    ...batchRepair,
    totals: z.array(total).meta({ description: 'What is to move, for each currency' }),
    items: z.array(
      z.object({
        row: z.number().int(),
        ...rowFields,
        status: z.enum(JOB_ROW_STATUSES).meta({
          description:
            'UNKNOWN: no outcome in time; the action may still be carried out. SKIPPED: never begun',
        }),
        detail: z.string().nullable().meta({ description: 'What was done, or why not' }),
        closedAt: isoTime('When it ended').nullable(),
      }),
    ),
  }),
  'BatchRepairDetails',
);

const moneyFields = (amount: Money | null) => ({
  amount: amount && amountJson(amount),
  currency: amount?.currency ?? null,
});

const presentTotals = (totals: readonly Money[]) =>
  totals.map((amount) => ({ amount: amountJson(amount), currency: amount.currency }));

export function presentPlan({ rows, totals, ...rest }: BatchRepairPlan) {
  const items = rows.map(({ amount, ...row }) => ({ ...row, ...moneyFields(amount) }));
  return { items, totals: presentTotals(totals), ...rest };
}

export function presentBatchRepair(repair: Job) {
  const { id: repairId, action, filter, status, reason: why, evidence, counts: byStatus } = repair;
  return {
    ...{ repairId, action, filter, status, reason: why, evidence },
    isStopping: status === 'RUNNING' && repair.stop_asked_at !== null,
    by: repair.by_person,
    decidedBy: repair.decided_by,
    counts: byStatus,
    createdAt: repair.created_at,
    expiresAt: repair.expires_at,
    decidedAt: repair.decided_at,
    closedAt: repair.closed_at,
  };
}

export function presentDetails({ repair, rows, totals }: Awaited<ReturnType<BatchRepairs['read']>>) {
  return {
    ...presentBatchRepair(repair),
    totals: presentTotals(totals),
    items: rows.map(presentRow),
  };
}

function presentRow(row: JobRow) {
  return {
    row: row.row_number,
    transactionId: row.transaction_id,
    class: row.class,
    ...moneyFields(amountOfRow(row)),
    preview: row.preview,
    status: row.status,
    detail: row.detail,
    closedAt: row.closed_at,
  };
}
