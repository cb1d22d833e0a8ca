/** What may be ordered in one batch, and how long things take in it. */
import { DAY_MS } from '../../domain/clock.ts';
import { formatAmount, type AccountCurrency } from '../../domain/money.ts';
import type { Metadata } from '../../domain/own-details.ts';
import { PURCHASE_STATUSES } from '../../domain/states.ts';
import type { JobStatus } from '../../jobs/rules.ts';
import type { LinkedInstallView } from '../../esims/installing.ts';
import type { Language } from '../../esims/install-texts/languages.ts';

/** Of an account, with rows that have not begun: 2,500 purchases, more than 20 minutes of work ahead. */
export const MAX_BEGINNING_BATCHES = 5;
/** Of an account, ordered for later. They are 25,000 purchases at most. */
export const MAX_SCHEDULED_BATCHES = 50;
/** Prices cannot be planned further ahead. */
export const MAX_START_AHEAD_MS = 90 * DAY_MS;
/** A start that had no exchange rate, or no turn, for so long is given up. */
export const MAX_START_LATE_MS = DAY_MS;

/** Why a batch that was ordered for later bought nothing. */
export const CANCEL_REASONS = [
  'CANCELLED',
  'CALLER_NOT_ALLOWED',
  'INSUFFICIENT_BALANCE',
  'PRICE_ABOVE_MAX',
  'KEY_BUDGET_EXCEEDED',
  'NOT_STARTED_IN_TIME',
] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

/**
 * E-mails to travellers of an account: money of the sandbox is free, and a stolen key must not send mail to
 * strangers without a limit. Two and ten batches of the largest size.
 */
export const MAX_EMAILS_A_DAY = { test: 1_000, live: 5_000 } as const;

/** Longer than any trip is planned ahead; the address is kept until then. */
export const MAX_SEND_AHEAD_MS = 366 * DAY_MS;

/** NOT_SENT: there is nothing to install. FAILED: the mail server took it in none of many tries. */
export const EMAIL_STATUSES = ['WAITING', 'SENT', 'NOT_SENT', 'FAILED'] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

/** One purchase of the request. */
export interface BatchRowCommand {
  /** The caller's own name for it, unique in the batch. */
  readonly reference: string;
  readonly packageCode: string;
  readonly metadata?: Metadata | undefined;
  /** The traveller's. */
  readonly email?: string | undefined;
  readonly sendAt?: Date | undefined;
  readonly language?: Language | undefined;
}

export const BATCH_STATUSES = ['SCHEDULED', 'PROCESSING', 'COMPLETED', 'CANCELLED'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** QUEUED: not begun. Otherwise the status of its purchase. */
export const BATCH_ROW_STATUSES = ['QUEUED', ...PURCHASE_STATUSES] as const;

export interface BatchCounts {
  readonly rows: number;
  /** Not begun. */
  readonly queued: number;
  readonly processing: number;
  readonly succeeded: number;
  readonly failed: number;
}

/**
 * What is wrong with rows as a whole, as `rows.3.reference: why`. `findOnSale`: what is on sale at this
 * moment.
 */
export function rowProblems(
  rows: readonly BatchRowCommand[],
  /** When it is bought, which may be later. */
  { now, startAt = now }: { readonly now: Date; readonly startAt?: Date | undefined },
  findOnSale: (packageCode: string) => { readonly unusedValidDays: number } | undefined,
): string[] {
  const firstOf = new Map<string, number>();
  return rows.flatMap(({ reference, packageCode, email, sendAt, language }, index) => {
    const problems: string[] = [];
    const wrong = (field: string, what: string): void =>
      void problems.push(`rows.${index}.${field}: ${what}`);
    const first = firstOf.get(reference);
    if (first === undefined) firstOf.set(reference, index);
    else wrong('reference', `is the same as in rows.${first}`);
    const item = findOnSale(packageCode);
    if (!item) wrong('packageCode', 'is not on sale');
    if (sendAt !== undefined) {
      if (email === undefined) wrong('sendAt', 'needs an email');
      if (sendAt < now) wrong('sendAt', 'must not be in the past');
      else if (sendAt < startAt) wrong('sendAt', 'must not be before startAt');
      if (sendAt.getTime() > now.getTime() + MAX_SEND_AHEAD_MS)
        wrong('sendAt', 'must be at most a year ahead');
      else if (item && sendAt.getTime() >= startAt.getTime() + item.unusedValidDays * DAY_MS)
        wrong(
          'sendAt',
          `must be before the eSIM expires unused, ${item.unusedValidDays} days after it is bought`,
        );
    }
    if (language !== undefined && email === undefined) wrong('language', 'needs an email');
    return problems;
  });
}

export function batchStatus(status: JobStatus, { queued, processing }: BatchCounts): BatchStatus {
  if (status === 'SCHEDULED') return 'SCHEDULED';
  if (status === 'STOPPED') return 'CANCELLED';
  return queued + processing === 0 ? 'COMPLETED' : 'PROCESSING';
}

/** A row as its owner sees it; what is not known yet is null. */
export interface BatchRowView {
  readonly row_number: number;
  readonly reference: string;
  readonly package_code: string;
  /** Null while there is no purchase, and for a refusal that left none. */
  readonly transaction_id: string | null;
  readonly status: (typeof BATCH_ROW_STATUSES)[number];
  readonly reason: string | null;
  readonly esim_id: string | null;
  readonly email: string | null;
  readonly email_status: EmailStatus | null;
  /** Of the e-mail. */
  readonly language: Language | null;
  readonly send_at: Date | null;
  readonly email_closed_at: Date | null;
  /** Both null while there is no purchase. */
  readonly price_minor: bigint | null;
  readonly currency: AccountCurrency | null;
  /** Empty or null until it is delivered. */
  readonly iccid: string | null;
}

export const BATCH_CSV_COLUMNS = [
  'row',
  'reference',
  'packageCode',
  'transactionId',
  'status',
  'reason',
  'esimId',
  'email',
  'emailStatus',
  'price',
  'currency',
  'iccid',
  'installUrl',
  'activationCode',
  'smdpAddress',
  'matchingId',
  'qrCodeUrl',
] as const;

/** What installs the eSIM of a row; undefined where there is none. */
type Handed = Pick<LinkedInstallView, 'installUrl' | 'ac' | 'smdpAddress' | 'matchingId' | 'qrCodeUrl'>;

/** Rows count from 1, as people count. */
export function csvRow(row: BatchRowView, handed: Handed | undefined): string[] {
  const { price_minor: amountMinor, currency } = row;
  return [
    String(row.row_number + 1),
    row.reference,
    row.package_code,
    row.transaction_id ?? '',
    row.status,
    row.reason ?? '',
    row.esim_id ?? '',
    row.email ?? '',
    row.email_status ?? '',
    amountMinor === null || currency === null ? '' : formatAmount({ amountMinor, currency }),
    currency ?? '',
    row.iccid ?? '',
    handed?.installUrl ?? '',
    handed?.ac ?? '',
    handed?.smdpAddress ?? '',
    handed?.matchingId ?? '',
    handed?.qrCodeUrl ?? '',
  ];
}

/** Rows that begin are checked again soon; open purchases less and less often, in the end once an hour. */
const AGAIN_AFTER_MS = 1_000;
const MAX_AGAIN_AFTER_MS = 3_600_000;
const SHARE_OF_AGE = 4;

/** When to check a batch again. `ageMs`: since its start. */
export function nextBatchCheckMs(ageMs: number, hasQueued: boolean): number {
  if (hasQueued) return AGAIN_AFTER_MS;
  return Math.min(Math.max(Math.trunc(ageMs / SHARE_OF_AGE), AGAIN_AFTER_MS), MAX_AGAIN_AFTER_MS);
}
