/** What rates, prices and packages on sale share. */
import { z } from 'zod';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { dataObject, namedObject } from '../../platform/http/answer-fields.ts';
import { textField } from '../../platform/http/fields.ts';
import { decimalJson, type JsonNumber } from '../../platform/http/json.ts';
import { formatRateMicros } from '../pricing.ts';

export const reason = textField({
  max: MAX_REASON_CHARACTERS,
  description: 'Why: kept on record under your name',
  example: 'the rate of the central bank this morning',
}).refine(
  (text) => text.trim().length >= MIN_REASON_CHARACTERS,
  `must have at least ${MIN_REASON_CHARACTERS} characters`,
);

/** What declining a rate and declining markups share. */
export const declineBody = namedObject('DeclineProposalRequest', { reason });
export const declinedSchema = dataObject('ProposalDeclined', { outcome: z.literal('declined') });

export const rateJson = (micros: bigint): JsonNumber => decimalJson(formatRateMicros(micros));

export const rateOrNull = (micros: bigint | null | undefined): JsonNumber | null =>
  micros === null || micros === undefined ? null : rateJson(micros);
