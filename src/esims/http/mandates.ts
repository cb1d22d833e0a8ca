/** Automatic top-ups that a shop agrees to on behalf of its traveller. */
import { z } from 'zod';
import { MANDATE_AGREED_BY, MANDATE_END_REASONS, MANDATE_STATES } from '../../domain/mandates.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { FAILURE_REASONS, type FailureReason } from '../../domain/refusals.ts';
import { dataObject, isoTime, money, namedObject, text } from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { amountField, choiceField, countField, textField, timeField } from '../../platform/http/fields.ts';
import { MAX_PACKAGE_CODE_CHARACTERS, MAX_MOVED_MINOR } from '../../platform/http/limits.ts';
import type { Route } from '../../platform/http/route.ts';
import type { MandateRow } from '../store/mandates.ts';
import type { EsimCases } from '../use-cases.ts';
import { esimId } from './shared.ts';

const routes = merchantRoutes<EsimCases>('eSIMs', { esimId });

const mandateBody = namedObject('MandateRequest', {
  limit: amountField({
    minMinor: 1n,
    maxMinor: MAX_MOVED_MINOR,
    description: 'The most that its top-ups may cost your wallet together',
    example: 30,
  }),
  currency: choiceField(ACCOUNT_CURRENCIES, { description: 'Of your wallet' }),
  maxTopUps: countField({
    min: 1,
    max: 100,
    description: 'The most top-ups. Absent: as many as the limit pays for',
    example: 5,
  }).optional(),
  packageCode: textField({
    max: MAX_PACKAGE_CODE_CHARACTERS,
    description:
      'What is bought: one of the top-ups of the eSIM. Absent: the top-up of its own package, or the first that its supplier lists',
    example: 'TOPUP_PKG-FR-1GB-7D',
  }).optional(),
  thresholdVolume: countField({
    min: 1,
    max: 1_099_511_627_776,
    description: 'Buys when less than this is left, in bytes. Absent: a fifth of the top-up',
    example: 214_748_364,
  }).optional(),
  expiresAt: timeField({ description: 'It ends then; within 366 days' }),
});

const mandateSchema = dataObject('Mandate', {
  mandateId: text('Its top-ups carry it as `metadata.mandateId`', 'mandate-9b2e4c1d7f6a4a0c8e3d5b1f2a6c7d80'),
  esimId: z.string(),
  state: z.enum(MANDATE_STATES),
  endReason: z.enum(MANDATE_END_REASONS).nullable().describe('Why it has ended; null while it is active'),
  agreedBy: z.enum(MANDATE_AGREED_BY).describe('TRAVELLER: on the install page. MERCHANT: by this API'),
  packageCode: z.string(),
  limit: money('The most that its top-ups may cost', 30),
  spent: money('Cost of its open and delivered top-ups', 12.5),
  currency: z.enum(ACCOUNT_CURRENCIES),
  maxTopUps: z.number().int().nullable(),
  topUps: z.number().int().describe('Delivered or open'),
  thresholdVolume: z.number().int().describe('Bytes'),
  openTransactionId: text('Of the top-up that is open').nullable(),
  triedAt: isoTime('When a top-up was last tried').nullable(),
  refusal: text('Why that try bought nothing: an error code', 'INSUFFICIENT_BALANCE').nullable(),
  expiresAt: isoTime('ISO 8601'),
  createdAt: isoTime('ISO 8601'),
  endedAt: isoTime('ISO 8601').nullable(),
});

function present(row: MandateRow) {
  // One that has expired ends when it is looked at next.
  const isOver = row.state === 'ACTIVE' && row.expires_at.getTime() <= Date.now();
  return {
    mandateId: row.id,
    esimId: row.esim_id,
    state: isOver ? 'ENDED' : row.state,
    endReason: isOver ? 'EXPIRED' : row.end_reason,
    agreedBy: row.agreed_by,
    packageCode: row.package_code,
    limitMinor: row.limit_minor,
    spentMinor: row.spent_minor,
    currency: row.currency,
    maxTopUps: row.max_top_ups,
    topUps: row.top_ups,
    thresholdVolume: row.threshold_bytes,
    openTransactionId: row.open_transaction_id,
    triedAt: row.tried_at,
    refusal: row.refusal === null ? null : codeOf(row.refusal),
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    endedAt: isOver ? row.expires_at : row.ended_at,
  } as const;
}

/** A top-up that failed after it was opened has left the reason of its purchase. */
const codeOf = (refusal: string): string =>
  Object.hasOwn(FAILURE_REASONS, refusal) ? FAILURE_REASONS[refusal as FailureReason] : refusal;

const MANDATE = '/api/esim/{esimId}/mandate';

export const mandateRoutes: readonly Route<EsimCases>[] = [
  routes.get(MANDATE, {
    errors: ['NOT_YOUR_ESIM', 'NOT_FOUND'],
    answer: [200, 'The newest mandate of the eSIM', mandateSchema],
    operationId: 'getMandate',
    summary: 'Read the mandate for automatic top-ups of an eSIM',
    description: 'What was agreed, what is spent of it, and whether it is active.',
    handle: async ({ cases, principal, params }) => present(await cases.getMandate(principal, params.esimId)),
  }),
  routes.put(MANDATE, {
    body: mandateBody,
    errors: ['NOT_YOUR_ESIM', 'CURRENCY_MISMATCH', 'INVALID_TOPUP', 'SERVICE_UNAVAILABLE'],
    answer: [200, 'The mandate that is active now', mandateSchema],
    operationId: 'setMandate',
    summary: 'Agree to automatic top-ups of an eSIM',
    description:
      'For your own app, on behalf of your traveller. When less data is left than the threshold, we buy a top-up from your wallet, one at a ' +
      'time, and never more than the limit pays for. A top-up that fails gives its share back. It takes the place of the mandate that is active. ' +
      'The same terms from the same key change nothing. The budget of the key counts for each top-up, and the key must still work.',
    handle: async ({ cases, principal, params, body }) => {
      const { limit: limitMinor, thresholdVolume, ...terms } = body;
      const thresholdBytes = thresholdVolume === undefined ? undefined : BigInt(thresholdVolume);
      return present(
        await cases.setMandate(principal, params.esimId, { ...terms, limitMinor, thresholdBytes }),
      );
    },
  }),
  routes.delete(MANDATE, {
    confirmed: false,
    errors: ['NOT_YOUR_ESIM'],
    answer: 'No top-up is bought automatically any more',
    operationId: 'endMandate',
    summary: 'End automatic top-ups of an eSIM',
    description: 'A top-up that is open goes on. Repeating it changes nothing.',
    handle: ({ cases, principal, params }) => cases.deleteMandate(principal, params.esimId),
  }),
];
