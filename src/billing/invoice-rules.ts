/** What an invoice is made of. Guarantee: its lines add up to its sum, and net and tax too. Pure. */
import type { InvoiceKind, Month } from '../domain/papers.ts';
import { taxIncluded } from '../domain/money.ts';
import type { PackageType } from '../domain/states.ts';

/** Who sells or buys, as a paper names them. */
export interface Party {
  readonly legalName: string;
  readonly addressLines: readonly string[];
  /** ISO 3166-1; null: the account has said nothing yet. */
  readonly country: string | null;
  readonly taxNumber: string | null;
}

export type Seller = Party;
export interface Buyer extends Party {
  readonly email: string | null;
}

/** Prices include it. */
export interface Tax {
  readonly taxName: string;
  readonly taxRateBps: number;
}

export const LINE_KINDS = ['PACKAGE', 'TOP_UP', 'REFUND', 'DISPUTE', 'ADJUSTMENT'] as const;
export type LineKind = (typeof LINE_KINDS)[number];

export interface InvoiceLine {
  readonly kind: LineKind;
  readonly packageName: string | null;
  /** Purchases; of corrections, how many there were. */
  readonly quantity: number;
  readonly grossMinor: bigint;
}

/** What the ledger booked on revenue for an account, by its word for the transfer. */
export interface Movement {
  readonly ledgerKind: string;
  readonly packageType: PackageType | null;
  readonly packageName: string | null;
  readonly quantity: number;
  readonly grossMinor: bigint;
}

const DISPUTED: ReadonlySet<string> = new Set([
  'disputed',
  'dispute-settled',
  'reversal-settled',
  'payment-reversed',
]);

/** Whatever has no line of its own is an adjustment, so nothing is left out of the sum. */
function lineKindOf({ ledgerKind, packageType, grossMinor }: Movement): LineKind {
  if (ledgerKind === 'post') return packageType === 'TOPUP' ? 'TOP_UP' : 'PACKAGE';
  if (DISPUTED.has(ledgerKind)) return 'DISPUTE';
  return grossMinor < 0n ? 'REFUND' : 'ADJUSTMENT';
}

/** One line for each kind and package; those that came to nothing are left out. */
export function linesOf(movements: readonly Movement[]): InvoiceLine[] {
  const groups = Map.groupBy(movements, (one) => `${lineKindOf(one)} ${one.packageName ?? ''}`);
  const lines = [...groups.values()].map((own) => {
    const [{ packageName }] = own as [Movement];
    const quantity = own.reduce((sum, one) => sum + one.quantity, 0);
    return { kind: lineKindOf(own[0] as Movement), packageName, quantity, grossMinor: sumOf(own) };
  });
  return lines
    .filter(({ grossMinor }) => grossMinor !== 0n)
    .toSorted((one, other) => placeOf(one).localeCompare(placeOf(other), 'en'));
}

const placeOf = ({ kind, packageName }: InvoiceLine): string =>
  `${LINE_KINDS.indexOf(kind)} ${packageName ?? ''}`;

export const sumOf = (lines: readonly Pick<InvoiceLine, 'grossMinor'>[]): bigint =>
  lines.reduce((sum, { grossMinor }) => sum + grossMinor, 0n);

const LINE_WORDS: Readonly<Record<LineKind, (packageName: string) => string>> = {
  PACKAGE: (name) => name,
  TOP_UP: (name) => `Top-up ${name}`,
  REFUND: (name) => `Refund: ${name}`,
  DISPUTE: (name) => `Disputed by a bank: ${name}`,
  ADJUSTMENT: (name) => `Adjustment: ${name}`,
};

/** As its reader sees it. */
export const describeLine = ({ kind, packageName }: Pick<InvoiceLine, 'kind' | 'packageName'>): string =>
  LINE_WORDS[kind](packageName ?? 'data packages');

/** Everything of an invoice but its number and the time, which the database gives. */
export interface Draft extends Tax {
  readonly kind: InvoiceKind;
  readonly accountId: string;
  readonly month: Month;
  readonly currency: string;
  readonly revision: number;
  readonly corrects: string | null;
  readonly reason: string | null;
  readonly issuedBy: string | null;
  readonly grossMinor: bigint;
  readonly taxMinor: bigint;
  readonly netMinor: bigint;
  readonly seller: Seller;
  readonly buyer: Buyer;
  readonly lines: readonly InvoiceLine[];
}

type Given = Omit<Draft, 'kind' | 'grossMinor' | 'taxMinor' | 'netMinor'>;

/** Less than nothing is a credit note. */
export function draftOf(given: Given): Draft {
  const grossMinor = sumOf(given.lines);
  const taxMinor = taxIncluded(grossMinor, given.taxRateBps);
  const kind = grossMinor < 0n ? 'CREDIT_NOTE' : 'INVOICE';
  return { ...given, kind, grossMinor, taxMinor, netMinor: grossMinor - taxMinor };
}

export const negated = (lines: readonly InvoiceLine[]): InvoiceLine[] =>
  lines.map((line) => ({ ...line, grossMinor: -line.grossMinor }));
