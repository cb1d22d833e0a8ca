/**
 * What prices are judged against: the markups that two people agreed on, at rates that are not one person's
 * work.
 */
import { DAY_MS, type Clock } from '../domain/clock.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { effectOn, type PackageEffect, type PricingTerms } from './price-effect.ts';
import { parseRateMicros, type PriceLimits, type PricingSettings, type Rate } from './pricing.ts';
import { readCosts } from './store/catalogue.ts';
import { findAgreedSettings, findPricingSettings } from './store/pricing-settings.ts';
import { findAnchorRates, findGoodRates } from './store/rates.ts';

export interface RateDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  /** By currency, as the setting says them: `{ NGN: '1600.00' }`. */
  readonly configuredRates?: Readonly<Record<string, string>> | undefined;
  readonly priceLimits: PriceLimits;
}

/** No sale uses an older rate, so an older observation is not worth confirming. */
export const MAX_AGE_MS = DAY_MS;
/** The rate that prices are made with now. undefined: there is none, or it is too old to sell at. */
export async function findSellingRate(
  { db, clock }: Pick<RateDeps, 'db' | 'clock'>,
  currency: string,
): Promise<Rate | undefined> {
  const rate = (await findGoodRates(db, currency))[0];
  return rate && clock.now().getTime() - rate.observedAtMs <= MAX_AGE_MS ? rate : undefined;
}

/**
 * What a provider observed or a second person confirmed within 24 hours, or last; and the configured rate. In
 * micros.
 */
export async function findAnchors(
  { db, configuredRates }: Pick<RateDeps, 'db' | 'configuredRates'>,
  currency: string,
  now: Date,
): Promise<readonly bigint[]> {
  const found = await findAnchorRates(db, currency, new Date(now.getTime() - MAX_AGE_MS));
  const configured = parseRateMicros(configuredRates?.[currency] ?? '');
  return configured === undefined ? found : [...found, configured];
}

/** What a person wants to change; the rest stays. */
interface Wanted {
  readonly settings?: Omit<PricingSettings, 'id'>;
  readonly rate?: Pick<Rate, 'currency' | 'micros'>;
}

/**
 * The catalogue's prices with this change, beside those with the last markups of two people at an agreed
 * rate. Judging by these, neither small steps nor markups and rate together go farther than one step may.
 * Cost counts at the last agreed rate.
 */
export async function effectOnAgreed(deps: RateDeps, wanted: Wanted): Promise<PackageEffect[]> {
  const [terms, costs] = await Promise.all([agreedTerms(deps, wanted), readCosts(deps.db)]);
  return effectOn(costs, terms);
}

/** The same for a rule: packages at its prices, beside those with the agreed markups. */
export const effectOfRule = async <Item extends Parameters<typeof effectOn>[0][number]>(
  deps: RateDeps,
  packages: readonly Item[],
  rule: Pick<PricingTerms, 'sellers' | 'ruleAfter'>,
): Promise<PackageEffect<Item>[]> =>
  effectOn(packages, { ...(await agreedTerms(deps, {})), ...rule, isFixed: () => true });

async function agreedTerms(deps: RateDeps, wanted: Wanted): Promise<PricingTerms> {
  const known = (await findGoodRates(deps.db)).map(({ currency }) => currency);
  const charged = [...new Set([...known, ...(wanted.rate ? [wanted.rate.currency] : [])])];
  const [before, present, ...found] = await Promise.all([
    findAgreedSettings(deps.db),
    findPricingSettings(deps.db),
    ...charged.map((currency) => findAgreedRates(deps, currency, wanted.rate)),
  ]);
  const by = (name: 'used' | 'agreed' | 'cost') =>
    new Map(found.flatMap((rates) => (rates ? [[rates.used.currency, rates[name]]] : [])));
  const after = wanted.settings ?? present;
  const rates = { rates: by('used'), ratesBefore: by('agreed'), costRates: by('cost') };
  return { before, after, charged, ...rates };
}

/** `agreed`: the one nearest to the rate in use. `cost`: the last. undefined: nothing is sold in it. */
async function findAgreedRates(deps: RateDeps, currency: string, wanted: Wanted['rate']) {
  const isWanted = wanted?.currency === currency;
  const used = isWanted ? wanted : await findSellingRate(deps, currency);
  if (!used) return undefined;
  const anchors = await findAnchors(deps, currency, deps.clock.now());
  const distance = (micros: bigint) => (micros > used.micros ? micros - used.micros : used.micros - micros);
  const [nearest = used.micros] = anchors.toSorted((a, b) => (distance(a) < distance(b) ? -1 : 1));
  const [last = used.micros] = anchors;
  return { used, agreed: { currency, micros: nearest }, cost: { currency, micros: last } };
}
