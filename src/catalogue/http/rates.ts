/** Exchange rates, for operators: numbers with up to six decimals, one US dollar is this many. */
import { z } from 'zod';
import {
  dataAnswer,
  isoTime,
  percent,
  text,
  yesNo,
  type Data,
  namedObject,
  dataObject,
} from '../../platform/http/answer-fields.ts';
import { wholeNumberField } from '../../platform/http/fields.ts';
import { isJsonNumber, type JsonNumber } from '../../platform/http/json.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import type { Route } from '../../platform/http/route.ts';
import type { PricingCases, RatesView } from '../operator-pricing.ts';
import { changeBps, parseRateMicros } from '../pricing.ts';
import { declineBody, declinedSchema, rateJson, rateOrNull, reason } from './pricing-fields.ts';

const routes = operatorRoutes<PricingCases>('Rates and prices', {
  rateId: {
    description: 'The `rateId` of a rate in quarantine',
    example: '42',
    isPossible: (id) => /^\d{1,18}$/.test(id),
    notFound: { code: 'NOT_FOUND', message: 'No such rate of the last 24 hours' },
  },
});

/** As long as observed rates are kept. */
const MAX_HISTORY_DAYS = 90;

const currencyCode = (description: string) =>
  z
    .string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a string') })
    .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters')
    .meta({ description, example: 'NGN', pattern: '^[A-Z]{3}$' });

const RATE_MESSAGE = 'must be a number above zero with at most six decimals, or null';

const rateField = z
  .custom<JsonNumber | null>((value) => value === null || isJsonNumber(value), {
    error: ({ input }) => (input === undefined ? 'is required' : RATE_MESSAGE),
  })
  .transform((literal, check) => {
    const micros = literal === null ? null : parseRateMicros(literal.rawJSON);
    if (micros !== undefined) return micros;
    check.addIssue({ code: 'custom', message: RATE_MESSAGE });
    return z.NEVER;
  })
  .meta({
    type: ['number', 'null'],
    exclusiveMinimum: 0,
    description:
      'One US dollar is this many. null: the configured rate applies again after its next refresh, within 10 minutes',
    example: 1534.25,
  });

const ratesQuery = z.object({
  ...environmentField,
  currency: currencyCode('Also answers the history of this currency').optional(),
  days: wholeNumberField({
    min: 1,
    max: MAX_HISTORY_DAYS,
    fallback: 30,
    description: 'How far the history goes back',
  }),
});

const code = text('ISO 4217', 'NGN');
const rate = z.number().meta({ description: 'One US dollar is this many', example: 1534.25 });

const source = text('Where it is from; `operator`: a person set it', 'fixed');

const rateId = z.string().meta({ example: '42' });

const ratesSchema = dataObject('Rates', {
  items: z
    .array(
      z.object({
        rateId,
        currency: code,
        rate,
        source,
        observedAt: isoTime('ISO 8601'),
        ageSeconds: z.number().int(),
        isSold: yesNo('false: older than 24 hours, so nothing is sold at it'),
      }),
    )
    .describe('The current rate of every currency'),
  waiting: z
    .array(
      z.object({
        rateId,
        currency: code,
        rate,
        currentRate: z.number().nullable().meta({ description: 'null: there is none', example: 1534.25 }),
        changePercent: percent('Of the current rate; null where there is none').nullable(),
        source,
        observedAt: isoTime('ISO 8601'),
        proposedBy: text('The person who set it; another one confirms it. null: a provider').nullable(),
        reason: z.string().nullable(),
      }),
    )
    .describe('In quarantine, of the last 24 hours, newest first, at most 200'),
  changes: z
    .array(
      z.object({
        at: isoTime('When it came into use'),
        currency: code,
        before: z
          .number()
          .nullable()
          .meta({ description: 'The rate that it replaced; null: there was none', example: 1500 }),
        rate: z.number().nullable().meta({ description: 'null: as configured', example: 1534.25 }),
        by: text('Who set it, or which provider observed it'),
        reason: text('Empty: of a provider'),
        confirmedBy: text('Who confirmed it; null: it needed no confirmation').nullable(),
        confirmReason: z.string().nullable(),
      }),
    )
    .describe('What people set or confirmed, newest first, at most 20'),
  history: z
    .array(z.object({ at: isoTime('ISO 8601'), rate, source }))
    .describe('Of `currency`, oldest first: at most 200, the first and the last of each equal span of time'),
});

const rateBody = namedObject('SetRateRequest', {
  currency: currencyCode('Any but USD'),
  rate: rateField,
  reason,
});

const proposed = {
  rateId: rateId.nullable().describe('null: as configured'),
  currency: code,
  before: z.number().nullable().meta({ description: 'null: there was none', example: 1500 }),
  rate: z.number().nullable().meta({ description: 'null: as configured', example: 1534.25 }),
};

const rateSetSchema = dataObject('RateSet', { outcome: z.literal('set'), ...proposed });
const rateWaitsSchema = dataObject('RateWaits', { outcome: z.literal('waits'), ...proposed });
const confirmRateBody = namedObject('ConfirmRateRequest', { reason });

const rateConfirmedSchema = dataObject('RateConfirmed', {
  rateId,
  outcome: z.enum(['confirmed', 'already']).describe('`already`: it was not in quarantine'),
});

function presentRates({ good, waiting, changes, history }: RatesView): Data<typeof ratesSchema> {
  const current = new Map(good.map(({ currency, micros }) => [currency, micros]));
  return {
    items: good.map(({ id, micros, observedAtMs, ...one }) => ({
      ...one,
      rateId: id,
      rate: rateJson(micros),
      observedAt: new Date(observedAtMs),
    })),
    waiting: waiting.map(({ id, micros, proposedReason, ...one }) => {
      const before = current.get(one.currency);
      return {
        ...one,
        rateId: id,
        rate: rateJson(micros),
        reason: proposedReason,
        currentRate: rateOrNull(before),
        changeBps: before === undefined ? null : changeBps(before, micros),
      };
    }),
    changes: changes.map(({ beforeMicros, afterMicros, ...change }) => ({
      ...change,
      before: rateOrNull(beforeMicros),
      rate: rateOrNull(afterMicros),
    })),
    history: history.map(({ micros, ...one }) => ({ ...one, rate: rateJson(micros) })),
  };
}

export const rateRoutes: readonly Route<PricingCases>[] = [
  routes.get('/ops/rates', {
    permission: 'pricing',
    query: ratesQuery,
    answer: [200, 'The rates', ratesSchema],
    operationId: 'listRates',
    summary: 'Read exchange rates',
    description:
      'The current rate of every currency with its source and age, rates in quarantine, what people set, and the history of one currency.',
    handle: async ({ cases, query: { currency, days } }) =>
      presentRates(await cases.listRates({ currency, days })),
  }),
  routes.post('/ops/rates', {
    permission: 'pricing',
    body: rateBody,
    answer: {
      200: { description: 'Set; prices use it within a second', schema: rateSetSchema },
      202: { description: 'In quarantine until another person confirms it', schema: rateWaitsSchema },
    },
    operationId: 'setRate',
    summary: 'Set a rate',
    description:
      'It applies until changed, in place of the configured one. A rate that is more than 10 % off the current one, or off every ' +
      "rate of late that is not one person's work (observed, confirmed by a second person, or configured), and the first rate of a currency, waits in quarantine until another person confirms it within 24 hours. Open purchases keep the rate they were quoted at.",
    async handle({ cases, session, body: { currency, rate: micros, reason } }) {
      const proposal = await cases.proposeRate(session, { currency, micros, reason });
      const { outcome, rateId: id, beforeMicros } = proposal;
      return dataAnswer(
        { outcome, rateId: id, currency, before: rateOrNull(beforeMicros), rate: rateOrNull(micros) },
        outcome === 'waits' ? 202 : 200,
      );
    },
  }),
  routes.post('/ops/rates/{rateId}/confirm', {
    permission: 'pricing',
    body: confirmRateBody,
    answer: [200, 'Prices use it within a second', rateConfirmedSchema],
    operationId: 'confirmRate',
    summary: 'Confirm a rate in quarantine',
    description:
      'A rate that a person set is confirmed by another one, and applies until changed. One of a provider applies until its next observation.',
    async handle({ cases, session, params, body }) {
      const id = params.rateId;
      const outcome = await cases.confirmRate(session, BigInt(id), body.reason);
      return { rateId: id, outcome };
    },
  }),
  routes.post('/ops/rates/{rateId}/decline', {
    permission: 'pricing',
    body: declineBody,
    answer: [200, 'It does not wait any more', declinedSchema],
    operationId: 'declineRate',
    summary: 'Decline or withdraw a rate that awaits confirmation',
    description: 'By another person, or by the one who set it. The current rate stays.',
    async handle({ cases, session, params, body: { reason: why } }) {
      await cases.declineProposal(session, 'rate', { id: BigInt(params.rateId), reason: why });
      return { outcome: 'declined' } as const;
    },
  }),
];
