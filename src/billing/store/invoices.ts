/** Invoices and credit notes. Guarantee: written once, with numbers that have no gap. */
import { sql, type Selectable } from 'kysely';
import { rangeOf, type Month } from '../../domain/papers.ts';
import type { PackageType } from '../../domain/states.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { withReadTimeout } from '../../platform/database/transactions.ts';
import { toJson } from '../../reconciliation/store/lines.ts';
import type { Draft, InvoiceLine, Movement } from '../invoice-rules.ts';
import type { InvoicesTable } from './tables.ts';

export type Invoice = Draft & { readonly number: string; readonly issuedAt: Date };

/** What one account earned us in one currency. */
export interface Sold {
  readonly accountId: string;
  readonly currency: string;
  readonly movements: readonly Movement[];
}

/** What was booked on revenue in a month for accounts that have no paper of it yet. */
export const readUninvoiced = (db: WorldDb, month: Month): Promise<Sold[]> =>
  withReadTimeout(db, (trx) => sumUninvoiced(trx, month));

async function sumUninvoiced(trx: WorldDb, month: Month): Promise<Sold[]> {
  const { from, to } = rangeOf(month);
  const { rows } = await sql<{
    readonly account_id: string;
    readonly currency: string;
    readonly ledger_kind: string;
    readonly package_type: PackageType | null;
    readonly package_name: string | null;
    readonly quantity: number;
    readonly gross: bigint;
  }>`
    with sold as (
      select coalesce(p.account_id, f.account_id, w.account_id) as account_id, e.currency, t.kind as ledger_kind, p.package_type, p.package_name,
             count(*)::int4 as quantity, sum(e.amount_minor)::int8 as gross
        from ledger_transactions t
        join ledger_entries e on e.ledger_transaction_id = t.id
        join ledger_accounts a on a.id = e.ledger_account_id and a.kind = 'revenue'
        left join purchases p on p.transaction_id = t.transaction_id
        left join fundings f on f.transaction_id = t.transaction_id
        left join wallet_adjustments w on w.ledger_transaction_id = t.id
       where t.created_at >= ${from} and t.created_at < ${to}
       group by 1, 2, 3, 4, 5
    )
    select * from sold
     where account_id is not null and not exists (
       select from invoices i where i.account_id = sold.account_id and i.month = ${month} and i.currency = sold.currency)
     order by account_id, currency, ledger_kind, package_name`.execute(trx);
  const groups = Map.groupBy(rows, (row) => `${row.account_id} ${row.currency}`);
  return [...groups.values()].flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const movements = own.map((row) => ({
      ledgerKind: row.ledger_kind,
      packageType: row.package_type,
      packageName: row.package_name,
      quantity: row.quantity,
      grossMinor: row.gross,
    }));
    return [{ accountId: first.account_id, currency: first.currency, movements }];
  });
}

/** Its number; undefined: it was written before. */
export async function issueInvoice(trx: WorldDb, draft: Draft): Promise<string | undefined> {
  const row: Omit<Selectable<InvoicesTable>, 'number' | 'issued_at' | 'lines'> & { lines: unknown } = {
    kind: draft.kind,
    account_id: draft.accountId,
    month: draft.month,
    currency: draft.currency,
    revision: draft.revision,
    corrects: draft.corrects,
    reason: draft.reason,
    issued_by: draft.issuedBy,
    gross_minor: draft.grossMinor,
    tax_minor: draft.taxMinor,
    net_minor: draft.netMinor,
    tax_name: draft.taxName,
    tax_rate_bps: draft.taxRateBps,
    seller: draft.seller,
    buyer: draft.buyer,
    lines: draft.lines,
  };
  const { rows } = await sql<{ number: string | null }>`
    select issue_invoice(${toJson([row])}::jsonb -> 0) as number`.execute(trx);
  return rows[0]?.number ?? undefined;
}

export interface InvoiceFilter {
  readonly accountId?: string | undefined;
  readonly month?: Month | undefined;
}

const matching = (db: WorldDb, { accountId, month }: InvoiceFilter) => {
  let query = db.selectFrom('invoices');
  if (accountId !== undefined) query = query.where('account_id', '=', accountId);
  if (month !== undefined) query = query.where('month', '=', month);
  return query;
};

/** Newest first. */
export async function listInvoices(
  db: WorldDb,
  filter: InvoiceFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly items: readonly Invoice[]; readonly total: number }> {
  const [rows, counted] = await Promise.all([
    matching(db, filter)
      .selectAll()
      .orderBy('issued_at', 'desc')
      .orderBy('number', 'desc')
      .limit(limit)
      .offset(offset)
      .execute(),
    matching(db, filter)
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .executeTakeFirstOrThrow(),
  ]);
  return { items: rows.map(invoiceOf), total: Number(counted.count) };
}

/** `of`: only this account's. */
export async function findInvoice(db: WorldDb, number: string, of?: string): Promise<Invoice | undefined> {
  const row = await matching(db, { accountId: of })
    .selectAll()
    .where('number', '=', number)
    .executeTakeFirst();
  return row && invoiceOf(row);
}

/** Whether a credit note took it back. */
export async function findCorrection(db: WorldDb, number: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('invoices')
    .select('number')
    .where('corrects', '=', number)
    .executeTakeFirst();
  return row?.number;
}

function invoiceOf(row: Selectable<InvoicesTable>): Invoice {
  const lines: InvoiceLine[] = row.lines.map((line) => ({ ...line, grossMinor: BigInt(line.grossMinor) }));
  return {
    number: row.number,
    kind: row.kind,
    accountId: row.account_id,
    month: row.month,
    currency: row.currency,
    revision: row.revision,
    corrects: row.corrects,
    reason: row.reason,
    issuedBy: row.issued_by,
    issuedAt: row.issued_at,
    grossMinor: row.gross_minor,
    taxMinor: row.tax_minor,
    netMinor: row.net_minor,
    taxName: row.tax_name,
    taxRateBps: row.tax_rate_bps,
    seller: row.seller,
    buyer: row.buyer,
    lines,
  };
}

/** Sums of the papers of a month, by currency. */
export async function sumInvoices(db: WorldDb, month: Month) {
  return db
    .selectFrom('invoices')
    .select(['currency', (eb) => eb.fn.countAll<bigint>().as('count')])
    .select(sql<bigint>`sum(gross_minor)::int8`.as('grossMinor'))
    .select(sql<bigint>`sum(tax_minor)::int8`.as('taxMinor'))
    .where('month', '=', month)
    .groupBy('currency')
    .orderBy('currency')
    .execute();
}
