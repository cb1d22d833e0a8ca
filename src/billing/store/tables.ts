import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { InvoiceKind, Month } from '../../domain/papers.ts';
import type { Buyer, InvoiceLine, Seller } from '../invoice-rules.ts';

interface DetailsColumns {
  legal_name: string;
  address_lines: string[];
  country: string;
  tax_number: string | null;
}

export interface CompanyDetailsTable extends DetailsColumns {
  id: Generated<bigint>;
  tax_name: string;
  tax_rate_bps: number;
  set_by: string;
  reason: string;
  set_at: Generated<Date>;
}

export interface BillingDetailsTable extends DetailsColumns {
  account_id: string;
  papers_by_mail: boolean;
  changed_by: string;
  changed_at: Generated<Date>;
}

export interface AccountTaxesTable {
  account_id: string;
  tax_rate_bps: number;
  set_by: string;
  reason: string;
  set_at: Generated<Date>;
}

export interface MonthClosingsTable {
  month: Month;
  ends_at: ColumnType<Date, never, never>;
  asked_by: string;
  asked_at: Generated<Date>;
  closed_by: string | null;
  closed_at: Date | null;
  invoiced_at: Date | null;
}

/** Written by the function issue_invoice alone. */
export interface InvoicesTable {
  number: string;
  kind: InvoiceKind;
  account_id: string;
  month: Month;
  currency: string;
  revision: number;
  corrects: string | null;
  reason: string | null;
  issued_by: string | null;
  issued_at: Date;
  gross_minor: bigint;
  tax_minor: bigint;
  net_minor: bigint;
  tax_name: string;
  tax_rate_bps: number;
  seller: JSONColumnType<Seller>;
  buyer: JSONColumnType<Buyer>;
  lines: JSONColumnType<readonly (Omit<InvoiceLine, 'grossMinor'> & { readonly grossMinor: string })[]>;
}

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    company_details: CompanyDetailsTable;
    billing_details: BillingDetailsTable;
    account_taxes: AccountTaxesTable;
    month_closings: MonthClosingsTable;
    invoices: InvoicesTable;
  }
}
