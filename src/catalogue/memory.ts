/**
 * The catalogue, markups and rates of one world, in memory. Reads cost no query; a poll of the revision counters tells when to read
 * again, so a change reaches every process within a second. With Postgres gone the last known state is served.
 */
import { UNLISTED_REGION_CODE, type Region } from './rules.ts';
import type { PricingSettings, Rate } from './pricing.ts';
import type { JsonCache } from '../platform/json-cache.ts';
import { readCatalogue, type StoredPackage } from './store/catalogue.ts';
import { findPricingSettings } from './store/pricing-settings.ts';
import { findGoodRates } from './store/rates.ts';
import { readRevisions, type Revisions } from './store/revisions.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { startPoller, type Poller } from '../platform/poller.ts';

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
}

export interface CatalogueMemory {
  /** Synchronous; throws when start() has not finished. */
  current(): Catalogue;
  /** Reads once and keeps polling. Throws when the first read fails. */
  start(): Promise<void>;
  /** Looks for changes now. */
  refresh(): Promise<void>;
  stop(): void;
}

export interface CatalogueMemoryOptions {
  readonly db: WorldDb;
  readonly rateCache: JsonCache;
  readonly onError: (error: unknown) => void;
  readonly pollIntervalMs?: number;
}

const POLL_INTERVAL_MS = 1_000;
/** The cache key carries the revision, so an entry is never wrong, only unused; an hour keeps the cache small. */
const RATE_CACHE_TTL_MS = 3_600_000;

export function createCatalogueMemory(options: CatalogueMemoryOptions): CatalogueMemory {
  let loaded: { revisions: Revisions; catalogue: Catalogue } | undefined;
  let poller: Poller | undefined;

  const refresh = async (): Promise<void> => {
    const revisions = await readRevisions(options.db);
    const before = loaded;
    if (before && sameRevisions(before.revisions, revisions)) return;
    const goods =
      before && before.revisions.catalogue === revisions.catalogue
        ? before.catalogue
        : arrange(await readCatalogue(options.db));
    const [settings, rates] = await Promise.all([
      findPricingSettings(options.db),
      before && before.revisions.rates === revisions.rates
        ? before.catalogue.rates
        : readRates(options.db, options.rateCache, revisions.rates),
    ]);
    const revision = `${revisions.catalogue}.${revisions.pricing}.${revisions.rates}`;
    loaded = { revisions, catalogue: { ...goods, revision, settings, rates } };
  };

  return {
    current: () => {
      if (!loaded) throw new Error('the catalogue is not loaded yet');
      return loaded.catalogue;
    },
    start: async () => {
      await refresh();
      poller = startPoller(refresh, options.pollIntervalMs ?? POLL_INTERVAL_MS, options.onError);
    },
    refresh,
    stop: () => void poller?.stop(),
  };
}

function sameRevisions(a: Revisions, b: Revisions): boolean {
  return a.catalogue === b.catalogue && a.pricing === b.pricing && a.rates === b.rates;
}

type Goods = Pick<Catalogue, 'regions' | 'regionCodes' | 'byRegion' | 'byCode'>;

function arrange({ regions, packages }: { regions: Region[]; packages: StoredPackage[] }): Goods {
  const onSale = packages.filter((item) => !item.withdrawn && item.regionCode !== UNLISTED_REGION_CODE);
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

async function readRates(db: WorldDb, cache: JsonCache, revision: string): Promise<Map<string, Rate>> {
  const cacheKey = `rates:${revision}`;
  const cached = parseRates(await cache.get(cacheKey));
  const rates = cached ?? (await findGoodRates(db));
  if (!cached) {
    await cache.set(
      cacheKey,
      rates.map((rate) => ({ ...rate, micros: String(rate.micros) })),
      RATE_CACHE_TTL_MS,
    );
  }
  return new Map(rates.map((rate) => [rate.currency, rate]));
}

/** What another process cached, or undefined for anything that is not a list of rates. */
function parseRates(value: unknown): Rate[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const rates = value.map((entry: Partial<Record<keyof Rate, unknown>>) => {
    const { id, currency, micros, source, observedAtMs } = entry;
    if (typeof id !== 'string' || typeof currency !== 'string' || typeof micros !== 'string')
      return undefined;
    if (typeof source !== 'string' || typeof observedAtMs !== 'number' || !/^\d+$/.test(micros))
      return undefined;
    return { id, currency, micros: BigInt(micros), source, observedAtMs };
  });
  return rates.every((rate) => rate !== undefined) ? rates : undefined;
}

export interface RegionView extends Region {
  readonly packageCount: number;
}
