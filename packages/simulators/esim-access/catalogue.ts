/**
 * The supplier's catalogue: locations, BASE packages, their TOPUP_ twins, and lookups. catalogue.json has its
 * places, plans and prices; price overrides and withdrawals are applied by the caller (`effective`).
 *
 * Top-up rule: an eSIM may be topped up with the twin of any package that is sold for the same location,
 * counts data the same way (total or daily) and supports top-ups. So TOPUP lists for one package of each
 * (location, kind) cover them all.
 */
import { readFileSync } from 'node:fs';
import { MAGIC_LOCATION, MAGIC_PRICE_E4, MAGIC_RULES, TOPUP_PREFIX } from './magic.ts';

interface Network {
  name: string;
  operators: [name: string, networkType: string][];
}

/** A place that packages are sold for: a country (LC), a region (RG) or the world (GL). */
interface Place {
  code: string;
  name: string;
  scope: 'LC' | 'RG' | 'GL';
  members?: string[];
  smsStatus: number;
  activeType: number;
  speed: string;
  ipExport: string;
  popular: boolean;
  /** By plan: the package's code, and its price in USD x 10,000. */
  packages: Record<string, [code: string, price: number]>;
}

interface Plan {
  name: string;
  volume: number;
  dataType: number;
  duration: number;
  supportTopUpType: number;
  fupPolicy: string;
}

type SellingPlace = Omit<Place, 'packages' | 'scope' | 'members'> & { networks: WireNetwork[] };
type WireNetwork = ReturnType<typeof networkOf>;
export type WirePackage = ReturnType<typeof packageOf>;

export interface CatalogueEntry {
  item: WirePackage;
  scope: Place['scope'];
  /** Top-ups and eSIMs of equal group fit each other. */
  topUpGroup: string;
}

/** A package as it was when it was bought; without its networks, which are many. */
export function snapshotOf({ item, topUpGroup }: CatalogueEntry) {
  const without = { location: undefined, locationNetworkList: undefined };
  return { ...item, ...without, packageName: item.name, topUpGroup };
}
export type PlanSnapshot = ReturnType<typeof snapshotOf>;

/** One entry of `/location/list`; type 1 is a country, 2 a multi-country region. */
export interface WireLocation {
  code: string;
  name: string;
  type: 1 | 2;
  subLocationList: { code: string; name: string }[] | null;
}

export type Catalogue = ReturnType<typeof createCatalogue>;

const UNUSED_VALID_DAYS = 180;
const GIGABYTE = 1_073_741_824;

const data = JSON.parse(readFileSync(new URL('catalogue.json', import.meta.url), 'utf8')) as {
  plans: Record<string, Plan>;
  networks: Record<string, Network>;
  places: Place[];
};

function known<T>(table: Record<string, T>, name: string): T {
  const value = table[name];
  if (value === undefined) throw new Error(`catalogue.json has no ${name}`);
  return value;
}

function networkOf(code: string, { name, operators }: Network) {
  return {
    locationName: name,
    locationLogo: `/img/flags/${code.toLowerCase()}.png`,
    locationCode: code,
    operatorList: operators.map(([operatorName, networkType]) => ({ operatorName, networkType })),
  };
}

/** A plan as it is sold for a place, in the field order of a live answer. */
function packageOf(
  place: SellingPlace,
  { slug, packageCode, price, ...plan }: Plan & { slug: string; packageCode: string; price: number },
) {
  const name = `${place.name} ${plan.name}`;
  return {
    packageCode,
    slug,
    name,
    price,
    currencyCode: 'USD',
    volume: plan.volume,
    smsStatus: place.smsStatus,
    dataType: plan.dataType,
    unusedValidTime: UNUSED_VALID_DAYS,
    duration: plan.duration,
    durationUnit: 'DAY',
    location: place.networks.map(({ locationCode }) => locationCode).join(','),
    locationCode: place.code,
    description: name,
    activeType: place.activeType,
    favorite: place.popular && plan.volume === GIGABYTE && plan.duration === 7,
    // About twice the price, ending in .x9.
    retailPrice: Math.ceil((price * 2) / 1000) * 1000 - 100,
    speed: place.speed,
    ipExport: place.ipExport,
    supportTopUpType: plan.supportTopUpType,
    fupPolicy: plan.fupPolicy,
    locationNetworkList: place.networks,
  };
}

function entryOf(item: WirePackage, scope: Place['scope']): CatalogueEntry {
  return { item, scope, topUpGroup: `${item.locationCode}:${item.dataType === 1 ? 'total' : 'daily'}` };
}

function entriesOf(place: Place): CatalogueEntry[] {
  const members = place.members ?? [place.code];
  const networks = members.map((code) => networkOf(code, known(data.networks, code)));
  return Object.entries(place.packages).map(([plan, [packageCode, price]]) => {
    const sold = { slug: `${place.code}_${plan}`, packageCode, price, ...known(data.plans, plan) };
    return entryOf(packageOf({ ...place, networks }, sold), place.scope);
  });
}

const MAGIC_PLACE: SellingPlace = {
  code: MAGIC_LOCATION.code,
  name: 'Sandbox',
  smsStatus: 1,
  activeType: 2,
  speed: '3G/4G/5G',
  ipExport: MAGIC_LOCATION.code,
  popular: false,
  networks: [
    {
      locationName: MAGIC_LOCATION.name,
      locationLogo: '/img/flags/zz.png',
      locationCode: MAGIC_LOCATION.code,
      operatorList: [{ operatorName: 'Sandbox Mobile', networkType: '5G' }],
    },
  ],
};

function magicPlans() {
  return Object.entries(MAGIC_RULES).map(([packageCode, { noTopUp, priceE4 = MAGIC_PRICE_E4 }]) => ({
    slug: packageCode,
    packageCode,
    name: `${packageCode} 1GB 7Days`,
    description: `Sandbox scenario ${packageCode}: 1GB 7Days`,
    price: priceE4,
    volume: GIGABYTE,
    dataType: 1,
    duration: 7,
    supportTopUpType: noTopUp === true ? 1 : 2,
    fupPolicy: '',
  }));
}

function locationOf({ code, name, members }: Place): WireLocation {
  if (members === undefined) return { code, name, type: 1, subLocationList: null };
  const subLocationList = members.map((each) => ({ code: each, name: known(data.networks, each).name }));
  return { code, name, type: 2, subLocationList };
}

function indexByCodeAndSlug(entries: CatalogueEntry[]): Map<string, CatalogueEntry> {
  return new Map(
    entries.flatMap((entry) => [
      [entry.item.slug, entry],
      [entry.item.packageCode, entry],
    ]),
  );
}

/** The catalogue of all locations, or of those with these codes; the magic packages are always in it. */
export function createCatalogue(codes?: readonly string[]) {
  const places = data.places.filter(({ code }) => codes?.includes(code) ?? true);
  const base = [
    ...places.flatMap(entriesOf),
    ...magicPlans().map((plan) =>
      entryOf({ ...packageOf(MAGIC_PLACE, plan), description: plan.description }, 'LC'),
    ),
  ];
  const topUps = base
    .filter(({ item }) => item.supportTopUpType !== 1)
    .map((entry) => ({
      ...entry,
      item: { ...entry.item, packageCode: `${TOPUP_PREFIX}${entry.item.packageCode}` },
    }));
  const byGroup = Map.groupBy(topUps, (entry) => entry.topUpGroup);
  const [countries, regions] = [
    places.filter(({ scope }) => scope === 'LC'),
    places.filter(({ scope }) => scope !== 'LC'),
  ];
  const locations: WireLocation[] = [
    ...countries.map(locationOf),
    { ...MAGIC_LOCATION, type: 1, subLocationList: null },
    ...regions.map(locationOf),
  ];
  const baseIndex = indexByCodeAndSlug(base);
  const topUpIndex = indexByCodeAndSlug(topUps);
  const locationCodes = new Set(locations.map((location) => location.code));
  return {
    locations,
    base,
    topUps,
    findBase: (codeOrSlug: string) => baseIndex.get(codeOrSlug),
    findTopUp: (codeOrSlug: string) => topUpIndex.get(codeOrSlug),
    topUpsFor: ({ item, topUpGroup }: CatalogueEntry) =>
      item.supportTopUpType === 1 ? [] : (byGroup.get(topUpGroup) ?? []),
    hasLocation: (code: string) => locationCodes.has(code),
  };
}
