/** Who sells and who buys. Changes never touch papers that are written. */
import { sql } from 'kysely';
import { writeWorldAudit } from '../../accounts/store/audit.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import type { Buyer, Party, Seller, Tax } from '../invoice-rules.ts';

/** With a country: what is set must be whole. */
export interface Details extends Party {
  readonly country: string;
}

export interface Company extends Details, Tax {
  readonly setBy: string;
  readonly setAt: Date;
}

export interface BillingDetails extends Details {
  readonly papersByMail: boolean;
}

const columnsOf = ({ legalName, addressLines, country, taxNumber }: Details) => ({
  legal_name: legalName,
  address_lines: [...addressLines],
  country,
  tax_number: taxNumber,
});

interface DetailsRow {
  readonly legal_name: string;
  readonly address_lines: readonly string[];
  readonly country: string;
  readonly tax_number: string | null;
}

const detailsOf = (row: DetailsRow): Details => ({
  legalName: row.legal_name,
  addressLines: row.address_lines,
  country: row.country,
  taxNumber: row.tax_number,
});

export async function findCompany(db: WorldDb): Promise<Company | undefined> {
  const row = await db
    .selectFrom('company_details')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  const { tax_name: taxName, tax_rate_bps: taxRateBps, set_by: setBy, set_at: setAt } = row;
  return { ...detailsOf(row), taxName, taxRateBps, setBy, setAt };
}

export const insertCompany = (
  db: WorldDb,
  company: Details & Tax,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> =>
  inTransaction(db, async (trx) => {
    const { taxName, taxRateBps } = company;
    const tax = { tax_name: taxName, tax_rate_bps: taxRateBps };
    await trx
      .insertInto('company_details')
      .values({ ...columnsOf(company), ...tax, set_by: by, reason })
      .execute();
    const detail = { name: company.legalName, after: { taxName, taxRateBps }, reason };
    await writeWorldAudit(trx, { actor: by, action: 'company.set', subject: 'company', detail });
  });

export async function findBillingDetails(
  db: WorldDb,
  accountId: string,
): Promise<BillingDetails | undefined> {
  const row = await db
    .selectFrom('billing_details')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row && { ...detailsOf(row), papersByMail: row.papers_by_mail };
}

export async function saveBillingDetails(
  db: WorldDb,
  accountId: string,
  details: BillingDetails,
  by: string,
): Promise<void> {
  const row = {
    ...columnsOf(details),
    papers_by_mail: details.papersByMail,
    changed_by: by,
    changed_at: sql<Date>`clock_timestamp()`,
  };
  await db
    .insertInto('billing_details')
    .values({ account_id: accountId, ...row })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
    .execute();
}

/** null: the company's rate counts. */
export const setAccountTax = (
  db: WorldDb,
  accountId: string,
  taxRateBps: number | null,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> =>
  inTransaction(db, async (trx) => {
    const row = { tax_rate_bps: taxRateBps ?? 0, set_by: by, reason };
    if (taxRateBps === null)
      await trx.deleteFrom('account_taxes').where('account_id', '=', accountId).execute();
    else
      await trx
        .insertInto('account_taxes')
        .values({ account_id: accountId, ...row })
        .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
        .execute();
    const detail = { after: { taxRateBps }, reason };
    await writeWorldAudit(trx, { actor: by, action: 'account.set-tax', subject: accountId, detail });
  });

export async function findAccountTax(db: WorldDb, accountId: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('account_taxes')
    .select('tax_rate_bps')
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row?.tax_rate_bps;
}

/** Both sides of a paper, and the tax in it. Without details of its own an account is its name. */
export async function findParties(
  db: WorldDb,
  accountId: string,
): Promise<(Tax & { readonly seller: Seller; readonly buyer: Buyer }) | undefined> {
  const company = await findCompany(db);
  if (!company) return undefined;
  const { taxName, taxRateBps } = company;
  const own = await findAccountTax(db, accountId);
  return {
    seller: partyOf(company),
    buyer: await findBuyer(db, accountId),
    taxName,
    taxRateBps: own ?? taxRateBps,
  };
}

const partyOf = ({ legalName, addressLines, country, taxNumber }: Details): Party => ({
  legalName,
  addressLines,
  country,
  taxNumber,
});

export async function findBuyer(db: WorldDb, accountId: string): Promise<Buyer> {
  const { rows } = await sql<{ readonly name: string; readonly email: string }>`
    select name, email from accounts.accounts where id = ${accountId}`.execute(db);
  const [account] = rows;
  const details = await findBillingDetails(db, accountId);
  const named = { addressLines: [], country: null, taxNumber: null };
  if (!details) return { legalName: account?.name ?? accountId, ...named, email: account?.email ?? null };
  return { ...partyOf(details), email: account?.email ?? null };
}
