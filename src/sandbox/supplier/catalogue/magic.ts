/**
 * The magic package codes of location ZZ: buying one chooses the outcome. One table, read by order and top-up alike.
 * Guarantee: every code does the same thing every time. docs/SANDBOX.md describes each row.
 */
import type { ErrorCode } from '../errors.ts';
import type { WirePackage } from '../wire.ts';

export const MAGIC_LOCATION = { code: 'ZZ', name: 'Sandbox scenarios' } as const;
export const TOPUP_PREFIX = 'TOPUP_';

/** What a magic code does to the order or top-up that names it. */
export interface MagicRule {
  /** Refused with this code: always, or for the first `tries` calls with a transactionId. */
  refuse?: { code: ErrorCode; tries?: number };
  /** BASE: profiles come this late. TOPUP: the answer does. */
  slowMs?: number;
  /** The order or top-up is taken, but the first answer is never sent. */
  loseAnswer?: boolean;
  /** BASE: profiles never come. TOPUP: busy for ever. */
  neverAllocate?: boolean;
  /** Sold without top-ups, so there is no TOPUP_ twin. */
  noTopUp?: boolean;
  /** US dollars × 10,000 in place of MAGIC_PRICE_E4. */
  priceE4?: number;
}

/** Above every payment method's minimum. */
const MAGIC_PRICE_E4 = 20_000;

export const MAGIC_RULES: Readonly<Record<string, MagicRule>> = {
  'SIM-OK': {},
  'SIM-OUT-OF-STOCK': { refuse: { code: '200011' } },
  'SIM-PRICE-CHANGED': { refuse: { code: '200005' } },
  'SIM-LOW-BALANCE': { refuse: { code: '200007' } },
  'SIM-UNKNOWN-PACKAGE': { refuse: { code: '310241' } },
  'SIM-WRONG-SIGNATURE': { refuse: { code: '101003' } },
  'SIM-BUSY': { refuse: { code: '900001', tries: 3 } },
  'SIM-SERVER-ERROR': { refuse: { code: '000001', tries: 2 } },
  'SIM-SLOW': { slowMs: 12_000 },
  'SIM-LOSE-ANSWER': { loseAnswer: true },
  'SIM-NEVER-ALLOCATE': { neverAllocate: true },
  'SIM-NO-TOPUP': { noTopUp: true },
  'SIM-TOO-DEAR': { priceE4: 10_000_000_000 },
  // What the payment gateway's simulator makes of them is told to it; here they are delivered, or refused so that money goes back.
  'SIM-PAY-NOW': {},
  'SIM-PAY-DECLINE': {},
  'SIM-PAY-INSUFFICIENT-FUNDS': {},
  'SIM-PAY-SHORT': {},
  'SIM-PAY-OVER': {},
  'SIM-PAY-FEES-ON-TOP': {},
  'SIM-PAY-OTHER-CURRENCY': {},
  'SIM-PAY-RETURNED': {},
  'SIM-PAY-LATE': {},
  'SIM-PAY-TWICE': {},
  'SIM-PAY-SILENT': {},
  'SIM-PAY-REVERSED': {},
  'SIM-PAY-DISPUTED': {},
  'SIM-PAY-REFUNDED': { refuse: { code: '200011' } },
  'SIM-PAY-REFUND-FAILS': { refuse: { code: '200011' } },
  'SIM-PAY-REFUND-NEEDS-ATTENTION': { refuse: { code: '200011' } },
  'SIM-PAY-NEVER': {},
};

/** The rule behind a magic code or its TOPUP_ twin; undefined for an ordinary package. */
export function magicRule(packageCode: string): MagicRule | undefined {
  const base = packageCode.startsWith(TOPUP_PREFIX) ? packageCode.slice(TOPUP_PREFIX.length) : packageCode;
  return Object.hasOwn(MAGIC_RULES, base) ? MAGIC_RULES[base] : undefined;
}

/** The magic BASE packages: 1 GB for 7 days each. */
export function magicPackages(): WirePackage[] {
  return Object.entries(MAGIC_RULES).map(([packageCode, { noTopUp, priceE4 = MAGIC_PRICE_E4 }]) => ({
    packageCode,
    slug: packageCode,
    name: `Sandbox ${packageCode} 1GB 7Days`,
    price: priceE4,
    currencyCode: 'USD',
    volume: 1_073_741_824,
    smsStatus: 1,
    dataType: 1,
    unusedValidTime: 180,
    duration: 7,
    durationUnit: 'DAY',
    location: MAGIC_LOCATION.code,
    locationCode: MAGIC_LOCATION.code,
    description: `Sandbox scenario ${packageCode}: 1GB 7Days`,
    activeType: 2,
    favorite: false,
    retailPrice: priceE4 * 2 - 100,
    speed: '3G/4G/5G',
    ipExport: MAGIC_LOCATION.code,
    supportTopUpType: noTopUp === true ? 1 : 2,
    fupPolicy: '',
    locationNetworkList: [
      {
        locationName: MAGIC_LOCATION.name,
        locationLogo: '/img/flags/zz.png',
        locationCode: MAGIC_LOCATION.code,
        operatorList: [{ operatorName: 'Sandbox Mobile', networkType: '5G' }],
      },
    ],
  }));
}
