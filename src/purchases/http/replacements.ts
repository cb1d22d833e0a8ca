/** Replacements of eSIMs that were deleted from their phone, or do not work. */
import { z } from 'zod';
import { MAX_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { REPLACEMENT_REFUSALS, REPLACEMENT_STATES } from '../../domain/states.ts';
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
import { idParameter, textField } from '../../platform/http/fields.ts';
import { pageSchema, presentPage } from '../../platform/http/page.ts';
import { fromRow } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import type { ReplacementView } from '../replacements/replacements.ts';
import { REPLACEMENT_REFUSAL_WORDS } from '../replacements/rules.ts';
import { requestedQuery } from './returns.ts';
import type { PurchaseCases } from '../use-cases.ts';

const routes = merchantRoutes<PurchaseCases>('Replacements', {
  esimId,
  replacementId: idParameter(
    'replacement',
    'The `replacementId` of a replacement',
    'Replacement not found',
    'REPLACEMENT_NOT_FOUND',
    '3c1f0e9d8b7a4c5d9e2f1a0b6c7d8e90',
  ),
});

const replacementBody = namedObject('ReplacementRequest', {
  reason: textField({
    max: MAX_REASON_CHARACTERS,
    description: 'Why. We read it when we decide',
    example: 'The traveller has deleted it',
  }).optional(),
});

const refusal = z
  .enum(REPLACEMENT_REFUSALS)
  .nullable()
  .describe('Why it is refused; null otherwise')
  .meta({ example: null });

const anEsim = z.string().meta({ example: 'esim-0f8fad5bd9cb469fa16570867728950e' });

const replacementItem = namedObject('Replacement', {
  replacementId: z.string().meta({ example: 'replacement-3c1f0e9d8b7a4c5d9e2f1a0b6c7d8e90' }),
  esimId: anEsim.describe('The old eSIM'),
  transactionId: text('Of the purchase of the old eSIM', 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11'),
  state: z
    .enum(REPLACEMENT_STATES)
    .describe(
      'PENDING: the supplier is asked. NEEDS_REVIEW: it does not say that the eSIM was deleted, so we decide. ORDERING: the new eSIM is bought. ' +
        'RETIRING: the new eSIM is delivered, and the old eSIM is being revoked. REPLACED: done. REFUSED: nothing was changed',
    ),
  refusal,
  failure: text('Why the purchase of the new eSIM failed; null otherwise').nullable(),
  replacedBy: anEsim.nullable().describe('The new eSIM; null until it is delivered'),
  newTransactionId: text(
    'Of the purchase of the new eSIM; null until that is begun',
    'txn-1d4f7a0c3b6e4d9fa2c5e8b1d4f7a0c3',
  ).nullable(),
  fullPrice: money('What was paid at first'),
  price: money('What you pay for the new eSIM'),
  currency: z.enum(ACCOUNT_CURRENCIES),
  reason: text('As you gave it').nullable(),
  requestedBy: text('Who asked: a member, or who made the key', 'ada@merchant.example'),
  createdAt: isoTime('When it was asked for'),
  closedAt: isoTime('When it ended; null while it is open').nullable(),
});

const replacementSchema = dataSchema(replacementItem, 'ReplacementAnswer');
const replacementPageSchema = pageSchema(replacementItem, 'ReplacementPage');

const termsSchema = dataObject('ReplacementTerms', {
  esimId: anEsim,
  replaceable: z.boolean().describe('As we know it; the supplier has the last word'),
  refusal: refusal.describe('Why it cannot be replaced; null: it can'),
  replaceableUntil: isoTime('Null: never').nullable(),
  replacementId: text('The last replacement of it that was asked for; null: none').nullable(),
  fullPrice: money('What was paid at first'),
  price: money('What you would pay for the new eSIM, from the wallet'),
  currency: z.enum(ACCOUNT_CURRENCIES),
});

const isOrdered = ({ state, refusal }: ReplacementView): boolean =>
  refusal === 'PURCHASE_FAILED' || ['ORDERING', 'RETIRING', 'REPLACED'].includes(state);

const presentReplacement = (row: ReplacementView) => ({
  ...fromRow(row),
  replacementId: row.id,
  newTransactionId: isOrdered(row) ? row.new_transaction_id : null,
  replacedBy: row.delivered_at === null ? null : row.new_esim_id,
});

const WHY = REPLACEMENT_REFUSALS.map((word) => `${word}: ${REPLACEMENT_REFUSAL_WORDS[word]}`).join('. ');

export const replacementRoutes: readonly Route<PurchaseCases>[] = [
  routes.get('/api/esim/{esimId}/replacement-terms', {
    shapes: ['base'],
    errors: ['NOT_YOUR_ESIM'],
    answer: [200, 'What a replacement would cost', termsSchema],
    operationId: 'getReplacementTerms',
    summary: 'See whether an eSIM can be replaced',
    description:
      'Until when, and what you pay. Asks our records alone: at the replacement the supplier is asked, and decides.',
    async handle({ cases, principal, params }) {
      const { isReplaceable, ...terms } = await cases.getReplacementTerms(principal, params.esimId);
      return { ...terms, replaceable: isReplaceable };
    },
  }),
  routes.post('/api/esim/{esimId}/replacements', {
    shapes: ['base'],
    body: replacementBody,
    errors: ['NOT_YOUR_ESIM', 'REPLACEMENT_REFUSED'],
    answer: [201, 'The replacement, as it stands after a few seconds', replacementSchema],
    operationId: 'replaceEsim',
    summary: 'Replace a deleted or broken eSIM',
    description:
      'The supplier is asked at this moment. Where the profile was deleted from its phone, the same package is bought again from the wallet, at the price of the terms. ' +
      'Once that is delivered, the old eSIM is revoked. One that is on a phone and does not work is NEEDS_REVIEW until we decide. ' +
      `REPLACEMENT_REFUSED: nothing was changed; \`details\` begins with why. ${WHY}.`,
    async handle({ cases, principal, params, body, idempotency, context }) {
      const command = { esimId: params.esimId, reason: body.reason, idempotency };
      return presentReplacement(await cases.requestReplacement(principal, command, context));
    },
  }),
  routes.get('/api/esim/replacements', {
    query: requestedQuery(REPLACEMENT_STATES),
    answer: [200, 'One page, newest first', replacementPageSchema],
    operationId: 'listReplacements',
    summary: 'List your replacements',
    description: 'All, or those in a state, of an old or new eSIM, or of a time.',
    async handle({ cases, principal, query }) {
      const found = await cases.listReplacements(principal, query);
      return presentPage({ ...found, items: found.items.map(presentReplacement) });
    },
  }),
  routes.get('/api/esim/replacements/{replacementId}', {
    answer: [200, 'The replacement, as it now stands', replacementSchema],
    operationId: 'getReplacement',
    summary: 'Read a replacement',
    description: 'Its state, and what is paid. Only your own can be read.',
    handle: async ({ cases, principal, params }) =>
      presentReplacement(await cases.getReplacement(principal, params.replacementId)),
  }),
];
