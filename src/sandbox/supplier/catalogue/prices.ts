/** What the simulated supplier charges: USD x 10,000 in whole cents, falling per GB with size. */
import { fractionOf } from '../../support/seeded.ts';

/** 1 is the cheapest market, 5 the dearest. */
export type PriceTier = 1 | 2 | 3 | 4 | 5;

const CHEAPEST =
  'AT BE BG CN CZ DE DK EE ES FI FR GB GR HK HR HU ID IE IT JP KR LT LU LV MY NL PL PT RO SE SG SI SK TH TR TW US VN';
const CHEAP = 'AE AL AU BA BR CA CH CY EG IL IN IS KH LK MD ME MK MO MT MX NO NZ PH RS SA UA XK ZA';
const MIDDLE =
  'AM AR AZ BD BH CL CO CR DO DZ EC GE GH GT JO KE KG KW KZ LA MA MN MU NG NP OM PA PE PK PR PY QA TN TZ UG UY UZ';

const TIERS = new Map<string, PriceTier>([
  ...CHEAPEST.split(' ').map((code): [string, PriceTier] => [code, 1]),
  ...CHEAP.split(' ').map((code): [string, PriceTier] => [code, 2]),
  ...MIDDLE.split(' ').map((code): [string, PriceTier] => [code, 3]),
]);

/** 1 GB for 7 days, in USD, by tier. */
const BASE_USD: Record<PriceTier, number> = { 1: 0.66, 2: 1.05, 3: 1.7, 4: 2.6, 5: 3.7 };
const DAY_FACTORS = new Map([
  [1, 0.8],
  [7, 1],
  [15, 1.08],
  [30, 1.18],
  [90, 1.35],
  [180, 1.5],
]);

/** The price tier of a country; `large` means an independent state of some size. */
export function tierOf(countryCode: string, large: boolean): PriceTier {
  return TIERS.get(countryCode) ?? (large ? 4 : 5);
}

function toWholeCents(usd: number): number {
  return Math.max(10, Math.round(usd * 100)) * 100;
}

/** `factor` is 1 for a country, more for a region. */
interface Location {
  code: string;
  tier: PriceTier;
  factor: number;
}

function baseUsd({ code, tier, factor }: Location): number {
  return BASE_USD[tier] * factor * (0.92 + 0.16 * fractionOf(`price:${code}`));
}

/** Price of a fixed allowance. */
export function totalPrice(location: Location, gigabytes: number, days: number): number {
  return toWholeCents(baseUsd(location) * gigabytes ** 0.86 * (DAY_FACTORS.get(days) ?? 1));
}

/** Price of one day of a day-pass; `quality` is above 1 for an unthrottled one. */
export function dailyPrice(location: Location, gigabytes: number, quality: number): number {
  return toWholeCents(baseUsd(location) * 0.62 * gigabytes ** 0.82 * quality);
}

/** The vendor's suggested retail price: about twice its own, ending in .x9. */
export function retailPrice(price: number): number {
  return Math.ceil((price * 2) / 1000) * 1000 - 100;
}
