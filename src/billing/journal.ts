import { csvOf } from '../domain/csv.ts';
import { formatMinor } from '../domain/money.ts';
import { rangeOf, type Month } from '../domain/papers.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { readBalances } from '../reconciliation/store/ledger.ts';
import { journalsOf, type JournalLine } from './day-journals.ts';
import { readDays } from './store/journal.ts';

const COLUMNS: Readonly<Record<string, (line: JournalLine) => string>> = {
  JournalNo: ({ journal }) => journal,
  JournalDate: ({ day }) => day,
  AccountCode: ({ code }) => code,
  AccountName: ({ name }) => name,
  Debits: ({ debitMinor }) => (debitMinor === 0n ? '' : formatMinor(debitMinor)),
  Credits: ({ creditMinor }) => (creditMinor === 0n ? '' : formatMinor(creditMinor)),
  Description: ({ description }) => description,
  Currency: ({ currency }) => currency,
};

export const JOURNAL_COLUMNS = Object.keys(COLUMNS);

/** In a form that accountants' programs import (docs/RECONCILIATION.md). */
export async function exportJournal({ db }: { readonly db: WorldDb }, month: Month): Promise<string> {
  const { from, to } = rangeOf(month);
  const lines = journalsOf(await readDays(db, { from, to }), await readBalances(db, from));
  const cells = Object.values(COLUMNS);
  return csvOf(
    JOURNAL_COLUMNS,
    lines.map((line) => cells.map((cell) => cell(line))),
  );
}
