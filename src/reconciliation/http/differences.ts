/** Our books compared with those of the vendors. */
import { z } from 'zod';
import {
  dataAnswer,
  isoTime,
  money,
  text,
  namedObject,
  dataObject,
} from '../../platform/http/answer-fields.ts';
import { choiceField, reasonField, textField, timeField } from '../../platform/http/fields.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { pageFields, pageSchema, presentPage } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import type { ReconciliationCases } from '../operator-use-cases.ts';
import { factsInWords, wordsOf } from '../difference-words.ts';
import { DIFFERENCE_KINDS } from '../payment-rules.ts';

const currency = text('`USD4`: the supplier’s unit', 'NGN');
const int = z.number().int();
const routes = operatorRoutes<ReconciliationCases>('Reconciliation', {
  differenceId: {
    description: 'The `id` of a difference',
    example: '42',
    isPossible: (id) => /^\d{1,18}$/.test(id),
    notFound: { code: 'NOT_FOUND', message: 'No such difference' },
  },
});
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

const difference = namedObject('Difference', {
  id: z.string().meta({ example: '42' }),
  kind: z.enum(DIFFERENCE_KINDS),
  title: text('The kind in words', 'Received twice at the gateway'),
  next: text('What to do', 'Check the gateway for it: the extra money is credited to the wallet.'),
  facts: z
    .array(z.object({ label: z.string(), ours: z.string().nullable(), theirs: z.string().nullable() }))
    .describe('What each side says, for people: `ours` and `theirs` have the same for programs'),
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
});

const differencePageSchema = pageSchema(difference, 'DifferencePage');

const closeBody = namedObject('CloseDifferenceRequest', {
  reason: reasonField(undefined, 'Why it is no error, or how it was settled: kept on record'),
});

const closedSchema = dataObject('ClosedDifference', { id: z.string(), closed: z.literal(true) });

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

const reconciledSchema = dataObject('Reconciled', {
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
});

const reconcilingSchema = dataObject('Reconciling', { status: z.literal('running') });

export const differenceRoutes: readonly Route<ReconciliationCases>[] = [
  routes.get('/ops/differences', {
    permission: 'reconcile',
    query: differencesQuery,
    answer: [200, 'One page, oldest first', differencePageSchema],
    operationId: 'listDifferences',
    summary: 'List open differences',
    description:
      'Between our books, the gateway’s statement and the supplier’s orders and balance, with what each side says.',
    async handle({ cases, query: { id, ...query } }) {
      const listed = await cases.listDifferences({ ...query, id: id === undefined ? undefined : BigInt(id) });
      return presentPage({
        ...listed,
        items: listed.items.map((difference) => ({
          ...difference,
          title: wordsOf(difference).title,
          next: wordsOf(difference).next,
          facts: factsInWords(difference),
          id: String(difference.id),
        })),
      });
    },
  }),
  routes.post('/ops/differences/{differenceId}/close', {
    confirmed: false,
    permission: 'reconcile',
    body: closeBody,
    answer: [200, 'Closed', closedSchema],
    operationId: 'closeDifference',
    summary: 'Close a difference',
    description:
      'It stays closed while the facts are the same. A difference that is gone is closed by the next run. No money moves.',
    async handle({ cases, session, params, body }) {
      const id = params.differenceId;
      await cases.closeDifference(session, BigInt(id), body.reason);
      return { id, closed: true } as const;
    },
  }),
  routes.post('/ops/reconciliations', {
    confirmed: false,
    permission: 'reconcile',
    body: reconcileBody,
    answer: {
      200: { description: 'Finished', schema: reconciledSchema },
      202: {
        description: 'Still running; its differences are listed when it ends',
        schema: reconcilingSchema,
      },
    },
    operationId: 'reconcile',
    summary: 'Compare the books now',
    description:
      'Compares ledger, payments and purchases with the gateway’s statement and the supplier’s orders: between `from` and `to`, or ' +
      'since the last regular run. Moves no money.',
    async handle({ cases, session, body: { from, to } }) {
      const range = from && to ? { from, to } : undefined;
      const ended = await cases.reconcile(session, range);
      const data =
        ended === 'running'
          ? { status: ended }
          : { status: ended === null ? 'nothing-to-compare' : 'done', run: ended };
      return dataAnswer(data, ended === 'running' ? 202 : 200);
    },
  }),
];
