/** Returns of unused eSIMs. */
import { z } from 'zod';
import { isId } from '../../domain/ids.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { REFUND_TARGETS, RETURN_REFUSALS, RETURN_STATES } from '../../domain/states.ts';
import { esimId } from '../../esims/http/shared.ts';
import {
  dataObject,
  dataSchema,
  isoTime,
  money,
  namedObject,
  text,
} from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { choiceField, idParameter, textField, timeField } from '../../platform/http/fields.ts';
import { MAX_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { pageFields, pageSchema, presentPage } from '../../platform/http/page.ts';
import { fromRow } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import type { ReturnView } from '../returns/returns.ts';
import { MAX_RETURNS_AT_ONCE, REFUSAL_WORDS } from '../returns/rules.ts';
import type { PurchaseCases } from '../use-cases.ts';

const routes = merchantRoutes<PurchaseCases>('Returns', {
  esimId,
  returnId: idParameter(
    'return',
    'The `returnId` of a return',
    'Return not found',
    'RETURN_NOT_FOUND',
    '9b2e4c1d7f6a4a0c8e3d5b1f2a6c7d80',
  ),
});

const reason = textField({
  max: MAX_REASON_CHARACTERS,
  description: 'Why, for your records',
  example: 'The traveller stays at home',
}).optional();

const returnBody = namedObject('ReturnRequest', { reason });

const ESIMS = `must be 1 to ${MAX_RETURNS_AT_ONCE} eSIMs`;

const returnsBody = namedObject('ReturnsRequest', {
  esimIds: z
    .array(
      z.string('must be the id of an eSIM').refine((id) => isId('esim', id), 'must be the id of an eSIM'),
      {
        error: ({ input }) => (input === undefined ? 'is required' : ESIMS),
      },
    )
    .min(1, ESIMS)
    .max(MAX_RETURNS_AT_ONCE, ESIMS)
    .refine((ids) => new Set(ids).size === ids.length, 'must not name an eSIM twice')
    .describe(`1 to ${MAX_RETURNS_AT_ONCE}, each its \`_id\``),
  reason,
});

/** Of the lists of returns and of replacements. */
export const requestedQuery = <const State extends string>(states: readonly [State, ...State[]]) =>
  z.object({
    ...pageFields,
    state: choiceField(states, { description: 'Only in this state' }).optional(),
    esimId: z
      .string()
      .refine((id) => isId('esim', id), 'must be the id of an eSIM')
      .optional()
      .describe('Only of this eSIM'),
    from: timeField({ description: 'Only asked for from this time on' }).optional(),
    to: timeField({ description: 'Only asked for before this time' }).optional(),
  });

const refusal = z
  .enum(RETURN_REFUSALS)
  .nullable()
  .describe('Why it is refused; null otherwise')
  .meta({ example: null });

const returned = {
  returnId: z.string().meta({ example: 'return-9b2e4c1d7f6a4a0c8e3d5b1f2a6c7d80' }),
  esimId: z.string().meta({ example: 'esim-0f8fad5bd9cb469fa16570867728950e' }),
  transactionId: text('Of the purchase', 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11'),
  state: z
    .enum(RETURN_STATES)
    .describe(
      'PENDING: the supplier is asked. NEEDS_REVIEW: it does not say, so we look. REFUNDING: cancelled, its money is on its way back. ' +
        'RETURNED: the money is back. REFUSED: nothing was changed',
    ),
  refusal,
  price: money('What was paid'),
  fee: money('What is kept of it'),
  amount: money('What goes back; less than price and fee say where a bank has some of it'),
  currency: z.enum(ACCOUNT_CURRENCIES),
  refundedTo: z
    .enum(REFUND_TARGETS)
    .nullable()
    .describe('Where it was paid from, or the wallet; null until it is cancelled'),
  reason: text('As you gave it').nullable(),
  requestedBy: text('Who asked: a member, or who made the key', 'ada@merchant.example'),
  createdAt: isoTime('When it was asked for'),
  closedAt: isoTime('When it ended; null while it is open').nullable(),
};

const returnItem = namedObject('Return', returned);
const returnSchema = dataSchema(returnItem, 'ReturnAnswer');
const returnPageSchema = pageSchema(returnItem, 'ReturnPage');

const termsSchema = dataObject('ReturnTerms', {
  esimId: z.string().meta({ example: 'esim-0f8fad5bd9cb469fa16570867728950e' }),
  returnable: z.boolean().describe('As we know it; the supplier has the last word'),
  refusal: refusal.describe('Why it cannot be returned; null: it can'),
  returnableUntil: isoTime('Null: never').nullable(),
  price: money('What was paid'),
  fee: money('What is kept of it'),
  amount: money('What goes back'),
  currency: z.enum(ACCOUNT_CURRENCIES),
  refundTo: z.enum(REFUND_TARGETS).describe('Where it was paid from, or the wallet'),
});

const returnsSchema = dataObject('Returns', {
  items: z.array(
    namedObject('ReturnLine', {
      esimId: z.string(),
      returnId: text('Null: there is none').nullable(),
      state: z.enum(RETURN_STATES).nullable(),
      refusal: z
        .enum([...RETURN_REFUSALS, 'NOT_FOUND'])
        .nullable()
        .describe('Why there is no return of it'),
    }),
  ),
});

const presentReturn = (row: ReturnView) => ({ ...fromRow(row), returnId: row.id });

const WHY = RETURN_REFUSALS.map((word) => `${word}: ${REFUSAL_WORDS[word]}`).join('. ');

export const returnRoutes: readonly Route<PurchaseCases>[] = [
  routes.get('/api/esim/{esimId}/return-terms', {
    shapes: ['base'],
    errors: ['NOT_YOUR_ESIM'],
    answer: [200, 'What a return would give back', termsSchema],
    operationId: 'getReturnTerms',
    summary: 'See whether an eSIM can be returned',
    description:
      'Until when, what goes back and what is kept. Asks our records alone: at the return the supplier is asked, and decides.',
    async handle({ cases, principal, params }) {
      const { isReturnable, price, ...terms } = await cases.getReturnTerms(principal, params.esimId);
      const { amountMinor: priceMinor, currency } = price;
      return { ...terms, returnable: isReturnable, priceMinor, currency };
    },
  }),
  routes.post('/api/esim/{esimId}/returns', {
    shapes: ['base'],
    body: returnBody,
    errors: ['NOT_YOUR_ESIM', 'RETURN_REFUSED'],
    answer: [201, 'The return, as it stands after a few seconds', returnSchema],
    operationId: 'returnEsim',
    summary: 'Return an unused eSIM',
    description:
      'The supplier is asked at this moment whether the eSIM is unused, and cancels it. Then its price, less the fee, goes back to where it was paid from. ' +
      `Where the supplier does not answer, the return stays PENDING, and we keep asking. RETURN_REFUSED: nothing was moved; \`details\` begins with why. ${WHY}.`,
    async handle({ cases, principal, params, body, idempotency }) {
      const command = { esimId: params.esimId, reason: body.reason, idempotency };
      return presentReturn(await cases.requestReturn(principal, command));
    },
  }),
  routes.post('/api/esim/returns', {
    shapes: ['base'],
    body: returnsBody,
    errors: ['RETURN_REFUSED'],
    answer: [202, 'A line for each eSIM, in the order of the request', returnsSchema],
    operationId: 'returnEsims',
    summary: 'Return many unused eSIMs',
    description: `Up to ${MAX_RETURNS_AT_ONCE} eSIMs, each a return of its own. Those that our records do not allow are named with why; all others are begun. Read how they end in the list.`,
    async handle({ cases, principal, body, idempotency }) {
      const lines = await cases.requestReturns(principal, { ...body, reason: body.reason, idempotency });
      return {
        items: lines.map((line) =>
          'row' in line
            ? { esimId: line.esimId, returnId: line.row.id, state: line.row.state, refusal: line.row.refusal }
            : { esimId: line.esimId, returnId: null, state: null, refusal: line.refusal },
        ),
      };
    },
  }),
  routes.get('/api/esim/returns', {
    query: requestedQuery(RETURN_STATES),
    answer: [200, 'One page, newest first', returnPageSchema],
    operationId: 'listReturns',
    summary: 'List your returns',
    description: 'All, or those in a state, of an eSIM or of a time.',
    async handle({ cases, principal, query }) {
      const found = await cases.listReturns(principal, query);
      return presentPage({ ...found, items: found.items.map(presentReturn) });
    },
  }),
  routes.get('/api/esim/returns/{returnId}', {
    answer: [200, 'The return, as it now stands', returnSchema],
    operationId: 'getReturn',
    summary: 'Read a return',
    description: 'Its state, and what goes back. Only your own can be read.',
    handle: async ({ cases, principal, params }) =>
      presentReturn(await cases.getReturn(principal, params.returnId)),
  }),
];
