/** Our books compared with those of the vendors. */
import { z } from 'zod';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../../domain/reasons.ts';
import {
  amountJson,
  type Data,
  dataAnswer,
  dataSchema,
  isoTime,
  money,
  answer,
  text,
} from '../../platform/http/answer-fields.ts';
import { choiceField, textField, timeField } from '../../platform/http/fields.ts';
import { environmentField, environmentQuery, opsRoutesFor } from '../../platform/http/ops-route.ts';
import { pageFields, pageSchema, presentPage } from '../../platform/http/page.ts';
import type { PathParameter, Route } from '../../platform/http/route.ts';
import type { ReconciliationCases } from '../operator-use-cases.ts';
import { DIFFERENCE_KINDS } from '../payment-rules.ts';
import type { ListedDifference } from '../store/reconciliation.ts';

const currency = text('`USD4`: the supplier’s unit', 'NGN');
const int = z.number().int();
const defineOpsRoute = opsRoutesFor<ReconciliationCases>();
const TAG = 'Reconciliation';
const facts = z.record(z.string(), z.string()).nullable();

const differencesQuery = z.object({
  ...environmentField,
  ...pageFields,
  id: z
    .string()
    .regex(/^\d{1,18}$/, 'must be the id of a difference')
    .optional()
    .meta({
      description: 'Only this one, also when it is closed; other filters are left aside',
      example: '42',
    }),
  kind: choiceField(DIFFERENCE_KINDS, { description: 'Only this kind' }).optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}4?$/, 'must be a currency code of three capital letters, or USD4')
    .optional()
    .describe('Only money of this currency'),
  transactionId: textField({ max: 50, description: 'Only those of one purchase or funding' }).optional(),
});

const difference = z
  .object({
    id: z.string().meta({ example: '42' }),
    kind: z.enum(DIFFERENCE_KINDS),
    subject: z.string(),
    transactionId: z.string().nullable(),
    amount: money('Theirs less ours'),
    currency,
    ours: facts.describe('null: we know nothing about it'),
    theirs: facts.describe('null: they know nothing about it'),
    firstSeenAt: isoTime('ISO 8601'),
    lastSeenAt: isoTime('ISO 8601'),
    closedAt: isoTime('Null: it is open').nullable(),
    closedBy: text('The person; null: it is open, or a run found it gone').nullable(),
    closeReason: z.string().nullable(),
  })
  .meta({ id: 'Difference' });

const differencePageSchema = pageSchema(difference, 'DifferencePage');

const closeBody = z
  .object({
    reason: textField({
      max: MAX_REASON_CHARACTERS,
      description: 'Why it is no error, or how it was settled: kept on record',
    }).min(MIN_REASON_CHARACTERS, `must have at least ${MIN_REASON_CHARACTERS} characters`),
  })
  .meta({ id: 'CloseDifferenceRequest' });

const closedSchema = dataSchema(z.object({ id: z.string(), closed: z.literal(true) }), 'ClosedDifference');

const reconcileBody = z
  .object({
    from: timeField({ description: 'Only what happened from then on; with `to`' }).optional(),
    to: timeField({ description: 'And before then' }).optional(),
  })
  .refine(({ from, to }) => (from === undefined) === (to === undefined), {
    path: ['to'],
    message: 'goes with from, and from with it',
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    path: ['to'],
    message: 'must be after from',
  })
  .meta({ id: 'ReconcileRequest' });

const reconciledSchema = dataSchema(
  z.object({
    status: z.enum(['done', 'nothing-to-compare']),
    run: z
      .object({
        runId: z.string(),
        from: isoTime('ISO 8601'),
        to: isoTime('ISO 8601'),
        compared: z.record(z.string(), int).describe('How many of each there were'),
        opened: int,
        closed: int,
        open: z.array(z.object({ kind: z.enum(DIFFERENCE_KINDS), count: int })),
      })
      .nullable(),
  }),
  'Reconciled',
);

const reconcilingSchema = dataSchema(z.object({ status: z.literal('running') }), 'Reconciling');

const differenceId: PathParameter = {
  description: 'The `id` of a difference',
  example: '42',
  isPossible: (text) => /^\d{1,18}$/.test(text),
  notFound: { code: 'NOT_FOUND', message: 'No such difference' },
};

const differencesRoute = defineOpsRoute({
  method: 'GET',
  path: '/ops/differences',
  permission: 'reconcile',
  query: differencesQuery,
  responses: { 200: { description: 'One page, oldest first', schema: differencePageSchema } },
  docs: {
    operationId: 'listDifferences',
    tag: TAG,
    summary: 'List open differences',
    description:
      'Between our books, the gateway’s statement and the supplier’s orders and balance, with what each side says.',
  },
  async handle({ cases, query: { id, ...query } }) {
    const listed = await cases.listDifferences({
      ...query,
      id: id === undefined ? undefined : BigInt(id),
    });
    return answer(presentPage(listed, presentDifference));
  },
});

const closeRoute = defineOpsRoute({
  method: 'POST',
  path: '/ops/differences/{differenceId}/close',
  permission: 'reconcile',
  params: { differenceId },
  query: environmentQuery,
  body: closeBody,
  responses: { 200: { description: 'Closed', schema: closedSchema } },
  docs: {
    operationId: 'closeDifference',
    tag: TAG,
    summary: 'Close a difference',
    description:
      'It stays closed while the facts are the same. A difference that is gone is closed by the next run. No money moves.',
  },
  async handle({ cases, session, params, body }) {
    const id = params['differenceId'] ?? '';
    await cases.closeDifference(session, BigInt(id), body.reason);
    return dataAnswer({ id, closed: true });
  },
});

const reconcileRoute = defineOpsRoute({
  method: 'POST',
  path: '/ops/reconciliations',
  permission: 'reconcile',
  query: environmentQuery,
  body: reconcileBody,
  responses: {
    200: { description: 'Finished', schema: reconciledSchema },
    202: {
      description: 'Still running; its differences are listed when it ends',
      schema: reconcilingSchema,
    },
  },
  docs: {
    operationId: 'reconcile',
    tag: TAG,
    summary: 'Compare the books now',
    description:
      'Compares ledger, payments and purchases with the gateway’s statement and the supplier’s orders: between `from` and `to`, or ' +
      'since the last regular run. Moves no money.',
  },
  async handle({ cases, session, body: { from, to } }) {
    const range = from && to ? { from, to } : undefined;
    const ended = await cases.reconcile(session, range);
    const data =
      ended === 'running'
        ? { status: ended }
        : { status: ended === null ? 'nothing-to-compare' : 'done', run: ended };
    return dataAnswer(data, ended === 'running' ? 202 : 200);
  },
});

function presentDifference({
  amountMinor,
  ...difference
}: ListedDifference): Data<typeof differencePageSchema>['items'][number] {
  return {
    ...difference,
    id: String(difference.id),
    amount: amountJson({ amountMinor, currency: difference.currency }),
  };
}

export const differenceRoutes: readonly Route<ReconciliationCases>[] = [
  differencesRoute,
  closeRoute,
  reconcileRoute,
];
