import type { z } from 'zod';
import { amountJson } from '../../platform/http/answer-fields.ts';
import { decimalJson, moneyJson, type JsonNumber, type Wire } from '../../platform/http/json.ts';
import { presentPage } from '../../platform/http/page.ts';
import type { Page } from '../../domain/page.ts';
import type { OnSaleView, RatesView } from '../operator-pricing.ts';
import type { CataloguePreview, PricingTermsRequest } from '../price-settings.ts';
import { changeBps, formatRateMicros } from '../pricing.ts';
import type { RateProposal } from '../rates.ts';
import type { PricingChange } from '../store/pricing-settings.ts';
import type {
  onSaleSchema,
  pricePreviewSchema,
  pricesSchema,
  ratesSchema,
  rateSetSchema,
  rateWaitsSchema,
} from './ops-schema.ts';

type Data<Schema extends z.ZodType<{ data: unknown }>> = Wire<z.output<Schema>>['data'];

const rateJson = (micros: bigint): JsonNumber => decimalJson(formatRateMicros(micros));
const rateOrNull = (micros: bigint | null | undefined): JsonNumber | null =>
  micros === null || micros === undefined ? null : rateJson(micros);
/** Hundredths of a percent have two decimals, as minor units do. */
const percentJson = (bps: number): JsonNumber => moneyJson(BigInt(bps));
const costJson = (cost: bigint): JsonNumber => amountJson({ amountMinor: cost, currency: 'USD4' });
const priceOrNull = (minor: bigint | null): JsonNumber | null => (minor === null ? null : moneyJson(minor));
const percentOrNull = (bps: number | null): JsonNumber | null => (bps === null ? null : percentJson(bps));

export function presentRates({ good, waiting, changes, history }: RatesView): Data<typeof ratesSchema> {
  const current = new Map(good.map(({ currency, micros }) => [currency, micros]));
  return {
    items: good.map(({ id, currency, micros, source, observedAtMs, ageSeconds, isSold }) => ({
      ...{ rateId: id, currency, rate: rateJson(micros), source, ageSeconds, isSold },
      observedAt: new Date(observedAtMs),
    })),
    waiting: waiting.map(({ id, currency, micros, source, observedAt, proposedBy, proposedReason }) => {
      const before = current.get(currency);
      return {
        ...{ rateId: id, currency, rate: rateJson(micros), source, proposedBy, reason: proposedReason },
        currentRate: rateOrNull(before),
        changePercent: percentOrNull(before === undefined ? null : changeBps(before, micros)),
        observedAt,
      };
    }),
    changes: changes.map(({ beforeMicros, afterMicros, ...change }) => ({
      ...change,
      ...{ before: rateOrNull(beforeMicros), rate: rateOrNull(afterMicros) },
    })),
    history: history.map(({ at, micros, source }) => ({ at, rate: rateJson(micros), source })),
  };
}

export function presentProposal(
  { outcome, rateId, beforeMicros }: RateProposal,
  { currency, micros }: { readonly currency: string; readonly micros: bigint | null },
): Data<typeof rateSetSchema> | Data<typeof rateWaitsSchema> {
  return { outcome, rateId, currency, before: rateOrNull(beforeMicros), rate: rateOrNull(micros) };
}

export function presentPrices(page: Page<PricingChange>): Data<typeof pricesSchema> {
  const isFirstPage = page.page === 1;
  const { items, pagination } = presentPage(page, presentSettings).data;
  return {
    items: items.map((item, index) => ({ ...item, isInForce: isFirstPage && index === 0 })),
    pagination,
  };
}

const presentSettings = ({ id, by, reason, validFrom, ...terms }: PricingChange) => ({
  version: id,
  ...presentTerms(terms),
  by,
  reason,
  validFrom,
});

const presentTerms = ({ userMarkupBps, merchantMarkupBps, ngnIncrementBps }: PricingTermsRequest) => ({
  userMarkupPercent: percentJson(userMarkupBps),
  merchantMarkupPercent: percentJson(merchantMarkupBps),
  ngnIncrementPercent: percentJson(ngnIncrementBps),
});

export function presentPreview({
  before,
  after,
  rates,
  packages,
  totals,
  changes,
}: CataloguePreview): Data<typeof pricePreviewSchema> {
  return {
    version: before.id,
    before: presentTerms(before),
    after: presentTerms(after),
    nairaRate: rateOrNull(rates.get('NGN')?.micros),
    packages,
    totals: totals.map(({ largestRiseBps, largestFallBps, lowestMarginBps, ...total }) => ({
      ...total,
      largestRisePercent: percentOrNull(largestRiseBps),
      largestFallPercent: percentOrNull(largestFallBps),
      lowestMarginPercent: percentOrNull(lowestMarginBps),
    })),
    ...presentPage(changes, ({ packageCode, name, packageType, cost, prices }) => ({
      ...{ packageCode, name, packageType },
      costUsd: costJson(cost),
      prices: prices.map(({ accountType, currency, beforeMinor, afterMinor, ...price }) => ({
        ...{ accountType, currency },
        before: priceOrNull(beforeMinor),
        after: priceOrNull(afterMinor),
        changePercent: percentOrNull(price.changeBps),
        marginPercent: percentOrNull(price.marginBps),
      })),
    })).data,
  };
}

export function presentOnSale({ at, knownSince, packages }: OnSaleView): Data<typeof onSaleSchema> {
  return {
    at,
    knownSince,
    ...presentPage(
      packages,
      ({ packageCode, name, packageType, regionCode, cost, validFrom, validTo, ...price }) => ({
        ...{ packageCode, name, packageType, regionCode, validFrom, validTo },
        costUsd: costJson(cost),
        userPriceUsd: priceOrNull(price.userPriceUsdMinor),
        merchantPriceUsd: priceOrNull(price.merchantPriceUsdMinor),
      }),
    ).data,
  };
}
