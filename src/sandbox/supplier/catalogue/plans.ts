/** Which plans are sold where: sizes, day-passes, and the fields of a package. */
import { digestHex, fractionOf, hash32 } from '../../support/seeded.ts';
import type { SoldCountry } from './countries.ts';
import { dailyPrice, retailPrice, totalPrice, type PriceTier } from './prices.ts';
import type { SoldRegion } from './regions.ts';

const MEGABYTE = 1_048_576;
export const GIGABYTE = 1024 * MEGABYTE;
const UNUSED_VALID_DAYS = 180;

/** [gigabytes, days]; the smallest two are sold without top-ups. */
const EVERYWHERE: readonly [number, number][] = [
  [0.5, 7],
  [1, 7],
  [1, 30],
  [2, 15],
  [3, 15],
  [3, 30],
  [5, 30],
  [10, 30],
  [20, 30],
];
const POPULAR: readonly [number, number][] = [
  [0.1, 7],
  [50, 30],
  [50, 180],
  [100, 180],
];
const DAILY_SIZES = [0.5, 1, 2, 5];

type Network = ReturnType<typeof networkOf>;

/** A place packages are sold for: a country or a region. */
export interface SellingPlace {
  code: string;
  name: string;
  tier: PriceTier;
  /** Price factor: 1 for a country, more for the convenience of many. */
  factor: number;
  popular: boolean;
  continent: string;
  networks: Network[];
}

const IP_EXPORTS: Record<string, readonly string[]> = {
  Europe: ['NL/FR', 'GB/NO', 'DE', 'PL'],
  Asia: ['HK', 'SG', 'HK/SG', 'JP'],
  Americas: ['US', 'US/NL', 'GB/NO'],
  Africa: ['NL/FR', 'GB/NO', 'ZA'],
  Oceania: ['SG', 'HK', 'AU'],
};

export function networkOf({ name, code, operators }: Pick<SoldCountry, 'name' | 'code' | 'operators'>) {
  const locationLogo = `/img/flags/${code.toLowerCase()}.png`;
  return { locationName: name, locationLogo, locationCode: code, operatorList: operators };
}

/** A country as a place to sell for. */
export function countryPlace(country: SoldCountry): SellingPlace {
  const { code, name, tier, continent } = country;
  return { code, name, tier, factor: 1, popular: tier <= 2, continent, networks: [networkOf(country)] };
}

/** A region or global bundle as a place to sell for: priced by the average of its members. */
export function regionPlace(region: SoldRegion): SellingPlace {
  const average = region.members.reduce((sum, member) => sum + member.tier, 0) / region.members.length;
  return {
    code: region.code,
    name: region.name,
    tier: Math.max(1, Math.min(5, Math.round(average))) as PriceTier,
    factor: region.scope === 'GL' ? 1.9 : 1.25,
    popular: true,
    continent: region.members[0]?.continent ?? 'Europe',
    networks: region.members.map(networkOf),
  };
}

function speedOf(networks: Network[]): string {
  const types = new Set(
    networks.flatMap(({ operatorList }) => operatorList.map(({ networkType }) => networkType)),
  );
  if (types.has('5G')) return '3G/4G/5G';
  return types.has('4G') ? '3G/4G' : '3G';
}

/** A vendor-like code: P and nine letters or digits of the slug's hash, so that it survives any change to other packages. */
function packageCodeOf(slug: string): string {
  return `P${BigInt(`0x${digestHex(`package:${slug}`).slice(0, 12)}`)
    .toString(36)
    .toUpperCase()
    .padStart(10, '0')
    .slice(-9)}`;
}

interface Plan {
  slug: string;
  name: string;
  /** USD x 10,000. */
  price: number;
  /** Bytes. */
  volume: number;
  dataType: 1 | 2 | 3 | 4;
  /** Days. */
  duration: number;
  supportTopUpType: 1 | 2 | 3;
  fupPolicy: string;
}

/** One package of `/package/list`. */
export type WirePackage = ReturnType<typeof packageOf>;

/** A plan as it is sold for a place, in the field order of a live answer. */
export function packageOf(place: SellingPlace, plan: Plan) {
  const exports = IP_EXPORTS[place.continent] ?? ['HK'];
  const smsDraw = fractionOf(`sms:${place.code}`);
  return {
    packageCode: packageCodeOf(plan.slug),
    slug: plan.slug,
    name: plan.name,
    price: plan.price,
    currencyCode: 'USD',
    volume: plan.volume,
    smsStatus: smsDraw < 0.5 ? 0 : smsDraw < 0.8 ? 1 : 2,
    dataType: plan.dataType,
    unusedValidTime: UNUSED_VALID_DAYS,
    duration: plan.duration,
    durationUnit: 'DAY',
    location: place.networks.map((network) => network.locationCode).join(','),
    locationCode: place.code,
    description: plan.name,
    activeType: fractionOf(`active:${place.code}`) < 0.2 ? 1 : 2,
    favorite: place.popular && plan.volume === GIGABYTE && plan.duration === 7,
    retailPrice: retailPrice(plan.price),
    speed: speedOf(place.networks),
    ipExport: exports[hash32(`ip:${place.code}`) % exports.length] ?? 'HK',
    supportTopUpType: plan.supportTopUpType,
    fupPolicy: plan.fupPolicy,
    locationNetworkList: place.networks,
  };
}

/** Half a gigabyte is sold as 500 MB. */
function sizeOf(gigabytes: number): { label: string; volume: number } {
  if (gigabytes >= 1) return { label: `${gigabytes}GB`, volume: Math.round(gigabytes * GIGABYTE) };
  const megabytes = Math.round(gigabytes * 1000);
  return { label: `${megabytes}MB`, volume: megabytes * MEGABYTE };
}

function fixedPlans(place: SellingPlace): Plan[] {
  const sizes = place.popular ? [...EVERYWHERE, ...POPULAR] : EVERYWHERE;
  return sizes.map(([gigabytes, days]) => ({
    slug: `${place.code}_${gigabytes}_${days}`,
    name: `${place.name} ${sizeOf(gigabytes).label} ${days}Days`,
    price: totalPrice(place, gigabytes, days),
    volume: sizeOf(gigabytes).volume,
    dataType: 1,
    duration: days,
    supportTopUpType: gigabytes < 1 ? 1 : 2,
    fupPolicy: '',
  }));
}

/** Slowed down after the day's volume, cut off after it, and unlimited. */
function dailyPlans(place: SellingPlace): Plan[] {
  if (!place.popular) return [];
  const daily = (slug: string, name: string, gigabytes: number, quality: number) => ({
    slug: `${place.code}_${slug}`,
    name: `${place.name} ${name}`,
    price: dailyPrice(place, gigabytes, quality),
    volume: sizeOf(gigabytes).volume,
    duration: 1,
    supportTopUpType: 3 as const,
  });
  const slowed = DAILY_SIZES.map((size): Plan => ({
    ...daily(`${size}_Daily_1Mbps`, `${sizeOf(size).label}/Day FUP1Mbps`, size, 1),
    dataType: 2,
    fupPolicy: '1 Mbps',
  }));
  if (place.tier !== 1) return slowed;
  return [
    ...slowed,
    { ...daily('1_Daily', '1GB/Day', 1, 0.9), dataType: 3, fupPolicy: '' },
    { ...daily('Unlimited_Daily', 'Unlimited/Day', 10, 1.1), dataType: 4, fupPolicy: '' },
  ];
}

/** Every BASE package sold for a place. */
export function packagesOf(place: SellingPlace): WirePackage[] {
  return [...fixedPlans(place), ...dailyPlans(place)].map((plan) => packageOf(place, plan));
}
