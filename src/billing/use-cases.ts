/** What routes may call. Bound to their dependencies in app/composition. */
import type { Principal } from '../domain/account.ts';
import type { Bound } from '../platform/bind.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { getInvoice, listInvoices } from './invoices.ts';
import { invoicePaper, receiptPaper, statementPaper } from './pdf/papers.ts';
import { renderPaper } from './pdf/render.ts';
import { getReceipt } from './receipts.ts';
import { exportStatement, getStatement, readPrintedStatement, type StatementDeps } from './statement.ts';
import { findBillingDetails, saveBillingDetails, type BillingDetails } from './store/details.ts';

interface Deps {
  readonly db: WorldDb;
}

/** null: the account has set none. */
const getBillingDetails = async ({ db }: Deps, { account }: Principal): Promise<BillingDetails | null> =>
  (await findBillingDetails(db, account.id)) ?? null;

/** Papers that are written keep the details of then. */
async function setBillingDetails(
  { db }: Deps,
  { account, maker }: Principal,
  details: BillingDetails,
): Promise<BillingDetails> {
  await saveBillingDetails(db, account.id, details, maker);
  return details;
}

export const billingUseCases = {
  getStatement,
  exportStatement,
  printStatement: async (deps: StatementDeps, principal: Principal, month: string) =>
    renderPaper(statementPaper(await readPrintedStatement(deps, principal, month))),
  listInvoices,
  getInvoice,
  printInvoice: async (deps: Deps, principal: Principal, number: string) =>
    renderPaper(invoicePaper(await getInvoice(deps, principal, number))),
  getReceipt,
  printReceipt: async (deps: Deps, principal: Principal, transactionId: string) =>
    renderPaper(receiptPaper(await getReceipt(deps, principal, transactionId))),
  getBillingDetails,
  setBillingDetails,
};

export type BillingCases = Bound<typeof billingUseCases>;
