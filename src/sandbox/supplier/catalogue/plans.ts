/**
 * Which plans are sold where: sizes, day-passes, and the fields of a package. Guarantee: pure and deterministic; a package code is
 * a hash of its slug, so it survives any change to other packages.
 */
import { digestHex, fractionOf, hash32 } from '../../support/seeded.ts';
import type { WireLocationNetwork, WireOperator, WirePackage } from '../wire.ts';
import type { SoldCountry } from './countries.ts';
import { dailyPrice, retailPrice, totalPrice, type PriceTier } from './prices.ts';
import type { SoldRegion } from './regions.ts';

const MEGABYTE = 1_048_576;
const GIGABYTE = 1024 * MEGABYTE;
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

/** A place packages are sold for: a country or a region. */
export interface SellingPlace {
  code: string;
  name: string;
  tier: PriceTier;
  /** Price factor: 1 for a country, more for the convenience of many. */
  factor: number;
  popular: boolean;
  continent: string;
  networks: WireLocationNetwork[];
}

const IP_EXPORTS: Record<string, readonly string[]> = {
  Europe: ['NL/FR', 'GB/NO', 'DE', 'PL'],
  Asia: ['HK', 'SG', 'HK/SG', 'JP'],
  Americas: ['US', 'US/NL', 'GB/NO'],
  Africa: ['NL/FR', 'GB/NO', 'ZA'],
  Oceania: ['SG', 'HK', 'AU'],
};

function networkOf(country: SoldCountry): WireLocationNetwork {
  return {
    locationName: country.name,
    locationLogo: `/img/flags/${country.code.toLowerCase()}.png`,
    locationCode: country.code,
    operatorList: country.operators,
  };
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

function speedOf(networks: WireLocationNetwork[]): string {
  const types = new Set(
    networks.flatMap((network) => network.operatorList.map((each: WireOperator) => each.networkType)),
  );
  if (types.has('5G')) return '3G/4G/5G';
  return types.has('4G') ? '3G/4G' : '3G';
}

/** A vendor-like code: P and eight letters or digits of the slug's hash. */
function packageCodeOf(slug: string): string {
  return `P${BigInt(`0x${digestHex(`package:${slug}`).slice(0, 12)}`)
    .toString(36)
    .toUpperCase()
    .padStart(10, '0')
    .slice(-9)}`;
}

type PlanFields = Pick<
  WirePackage,
  'slug' | 'name' | 'price' | 'volume' | 'dataType' | 'duration' | 'supportTopUpType' | 'fupPolicy'
>;

function packageOf(place: SellingPlace, plan: PlanFields): WirePackage {
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

function fixedPlans(place: SellingPlace): PlanFields[] {
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

function dailyPlans(place: SellingPlace): PlanFields[] {
  if (!place.popular) return [];
  const slowed = DAILY_SIZES.map((gigabytes): PlanFields => ({
    slug: `${place.code}_${gigabytes}_Daily_1Mbps`,
    name: `${place.name} ${sizeOf(gigabytes).label}/Day FUP1Mbps`,
    price: dailyPrice(place, gigabytes, 1),
    volume: sizeOf(gigabytes).volume,
    dataType: 2,
    duration: 1,
    supportTopUpType: 3,
    fupPolicy: '1 Mbps',
  }));
  const cut: PlanFields = {
    slug: `${place.code}_1_Daily`,
    name: `${place.name} 1GB/Day`,
    price: dailyPrice(place, 1, 0.9),
    volume: GIGABYTE,
    dataType: 3,
    duration: 1,
    supportTopUpType: 3,
    fupPolicy: '',
  };
  const unlimited: PlanFields = {
    slug: `${place.code}_Unlimited_Daily`,
    name: `${place.name} Unlimited/Day`,
    price: dailyPrice(place, 10, 1.1),
    volume: 10 * GIGABYTE,
    dataType: 4,
    duration: 1,
    supportTopUpType: 3,
    fupPolicy: '',
  };
  return place.tier === 1 ? [...slowed, cut, unlimited] : slowed;
}

/** Every BASE package sold for a place. */
export function packagesOf(place: SellingPlace): WirePackage[] {
  return [...fixedPlans(place), ...dailyPlans(place)].map((plan) => packageOf(place, plan));
}
