// Papers over HTTP: what they say, as JSON, CSV and PDF; whose they are; and bad input.
import { extractText, getDocumentProxy } from 'unpdf';
import { expect, it } from 'vitest';
import { draftOf } from '../../src/billing/invoice-rules.ts';
import { insertCompany } from '../../src/billing/store/details.ts';
import { issueInvoice } from '../../src/billing/store/invoices.ts';
import { monthOf } from '../../src/domain/papers.ts';
import { startApi, type Ask } from '../support/http/api.ts';
import { keyOf } from '../support/http/shop.ts';
import { forFile } from '../support/world/for-file.ts';
import { COMPANY } from './months.support.ts';

const api = await forFile(startApi());
const { db, owner } = api.shop;
const PRESENT = monthOf(new Date());
const BASE = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
const DETAILS = {
  legalName: 'Ọlá Travel — Львів Ltd',
  addressLines: ['12 Adéọlá Odeku', 'Lagos'],
  country: 'NG',
  taxNumber: '999',
  papersByMail: true,
};

interface Json<T> {
  readonly data: T;
}
async function get<T>(target: string, more: Ask = {}): Promise<T> {
  const reply = await api.ask(target, { key: 'ngn', ...more });
  expect(reply.status, reply.text).toBe(200);
  return (reply.json as Json<T>).data;
}
const as = (type: string) => ({ headers: { accept: type } });

/** The text of a PDF, as a program reads it. */
async function textOf(target: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${api.server.port}${api.idOf(target)}`, {
    headers: { 'X-API-Key': keyOf('test', 'ngn'), accept: 'application/pdf' },
  });
  expect(response.headers.get('content-type')).toBe('application/pdf');
  const bytes = new Uint8Array(await response.arrayBuffer());
  const { text } = await extractText(await getDocumentProxy(bytes), { mergePages: true });
  return text;
}

const bought = (await api.ask('/api/esim/buy', { key: 'ngn', body: BASE })).json as {
  readonly transactionId: string;
  readonly package: { readonly price: number };
};
const price = bought.package.price.toLocaleString('en', { minimumFractionDigits: 2 });
const receiptPath = `/api/esim/transactions/${bought.transactionId}/receipt`;

it('billing details are set whole, and read', async () => {
  expect(await get('/api/wallet/billing-details')).toEqual({ details: null });
  const example = 'set';
  const put = { key: 'ngn', method: 'PUT', body: DETAILS, example };
  const set = await api.ask('/api/wallet/billing-details', put);
  expect(set.status, set.text).toBe(200);
  expect(await get('/api/wallet/billing-details', { example })).toEqual({ details: DETAILS });
  for (const wrong of [
    { ...DETAILS, country: 'ng' },
    { ...DETAILS, addressLines: [] },
    { ...DETAILS, addressLines: Array.from({ length: 7 }, () => 'x') },
    { ...DETAILS, legalName: 'a\u202eb' },
    { ...DETAILS, papersByMail: 'yes' },
    { legalName: 'x' },
  ]) {
    const refused = await api.ask('/api/wallet/billing-details', { key: 'ngn', method: 'PUT', body: wrong });
    expect(refused.status).toBe(400);
  }
});

it('a receipt says what was charged, with the tax in it', async () => {
  const before = await get<{ taxName: null; tax: number; total: number }>(receiptPath);
  expect(before).toMatchObject({ taxName: null, tax: 0, total: bought.package.price });
  await insertCompany(db, COMPANY, { by: 'ada', reason: 'a test' });
  const receipt = await get<{ tax: number; total: number }>(receiptPath, { example: 'a purchase' });
  expect(receipt).toMatchObject({ taxName: 'VAT', taxRatePercent: 7.5, total: bought.package.price });
  expect(receipt.tax).toBe(Math.round((bought.package.price * 7.5 * 100) / 107.5) / 100);
  const text = await textOf(receiptPath);
  for (const part of [
    api.idOf(bought.transactionId),
    `₦${price}`,
    'Nigeria 5GB 30Days',
    'VAT 7.5 %',
    'Simway Test Ltd',
  ])
    expect(text).toContain(part);
  expect(text).toContain(DETAILS.legalName.normalize());
  expect(text).not.toContain('undefined');
});

it('a statement is the balance of the month, as JSON, CSV and PDF', async () => {
  const path = `/api/wallet/statements/${PRESENT}`;
  const statement = await get<{ opening: number; closing: number; items: unknown[] }>(path);
  const { balance } = await get<{ balance: number }>('/api/wallet/balance');
  expect(statement).toMatchObject({ opening: 0, closing: balance, isFinal: false, hasMore: false });
  expect(statement.items).toHaveLength(2);
  const csv = await api.ask(path, { key: 'ngn', ...as('text/csv') });
  const lines = csv.text.trimEnd().split('\r\n');
  expect(lines).toHaveLength(5);
  expect(lines.at(-1)).toContain('CLOSING_BALANCE');
  const text = await textOf(path);
  expect(text).toContain(`₦${balance.toLocaleString('en', { minimumFractionDigits: 2 })}`);
  expect(text).toContain(`-₦${price}`);
  const [first] = statement.items as { id: string }[];
  const rest = await get<typeof statement>(`${path}?after=${first!.id}&limit=1`);
  expect(rest.items).toEqual(statement.items.slice(1));
});

it('a statement is by the ledger’s time, which a test may move', async () => {
  const [booked_at, account] = [new Date('2026-01-31T09:30:00.000Z'), api.shop.accountId('ngn')];
  await owner.updateTable('wallet_entries').set({ booked_at }).where('account_id', '=', account).execute();
  const path = '/api/wallet/statements/2026-01';
  const { items } = await get<{ items: unknown[] }>(path, { example: 'a month' });
  expect(items).toHaveLength(2);
  expect(await get(`/api/wallet/statements/${PRESENT}`)).toMatchObject({ items: [] });
});

it('an invoice is the account’s own, and never changes', async () => {
  await owner
    .insertInto('month_closings')
    .values({ month: '2026-01', asked_by: 'ada', closed_by: 'bola', closed_at: new Date() })
    .execute();
  const { taxName, taxRateBps, ...seller } = COMPANY;
  const draft = draftOf({
    ...{
      accountId: api.shop.accountId('ngn'),
      month: '2026-01',
      currency: 'NGN',
      seller,
      taxName,
      taxRateBps,
    },
    ...{ buyer: { ...DETAILS, email: null }, revision: 0, corrects: null, reason: null, issuedBy: null },
    lines: [
      { kind: 'PACKAGE', packageName: 'Nigeria 5GB', quantity: 2, grossMinor: 123_456_789n },
      { kind: 'REFUND', packageName: '=cmd|x', quantity: 1, grossMinor: -56_789n },
    ],
  });
  const number = (await issueInvoice(db, draft))!;
  const path = `/api/wallet/invoices/${number}`;
  const { items } = await get<{ items: unknown[] }>('/api/wallet/invoices?month=2026-01', {
    example: 'a month',
  });
  expect(items).toMatchObject([{ number, gross: 1_234_000, net: 1_147_906.98, tax: 86_093.02 }]);
  expect(await get(path, { example: 'a month' })).toMatchObject({
    number,
    lines: [{ gross: 1_234_567.89 }, { gross: -567.89 }],
  });
  const csv = await api.ask(path, { key: 'ngn', ...as('text/csv') });
  expect(csv.text).toContain('1234567.89');
  const text = await textOf(path);
  for (const part of [`Invoice ${number}`, '₦1,234,000.00', '₦86,093.02', '-₦567.89', COMPANY.taxNumber])
    expect(text).toContain(part);
  const pdf = async () => (await api.ask(path, { key: 'ngn', ...as('application/pdf') })).text;
  expect(await pdf()).toBe(await pdf());
  for (const type of ['application/json', 'text/csv', 'application/pdf'])
    expect((await api.ask(path, { key: 'usd', ...as(type) })).status).toBe(404);
  expect((await api.ask(receiptPath, { key: 'usd' })).status).toBe(404);
});

it.each([
  ['/api/wallet/statements/2026-13', 404],
  ['/api/wallet/statements/2089-01', 400],
  ['/api/wallet/statements/2026-1', 404],
  [`/api/wallet/statements/${PRESENT}?after=x`, 400],
  ['/api/wallet/invoices?month=yesterday', 400],
  ['/api/wallet/invoices/2026-1', 404],
])('%s is refused with %i', async (target, status) => {
  expect((await api.ask(target, { key: 'ngn' })).status).toBe(status);
});
