/** Countries that the simulated supplier sells in: ISO codes and names from world-countries, operators from mcc-mnc-list. */
import { createRequire } from 'node:module';
import type { Country as WorldCountry } from 'world-countries';
import { tierOf, type PriceTier } from './prices.ts';

interface WireOperator {
  operatorName: string;
  networkType: string;
}

/** One country with its networks; `operators` is never empty. */
export interface SoldCountry {
  code: string;
  name: string;
  continent: string;
  tier: PriceTier;
  operators: WireOperator[];
}

/** An entry of mcc-mnc-list; its own types leave out that most fields may be null. */
interface ListedOperator {
  type: string;
  countryCode: string | null;
  brand: string | null;
  operator: string | null;
  status: string;
  bands: string | null;
}

const OPERATORS_PER_COUNTRY = 4;
/** No roaming data is sold for these, though networks exist. */
const NOT_SOLD: ReadonlySet<string> = new Set(['KP', 'SY']);

/** Both packages are CommonJS over JSON without import attributes, so they are required. */
function loadData(): { world: WorldCountry[]; networks: ListedOperator[] } {
  const require = createRequire(import.meta.url);
  const world = require('world-countries') as WorldCountry[];
  const { all } = require('mcc-mnc-list') as { all: () => ListedOperator[] };
  return { world, networks: all() };
}

/** The newest generation that the listed bands speak of; null when the entry names no network of its own (MVNO, unknown). */
function networkTypeOf(bands: string | null): '3G' | '4G' | '5G' | null {
  if (bands === null) return null;
  if (/\b(5G|NR)\b/i.test(bands)) return '5G';
  if (/LTE/i.test(bands)) return '4G';
  if (/UMTS|CDMA2000|EV-?DO/i.test(bands)) return '3G';
  return null;
}

/** A name as a shop would print it: the first of several brands, without brackets and legal forms. */
function displayName(entry: ListedOperator): string {
  const raw = entry.brand ?? entry.operator ?? '';
  return (raw.split(/[/\n]/)[0] ?? '')
    .replace(/\s*\(.*$/, '')
    .replace(/,?\s+(Ltd\.?|LLC|Inc\.?|GmbH|S\.?A\.?|PLC|Limited|JSC)$/i, '')
    .trim();
}

type NetworkIn = ReturnType<typeof inCountries>[number];

function inCountries(entry: ListedOperator) {
  if (entry.type !== 'National' || entry.status !== 'Operational') return [];
  return (entry.countryCode?.split('/') ?? []).map((code) => ({ code, entry }));
}

/** At most four distinct brands: newest generation first, then those with more spectrum bands, brands before company names. */
function pickOperators(networks: readonly NetworkIn[]): WireOperator[] {
  const best = new Map<string, { operator: WireOperator; rank: number }>();
  for (const { entry } of networks) {
    const operatorName = displayName(entry);
    const key = operatorName.toLowerCase();
    if (key === '' || key.length > 40) continue;
    const networkType = networkTypeOf(entry.bands);
    const generation = networkType === null ? 0 : Number(networkType[0]);
    const bandCount = Math.min(9, entry.bands?.split('/').length ?? 0);
    const rank = generation * 100 + bandCount * 2 + (entry.brand === null ? 0 : 1);
    const known = best.get(key);
    if (known === undefined || known.rank < rank) {
      best.set(key, { operator: { operatorName, networkType: networkType ?? '3G' }, rank });
    }
  }
  return [...best.values()]
    .sort((a, b) => b.rank - a.rank)
    .slice(0, OPERATORS_PER_COUNTRY)
    .map((each) => each.operator);
}

/** Every country with at least one working network, ordered by code. */
export function loadCountries(): SoldCountry[] {
  const { world, networks } = loadData();
  const operators = Map.groupBy(networks.flatMap(inCountries), ({ code }) => code);
  const all = world.map((country): SoldCountry => ({
    code: country.cca2,
    name: country.name.common,
    continent: country.region,
    tier: tierOf(country.cca2, country.unMember && country.area >= 1000),
    operators: pickOperators(operators.get(country.cca2) ?? []),
  }));
  const sold = all.filter((country) => country.operators.length > 0 && !NOT_SOLD.has(country.code));
  return sold.sort((a, b) => (a.code < b.code ? -1 : 1));
}
