/** Closing months: one person asks, another signs off. Nothing is booked into a closed month any more. */
import { areTwoPeople } from '../accounts/store/access.ts';
import { writeWorldAudit } from '../accounts/store/audit.ts';
import type { Session } from '../domain/callers.ts';
import { DomainError } from '../domain/errors.ts';
import { monthAfter, monthOf, nameOfMonth, rangeOf, type Month } from '../domain/papers.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { inTransaction, lockByName } from '../platform/database/transactions.ts';
import { readTrialBalance, readWaiting } from '../reconciliation/books.ts';
import { summariseOpenDifferences } from '../reconciliation/store/reconciliation.ts';
import { findCompany } from './store/details.ts';
import { readUninvoiced, sumInvoices } from './store/invoices.ts';
import { linesOf, sumOf } from './invoice-rules.ts';
import {
  askClosing,
  closeMonthRow,
  findClosing,
  listClosings,
  readLedgerTimes,
  withdrawClosing,
  type Closing,
} from './store/months.ts';

interface Deps {
  readonly db: WorldDb;
}

/** OPEN: not over. ENDED: it can be closed once those before it are. ASKED: a second person must sign. */
export const MONTH_STATES = ['OPEN', 'ENDED', 'ASKED', 'CLOSED'] as const;
export type MonthState = (typeof MONTH_STATES)[number];

export interface MonthView extends Omit<Closing, 'askedBy' | 'askedAt'> {
  readonly state: MonthState;
  readonly askedBy: string | null;
  readonly askedAt: Date | null;
}

function viewOf(month: Month, closing: Closing | undefined, now: Date): MonthView {
  const nobody = { askedBy: null, askedAt: null, closedBy: null, closedAt: null, invoicedAt: null };
  if (!closing) return { month, ...nobody, state: rangeOf(month).to > now ? 'OPEN' : 'ENDED' };
  return { ...closing, state: closing.closedAt === null ? 'ASKED' : 'CLOSED' };
}

/** From the present month back to the ledger's first. */
export async function listMonths({ db }: Deps): Promise<MonthView[]> {
  const [{ began, now }, closings] = await Promise.all([readLedgerTimes(db), listClosings(db)]);
  const months: MonthView[] = [];
  const last = monthOf(now);
  for (let month = monthOf(began ?? now); month <= last; month = monthAfter(month))
    months.push(
      viewOf(
        month,
        closings.find((one) => one.month === month),
        now,
      ),
    );
  return months.toReversed();
}

/** What a person should see before they sign: the books at its end, what is open, and what is invoiced. */
export async function previewMonth({ db }: Deps, month: Month) {
  const { from, to } = rangeOf(month);
  const view = viewOf(month, await findClosing(db, month), (await readLedgerTimes(db)).now);
  const [before, trialBalance, waiting, differences, missing, issued, company] = [
    await readTrialBalance({ db }, from),
    await readTrialBalance({ db }, to),
    await readWaiting({ db }),
    await summariseOpenDifferences(db),
    await readUninvoiced(db, month),
    await sumInvoices(db, month),
    await findCompany(db),
  ];
  const toInvoice = [...Map.groupBy(missing, ({ currency }) => currency)].map(([currency, own]) => ({
    currency,
    count: own.length,
    grossMinor: own.reduce((sum, { movements }) => sum + sumOf(linesOf(movements)), 0n),
  }));
  return { ...view, before, trialBalance, waiting, differences, toInvoice, issued, company };
}

export type MonthPreview = Awaited<ReturnType<typeof previewMonth>>;

const refused = (why: string): DomainError =>
  new DomainError('MONTH_NOT_CLOSABLE', `${why}. Nothing was changed`);

const alreadyClosed = (month: Month): DomainError =>
  new DomainError('MONTH_ALREADY_CLOSED', `${nameOfMonth(month)} is closed already. Nothing was changed`);

/** All that change a month wait for each other. */
const onMonths = <T>({ db }: Deps, work: (trx: WorldDb) => Promise<T>): Promise<T> =>
  inTransaction(db, async (trx) => {
    await lockByName(trx, 'months');
    return work(trx);
  });

/**
 * The first of two people. MONTH_ALREADY_CLOSED; MONTH_NOT_CLOSABLE while it lasts, while one before it is
 * open, and without details of the company. Asking again changes nothing.
 */
export const askToClose = (deps: Deps, { person }: Pick<Session, 'person'>, month: Month): Promise<void> =>
  onMonths(deps, async (trx) => {
    const closing = await findClosing(trx, month);
    if (closing?.closedBy != null) throw alreadyClosed(month);
    if (closing) return;
    const { began, now } = await readLedgerTimes(trx);
    if (rangeOf(month).to > now) throw refused(`${nameOfMonth(month)} has not ended`);
    const first = monthOf(began ?? now);
    if (month < first) throw refused(`The books begin in ${nameOfMonth(first)}`);
    const closed = (await listClosings(trx)).findLast((one) => one.closedAt !== null);
    const next = closed ? monthAfter(closed.month) : first;
    if (month !== next) throw refused(`Close ${nameOfMonth(next)} first`);
    if (!(await findCompany(trx))) throw refused('Set the details of the company first: invoices name it');
    await askClosing(trx, month, person.email);
    await writeWorldAudit(trx, { actor: person.email, action: 'month.ask-close', subject: month });
  });

/** By either person. MONTH_ALREADY_CLOSED; NOT_FOUND where nobody asked. */
export const withdrawClose = (deps: Deps, { person }: Pick<Session, 'person'>, month: Month): Promise<void> =>
  onMonths(deps, async (trx) => {
    await requireAsked(trx, month);
    await withdrawClosing(trx, month);
    await writeWorldAudit(trx, { actor: person.email, action: 'month.withdraw-close', subject: month });
  });

async function requireAsked(trx: WorldDb, month: Month): Promise<Closing> {
  const closing = await findClosing(trx, month);
  if (closing?.closedBy != null) throw alreadyClosed(month);
  if (!closing) throw new DomainError('NOT_FOUND', `Nobody asked to close ${nameOfMonth(month)}`);
  return closing;
}

/**
 * The second of two people: from now on the month is locked. A worker writes its invoices. FORBIDDEN for the
 * person who asked; MONTH_ALREADY_CLOSED; NOT_FOUND where nobody asked; SERVICE_UNAVAILABLE under a load that
 * leaves no moment for it.
 */
export const closeMonth = (deps: Deps, { person }: Pick<Session, 'person'>, month: Month): Promise<void> =>
  onMonths(deps, async (trx) => {
    const { askedBy } = await requireAsked(trx, month);
    const { now } = await readLedgerTimes(trx);
    if (!(await areTwoPeople(trx, askedBy, person.email, now)))
      throw new DomainError('FORBIDDEN', 'A second, independent person must sign off the month');
    const outcome = await closeMonthRow(trx, month, person.email);
    if (outcome === 'busy')
      throw new DomainError('SERVICE_UNAVAILABLE', 'The ledger is busy: try again in a minute');
    if (outcome !== 'closed') throw alreadyClosed(month);
    const detail = { proposedBy: askedBy };
    await writeWorldAudit(trx, { actor: person.email, action: 'month.close', subject: month, detail });
  });
