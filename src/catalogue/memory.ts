import { isDeepStrictEqual } from 'node:util';
import { UNLISTED_REGION_CODE, type Region } from './rules.ts';
import { ACCOUNT_TYPES } from '../domain/account.ts';
import { priceUsdMinor, type PricingSettings, type Rate } from './pricing.ts';
import { createPriceRules, type PriceRules } from './price-rules.ts';
import { readCatalogue, type StoredPackage } from './store/catalogue.ts';
import { findPricingSettings } from './store/pricing-settings.ts';
import { readPriceRules } from './store/price-rules.ts';
import { findGoodRates } from './store/rates.ts';
import { readRevisions } from './store/revisions.ts';
import { readAvailability } from './store/shortages.ts';
import type { Availability } from './shortage-rules.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { startPoller, type Poller } from '../platform/poller.ts';

export interface RegionView extends Region {
  readonly packageCount: number;
}

export interface Catalogue {
  /** Changes with every change of catalogue, markups or rates. */
  readonly revision: string;
  /** Listed regions that sell something. */
  readonly regions: readonly RegionView[];
  /** Every region code ever sold in, unlisted ones included. */
  readonly regionCodes: ReadonlySet<string>;
  /** BASE packages on sale by region. */
  readonly byRegion: ReadonlyMap<string, readonly StoredPackage[]>;
  /** BASE packages by code, withdrawn and unlisted ones included. */
  readonly byCode: ReadonlyMap<string, StoredPackage>;
  readonly settings: PricingSettings;
  /** Latest good rate by currency. */
  readonly rates: ReadonlyMap<string, Rate>;
  /** What a supplier would refuse now. In no list: `revision` does not change with it. */
  readonly availability: Availability;
  /** Those that apply now or later. */
  readonly rules: PriceRules;
  /** Postgres' time, whatever this machine's clock says: rules begin and end by it, everywhere at once. */
  readonly nowMs: () => number;
}

export type CatalogueMemory = ReturnType<typeof createCatalogueMemory>;

const POLL_INTERVAL_MS = 1_000;

/**
 * Keeps one environment's catalogue, prices and rates in memory, so that reads cost no query. A poll of the
 * revision counters brings a change to every process within a second. Without Postgres the last known state
 * is served. Prices are made of this, so it comes from Postgres alone.
 */
export function createCatalogueMemory(deps: {
  readonly db: WorldDb;
  readonly onError: (error: unknown) => void;
}) {
  const { db, onError } = deps;
  let loaded:
    | {
        readonly revisions: Omit<Awaited<ReturnType<typeof readRevisions>>, 'atMs'>;
        readonly offer: Offer;
        readonly catalogue: Catalogue;
      }
    | undefined;
  let poller: Poller | undefined;
  let postgresAheadMs = 0;
  const nowMs = () => performance.now() + postgresAheadMs;

  const refresh = async (): Promise<void> => {
    const { atMs, ...revisions } = await readRevisions(db);
    postgresAheadMs = atMs - performance.now();
    const before = loaded;
    if (isDeepStrictEqual(before?.revisions, revisions)) return;
    const offer =
      before && before.revisions.catalogue === revisions.catalogue ? before.offer : await readCatalogue(db);
    const [settings, rules, rates, availability] = await Promise.all([
      findPricingSettings(db),
      before && before.revisions.pricing === revisions.pricing ? before.catalogue.rules : readRules(db),
      before && before.revisions.rates === revisions.rates ? before.catalogue.rates : readRates(db),
      readAvailability(db),
    ]);
    const revision = `${revisions.catalogue}.${revisions.pricing}.${revisions.rates}`;
    const prices = { revision, settings, rates, rules, nowMs };
    loaded = { revisions, offer, catalogue: { ...arrange(offer, settings), ...prices, availability } };
  };

  return {
    /** Throws before start() has finished. */
    current: (): Catalogue => {
      if (!loaded) throw new Error('the catalogue is not loaded yet');
      return loaded.catalogue;
    },
    /** Reads once and keeps polling. Throws when the first read fails. */
    start: async (): Promise<void> => {
      await refresh();
      poller = startPoller(refresh, POLL_INTERVAL_MS, onError);
    },
    /** Reads what changed, now. */
    refresh,
    stop: () => void poller?.stop(),
  };
}

type Offer = Awaited<ReturnType<typeof readCatalogue>>;

/** What has no price for anybody is in no list and no count. */
function arrange({ regions, packages }: Offer, settings: PricingSettings) {
  const hasPrice = ({ cost }: StoredPackage): boolean =>
    ACCOUNT_TYPES.some((type) => priceUsdMinor(cost, type, settings) > 0n);
  const onSale = packages.filter(
    (item) => !item.withdrawn && item.regionCode !== UNLISTED_REGION_CODE && hasPrice(item),
  );
  const byRegion = Map.groupBy(onSale, (item) => item.regionCode);
  return {
    byRegion,
    byCode: new Map(packages.map((item) => [item.packageCode, item])),
    regionCodes: new Set(packages.map((item) => item.regionCode)),
    regions: regions
      .map((region) => ({ ...region, packageCount: byRegion.get(region.regionCode)?.length ?? 0 }))
      .filter((region) => region.packageCount > 0),
  };
}

const readRules = async (db: WorldDb): Promise<PriceRules> => createPriceRules(await readPriceRules(db));

async function readRates(db: WorldDb): Promise<Map<string, Rate>> {
  return new Map((await findGoodRates(db)).map((rate) => [rate.currency, rate]));
}
