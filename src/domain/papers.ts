/** Months and the papers that are written for them. Months are those of UTC. */

/** CREDIT_NOTE: takes back an invoice, or gives back more than was sold in the month. */
export const INVOICE_KINDS = ['INVOICE', 'CREDIT_NOTE'] as const;
export type InvoiceKind = (typeof INVOICE_KINDS)[number];

/** `2026-11`. */
export type Month = string;

/** The service knows no earlier ones, and four digits are enough for the rest. */
const MONTH = /^20\d\d-(0[1-9]|1[0-2])$/;

export const isMonth = (text: string): text is Month => MONTH.test(text);

export const monthOf = (time: Date): Month => time.toISOString().slice(0, 7);

/** From its first moment to that of the next month, which is excluded. */
export function rangeOf(month: Month): { readonly from: Date; readonly to: Date } {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return { from: new Date(Date.UTC(year, number - 1)), to: new Date(Date.UTC(year, number)) };
}

export const monthAfter = (month: Month): Month => monthOf(rangeOf(month).to);

/** `November 2026`. */
export function nameOfMonth(month: Month): string {
  const format = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return format.format(rangeOf(month).from);
}
