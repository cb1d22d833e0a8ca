import { dataAnswer } from '../../platform/http/answer-fields.ts';
import { opsRoutesFor, environmentQuery } from '../../platform/http/ops-route.ts';
import type { PathParameter, Route } from '../../platform/http/route.ts';
import type { PricingTermsRequest } from '../price-settings.ts';
import {
  presentOnSale,
  presentPreview,
  presentPrices,
  presentProposal,
  presentRates,
} from './ops-present.ts';
import {
  confirmRateBody,
  onSaleQuery,
  onSaleSchema,
  previewBody,
  pricePreviewSchema,
  pricesBody,
  pricesQuery,
  pricesSchema,
  pricesSetSchema,
  rateBody,
  rateConfirmedSchema,
  rateSetSchema,
  ratesQuery,
  ratesSchema,
  rateWaitsSchema,
} from './ops-schema.ts';
import type { PricingCases } from '../operator-pricing.ts';

const defineOpsRoute = opsRoutesFor<PricingCases>();

const TAG = 'Rates and prices';

const rateId: PathParameter = {
  description: 'The `rateId` of a rate in quarantine',
  example: '42',
  isPossible: (text) => /^\d{1,18}$/.test(text),
  notFound: { code: 'NOT_FOUND', message: 'No such rate of the last 24 hours' },
};

const ratesRoute = defineOpsRoute({
  method: 'GET',
  path: '/ops/rates',
  permission: 'pricing',
  query: ratesQuery,
  responses: { 200: { description: 'The rates', schema: ratesSchema } },
  docs: {
    operationId: 'listRates',
    tag: TAG,
    summary: 'Read exchange rates',
    description:
      'The current rate of every currency with its source and age, rates in quarantine, what people set, and the history of one currency.',
  },
  async handle({ cases, query: { currency, days } }) {
    return dataAnswer(presentRates(await cases.listRates({ currency, days })));
  },
});

const setRateRoute = defineOpsRoute({
  method: 'POST',
  path: '/ops/rates',
  permission: 'pricing',
  query: environmentQuery,
  body: rateBody,
  responses: {
    200: { description: 'Set; prices use it within a second', schema: rateSetSchema },
    202: { description: 'In quarantine until another person confirms it', schema: rateWaitsSchema },
  },
  docs: {
    operationId: 'setRate',
    tag: TAG,
    summary: 'Set a rate',
    description:
      'It applies until changed, in place of the configured one. A rate that is more than 10 % off the current one, or off every ' +
      "rate of late that is not one person's work (observed, confirmed by a second person, or configured), and the first rate of a currency, waits in quarantine until another person confirms it within 24 hours. Open purchases keep the rate they were quoted at.",
  },
  async handle({ cases, session, body: { currency, rate: micros, reason } }) {
    const proposal = await cases.proposeRate(session, { currency, micros, reason });
    const status = proposal.outcome === 'waits' ? 202 : 200;
    return dataAnswer(presentProposal(proposal, { currency, micros }), status);
  },
});

const confirmRateRoute = defineOpsRoute({
  method: 'POST',
  path: '/ops/rates/{rateId}/confirm',
  permission: 'pricing',
  params: { rateId },
  query: environmentQuery,
  body: confirmRateBody,
  responses: { 200: { description: 'Prices use it within a second', schema: rateConfirmedSchema } },
  docs: {
    operationId: 'confirmRate',
    tag: TAG,
    summary: 'Confirm a rate in quarantine',
    description:
      'A rate that a person set is confirmed by another one, and applies until changed. One of a provider applies until its next observation.',
  },
  async handle({ cases, session, params, body }) {
    const id = params['rateId'] ?? '';
    const outcome = await cases.confirmRate(session, BigInt(id), body.reason);
    return dataAnswer({ rateId: id, outcome });
  },
});

const pricesRoute = defineOpsRoute({
  method: 'GET',
  path: '/ops/prices',
  permission: 'pricing',
  query: pricesQuery,
  responses: { 200: { description: 'One page, newest first', schema: pricesSchema } },
  docs: {
    operationId: 'listPrices',
    tag: TAG,
    summary: 'List markups, newest first',
    description:
      'The markups by type of account and the NGN increment, with who set them and why. They apply to every package.',
  },
  async handle({ cases, query }) {
    return dataAnswer(presentPrices(await cases.listPrices(query)));
  },
});

interface TermsBody {
  readonly userMarkupPercent: bigint;
  readonly merchantMarkupPercent: bigint;
  readonly ngnIncrementPercent: bigint;
}

const termsOf = (body: TermsBody): PricingTermsRequest => ({
  userMarkupBps: Number(body.userMarkupPercent),
  merchantMarkupBps: Number(body.merchantMarkupPercent),
  ngnIncrementBps: Number(body.ngnIncrementPercent),
});

const previewRoute = defineOpsRoute({
  method: 'POST',
  path: '/ops/prices/preview',
  permission: 'pricing',
  query: pricesQuery,
  body: previewBody,
  responses: { 200: { description: 'What would change; nothing was saved', schema: pricePreviewSchema } },
  docs: {
    operationId: 'previewPrices',
    tag: TAG,
    summary: 'Preview new markups over the whole catalogue',
    description:
      'How many packages get dearer, cheaper, unsellable or cheaper than their cost, and one page of those whose price changes most.',
  },
  async handle({ cases, query: { page, limit }, body }) {
    return dataAnswer(presentPreview(await cases.previewPrices(termsOf(body), { page, limit })));
  },
});

const setPricesRoute = defineOpsRoute({
  method: 'POST',
  path: '/ops/prices',
  permission: 'pricing',
  query: environmentQuery,
  body: pricesBody,
  errors: ['PRICES_CHANGED'],
  responses: { 200: { description: 'Prices use them within a second', schema: pricesSetSchema } },
  docs: {
    operationId: 'setPrices',
    tag: TAG,
    summary: 'Save new markups',
    description:
      'Refused where the settings in force are not those of the preview. Open purchases keep their quoted price.',
  },
  async handle({ cases, session, body }) {
    const { version, reason } = body;
    const outcome = await cases.savePrices(session, { version, after: termsOf(body), reason });
    return dataAnswer({ outcome: outcome === 'set' ? 'set' : 'unchanged' });
  },
});

const onSaleRoute = defineOpsRoute({
  method: 'GET',
  path: '/ops/on-sale',
  permission: 'pricing',
  query: onSaleQuery,
  responses: { 200: { description: 'One page, by package code', schema: onSaleSchema } },
  docs: {
    operationId: 'listOnSale',
    tag: TAG,
    summary: 'List what was on sale at a given moment',
    description:
      'The packages on sale at that moment, top-ups included, with our cost and the prices in US dollars of that moment. ' +
      'A change counts from the catalogue sync that found it.',
  },
  async handle({ cases, query: { at, packageCode, regionCode, page, limit } }) {
    return dataAnswer(presentOnSale(await cases.listOnSale({ at, packageCode, regionCode, page, limit })));
  },
});

export const pricingRoutes: readonly Route<PricingCases>[] = [
  ratesRoute,
  setRateRoute,
  confirmRateRoute,
  pricesRoute,
  previewRoute,
  setPricesRoute,
  onSaleRoute,
];
