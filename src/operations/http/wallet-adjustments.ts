/** Wallets funded, credited and corrected by hand, by two people. */
import { z } from 'zod';
import { isId } from '../../domain/ids.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { ADJUSTMENT_KINDS, ADJUSTMENT_STATUSES, plainReference } from '../../domain/wallet-adjustments.ts';
import { dataSchema, isoTime, money, namedObject, text } from '../../platform/http/answer-fields.ts';
import {
  amountField,
  choiceField,
  idParameter,
  nameTextField,
  reasonField,
} from '../../platform/http/fields.ts';
import {
  MAX_FUNDING_MINOR,
  MAX_REFERENCE_CHARACTERS,
  MIN_FUNDING_MINOR,
} from '../../platform/http/limits.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { cursorFields, cursorPageSchema } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import type { OperatorCases } from '../operator-use-cases.ts';

const routes = operatorRoutes<OperatorCases>('Wallets by hand', {
  accountId: idParameter('account', 'The `accountId` of an account', 'No such account'),
  adjustmentId: idParameter(
    'adjustment',
    'The `adjustmentId` of a wallet adjustment',
    'No such wallet adjustment',
  ),
});

const adjustmentSchema = namedObject('WalletAdjustment', {
  adjustmentId: z.string().meta({ example: 'adjust-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  accountId: z.string().meta({ example: 'acc-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  accountName: z.string(),
  kind: z
    .enum(ADJUSTMENT_KINDS)
    .describe(
      'FUNDING: money that reached us outside the gateway. CREDIT: given by us. FUNDING_CORRECTION and CREDIT_CORRECTION take such money back',
    ),
  amount: money('Into the wallet, or out of it by a correction', 5_000),
  currency: z.enum(ACCOUNT_CURRENCIES),
  reference: text('What it is about outside, such as that of a bank transfer', 'TRF-2026-4711'),
  reason: z.string(),
  status: z
    .enum(ADJUSTMENT_STATUSES)
    .describe('WAITS: for a second person. BOOKED: in the wallet. EXPIRED: nobody decided within 7 days'),
  askedBy: z.string(),
  askedAt: isoTime('ISO 8601'),
  expiresAt: isoTime('From then on nobody can confirm it'),
  decidedBy: text('Who confirmed or declined it').nullable(),
  decidedAt: isoTime('ISO 8601').nullable(),
  decisionReason: z.string().nullable(),
});

const oneSchema = dataSchema(adjustmentSchema, 'OneWalletAdjustment');

const askBody = namedObject('WalletAdjustmentRequest', {
  kind: choiceField(ADJUSTMENT_KINDS, { description: 'What it is', example: 'FUNDING' }),
  amount: amountField({
    ...{ minMinor: MIN_FUNDING_MINOR, maxMinor: MAX_FUNDING_MINOR },
    description: 'In the wallet’s currency. A correction takes it out of the wallet',
    example: 5_000,
  }),
  reference: nameTextField({
    max: MAX_REFERENCE_CHARACTERS,
    description:
      'Of the bank transfer or the ticket. It counts once for each kind, in capitals or not; blanks around it and kinds of hyphens do not count',
    example: 'TRF-2026-4711',
  }).refine((typed) => plainReference(typed) !== '', 'must not be empty'),
  reason: reasonField('The transfer is on the bank statement of 31 January'),
});

const decisionBody = namedObject('WalletAdjustmentDecision', {
  reason: reasonField('I saw the transfer on the statement'),
});

const isAdjustmentId = (id: string): boolean => isId('adjustment', id);

const listQuery = z.object({
  ...environmentField,
  accountId: z
    .string()
    .refine((id) => isId('account', id), 'must be the id of an account')
    .optional()
    .describe('Only of this account'),
  status: choiceField(ADJUSTMENT_STATUSES, { description: 'Only in this status' }).optional(),
  ...cursorFields(isAdjustmentId, 'Wallet adjustments'),
});

const decisions: readonly Route<OperatorCases>[] = (['confirm', 'decline'] as const).map((verb) =>
  routes.post(`/ops/wallet-adjustments/{adjustmentId}/${verb}`, {
    permission: 'wallets',
    errors: ['ACTION_REFUSED'],
    body: decisionBody,
    answer: [200, 'As it now is', oneSchema],
    operationId: `${verb}WalletAdjustment`,
    summary: verb === 'confirm' ? 'Confirm a wallet adjustment' : 'Decline a wallet adjustment',
    description:
      verb === 'confirm'
        ? 'The second of two people, independent of the first: it is booked. Confirmed again, nothing more is booked. ACTION_REFUSED, with why, where the ' +
          'wallet has too little or its time is over.'
        : 'By anybody who may ask for one, also who asked. Nothing is booked.',
    handle: ({ cases, session, params, body }) =>
      cases[`${verb}Adjustment`](session, { id: params.adjustmentId, reason: body.reason }),
  }),
);

export const walletAdjustmentRoutes: readonly Route<OperatorCases>[] = [
  routes.get('/ops/wallet-adjustments', {
    permission: 'see',
    query: listQuery,
    answer: [200, 'One page, newest first', cursorPageSchema(adjustmentSchema, 'WalletAdjustments')],
    operationId: 'listWalletAdjustments',
    summary: 'List wallet adjustments',
    description:
      'Fundings, credits and corrections: those that wait for a second person, and how the others ended.',
    async handle({ cases, query: { accountId, status, after, limit } }) {
      const { items, next } = await cases.listAdjustments({ accountId, status, after, limit });
      return { items, nextCursor: next ?? null };
    },
  }),
  routes.post('/ops/accounts/{accountId}/wallet-adjustments', {
    permission: 'wallets',
    errors: ['ACTION_REFUSED'],
    body: askBody,
    answer: [200, 'It waits for a second person', oneSchema],
    operationId: 'askForWalletAdjustment',
    summary: 'Ask to fund, credit or correct a wallet',
    description:
      'The first of two people. The same request again is answered with the same adjustment. ACTION_REFUSED where the reference stands for another one.',
    handle: ({ cases, session, params, body: { amount, ...asked } }) =>
      cases.askForAdjustment(session, { accountId: params.accountId, amountMinor: amount, ...asked }),
  }),
  ...decisions,
];
