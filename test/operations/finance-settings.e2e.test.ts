// Finance sets rates and prices by commands: what applies afterwards, what is recorded, and what is refused.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refreshRates } from '../../activities/catalogue/refresh-rates.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createFixedRates } from '../../src/vendors/exchange-rates/fixed.ts';
import { fundWallet, ensureWallet } from '../../src/ledger/store/ledger.ts';
import { proposeRate } from '../../src/catalogue/rates.ts';
import { findGoodRates, insertRates } from '../../src/catalogue/store/rates.ts';
import { findPricingSettings } from '../../src/catalogue/store/pricing-settings.ts';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { readRevisions } from '../../src/catalogue/store/revisions.ts';
import { openBooks } from '../support/world/books.ts';
import { basePackage, PRICE_LIMITS, region } from '../support/money/facts.ts';
import { envOf, hereFinance, jsonOf, type HereOptions } from '../support/people/finance.ts';
import { startApi } from '../support/http/api.ts';
import { openOperators, tokenOf } from '../support/http/operators.ts';
import type { CommandResult } from '../support/world/commands.ts';

const books = await openBooks();
const ops = openOperators(books, { configuredRates: { NGN: '1600.00' } });
await ops.reset();
const api = await startApi({ ops });
const env = await envOf(api.server.url, tokenOf('FINANCE'));
afterAll(async () => {
  await api.close();
  await books.close();
});
const run = (line: string, options?: HereOptions): Promise<CommandResult> => hereFinance(env, line, options);
const json = async (line: string, options?: HereOptions): Promise<unknown> =>
  jsonOf(await run(`${line} --json`, options));

const WHY = ['--reason', 'the bank said so'];
const FINANCE = 'finance@operator.example';
const clock = { now: () => new Date() };
const rateOf = async (currency: string): Promise<bigint | undefined> =>
  (await findGoodRates(books.world)).find((rate) => rate.currency === currency)?.micros;

/** One run of the schedule that observes rates, with the configured ones. */
async function refresh(): Promise<void> {
  const deps = {
    db: books.world,
    clock,
    rateSources: [createFixedRates({ ratesPerUsd: { NGN: '1600.00', GHS: '12.50' }, clock })],
    events: { rateQuarantined: () => undefined, rateSourceFailed: () => undefined },
  } as unknown as ActivityDeps;
  await refreshRates(deps);
}

await refresh();
const packages = [1, 2, 3, 4, 5].map((size) =>
  basePackage({ packageCode: `NG-${size}`, slug: `NG_${size}`, cost: BigInt(size) * 10_000n }),
);
await replaceCatalogue(books.world, { supplier: 'esim-access', regions: [region()], packages }, new Date());

describe('rates set', () => {
  it('applies, also after every refresh, until the configured rate is restored', async () => {
    const before = await readRevisions(books.world);
    const { code, stdout } = await run('rates set --currency NGN --rate 1650.25 --yes', { more: WHY });
    expect(code).toBe(0);
    expect(stdout).toContain('NGN: 1600 → 1650.25\n');
    expect(await rateOf('NGN')).toBe(1_650_250_000n);
    expect((await readRevisions(books.world)).rates).not.toBe(before.rates);
    await refresh();
    expect(await rateOf('NGN')).toBe(1_650_250_000n);
    // The other currencies stay as they are.
    expect(await rateOf('GHS')).toBe(12_500_000n);

    await json('rates set --currency NGN --rate config --yes', { more: WHY });
    await refresh();
    expect(await rateOf('NGN')).toBe(1_600_000_000n);
    const { changes } = (await json('rates')) as { changes: object[] };
    expect(changes).toMatchObject([
      { by: FINANCE, reason: 'the bank said so', rate: null },
      { by: FINANCE, rate: 1_650.25, before: 1_600 },
    ]);
  });

  it('asks before a rate applies, says when it is far off, and obeys a no', async () => {
    const words = 'rates set --currency NGN --rate 16000';
    const refused = await run(words, { more: WHY, answer: 'n' });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stdout).toContain('MORE THAN 10 % OFF');
    expect(refused.stderr).toContain('nothing was done');
    expect(await run(words, { more: WHY })).toMatchObject({ code: 2 });
    expect(await rateOf('NGN')).toBe(1_600_000_000n);
    expect((await run('rates set --currency NGN --rate 1601', { more: WHY, answer: 'y' })).code).toBe(0);
    expect(await rateOf('NGN')).toBe(1_601_000_000n);
  });
});

describe('rates confirm', () => {
  it('releases a rate from quarantine, once, and records the author', async () => {
    const observedAt = new Date();
    await insertRates(books.world, [
      { currency: 'KES', micros: 129_000_000n, source: 'one', observedAt: new Date(0), status: 'GOOD' },
      { currency: 'KES', micros: 150_000_000n, source: 'other', observedAt, status: 'QUARANTINED' },
    ]);
    const { waiting } = (await json('rates')) as { waiting: { rateId: string; currency: string }[] };
    expect(waiting).toMatchObject([{ currency: 'KES', source: 'other' }]);
    const [{ rateId: id } = { rateId: '' }] = waiting;
    expect(await json(`rates confirm ${id}`, { more: WHY })).toEqual({ rateId: id, outcome: 'confirmed' });
    expect(await rateOf('KES')).toBe(150_000_000n);
    expect(await json(`rates confirm ${id}`, { more: WHY })).toEqual({ rateId: id, outcome: 'already' });
    const row = await books.owner
      .selectFrom('exchange_rates')
      .select(['confirmed_by', 'confirmed_reason'])
      .where('id', '=', BigInt(id))
      .executeTakeFirstOrThrow();
    expect(row).toEqual({ confirmed_by: FINANCE, confirmed_reason: 'the bank said so' });
  });

  it('refuses the person who proposed a rate; another person confirms it, and it stays', async () => {
    const far = await run('rates set --currency NGN --rate 3000 --yes', { more: WHY });
    expect(far).toMatchObject({ code: 0 });
    expect(far.stdout).toContain('another person must confirm it');
    const own = /rates confirm (\d+)/.exec(far.stdout)?.[1] ?? '';
    const refused = await run(`rates confirm ${own}`, { more: WHY });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('Another person');
    const proposal = { currency: 'NGN', micros: 3_000_000_000n, by: 'bayo', reason: 'a new law' };
    const { rateId } = await proposeRate({ db: books.world, clock, priceLimits: PRICE_LIMITS }, proposal);
    expect(await json(`rates confirm ${rateId}`, { more: WHY })).toMatchObject({ outcome: 'confirmed' });
    await refresh();
    expect(await rateOf('NGN')).toBe(3_000_000_000n);
    const { rows } = await sql`
      select actor, action, detail->>'environment' as environment from accounts.audit_log
       where action = 'rate.confirm' and subject = 'NGN'`.execute(books.owner);
    expect(rows).toEqual([{ actor: FINANCE, action: 'rate.confirm', environment: 'test' }]);
  });

  it('that waits is among the approvals, and is withdrawn by the person who set it', async () => {
    const far = await run('rates set --currency NGN --rate 9000 --yes', { more: WHY });
    const id = /rates confirm (\d+)/.exec(far.stdout)?.[1] ?? '';
    const listed = await run('approvals');
    expect(listed.stdout).toContain(`rates confirm ${id}`);
    expect(listed.stdout).toContain('NGN 9000');
    expect(await json('approvals')).toContainEqual(expect.objectContaining({ rateId: id, rate: 9000 }));
    expect(await run(`rates decline ${id}`, { more: WHY, answer: 'n' })).toMatchObject({ code: 1 });
    expect(await json(`rates decline ${id} --yes`, { more: WHY })).toEqual({ outcome: 'declined' });
    expect((await run('approvals')).stdout).not.toContain(`rates confirm ${id}`);
    expect(await run(`rates decline ${id} --yes`, { more: WHY })).toMatchObject({ code: 1 });
  });

  it('refuses an unknown rate', async () => {
    expect(await run('rates confirm 999999', { more: WHY })).toMatchObject({ code: 1 });
    expect(await run('rates confirm none', { more: WHY })).toMatchObject({ code: 2 });
  });
});

interface Preview {
  readonly after: Record<string, number>;
  readonly items: readonly {
    readonly packageCode: string;
    readonly prices: readonly {
      readonly accountType: string;
      readonly currency: string;
      readonly before: number;
      readonly after: number;
    }[];
  }[];
}

describe('prices', () => {
  it('preview shows the packages whose price changes most, before and after, and changes nothing', async () => {
    const before = await findPricingSettings(books.world);
    const preview = (await json('prices preview --user-markup 50 --examples 3')) as Preview;
    expect(preview.after).toEqual({
      userMarkupPercent: 50,
      merchantMarkupPercent: 15,
      ngnIncrementPercent: 3,
    });
    expect(preview.items).toHaveLength(3);
    const all = (await json('prices preview --user-markup 50')) as Preview;
    const dear = all.items.find(({ packageCode }) => packageCode === 'NG-5')?.prices ?? [];
    expect(dear.filter(({ currency }) => currency === 'USD')).toMatchObject([
      { accountType: 'USER', before: 6.25, after: 7.5 },
      { accountType: 'MERCHANT', before: 5.75, after: 5.75 },
    ]);
    expect(dear.some((one) => one.currency === 'NGN')).toBe(true);
    expect(await findPricingSettings(books.world)).toEqual(before);
  });

  it('set keeps values that are not given, records author and reason, and changes nothing when repeated', async () => {
    const line = 'prices set --merchant-markup 17.5 --yes';
    expect(await json(line, { more: WHY })).toMatchObject({
      outcome: 'set',
      after: { userMarkupPercent: 25, merchantMarkupPercent: 17.5, ngnIncrementPercent: 3 },
    });
    expect(await json(line, { more: WHY })).toMatchObject({ outcome: 'unchanged' });
    expect(await findPricingSettings(books.world)).toMatchObject({ merchantMarkupBps: 1_750 });
    const history = await json('prices');
    expect(history).toMatchObject([
      { merchantMarkupPercent: 17.5, by: FINANCE, reason: 'the bank said so' },
      { merchantMarkupPercent: 15, by: 'migrate' },
    ]);
  });

  it.each([
    ['--user-markup 26', 'would-do'],
    ['--user-markup 400', 'waits'],
  ])('a dry run of set %s says what saving would do: %s', async (change, outcome) => {
    expect(await json(`prices set ${change} --dry-run`, { more: WHY })).toMatchObject({ outcome });
  });

  it('set shows the changes before it asks, and obeys a no', async () => {
    const { code, stdout } = await run('prices set --ngn-increment 5', { more: WHY, answer: '' });
    expect(code).toBe(1);
    expect(stdout).toMatch(/before .*3\.00 %\nafter .*5\.00 %/);
    expect(await findPricingSettings(books.world)).toMatchObject({ ngnIncrementBps: 300 });
  });
});

describe('on-sale', () => {
  interface OnSale {
    readonly items: readonly { readonly packageCode: string; readonly costUsd: number }[];
  }
  const costs = async (line: string) =>
    ((await json(line)) as OnSale).items.map(({ packageCode, costUsd }) => [packageCode, costUsd]);

  it('shows the packages on sale at a moment, with the cost and prices of that moment', async () => {
    const changedAt = new Date(Date.now() + 1_000);
    const dearer = basePackage({ packageCode: 'NG-1', slug: 'NG_1', cost: 12_345n });
    const [kept, gone] = [2, 3].map((size) =>
      basePackage({ packageCode: `NG-${size}`, slug: `NG_${size}`, cost: BigInt(size) * 10_000n }),
    );
    await replaceCatalogue(
      books.world,
      { supplier: 'esim-access', regions: [region()], packages: [dearer, kept!, gone!] },
      changedAt,
    );
    const before = new Date(changedAt.getTime() - 1).toISOString();
    expect(await costs(`on-sale --at ${before} --package NG-1`)).toEqual([['NG-1', 1]]);
    expect(await costs(`on-sale --at ${before}`)).toHaveLength(5);
    const after = changedAt.toISOString();
    expect((await costs(`on-sale --at ${after} --region NG`)).toSorted()).toEqual([
      ['NG-1', 1.2345],
      ['NG-2', 2],
      ['NG-3', 3],
    ]);
    expect(await costs(`on-sale --at ${after} --package NG-5`)).toEqual([]);
    const { code, stdout } = await run(`on-sale --at ${after}`);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^PACKAGE +NAME +REGION +COST +USER +MERCHANT/),
    ]);
    expect(stdout).toMatch(/^NG-1 .*USD 1\.2345 .*USD 1\.54 .*USD 1\.45 /m);
  });

  it('says when that moment is not known, and refuses an invalid one', async () => {
    const { code, stderr } = await run('on-sale --at 2020-01-01');
    expect([code, stderr]).toEqual([0, expect.stringContaining('not known: the history begins at')]);
    expect(await run('on-sale --at soon')).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('ledger, trial-balance, books', () => {
  beforeAll(async () => {
    await ensureWallet(books.world, 'acc-1', 'USD');
    for (const [reference, amountMinor] of [
      ['one', 1_000n],
      ['two', 250n],
    ] as const)
      await fundWallet(books.world, {
        operationKey: `fund:${reference}`,
        accountId: 'acc-1',
        amount: { amountMinor, currency: 'USD' },
        reason: 'a test',
      });
  });

  it('ledger shows an account’s entries, newest first, with the balance after each', async () => {
    expect(await json('ledger acc-1')).toMatchObject([
      { operationKey: 'fund:two', debit: 0, credit: 2.5, balance: 12.5 },
      { operationKey: 'fund:one', credit: 10, balance: 10 },
    ]);
    expect(await json('ledger wallet:acc-1 --limit 1')).toMatchObject([{ credit: 2.5, balance: 12.5 }]);
    // An asset's balance is its debits. Its kind alone finds it as well.
    for (const name of ['funding:USD', 'funding'])
      expect(await json(`ledger ${name}`)).toMatchObject([
        { debit: 2.5, credit: 0, balance: 12.5 },
        { debit: 10, balance: 10 },
      ]);
    expect(await run('ledger suspense')).toMatchObject({ code: 0, stdout: 'nothing is booked\n' });
    expect((await run('ledger acc-1')).stdout).toContain('USD 12.50');
    expect(await run('ledger acc-none')).toMatchObject({ code: 1, stdout: '' });
  });

  it('trial-balance nets to zero, as a table, as JSON and as CSV', async () => {
    const report = (await json('trial-balance')) as { totals: { currency: string }[] };
    const dollars = report.totals.find((total) => total.currency === 'USD');
    expect(dollars).toMatchObject({ debit: 12.5, credit: 12.5, isBalanced: true });
    const csv = await run('trial-balance --csv');
    expect(csv.stdout).toMatch(/^account,kind,class,currency,accounts,debit,credit\r\n/);
    expect(csv.stdout).toContain('wallet:USD,wallet,liability,USD,1,0.00,12.50\r\n');
    expect(csv.stdout).not.toContain('total');
    const table = await run('trial-balance');
    expect(table.stdout).toMatch(/^ACCOUNT +KIND/);
    expect(table.stdout).toContain('total: debit USD 12.50, credit USD 12.50');
    expect(await run('trial-balance --csv --json')).toMatchObject({ code: 2 });
  });

  it('books and waiting answer for a shop without sales', async () => {
    expect(await json('books')).toEqual({ lines: [], totals: [] });
    expect(await json('books --by-merchant')).toEqual({ lines: [], totals: [] });
    expect(await json('waiting')).toEqual({ lines: [] });
    expect(await run('books --from 2026-11-02 --to 2026-11-01')).toMatchObject({ code: 2 });
    expect(await run('books --from 2026-11-01 --to 2026-11-01')).toMatchObject({ code: 0 });
    expect(await run('books --from yesterday')).toMatchObject({ code: 2 });
  });
});
