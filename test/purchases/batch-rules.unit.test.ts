// What a batch may contain, when it is checked again, and the e-mail to travellers.
import { describe, expect, it } from 'vitest';
import { csvOf } from '../../src/domain/csv.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { LANGUAGES } from '../../src/esims/install-texts/languages.ts';
import { emailWaitMs, installEmailText } from '../../src/purchases/batches/emails.ts';
import {
  BATCH_CSV_COLUMNS,
  batchStatus,
  csvRow,
  MAX_SEND_AHEAD_MS,
  nextBatchCheckMs,
  rowProblems,
  type BatchRowCommand,
  type BatchRowView,
} from '../../src/purchases/batches/rules.ts';

const NOW = new Date('2026-01-31T09:30:00.000Z');
const at = (ms: number): Date => new Date(NOW.getTime() + ms);
const row = (given: Partial<BatchRowCommand> = {}): BatchRowCommand => ({
  reference: 'a',
  packageCode: 'SIM-OK',
  ...given,
});
const ON_SALE: Readonly<Record<string, { readonly unusedValidDays: number }>> = {
  'SIM-OK': { unusedValidDays: 400 },
  'SIM-SHORT': { unusedValidDays: 30 },
};
const problems = (...rows: BatchRowCommand[]): string[] =>
  rowProblems(rows, { now: NOW }, (code) => ON_SALE[code]);

describe('rules over all rows', () => {
  it.each<[string, BatchRowCommand[], string[]]>([
    ['fine', [row(), row({ reference: 'b', email: 'a@b.example', sendAt: at(0), language: 'ar' })], []],
    ['a row twice', [row(), row({ reference: 'b' }), row()], ['rows.2.reference: is the same as in rows.0']],
    ['an unknown package', [row({ packageCode: 'NOT-ONE' })], ['rows.0.packageCode: is not on sale']],
    ['a date without an address', [row({ sendAt: at(1_000) })], ['rows.0.sendAt: needs an email']],
    ['a language without an address', [row({ language: 'fr' })], ['rows.0.language: needs an email']],
    [
      'a date in the past',
      [row({ email: 'a@b.example', sendAt: at(-1) })],
      ['rows.0.sendAt: must not be in the past'],
    ],
    ['a date a year ahead', [row({ email: 'a@b.example', sendAt: at(MAX_SEND_AHEAD_MS) })], []],
    [
      'a date later than that',
      [row({ email: 'a@b.example', sendAt: at(MAX_SEND_AHEAD_MS + 1) })],
      ['rows.0.sendAt: must be at most a year ahead'],
    ],
    [
      'a date when the eSIM has expired unused',
      [row({ packageCode: 'SIM-SHORT', email: 'a@b.example', sendAt: at(30 * 86_400_000) })],
      ['rows.0.sendAt: must be before the eSIM expires unused, 30 days after it is bought'],
    ],
    [
      'everything at once, each row named',
      [row({ packageCode: 'X' }), row({ packageCode: 'Y', sendAt: at(-1) })],
      [
        'rows.0.packageCode: is not on sale',
        'rows.1.reference: is the same as in rows.0',
        'rows.1.packageCode: is not on sale',
        'rows.1.sendAt: needs an email',
        'rows.1.sendAt: must not be in the past',
      ],
    ],
  ])('%s', (_name, rows, expected) => {
    expect(problems(...rows)).toEqual(expected);
  });

  it('are those of the start, for what is bought later', () => {
    const startAt = new Date(NOW.getTime() + 30 * 86_400_000);
    const mailed = (days: number) => [
      row({
        email: 'a@b.example',
        packageCode: 'SIM-SHORT',
        sendAt: new Date(NOW.getTime() + days * 86_400_000),
      }),
    ];
    const of = (days: number) => rowProblems(mailed(days), { now: NOW, startAt }, (code) => ON_SALE[code]);
    expect(of(29)).toEqual(['rows.0.sendAt: must not be before startAt']);
    expect(of(59)).toEqual([]);
    expect(of(60)).toEqual([expect.stringContaining('must be before the eSIM expires unused')]);
  });

  it('are reported in a text of bounded length', () => {
    const many = Array.from({ length: 500 }, (_, index) => `rows.${index}.packageCode: is not on sale`);
    const refusal = new DomainError('VALIDATION_ERROR', 'Invalid request', { details: many });
    expect(refusal.details).toMatch(/^rows\.0\..*rows\.99\.packageCode: is not on sale; and 400 more$/);
    expect(refusal.fields).toHaveLength(100);
    expect(refusal.fields[0]).toEqual({ field: 'rows.0.packageCode', problem: 'is not on sale' });
    const few = new DomainError('VALIDATION_ERROR', 'Invalid request', { details: many.slice(0, 100) });
    expect(few.details).not.toContain('more');
  });
});

describe('the next check', () => {
  it('comes soon while rows wait, and later the longer a purchase takes', () => {
    expect(nextBatchCheckMs(10_000_000, true)).toBe(1_000);
    expect([0, 8_000, 600_000, 1_000_000_000].map((ageMs) => nextBatchCheckMs(ageMs, false))).toEqual([
      1_000, 2_000, 150_000, 3_600_000,
    ]);
  });
});

describe('CSV', () => {
  const given = { row_number: 3, package_code: 'SIM-OK', send_at: null, email_closed_at: null };
  const unknown = {
    transaction_id: null,
    reason: null,
    esim_id: null,
    email: null,
    email_status: null,
    language: null,
  };
  const unsold = { price_minor: null, currency: null, iccid: null };
  const handed = {
    ...{ installUrl: 'https://s.example/i/a', ac: 'LPA:1$rsp.example$M-1' },
    ...{ smdpAddress: 'rsp.example', matchingId: 'M-1', qrCodeUrl: '' },
  };
  const known = {
    transaction_id: 'txn-1',
    reason: 'PACKAGE_WITHDRAWN',
    esim_id: 'esim-1',
    email: 'a@b.example',
    language: 'en',
    price_minor: 1_250n,
    currency: 'USD',
    iccid: '8944',
  } as const;

  it.each<[string, BatchRowView, string]>([
    [
      'no text that a spreadsheet would run',
      { ...given, ...unknown, ...unsold, reference: '=HYPERLINK("http://evil.example")', status: 'QUEUED' },
      `4,"'=HYPERLINK(""http://evil.example"")",SIM-OK,,QUEUED,,,,,,,,,,,,`,
    ],
    [
      'every field that is known, under its heading',
      { ...given, ...known, reference: 'a', status: 'FAILED', email_status: 'NOT_SENT' },
      '4,a,SIM-OK,txn-1,FAILED,PACKAGE_WITHDRAWN,esim-1,a@b.example,NOT_SENT,12.50,USD,8944,https://s.example/i/a,LPA:1$rsp.example$M-1,rsp.example,M-1,',
    ],
  ])('has one line per row, with %s', (_what, view, line) => {
    const heading =
      'row,reference,packageCode,transactionId,status,reason,esimId,email,emailStatus,price,currency,iccid,' +
      'installUrl,activationCode,smdpAddress,matchingId,qrCodeUrl';
    expect(csvOf(BATCH_CSV_COLUMNS, [csvRow(view, view.esim_id === null ? undefined : handed)])).toBe(
      `${heading}\r\n${line}\r\n`,
    );
  });
});

describe('a batch', () => {
  it.each([
    [{ queued: 1, processing: 0 }, 'PROCESSING'],
    [{ queued: 0, processing: 1 }, 'PROCESSING'],
    [{ queued: 1, processing: 1 }, 'PROCESSING'],
    [{ queued: 0, processing: 0 }, 'COMPLETED'],
  ] as const)('with %o is %s', (open, status) => {
    const counts = { rows: 3, succeeded: 0, failed: 0, ...open };
    expect(batchStatus('RUNNING', counts)).toBe(status);
    expect(batchStatus('SCHEDULED', counts)).toBe('SCHEDULED');
    expect(batchStatus('STOPPED', counts)).toBe('CANCELLED');
  });
});

describe('the e-mail', () => {
  const email = {
    ...{ us: 'Simway', sender: 'Blue Sky\r\nLagos', packageName: 'Nigeria 5GB', reference: 'order-4711' },
    ...{ url: 'https://s.example/i/abc', stopUrl: 'https://s.example/mails/stop/abc' },
  };

  it.each(LANGUAGES)(
    'in %s has the link, the package and the sender in quotes after us, each on one line',
    (language) => {
      const { subject, text } = installEmailText({ ...email, language }, 'live');
      expect(subject).toMatch(/^[^\r\n]*Nigeria 5GB$/);
      expect(text).toContain('\nhttps://s.example/i/abc\n');
      expect(text).toMatch(/^.*Simway.*[“«]\s?Blue Sky Lagos\s?[”»].*Nigeria 5GB\.$/m);
      expect(text).toContain('\nhttps://s.example/mails/stop/abc\n');
      expect(text).toMatch(/^[^\r\n]+: order-4711$/m);
      const lure = { ...email, language, reference: 'evil.example' };
      expect(installEmailText(lure, 'live').text).not.toContain('evil');
      const sender = 'SIMWAY SECURITY: sign in at https://evil.example';
      expect(installEmailText({ ...email, sender, language }, 'live').text).not.toMatch(/evil|SECURITY/);
      const test = installEmailText({ ...email, language }, 'test');
      expect(test.subject).toBe(`${subject} (test)`);
      expect(test.text.length).toBeGreaterThan(text.length);
    },
  );

  it('is attempted for three days', () => {
    expect([1, 2, 3, 4, 50].map((attempts) => emailWaitMs(attempts, 0))).toEqual([
      60_000, 300_000, 900_000, 3_600_000, 3_600_000,
    ]);
    expect(emailWaitMs(70, 72 * 3_600_000 - 1)).toBe(3_600_000);
    expect(emailWaitMs(70, 72 * 3_600_000)).toBeUndefined();
  });
});
