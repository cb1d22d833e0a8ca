/** What rates, prices and packages on sale share. */
import { z } from 'zod';
import { dataObject, namedObject } from '../../platform/http/answer-fields.ts';
import { reasonField } from '../../platform/http/fields.ts';
import { decimalJson, type JsonNumber } from '../../platform/http/json.ts';
import { formatRateMicros } from '../pricing.ts';

export const reason = reasonField(
  'the rate of the central bank this morning',
  'Why: kept on record under your name',
);

/** What declining a rate and declining markups share. */
export const declineBody = namedObject('DeclineProposalRequest', { reason });
export const declinedSchema = dataObject('ProposalDeclined', { outcome: z.literal('declined') });

export const rateJson = (micros: bigint): JsonNumber => decimalJson(formatRateMicros(micros));

export const rateOrNull = (micros: bigint | null | undefined): JsonNumber | null =>
  micros === null || micros === undefined ? null : rateJson(micros);
