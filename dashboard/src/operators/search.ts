import {
  listAccountsDisabled,
  listAccountsPlan,
  listAccountsType,
  listDifferencesKind,
  listEsimLinesStatus,
  listFundingLinesPaymentMethod,
  listFundingLinesStatus,
  listPurchaseLinesPackageType,
  listPurchaseLinesPaymentMethod,
  listPurchaseLinesStatus,
  listedAccountCurrency,
  listStuckClass,
} from 'simway-client/generated/ops-lists.ts';
import { oneOf, textIn, searchOf, DAYS } from '../ui/address.ts';

export const AGES = [
  { value: '0', label: 'Any time' },
  { value: '600', label: '10 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
] as const;

function countIn(value: unknown): number | undefined {
  const count = Number(value);
  return Number.isSafeInteger(count) && count > 0 ? count : undefined;
}

/** The number of a row, which the router may have parsed. */
const digitsIn = (value: unknown): string | undefined =>
  /^\d{1,18}$/.test(textIn(value) ?? '') ? textIn(value) : undefined;

const PAGE = { page: countIn };

/** Ids with commas between them: rows that were chosen on the stuck list. */
const idsIn = (value: unknown): string | undefined =>
  /^[\w-]{1,100}(?:,[\w-]{1,100}){0,499}$/.test(textIn(value) ?? '') ? textIn(value) : undefined;

export const stuckSearch = searchOf({
  ...PAGE,
  class: oneOf(listStuckClass),
  olderThanSeconds: countIn,
  currency: oneOf(listedAccountCurrency),
});
export type StuckSearch = ReturnType<typeof stuckSearch>;
export const repairSearch = searchOf({
  class: oneOf(listStuckClass),
  olderThanSeconds: countIn,
  currency: oneOf(listedAccountCurrency),
  ids: idsIn,
});

export const differenceSearch = searchOf({ ...PAGE, id: digitsIn, kind: oneOf(listDifferencesKind) });

export const BOOKS = ['trial-balance', 'charts', 'daily', 'merchants', 'waiting', 'months'] as const;
export type Book = (typeof BOOKS)[number];

/** Days of the books: UTC. */
export const booksSearch = searchOf({ ...DAYS, book: oneOf(BOOKS), currency: oneOf(listedAccountCurrency) });

export const pageSearch = searchOf(PAGE);

export const auditSearch = searchOf({ ...DAYS, actor: textIn, action: textIn, subject: textIn });
export type AuditSearch = ReturnType<typeof auditSearch>;

export const accountsSearch = searchOf({
  ...PAGE,
  text: textIn,
  plan: oneOf(listAccountsPlan),
  type: oneOf(listAccountsType),
  currency: oneOf(listedAccountCurrency),
  disabled: (value) => oneOf(listAccountsDisabled)(String(value)),
});

const accountIn = (value: unknown): string | undefined =>
  /^acc-[0-9a-f]{32}$/.test(textIn(value) ?? '') ? textIn(value) : undefined;

/** What the service refuses is dropped: a list is shown in any case. */
const matching =
  (pattern: RegExp) =>
  (value: unknown): string | undefined =>
    pattern.test(textIn(value) ?? '') ? textIn(value) : undefined;
const LIST = { ...DAYS, accountId: accountIn };
const OF_PACKAGE = { packageCode: matching(/^.{1,100}$/), country: matching(/^[A-Z]{2}$/) };
const REFERENCE = { reference: matching(/^.{1,100}$/) };

export const purchasesSearch = searchOf({
  ...LIST,
  ...OF_PACKAGE,
  ...REFERENCE,
  status: oneOf(listPurchaseLinesStatus),
  packageType: oneOf(listPurchaseLinesPackageType),
  paymentMethod: oneOf(listPurchaseLinesPaymentMethod),
});

export const fundingsSearch = searchOf({
  ...LIST,
  ...REFERENCE,
  status: oneOf(listFundingLinesStatus),
  paymentMethod: oneOf(listFundingLinesPaymentMethod),
});

export const esimsSearch = searchOf({
  ...LIST,
  ...OF_PACKAGE,
  status: oneOf(listEsimLinesStatus),
  iccid: matching(/^\d{18,22}$/),
});

export const accountSearch = searchOf({ message: textIn });

export const RATE_DAYS = [7, 30, 90] as const;

export const ratesSearch = searchOf({
  currency: (code) => (typeof code === 'string' && /^[A-Z]{3}$/.test(code) ? code : undefined),
  days: (value) => RATE_DAYS.find((days) => days === Number(value)),
});
