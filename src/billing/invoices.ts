/** Invoices of closed months. Guarantee: those of an account, a month and a currency add up to its ledger. */
import type { Principal } from '../domain/account.ts';
import type { Session } from '../domain/callers.ts';
import { csvOf } from '../domain/csv.ts';
import { DomainError } from '../domain/errors.ts';
import { formatMinor } from '../domain/money.ts';
import type { Page, PageQuery } from '../domain/page.ts';
import type { Month } from '../domain/papers.ts';
import { writeWorldAudit } from '../accounts/store/audit.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { inTransaction } from '../platform/database/transactions.ts';
import { writeNotice } from '../webhooks/store/notices.ts';
import { describeLine, draftOf, linesOf, negated } from './invoice-rules.ts';
import { findBillingDetails, findParties } from './store/details.ts';
import {
  findCorrection,
  findInvoice,
  issueInvoice,
  listInvoices as listRows,
  readUninvoiced,
  type Invoice,
  type Sold,
} from './store/invoices.ts';
import { listUninvoiced, markInvoiced } from './store/months.ts';

export type { Invoice } from './store/invoices.ts';

interface Deps {
  readonly db: WorldDb;
}

/** In one transaction: the counter of numbers is locked so long, and a killed process repeats so many. */
const AT_ONCE = 100;

/** Writes what is missing of closed months. Any number of processes may do so. Returns how many it wrote. */
export async function issueMissingInvoices({ db }: Deps): Promise<number> {
  let written = 0;
  for (const month of await listUninvoiced(db)) {
    const missing = await readUninvoiced(db, month);
    for (let start = 0; start < missing.length; start += AT_ONCE)
      written += await issueSome(db, month, missing.slice(start, start + AT_ONCE));
    await markInvoiced(db, month);
  }
  return written;
}

const issueSome = (db: WorldDb, month: Month, some: readonly Sold[]): Promise<number> =>
  inTransaction(db, async (trx) => {
    let written = 0;
    for (const sold of some) if (await issueOne(trx, month, sold)) written += 1;
    return written;
  });

async function issueOne(
  trx: WorldDb,
  month: Month,
  { accountId, currency, movements }: Sold,
): Promise<boolean> {
  const draft = draftOf({
    ...(await partiesOf(trx, accountId)),
    ...{ accountId, month, currency, lines: linesOf(movements) },
    ...{ revision: 0, corrects: null, reason: null, issuedBy: null },
  });
  const number = await issueInvoice(trx, draft);
  if (number === undefined) return false;
  const details = await findBillingDetails(trx, accountId);
  if (details?.papersByMail === true) {
    const facts = { number, month, currency, gross: formatMinor(draft.grossMinor) };
    await writeNotice(trx, accountId, { kind: 'invoice-issued', facts }, new Date());
  }
  return true;
}

/** A month is closed only once there are details of the company, and they are never removed. */
async function partiesOf(trx: WorldDb, accountId: string) {
  const parties = await findParties(trx, accountId);
  if (!parties) throw new Error('an invoice needs the details of the company');
  return parties;
}

/** Newest first. */
export const listInvoices = (
  { db }: Deps,
  { account }: Principal,
  { month, ...page }: PageQuery & { readonly month?: Month | undefined },
): Promise<Page<Invoice>> => pageInvoices(db, { accountId: account.id, month }, page);

/** Of all accounts, or of one. */
export const listAllInvoices = (
  { db }: Deps,
  {
    accountId,
    month,
    ...page
  }: PageQuery & { readonly accountId?: string | undefined; readonly month?: Month | undefined },
): Promise<Page<Invoice>> => pageInvoices(db, { accountId, month }, page);

async function pageInvoices(
  db: WorldDb,
  filter: { readonly accountId?: string | undefined; readonly month?: Month | undefined },
  { page, limit }: PageQuery,
): Promise<Page<Invoice>> {
  const found = await listRows(db, filter, { limit, offset: (page - 1) * limit });
  return { ...found, page, limit };
}

const noInvoice = (): DomainError => new DomainError('NOT_FOUND', 'No such invoice');

/** NOT_FOUND, also for another account's. */
export async function getInvoice({ db }: Deps, { account }: Principal, number: string): Promise<Invoice> {
  const found = await findInvoice(db, number, account.id);
  if (!found) throw noInvoice();
  return found;
}

export async function getAnyInvoice({ db }: Deps, number: string): Promise<Invoice> {
  const found = await findInvoice(db, number);
  if (!found) throw noInvoice();
  return found;
}

export const INVOICE_COLUMNS = [
  'number',
  'kind',
  'month',
  'issuedAt',
  'line',
  'description',
  'quantity',
  'gross',
  'currency',
];

/** Without totals, so that a spreadsheet's sum of a column is right. */
export const invoiceCsv = ({ number, kind, month, issuedAt, currency, lines }: Invoice): string =>
  csvOf(
    INVOICE_COLUMNS,
    lines.map((line) => [
      ...[number, kind, month, issuedAt.toISOString(), line.kind, describeLine(line), String(line.quantity)],
      ...[formatMinor(line.grossMinor), currency],
    ]),
  );

/**
 * Takes an invoice back by a credit note and writes it again with the details of now. NOT_FOUND;
 * ACTION_REFUSED where it was corrected before, or is a correction. Returns both numbers.
 */
export const correctInvoice = (
  { db }: Deps,
  { person }: Pick<Session, 'person'>,
  { number, reason }: { readonly number: string; readonly reason: string },
): Promise<{ readonly creditNote: string; readonly invoice: string }> =>
  inTransaction(db, async (trx) => {
    const wrong = await getAnyInvoice({ db: trx }, number);
    if (wrong.corrects !== null || (await findCorrection(trx, number)) !== undefined)
      throw new DomainError(
        'ACTION_REFUSED',
        'Only an invoice that no credit note took back can be corrected',
      );
    const { accountId, month, currency, lines, revision } = wrong;
    const common = { accountId, month, currency, reason, issuedBy: person.email };
    const { seller, buyer, taxName, taxRateBps } = wrong;
    const taken = { ...common, seller, buyer, taxName, taxRateBps, lines: negated(lines) };
    const creditNote = await issueInvoice(
      trx,
      draftOf({ ...taken, revision: revision + 1, corrects: number }),
    );
    const again = { ...common, ...(await partiesOf(trx, accountId)), lines, corrects: null };
    const invoice = await issueInvoice(trx, draftOf({ ...again, revision: revision + 2 }));
    if (creditNote === undefined || invoice === undefined)
      throw new DomainError('ACTION_REFUSED', 'The invoice was corrected meanwhile');
    const detail = { reference: `${creditNote}, ${invoice}`, reason };
    await writeWorldAudit(trx, { actor: person.email, action: 'invoice.correct', subject: number, detail });
    return { creditNote, invoice };
  });
