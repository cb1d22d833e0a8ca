/** What operators do about papers and months. Bound to their dependencies in app/composition. */
import { findAccount } from '../accounts/store/accounts.ts';
import type { Account } from '../domain/account.ts';
import type { Session } from '../domain/callers.ts';
import { DomainError } from '../domain/errors.ts';
import type { Month } from '../domain/papers.ts';
import type { Bound } from '../platform/bind.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import { correctInvoice, getAnyInvoice, listAllInvoices } from './invoices.ts';
import type { Tax } from './invoice-rules.ts';
import { exportJournal } from './journal.ts';
import { askToClose, closeMonth, listMonths, previewMonth, withdrawClose } from './months.ts';
import { invoicePaper, monthPaper, receiptPaper, statementPaper } from './pdf/papers.ts';
import { renderPaper } from './pdf/render.ts';
import { getReceipt } from './receipts.ts';
import { exportStatement, getStatement, readPrintedStatement, type StatementDeps } from './statement.ts';
import {
  findAccountTax,
  findBillingDetails,
  findCompany,
  insertCompany,
  setAccountTax,
  type Company,
  type Details,
} from './store/details.ts';
import { findReceiptSubject } from './store/receipts.ts';

interface Deps extends StatementDeps {
  readonly accounts: AccountsDb;
}

interface WorldDeps {
  readonly db: WorldDb;
}

/** NOT_FOUND. */
async function accountOf({ accounts }: Pick<Deps, 'accounts'>, id: string): Promise<Account> {
  const account = await findAccount(accounts, id);
  if (!account) throw new DomainError('NOT_FOUND', 'No such account');
  return account;
}

type Asked = Parameters<typeof getStatement>[2];

const getCompany = async ({ db }: WorldDeps): Promise<Company | null> => (await findCompany(db)) ?? null;

/** Papers that are written keep the details of then. */
async function setCompany(
  { db }: WorldDeps,
  { person }: Pick<Session, 'person'>,
  { reason, ...company }: Details & Tax & { readonly reason: string },
): Promise<Company | null> {
  await insertCompany(db, company, { by: person.email, reason });
  return getCompany({ db });
}

/** Whom the papers of an account name, and its own rate of tax. */
async function getAccountBilling(deps: Deps, accountId: string) {
  const account = await accountOf(deps, accountId);
  const [details, taxRateBps] = [
    await findBillingDetails(deps.db, account.id),
    await findAccountTax(deps.db, account.id),
  ];
  return { details: details ?? null, taxRateBps: taxRateBps ?? null };
}

async function setTax(
  deps: Deps,
  { person }: Pick<Session, 'person'>,
  {
    accountId,
    taxRateBps,
    reason,
  }: { readonly accountId: string; readonly taxRateBps: number | null; readonly reason: string },
) {
  const account = await accountOf(deps, accountId);
  await setAccountTax(deps.db, account.id, taxRateBps, { by: person.email, reason });
  return getAccountBilling(deps, accountId);
}

async function ownerOf({ db }: WorldDeps, transactionId: string) {
  const subject = await findReceiptSubject(db, transactionId);
  return { account: { id: subject?.accountId ?? '' } };
}

export const billingOperatorUseCases = {
  listMonths,
  previewMonth,
  askToClose,
  withdrawClose,
  closeMonth,
  exportJournal,
  printMonth: async (deps: WorldDeps, month: Month) =>
    renderPaper(monthPaper(await previewMonth(deps, month))),
  getCompany,
  setCompany,
  getAccountBilling,
  setTax,
  listAllInvoices,
  getAnyInvoice,
  correctInvoice,
  printAnyInvoice: async (deps: WorldDeps, number: string) =>
    renderPaper(invoicePaper(await getAnyInvoice(deps, number))),
  getStatementOf: async (deps: Deps, accountId: string, asked: Asked) =>
    getStatement(deps, { account: await accountOf(deps, accountId) }, asked),
  exportStatementOf: async (deps: Deps, accountId: string, asked: Omit<Asked, 'limit'>) =>
    exportStatement(deps, { account: await accountOf(deps, accountId) }, asked),
  printStatementOf: async (deps: Deps, accountId: string, month: Month) => {
    const owner = { account: await accountOf(deps, accountId) };
    return renderPaper(statementPaper(await readPrintedStatement(deps, owner, month)));
  },
  getAnyReceipt: async (deps: WorldDeps, transactionId: string) =>
    getReceipt(deps, await ownerOf(deps, transactionId), transactionId),
  printAnyReceipt: async (deps: WorldDeps, transactionId: string) =>
    renderPaper(receiptPaper(await getReceipt(deps, await ownerOf(deps, transactionId), transactionId))),
};

export type BillingOperatorCases = Bound<typeof billingOperatorUseCases>;
