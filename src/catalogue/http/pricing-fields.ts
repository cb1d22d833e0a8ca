/** What rates, prices and packages on sale share. */
import { z } from 'zod';
import { ACCOUNT_TYPES } from '../../domain/account.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { PACKAGE_TYPES } from '../../domain/states.ts';
import { dataObject, money, namedObject, percent, usd } from '../../platform/http/answer-fields.ts';
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

/** What a preview of markups and one of a rule share: packages with their prices before and after. */
export const changedPrices = z
  .array(
    z.object({
      packageCode: z.string(),
      name: z.string(),
      packageType: z.enum(PACKAGE_TYPES),
      costUsd: usd('Our cost in US dollars, four decimals', 12.5),
      prices: z.array(
        z.object({
          accountType: z.enum(ACCOUNT_TYPES),
          currency: z.enum(ACCOUNT_CURRENCIES),
          before: money('null: there is no current rate').nullable(),
          after: money('null: there is no current rate').nullable(),
          changePercent: percent('Of the price before').nullable(),
          marginPercent: percent('Of the new price').nullable(),
        }),
      ),
    }),
  )
  .describe('One page of the packages whose price changes, those that change most first');

export const rateJson = (micros: bigint): JsonNumber => decimalJson(formatRateMicros(micros));

export const rateOrNull = (micros: bigint | null | undefined): JsonNumber | null =>
  micros === null || micros === undefined ? null : rateJson(micros);
