/**
 * The supplier's catalogue: locations, BASE packages, their TOPUP_ twins, and the lookups that operations need.
 * Guarantee: deterministic and immutable; price overrides and withdrawals are laid over it by the caller (`effective`).
 *
 * Top-up rule: an eSIM may be topped up with the twin of any package that is sold for the same location, counts data the same way
 * (total or daily) and supports top-ups. So TOPUP lists for one package of each (location, kind) cover them all.
 */
import type { WireLocation, WirePackage } from '../wire.ts';
import { loadCountries } from './countries.ts';
import { MAGIC_LOCATION, magicPackages, TOPUP_PREFIX } from './magic.ts';
import { countryPlace, packagesOf, regionPlace } from './plans.ts';
import { loadRegions } from './regions.ts';

export type PackageScope = 'LC' | 'RG' | 'GL';

/** A package with what the wire does not say about it. */
export interface CatalogueEntry {
  item: WirePackage;
  scope: PackageScope;
  /** Top-ups and eSIMs of equal group fit each other. */
  topUpGroup: string;
}

export interface Catalogue {
  locations: WireLocation[];
  base: CatalogueEntry[];
  topUps: CatalogueEntry[];
  /** A BASE package by code or slug. */
  findBase(codeOrSlug: string): CatalogueEntry | undefined;
  /** A TOPUP package by its TOPUP_ code or its slug. */
  findTopUp(codeOrSlug: string): CatalogueEntry | undefined;
  /** Every top-up that fits a BASE package; empty when it supports none. */
  topUpsFor(base: CatalogueEntry): CatalogueEntry[];
  hasLocation(code: string): boolean;
}

function entryOf(item: WirePackage, scope: PackageScope): CatalogueEntry {
  return { item, scope, topUpGroup: `${item.locationCode}:${item.dataType === 1 ? 'total' : 'daily'}` };
}

function topUpTwin(entry: CatalogueEntry): CatalogueEntry {
  return { ...entry, item: { ...entry.item, packageCode: `${TOPUP_PREFIX}${entry.item.packageCode}` } };
}

function indexByCodeAndSlug(entries: CatalogueEntry[]): Map<string, CatalogueEntry> {
  const index = new Map<string, CatalogueEntry>();
  for (const entry of entries) {
    index.set(entry.item.slug, entry);
    index.set(entry.item.packageCode, entry);
  }
  return index;
}

/** Builds the whole catalogue; about 50 ms. */
export function createCatalogue(): Catalogue {
  const countries = loadCountries();
  const regions = loadRegions(countries);
  const base = [
    ...countries.flatMap((country) => packagesOf(countryPlace(country)).map((item) => entryOf(item, 'LC'))),
    ...regions.flatMap((region) =>
      packagesOf(regionPlace(region)).map((item) => entryOf(item, region.scope)),
    ),
    ...magicPackages().map((item) => entryOf(item, 'LC')),
  ];
  const topUps = base.filter((entry) => entry.item.supportTopUpType !== 1).map(topUpTwin);
  const byGroup = Map.groupBy(topUps, (entry) => entry.topUpGroup);
  const locations: WireLocation[] = [
    ...countries.map(({ code, name }): WireLocation => ({ code, name, type: 1, subLocationList: null })),
    { ...MAGIC_LOCATION, type: 1, subLocationList: null },
    ...regions.map((region): WireLocation => ({
      code: region.code,
      name: region.name,
      type: 2,
      subLocationList: region.members.map(({ code, name }) => ({ code, name })),
    })),
  ];
  const baseIndex = indexByCodeAndSlug(base);
  const topUpIndex = indexByCodeAndSlug(topUps);
  const locationCodes = new Set(locations.map((location) => location.code));
  return {
    locations,
    base,
    topUps,
    findBase: (codeOrSlug) => baseIndex.get(codeOrSlug),
    findTopUp: (codeOrSlug) => topUpIndex.get(codeOrSlug),
    topUpsFor: (entry) => (entry.item.supportTopUpType === 1 ? [] : (byGroup.get(entry.topUpGroup) ?? [])),
    hasLocation: (code) => locationCodes.has(code),
  };
}
