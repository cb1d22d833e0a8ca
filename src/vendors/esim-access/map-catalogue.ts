/**
 * The vendor's catalogue → our regions and packages. Pure. A row that cannot be read is left out and
 * reported. If many cannot be read, the format has changed, and the whole catalogue is refused: packages
 * missing from it would be withdrawn from sale.
 */
import {
  DURATION_UNITS,
  type CataloguePackage,
  type DurationUnit,
  type Region,
  type RegionType,
} from '../../catalogue/rules.ts';
import type { PackageType } from '../../domain/states.ts';
import { UnreadableAnswer } from '../http/transport.ts';
import type { WireLocation, WirePackage } from './wire.ts';

/** More unreadable rows than one in this many: the format has changed. */
const UNREADABLE_ONE_IN = 20;

/** Reads a list row by row, leaving unreadable ones out. Throws UnreadableAnswer when too many are. */
export function readRows<Row, T>(rows: readonly Row[], read: (row: Row) => T) {
  const items: T[] = [];
  const unreadable: string[] = [];
  for (const row of rows) {
    try {
      items.push(read(row));
    } catch (error) {
      unreadable.push((error as Error).message);
    }
  }
  if (unreadable.length * UNREADABLE_ONE_IN > rows.length) {
    // Stryker disable next-line StringLiteral: a list is refused only where a row is unreadable
    const [first = ''] = unreadable;
    throw new UnreadableAnswer(`${unreadable.length} of ${rows.length} rows unreadable, the first: ${first}`);
  }
  return { items, unreadable };
}

/** `GL-139` and the like; the vendor's own filter for them is `!GL`. A country's `GL` is Greenland. */
const GLOBAL_CODE = /^!?GL(?:-\d+)?$/;
const COUNTRY_CODE = /^[A-Z]{2}$/;

/** What the vendor lists separately from the packages. */
export interface Places {
  /** Location codes that the vendor lists as global. */
  readonly globalCodes: ReadonlySet<string>;
  readonly locations: readonly WireLocation[];
  /** Where the vendor's image paths are served, such as `https://p.qrsim.net`. */
  readonly imageHost: string;
}

function regionTypeOf(code: string, isCountry: boolean, places: Places): RegionType {
  if (isCountry && COUNTRY_CODE.test(code)) return 'LC';
  if (places.globalCodes.has(code) || GLOBAL_CODE.test(code)) return 'GL';
  return isCountry ? 'LC' : 'RG';
}

/** Makes a URL of an image path that the vendor gives, such as `/img/flags/es.png`. */
export function imageUrl(imageHost: string, path: string): string {
  if (path === '' || /^https?:\/\//.test(path)) return path;
  return `${imageHost.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;
}

function regionOf(code: string, name: string, isCountry: boolean, places: Places): Region {
  const regionType = regionTypeOf(code, isCountry, places);
  return {
    regionCode: code,
    regionName: name,
    regionType,
    countryCode: regionType === 'LC' ? code : null,
    flagUrl: imageUrl(places.imageHost, `/img/flags/${code.toLowerCase()}.png`),
  };
}

/** Every listed location, and every place that is missing there although a package is sold for it. */
export function regionsOf(packages: readonly WirePackage[], places: Places): readonly Region[] {
  const regions = new Map(
    places.locations.map(({ code, name, type }) => [code, regionOf(code, name, type === 1, places)]),
  );
  for (const item of packages) {
    const code = regionCodeOf(item);
    if (regions.has(code)) continue;
    const country = isOneCountry(item) ? item.locationNetworkList[0]?.locationName : undefined;
    regions.set(code, regionOf(code, country || code, isOneCountry(item), places));
  }
  return [...regions.values()];
}

function isOneCountry(item: WirePackage): boolean {
  return !item.location.includes(',');
}

function regionCodeOf(item: WirePackage): string {
  return item.locationCode === '' ? item.location : item.locationCode;
}

/**
 * Packages in our words; those of a location that is listed have its type. Throws UnreadableAnswer as
 * readRows does.
 */
export function packagesOf(items: readonly WirePackage[], packageType: PackageType, places: Places) {
  const countries = new Map(places.locations.map(({ code, type }) => [code, type === 1]));
  return readRows(items, (item): CataloguePackage => {
    const { price, volume, unusedValidTime, supportTopUpType, locationNetworkList, ...same } = item;
    const regionCode = regionCodeOf(item);
    const isCountry = countries.get(regionCode) ?? isOneCountry(item);
    return {
      ...same,
      packageType,
      regionCode,
      regionType: regionTypeOf(regionCode, isCountry, places),
      cost: BigInt(price),
      volumeBytes: volume,
      durationUnit: durationUnitOf(item.durationUnit),
      unusedValidDays: unusedValidTime,
      topUpAvailable: supportTopUpType > 1,
      networks: locationNetworkList.map((network) => ({
        ...network,
        locationLogo: imageUrl(places.imageHost, network.locationLogo),
      })),
    };
  });
}

function durationUnitOf(text: string): DurationUnit {
  const unit = DURATION_UNITS.find((known) => known === text.toUpperCase());
  if (unit === undefined) throw new UnreadableAnswer(`duration unit ${text.slice(0, 16)}`);
  return unit;
}
