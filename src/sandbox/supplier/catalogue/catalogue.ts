/**
 * The supplier's catalogue: locations, BASE packages, their TOPUP_ twins, and lookups. The same in every process; price overrides and
 * withdrawals are applied by the caller (`effective`).
 *
 * Top-up rule: an eSIM may be topped up with the twin of any package that is sold for the same location, counts data the same way
 * (total or daily) and supports top-ups. So TOPUP lists for one package of each (location, kind) cover them all.
 */
import { loadCountries } from './countries.ts';
import { MAGIC_LOCATION, magicPackages, TOPUP_PREFIX } from './magic.ts';
import { countryPlace, packagesOf, regionPlace, type WirePackage } from './plans.ts';
import { loadRegions } from './regions.ts';

type PackageScope = 'LC' | 'RG' | 'GL';

/** A package with what the wire does not say about it. */
export interface CatalogueEntry {
  item: WirePackage;
  scope: PackageScope;
  /** Top-ups and eSIMs of equal group fit each other. */
  topUpGroup: string;
}

/** One entry of `/location/list`; type 1 is a country, 2 a multi-country region. */
export interface WireLocation {
  code: string;
  name: string;
  type: 1 | 2;
  subLocationList: { code: string; name: string }[] | null;
}

export type Catalogue = ReturnType<typeof createCatalogue>;

function entryOf(item: WirePackage, scope: PackageScope): CatalogueEntry {
  return { item, scope, topUpGroup: `${item.locationCode}:${item.dataType === 1 ? 'total' : 'daily'}` };
}

function topUpTwin(entry: CatalogueEntry): CatalogueEntry {
  return { ...entry, item: { ...entry.item, packageCode: `${TOPUP_PREFIX}${entry.item.packageCode}` } };
}

function indexByCodeAndSlug(entries: CatalogueEntry[]): Map<string, CatalogueEntry> {
  return new Map(
    entries.flatMap((entry) => [
      [entry.item.slug, entry],
      [entry.item.packageCode, entry],
    ]),
  );
}

/** Builds the catalogue of all locations in about 50 ms, or of those with these codes; the magic packages are always in it. */
export function createCatalogue(codes?: readonly string[]) {
  const isSold = ({ code }: { readonly code: string }): boolean => codes?.includes(code) ?? true;
  const allCountries = loadCountries();
  const countries = allCountries.filter(isSold);
  const regions = loadRegions(allCountries).filter(isSold);
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
    /** A BASE package by code or slug. */
    findBase: (codeOrSlug: string) => baseIndex.get(codeOrSlug),
    /** A TOPUP package by its TOPUP_ code or its slug. */
    findTopUp: (codeOrSlug: string) => topUpIndex.get(codeOrSlug),
    /** Every top-up that fits a BASE package; empty when it supports none. */
    topUpsFor: ({ item, topUpGroup }: CatalogueEntry) =>
      item.supportTopUpType === 1 ? [] : (byGroup.get(topUpGroup) ?? []),
    hasLocation: (code: string) => locationCodes.has(code),
  };
}
