/**
 * Invoices are numbered without gaps, and each number once: while many write at once, transactions abort and
 * processes repeat what they did. An invoice is never changed; a credit note corrects it.
 */
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { correctInvoice, issueMissingInvoices } from '../../src/billing/invoices.ts';
import { draftOf, type Draft } from '../../src/billing/invoice-rules.ts';
import { findInvoice, issueInvoice } from '../../src/billing/store/invoices.ts';
import { saveBillingDetails } from '../../src/billing/store/details.ts';
import { noticeText, type Notice } from '../../src/webhooks/rules.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { createRandom, size, withSeed } from '../support/time/size.ts';
import { COMPANY, momentIn, monthAgo, openMonths, person } from './months.support.ts';

const WRITERS = size({ ci: 60, prove: 2_000 });
const MONTH = monthAgo(1);
const books = await openMonths();
const { world, owner } = books;
const year = new Date().getUTCFullYear();
let account = '';

beforeAll(async () => {
  await books.setCompany();
  account = await books.account('NGN');
  const asked = { ...COMPANY, legalName: 'Ada', papersByMail: true };
  await saveBillingDetails(world, account, asked, 'ada@merchant.example');
  const sale = { priceMinor: 400_000n, currency: 'NGN', costUsdE4: 20_000n } as const;
  await settlePurchase(world, await books.open(account, sale));
  await books.moveTo(() => momentIn(MONTH, 0.5));
  await books.close(MONTH);
});

const draft = (accountId: string, grossMinor: bigint): Draft => {
  const line = { kind: 'PACKAGE', packageName: 'Nigeria 5GB', quantity: 1, grossMinor } as const;
  const { taxName, taxRateBps, ...seller } = COMPANY;
  const nobody = { corrects: null, reason: null, issuedBy: null, revision: 0 };
  const buyer = { ...seller, email: null };
  const of = { accountId, month: MONTH, currency: 'NGN', seller, buyer, taxName, taxRateBps };
  return draftOf({ ...of, ...nobody, lines: [line] });
};

const numbers = async (): Promise<string[]> => {
  const rows = await world.selectFrom('invoices').select('number').orderBy('number').execute();
  return rows.map(({ number }) => number);
};

function expectNoGap(all: readonly string[]): void {
  for (const prefix of [`${year}-`, `CN-${year}-`]) {
    const own = all.filter((number) => number.startsWith(prefix));
    const inRow = own.map((_, nth) => `${prefix}${String(nth + 1).padStart(6, '0')}`);
    expect(own).toEqual(inRow);
  }
}

it('whoever asked gets a mail for each invoice, which says where the paper is', async () => {
  const [notice, ...others] = await world.selectFrom('notices').selectAll().execute();
  expect([notice?.account_id, notice?.kind, others]).toEqual([account, 'invoice-issued', []]);
  const facts = notice?.facts as unknown as Extract<Notice, { kind: 'invoice-issued' }>['facts'];
  const { subject, text } = noticeText({ kind: 'invoice-issued', facts }, 'test');
  expect(subject).toBe(`Invoice ${year}-000001 (test)`);
  expect(text).toContain('NGN 4000.00');
});

it(
  'many writers, of whom some abort and some repeat, leave no gap',
  () =>
    withSeed(async (seed) => {
      const random = createRandom(seed);
      let kept = 0;
      const writes = Array.from({ length: WRITERS }, (_, nth) => {
        const [aborts, gross] = [random.below(3) === 0, BigInt(random.below(1_000) - 300)];
        const repeats = random.below(4) === 0;
        const one = draft(`acc-${nth}`, gross);
        if (!aborts) kept += 1;
        return world
          .transaction()
          .execute(async (trx) => {
            expect(await issueInvoice(trx, one)).toBeDefined();
            if (repeats) expect(await issueInvoice(trx, one)).toBeUndefined();
            if (aborts) throw new Error('aborted');
          })
          .catch((error: unknown) => expect(error).toMatchObject({ message: 'aborted' }));
      });
      await Promise.all(writes);
      const all = await numbers();
      expect(all).toHaveLength(kept + 1);
      expectNoGap(all);
      expect(await issueMissingInvoices({ db: world })).toBe(0);
    }),
  60_000,
);

it('a correction is a credit note and an invoice with the details of now', async () => {
  const details = { ...COMPANY, legalName: 'Ada Travel Ltd', papersByMail: true };
  await saveBillingDetails(world, account, details, 'ada@merchant.example');
  const before = await world
    .selectFrom('invoices')
    .selectAll()
    .where('account_id', '=', account)
    .executeTakeFirstOrThrow();
  const { creditNote, invoice } = await correctInvoice({ db: world }, person('ada'), {
    number: before.number,
    reason: 'the buyer has a new name',
  });
  const [note, again] = [await findInvoice(world, creditNote), await findInvoice(world, invoice)];
  expect(note).toMatchObject({ kind: 'CREDIT_NOTE', grossMinor: -400_000n, corrects: before.number });
  expect(note?.buyer).toEqual(before.buyer);
  expect(again).toMatchObject({ kind: 'INVOICE', grossMinor: 400_000n, taxMinor: 27_907n });
  expect(again?.buyer.legalName).toBe('Ada Travel Ltd');
  await expect(
    correctInvoice({ db: world }, person('ada'), { number: before.number, reason: 'once more' }),
  ).rejects.toMatchObject({ code: 'ACTION_REFUSED' });
  expectNoGap(await numbers());
});

it('the service cannot write, change or remove an invoice by itself', async () => {
  const run = (statement: string, db = world) => sql.raw(statement).execute(db);
  await expect(run(`insert into invoices select * from invoices`)).rejects.toThrow(/permission denied/);
  await expect(run(`update invoices set gross_minor = 1`)).rejects.toThrow(/permission denied/);
  await expect(run(`update paper_series set last_number = 1`)).rejects.toThrow(/permission denied/);
  await expect(run(`delete from invoices`, owner)).rejects.toMatchObject({
    constraint: 'invoice_never_changes',
  });
});

it('lines that are not its sum are refused', async () => {
  const wrong = { ...draft('acc-wrong', 500n), grossMinor: 501n, netMinor: 466n };
  await expect(issueInvoice(world, wrong)).rejects.toMatchObject({ constraint: 'invoice_lines_are_its_sum' });
  expectNoGap(await numbers());
});
