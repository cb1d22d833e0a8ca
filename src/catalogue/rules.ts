import type { CostUsdE4 } from './pricing.ts';
import type { PackageType } from '../domain/states.ts';

export const REGION_TYPES = ['LC', 'RG', 'GL'] as const;
export type RegionType = (typeof REGION_TYPES)[number];

export const DURATION_UNITS = ['DAY', 'HOUR', 'MONTH'] as const;
export type DurationUnit = (typeof DURATION_UNITS)[number];

export interface Region {
  readonly regionCode: string;
  readonly regionName: string;
  readonly regionType: RegionType;
  readonly countryCode: string | null;
  readonly flagUrl: string;
}

export interface LocationNetwork {
  readonly locationName: string;
  readonly locationLogo: string;
  readonly locationCode: string;
  readonly operatorList: readonly { readonly operatorName: string; readonly networkType: string }[];
}

export interface CataloguePackage {
  readonly packageCode: string;
  readonly packageType: PackageType;
  readonly slug: string;
  readonly name: string;
  readonly regionCode: string;
  readonly regionType: RegionType;
  readonly cost: CostUsdE4;
  readonly volumeBytes: number;
  /** 1 total; 2 daily then slowed; 3 daily then cut; 4 daily unlimited (supplier's numbers). */
  readonly dataType: number;
  readonly duration: number;
  readonly durationUnit: DurationUnit;
  /** Days to install before it lapses. */
  readonly unusedValidDays: number;
  readonly speed: string;
  readonly description: string;
  /** 1 = starts at first installation, 2 = at first network connection. */
  readonly activeType: number;
  readonly topUpAvailable: boolean;
  readonly location: string;
  readonly locationCode: string;
  readonly networks: readonly LocationNetwork[];
}

/** ADDED: on sale, for the first time or again. */
export const CHANGE_KINDS = ['ADDED', 'CHANGED', 'WITHDRAWN'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/**
 * What may change of a package, by the names that answers use. `availability`: it was withdrawn, or is back.
 */
export const CHANGED_FIELDS = [
  'availability',
  'packageName',
  'regionCode',
  'price',
  'data',
  'dataType',
  'validity',
  'unusedValidTime',
  'speed',
  'description',
  'activation',
  'topUpAvailable',
  'location',
  'coverage',
] as const;
export type ChangedField = (typeof CHANGED_FIELDS)[number];

/**
 * Packages of this region can be bought by code but appear in no list and no count. ISO 3166 never assigns ZZ
 * to a place.
 */
export const UNLISTED_REGION_CODE = 'ZZ';

const GIB = 1_073_741_824;
const MIB = 1_048_576;

/** `5 GB`, `500 MB`, with `/day` for daily plans; `Unlimited` for daily unlimited. */
export function allowanceText(volumeBytes: number, dataType: number): string {
  if (dataType === 4) return 'Unlimited';
  const size = volumeBytes >= GIB ? `${trimmed(volumeBytes, GIB)} GB` : `${trimmed(volumeBytes, MIB)} MB`;
  return dataType === 1 ? size : `${size}/day`;
}

function trimmed(bytes: number, unit: number): string {
  return (bytes / unit).toFixed(2).replace(/\.?0+$/, '');
}

const DAYS_PER_UNIT: Record<DurationUnit, number> = { DAY: 1, HOUR: 1 / 24, MONTH: 30 };

/** At least one day. */
export function validityDays(duration: number, unit: DurationUnit): number {
  return Math.max(1, Math.trunc(duration * DAYS_PER_UNIT[unit] + 0.5));
}

/** `TOPUP_` in front of a code names the top-up form of a package (docs/API.md). */
export const TOP_UP_PREFIX = 'TOPUP_';

const DATA_TYPE_LABELS: Record<number, string> = {
  2: 'Data only, daily allowance then slowed',
  3: 'Data only, daily allowance then cut',
  4: 'Data only, unlimited daily',
};

/** Every country that the package covers, as ISO 3166-1 alpha-2. */
export const countriesOf = ({
  location,
  networks,
}: Pick<CataloguePackage, 'location' | 'networks'>): string[] => {
  const codes = [...location.split(','), ...networks.map(({ locationCode }) => locationCode)];
  return [...new Set(codes.map((code) => code.trim()).filter((code) => code !== ''))];
};

export type PackageSnapshot = Readonly<ReturnType<typeof snapshotOf>>;

/** What the buyer was shown, stored with the order. */
export function snapshotOf(item: CataloguePackage) {
  const operators = item.networks.flatMap((network) => network.operatorList);
  return {
    data: allowanceText(item.volumeBytes, item.dataType),
    coverage: item.networks.map((network) => network.locationName),
    // Each once, in the supplier's order.
    networkProviders: [...new Set(operators.map((operator) => operator.operatorName))],
    dataType: DATA_TYPE_LABELS[item.dataType] ?? 'Data only',
    speed: item.speed,
  };
}
