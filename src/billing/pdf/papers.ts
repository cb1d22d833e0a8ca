/** What each paper says. Pure. */
import { formatAmount, formatMinor } from '../../domain/money.ts';
import { nameOfMonth, rangeOf } from '../../domain/papers.ts';
import { describeLine, type Tax } from '../invoice-rules.ts';
import type { Invoice } from '../invoices.ts';
import type { MonthPreview } from '../months.ts';
import type { Receipt } from '../receipts.ts';
import type { readPrintedStatement } from '../statement.ts';
import type { Paper, PaperTable } from './render.ts';

/** With the naira sign; other currencies by their code. */
const signed = (minor: bigint, currency: string): string => {
  const digits = formatMinor(minor < 0n ? -minor : minor).replaceAll(/\B(?=(\d{3})+(?!\d))/g, ',');
  const sign = minor < 0n ? '-' : '';
  return currency === 'NGN' ? `${sign}₦${digits}` : `${sign}${currency} ${digits}`;
};

const dayOf = (time: Date): string => time.toISOString().slice(0, 10);
const minuteOf = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
const percentOf = (bps: number): string => `${formatMinor(BigInt(bps)).replace(/\.?0+$/, '')} %`;

const taxRows = (
  { taxName, taxRateBps }: Tax,
  { netMinor, taxMinor, grossMinor }: Readonly<Record<'netMinor' | 'taxMinor' | 'grossMinor', bigint>>,
  currency: string,
): [string, string][] => [
  ['Net', signed(netMinor, currency)],
  [`${taxName} ${percentOf(taxRateBps)}`, signed(taxMinor, currency)],
  ['Total', signed(grossMinor, currency)],
];

export function invoicePaper(invoice: Invoice): Paper {
  const { kind, number, month, currency, lines, seller, buyer, issuedAt, corrects, reason } = invoice;
  const title = kind === 'INVOICE' ? `Invoice ${number}` : `Credit note ${number}`;
  const { from, to } = rangeOf(month);
  return {
    title,
    asOf: issuedAt,
    seller,
    buyer,
    facts: [
      ['Number', number],
      ['Date', dayOf(issuedAt)],
      ['Period', `${dayOf(from)} to ${dayOf(new Date(to.getTime() - 1))} (UTC)`],
      ...(corrects === null ? [] : ([['Corrects', `invoice ${corrects}: ${reason ?? ''}`]] as const)),
    ],
    tables: [
      {
        columns: [
          { title: 'Description', width: 60 },
          { title: 'Quantity', width: 15, isAmount: true },
          { title: `Amount, ${currency}`, width: 25, isAmount: true },
        ],
        rows: lines.map((line) => [
          describeLine(line),
          String(line.quantity),
          signed(line.grossMinor, currency),
        ]),
        sums: taxRows(invoice, invoice, currency).map(([name, value]) => [name, '', value]),
      },
    ],
    notes: [
      'Prices include the tax. The amounts were paid from the wallet or at the time of purchase: nothing is due.',
    ],
  };
}

export function statementPaper({
  statement,
  seller,
  buyer,
  asOf,
}: Awaited<ReturnType<typeof readPrintedStatement>>): Paper {
  const { month, currency, openingMinor, closingMinor, kinds, entries, hasMore, isFinal } = statement;
  const amounts = { title: `Amount, ${currency}`, width: 18, isAmount: true } as const;
  const listed: PaperTable = {
    title: 'Entries',
    columns: [
      { title: 'When (UTC)', width: 16 },
      { title: 'Description', width: 48 },
      amounts,
      { title: 'Balance', width: 18, isAmount: true },
    ],
    rows: entries.map((entry) => [
      entry.at.toISOString().slice(0, 16).replace('T', ' '),
      entry.description,
      signed(entry.amountMinor, currency),
      signed(entry.balanceAfterMinor, currency),
    ]),
  };
  return {
    title: `Statement of ${nameOfMonth(month)}`,
    asOf,
    seller,
    buyer,
    facts: [
      ['Status', isFinal ? 'Final: the month is closed' : `As of ${minuteOf(asOf)}: more may be added`],
    ],
    tables: [
      {
        columns: [
          { title: 'Kind', width: 52 },
          { title: 'Entries', width: 15, isAmount: true },
          { ...amounts, width: 33 },
        ],
        rows: [
          ['Opening balance', '', signed(openingMinor, currency)],
          ...kinds.map((line) => [line.kind, String(line.entries), signed(line.amountMinor, currency)]),
        ],
        sums: [['Closing balance', '', signed(closingMinor, currency)]],
      },
      ...(hasMore ? [] : [listed]),
    ],
    notes: hasMore ? ['The month has more entries than a paper should list: the CSV has them all.'] : [],
  };
}

export function receiptPaper(receipt: Receipt): Paper {
  const { transactionId, purpose, currency, lines, totalMinor, createdAt, closedAt, seller, buyer } = receipt;
  const { tax, taxMinor } = receipt;
  const sums: readonly [string, string][] =
    tax === null || purpose === 'FUNDING'
      ? [['Total', signed(totalMinor, currency)]]
      : taxRows(tax, { netMinor: totalMinor - taxMinor, taxMinor, grossMinor: totalMinor }, currency);
  return {
    title: purpose === 'FUNDING' ? 'Receipt for a funding' : 'Receipt for a purchase',
    asOf: lines.at(-1)?.at ?? closedAt ?? createdAt,
    seller: seller ?? undefined,
    buyer,
    facts: [
      ['Number', transactionId],
      ['Opened', minuteOf(createdAt)],
      ['Status', receipt.status],
      ['Paid by', receipt.paymentMethod],
      ...(receipt.iccid === null ? [] : ([['ICCID', receipt.iccid]] as const)),
    ],
    tables: [
      {
        columns: [
          { title: 'Date', width: 16 },
          { title: 'Description', width: 59 },
          { title: `Amount, ${currency}`, width: 25, isAmount: true },
        ],
        rows: lines.map(({ at, description, amountMinor }) => [
          dayOf(at),
          description,
          signed(amountMinor, currency),
        ]),
        sums: sums.map(([name, value]) => ['', name, value]),
      },
    ],
    notes: lines.length === 0 ? ['Nothing was charged.'] : [],
  };
}

/** The close of a month: the books at its end, and what was invoiced. */
export function monthPaper({
  month,
  state,
  askedBy,
  closedBy,
  closedAt,
  trialBalance,
  before,
  issued,
  company,
}: MonthPreview): Paper {
  const { to } = rangeOf(month);
  const opened = new Map(before.lines.map((line) => [line.account, line.creditMinor - line.debitMinor]));
  return {
    title: `Books at the end of ${nameOfMonth(month)}`,
    asOf: closedAt ?? to,
    seller: company,
    buyer: undefined,
    facts: [
      ['State', closedAt === null ? `${state}: not signed off` : `Closed ${minuteOf(closedAt)}`],
      ...(askedBy === null ? [] : ([['Asked by', askedBy]] as const)),
      ...(closedBy === null ? [] : ([['Signed off by', closedBy]] as const)),
    ],
    tables: [
      {
        title: 'Trial balance',
        columns: [
          { title: 'Account', width: 40 },
          { title: 'Debit', width: 20, isAmount: true },
          { title: 'Credit', width: 20, isAmount: true },
          { title: 'Moved in the month', width: 20, isAmount: true },
        ],
        rows: trialBalance.lines.map(({ account, currency, debitMinor, creditMinor }) => {
          const movedMinor = creditMinor - debitMinor - (opened.get(account) ?? 0n);
          const decimals = (amountMinor: bigint) => formatAmount({ amountMinor, currency });
          return [account, decimals(debitMinor), decimals(creditMinor), decimals(movedMinor)];
        }),
        sums: trialBalance.totals.map(({ currency, debitMinor, creditMinor }) => [
          `Total ${currency}`,
          formatAmount({ amountMinor: debitMinor, currency }),
          formatAmount({ amountMinor: creditMinor, currency }),
          '',
        ]),
      },
      {
        title: 'Invoices and credit notes of the month',
        columns: [
          { title: 'Currency', width: 40 },
          { title: 'Papers', width: 20, isAmount: true },
          { title: 'Tax', width: 20, isAmount: true },
          { title: 'Total', width: 20, isAmount: true },
        ],
        rows: issued.map(({ currency, count, taxMinor, grossMinor }) => [
          ...[currency, String(count), formatMinor(taxMinor), formatMinor(grossMinor)],
        ]),
      },
    ],
    notes: ['Moved in the month: above zero on the credit side. USD4 is US dollars with four decimals.'],
  };
}
