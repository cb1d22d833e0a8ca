/** The magic package codes of location ZZ: buying one chooses the outcome. docs/SANDBOX.md describes each. */
import type { ErrorCode } from './errors.ts';

export const MAGIC_LOCATION = { code: 'ZZ', name: 'Sandbox scenarios' } as const;
export const TOPUP_PREFIX = 'TOPUP_';

export interface MagicRule {
  /** Refused with this code: always, or for the first `tries` calls with a transactionId. */
  refuse?: { code: ErrorCode; tries?: number };
  /** BASE: profiles come this late. TOPUP: the answer does. */
  slowMs?: number;
  /** The order or top-up is taken, but the first answer is never sent. */
  loseAnswer?: boolean;
  /** BASE: profiles never come. TOPUP: busy for ever. */
  neverAllocate?: boolean;
  /** The eSIM is installed by the control interface only, and not some seconds after its delivery. */
  manualLife?: boolean;
  noTopUp?: boolean;
  /** A cancellation or a revocation is carried out and never answered, or its answer says nothing. */
  cancel?: 'lose-answer' | 'silent';
  /** US dollars × 10,000 in place of MAGIC_PRICE_E4. */
  priceE4?: number;
}

export const MAGIC_PRICE_E4 = 20_000;

export const MAGIC_RULES: Readonly<Record<string, MagicRule>> = {
  'SIM-OK': {},
  'SIM-OUT-OF-STOCK': { refuse: { code: '200011' } },
  'SIM-SOLD-OUT': { refuse: { code: '200011' } },
  'SIM-PRICE-CHANGED': { refuse: { code: '200005' } },
  'SIM-LOW-BALANCE': { refuse: { code: '200007' } },
  'SIM-UNKNOWN-PACKAGE': { refuse: { code: '310241' } },
  'SIM-WRONG-SIGNATURE': { refuse: { code: '101003' } },
  'SIM-BUSY': { refuse: { code: '900001', tries: 3 } },
  'SIM-SERVER-ERROR': { refuse: { code: '000001', tries: 2 } },
  'SIM-SLOW': { slowMs: 12_000 },
  'SIM-LOSE-ANSWER': { loseAnswer: true },
  'SIM-NEVER-ALLOCATE': { neverAllocate: true },
  'SIM-MANUAL-LIFE': { manualLife: true },
  'SIM-NO-TOPUP': { noTopUp: true },
  'SIM-RETURN-LOSE-ANSWER': { manualLife: true, cancel: 'lose-answer' },
  'SIM-RETURN-SILENT': { manualLife: true, cancel: 'silent' },
  'SIM-TOO-DEAR': { priceE4: 10_000_000_000 },
  // These choose what the gateway's simulator does. Here they are delivered, or refused to be refunded.
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

export function baseCodeOf(packageCode: string): string {
  return packageCode.startsWith(TOPUP_PREFIX) ? packageCode.slice(TOPUP_PREFIX.length) : packageCode;
}

export function magicRule(packageCode: string): MagicRule | undefined {
  const base = baseCodeOf(packageCode);
  return Object.hasOwn(MAGIC_RULES, base) ? MAGIC_RULES[base] : undefined;
}
