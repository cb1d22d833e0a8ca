/** Multi-country regions and the global bundles. A code is a prefix and the number of members, as the vendor writes them (EU-42). */
import type { SoldCountry } from './countries.ts';

export interface SoldRegion {
  code: string;
  name: string;
  scope: 'RG' | 'GL';
  members: SoldCountry[];
}

const EUROPEAN_UNION = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK';

const REGIONS: readonly [prefix: string, name: string, members: string][] = [
  ['EU', 'Europe', `${EUROPEAN_UNION} GB CH NO IS LI UA TR AL BA ME MK RS XK MD GI`],
  ['EEA', 'European Economic Area', `${EUROPEAN_UNION} NO IS LI`],
  ['ND', 'Nordics', 'DK FI IS NO SE'],
  ['BT', 'Baltic States', 'EE LT LV'],
  ['BK', 'Balkans', 'AL BA BG GR HR ME MK RO RS SI XK'],
  ['UKI', 'United Kingdom & Ireland', 'GB IE IM JE GG'],
  ['AS', 'Asia', 'BD BN CN HK ID IN JP KH KR LA LK MM MO MY NP PH PK SG TH TW VN'],
  ['SEA', 'Southeast Asia', 'BN ID KH LA MY PH SG TH VN'],
  ['SMT', 'Singapore, Malaysia & Thailand', 'SG MY TH'],
  ['CHM', 'China, Hong Kong & Macau', 'CN HK MO'],
  ['JK', 'Japan & South Korea', 'JP KR'],
  ['CAS', 'Central Asia', 'KZ KG TJ UZ TM'],
  ['CC', 'Caucasus', 'AM AZ GE'],
  ['GC', 'Gulf Region', 'AE BH KW OM QA SA'],
  ['ME', 'Middle East & North Africa', 'AE BH DZ EG IL IQ JO KW LB MA OM QA SA TN TR'],
  [
    'AF',
    'Africa',
    'BF BJ BW CD CG CI CM DZ EG ET GA GH GN KE LR LS MA MG ML MU MW MZ NE NG RE RW SC SN SZ TD TN TZ UG ZA ZM ZW',
  ],
  ['WA', 'West Africa', 'BJ BF CI GH GM GN GW LR ML NE NG SL SN TG'],
  ['EA', 'East Africa', 'KE RW TZ UG BI ET'],
  ['NA', 'North America', 'CA MX US'],
  ['USCA', 'United States & Canada', 'CA US'],
  ['LA', 'Latin America', 'AR BO BR CL CO CR EC GT GY HN MX NI PA PE PY SV UY VE'],
  ['CB', 'Caribbean', 'AG AI AW BB BM BQ CW DM DO GD GP HT JM KN KY LC MF MQ MS PR SX TC TT VC VG'],
  ['OC', 'Oceania', 'AU FJ NZ PG TO VU WS NR'],
  ['AN', 'Australia & New Zealand', 'AU NZ'],
];

const GLOBALS: readonly [name: string, members: number][] = [
  ['Global Essentials', 60],
  ['Global', 106],
  ['Global Plus', 139],
];

/** All regions and then the three global bundles, over the countries that are sold. */
export function loadRegions(countries: SoldCountry[]): SoldRegion[] {
  const byCode = new Map(countries.map((country) => [country.code, country]));
  const regions = REGIONS.map(([prefix, name, codes]): SoldRegion => {
    const members = codes.split(' ').flatMap((code) => byCode.get(code) ?? []);
    return { code: `${prefix}-${members.length}`, name, scope: 'RG', members };
  });
  const byMarket = [...countries].sort((a, b) => a.tier - b.tier || (a.code < b.code ? -1 : 1));
  const globals = GLOBALS.map(([name, count]): SoldRegion => {
    const members = byMarket.slice(0, count).sort((a, b) => (a.code < b.code ? -1 : 1));
    return { code: `GL-${members.length}`, name, scope: 'GL', members };
  });
  return [...regions, ...globals];
}
