/**
 * Importing a supplier's catalogue: only differences are stored, versions have the time of their validity,
 * packages are withdrawn and never removed.
 */
import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CataloguePackage, Region } from '../../src/catalogue/rules.ts';
import {
  countPackages,
  findTopUpPackage,
  readCatalogue,
  readTopUps,
  replaceCatalogue,
  replaceTopUps,
} from '../../src/catalogue/store/catalogue.ts';
import { readRevisions } from '../../src/catalogue/store/revisions.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { basePackage, region } from '../support/money/facts.ts';
import { size, withSeed } from '../support/time/size.ts';
import { forFile } from '../support/world/for-file.ts';

const books: Books = await forFile(openBooks());
beforeEach(() => clear());

const clear = () =>
  sql`truncate held_costs, package_top_up_checks, package_top_ups, package_versions, checkout_sessions, quotes, packages, regions`.execute(
    books.owner,
  );

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute));
const sync = (packages: CataloguePackage[], minute: number, regions: Region[] = [region()]) =>
  replaceCatalogue(books.world, { supplier: 'esim-access', regions, packages }, at(minute));
const revision = async () => Number((await readRevisions(books.world)).catalogue);
const change = { added: 0, changed: 0, repriced: 0, withdrawn: 0, held: 0 };

const versions = (packageCode: string) =>
  books.world
    .selectFrom('package_versions')
    .select(['kind', 'changed_fields', 'cost_usd_e4', 'valid_from', 'valid_to'])
    .where('package_code', '=', packageCode)
    .orderBy('valid_from')
    .execute();

const a = basePackage({ packageCode: 'A' });
const b = basePackage({ packageCode: 'B', cost: 7n });

describe('replaceCatalogue', () => {
  it('imports new packages, field by field', async () => {
    const regions = [
      region(),
      region({ regionCode: 'EU', regionName: 'Europe', regionType: 'RG', countryCode: null }),
    ];
    expect(await sync([a, b], 1, regions)).toEqual({ ...change, added: 2 });
    const read = await readCatalogue(books.world);
    expect(read.packages).toEqual([
      { ...a, supplier: 'esim-access', withdrawn: false },
      { ...b, supplier: 'esim-access', withdrawn: false },
    ]);
    expect(read.regions).toEqual([regions[1], regions[0]]);
    expect(await countPackages(books.world)).toBe(2);
  });

  it('keeps counts and volumes exact beyond what a 32-bit number holds', async () => {
    const big = basePackage({ packageCode: 'BIG', volumeBytes: 2 ** 50, cost: 2n ** 60n });
    await sync([big], 1);
    expect((await readCatalogue(books.world)).packages).toEqual([
      { ...big, supplier: 'esim-access', withdrawn: false },
    ]);
  });

  it('withdraws nothing of another supplier, and top-ups go with their package', async () => {
    await sync([a, b], 1);
    const other = basePackage({ packageCode: 'OTHER' });
    await replaceCatalogue(
      books.world,
      { supplier: 'another', regions: [region()], packages: [other] },
      at(2),
    );
    await replaceTopUps(
      books.world,
      'OTHER',
      [basePackage({ packageCode: 'T9', packageType: 'TOPUP' })],
      at(2),
    );
    const { packages } = await readCatalogue(books.world);
    const read = packages.map(({ packageCode, supplier, withdrawn }) => [packageCode, supplier, withdrawn]);
    expect(read.toSorted()).toEqual([
      ['A', 'esim-access', false],
      ['B', 'esim-access', false],
      ['OTHER', 'another', false],
    ]);
    expect(await findTopUpPackage(books.world, 'T9')).toMatchObject({ supplier: 'another' });
  });

  it('changes nothing, and notifies no process, when the catalogue is the same', async () => {
    await sync([a, b], 1);
    const before = await revision();
    expect(await sync([structuredClone(b), structuredClone(a)], 2)).toEqual(change);
    expect(await revision()).toBe(before);
    expect(await versions('A')).toHaveLength(1);
  });

  it.each<[string, Partial<CataloguePackage>]>([
    ['a name', { name: 'New name' }],
    ['a volume', { volumeBytes: 1 }],
    ['a duration unit', { durationUnit: 'MONTH' }],
    ['whether it can be topped up', { topUpAvailable: false }],
    ['an operator', { networks: [{ ...a.networks[0]!, operatorList: [] }] }],
  ])('counts %s as one change, with a new version', async (_name, given) => {
    await sync([a, b], 1);
    const before = await revision();
    expect(await sync([{ ...a, ...given }, b], 2)).toEqual({ ...change, changed: 1 });
    expect(await revision()).toBe(before + 1);
    expect((await readCatalogue(books.world)).packages[0]).toMatchObject(given);
    expect(await versions('A')).toMatchObject([
      { kind: 'ADDED', cost_usd_e4: 100_000n, valid_to: at(2) },
      { kind: 'CHANGED', cost_usd_e4: 100_000n, valid_from: at(2), valid_to: null },
    ]);
  });

  it('closes the old version when the new one begins', async () => {
    await sync([a, b], 1);
    const before = await revision();
    expect(await sync([{ ...a, cost: 5n }, b], 2)).toEqual({ ...change, repriced: 1 });
    expect(await revision()).toBe(before + 1);
    expect(await versions('A')).toEqual([
      { kind: 'ADDED', changed_fields: [], cost_usd_e4: 100_000n, valid_from: at(1), valid_to: at(2) },
      { kind: 'CHANGED', changed_fields: ['price'], cost_usd_e4: 5n, valid_from: at(2), valid_to: null },
    ]);
    expect(await versions('B')).toHaveLength(1);
  });

  it('withdraws a missing package, keeps it, and restores it when it returns', async () => {
    await sync([a, b], 1);
    const before = await revision();
    expect(await sync([b], 2)).toEqual({ ...change, withdrawn: 1 });
    expect(await revision()).toBe(before + 1);
    expect((await readCatalogue(books.world)).packages.map((it) => [it.packageCode, it.withdrawn])).toEqual([
      ['A', true],
      ['B', false],
    ]);
    expect(await countPackages(books.world)).toBe(1);
    // A package that stays missing is no change.
    expect(await sync([b], 3)).toEqual(change);
    expect(await revision()).toBe(before + 1);
    expect(await sync([a, b], 4)).toEqual({ ...change, changed: 1 });
    expect(await countPackages(books.world)).toBe(2);
    const back = { kind: 'ADDED', changed_fields: ['availability'], valid_from: at(4), valid_to: null };
    expect(await versions('A')).toMatchObject([
      { kind: 'ADDED', changed_fields: [], valid_from: at(1), valid_to: at(2) },
      { kind: 'WITHDRAWN', changed_fields: ['availability'], valid_from: at(2), valid_to: at(4) },
      back,
    ]);
  });

  it('notifies every process when only a region changed', async () => {
    await sync([a], 1);
    for (const [minute, regions] of [
      [2, [region({ regionName: 'Federal Republic of Nigeria' })]],
      [3, [region({ regionName: 'Federal Republic of Nigeria' }), region({ regionCode: 'GH' })]],
      [4, [region({ regionName: 'Federal Republic of Nigeria' })]],
    ] as const) {
      const before = await revision();
      await sync([a], minute, [...regions]);
      expect(await revision()).toBe(before + 1);
      expect((await readCatalogue(books.world)).regions).toEqual(regions);
    }
  });

  it('uses the last entry of a package that is listed twice', async () => {
    expect(await sync([a, b, { ...a, name: 'Again' }], 1)).toEqual({ ...change, added: 2 });
    expect((await readCatalogue(books.world)).packages[0]).toMatchObject({ packageCode: 'A', name: 'Again' });
    expect(await sync([{ ...a, cost: 1n }, b, { ...a, name: 'Again' }], 2)).toEqual(change);
  });

  it('imports thousands at once', async () => {
    const many = Array.from({ length: 2_501 }, (_, i) =>
      basePackage({ packageCode: `P${i}`, cost: BigInt(i) }),
    );
    expect(await sync(many, 1)).toEqual({ ...change, added: 2_501 });
    const halved = many.map((item, i) => (i % 2 === 0 ? item : { ...item, cost: item.cost + 1n }));
    expect(await sync(halved, 2)).toEqual({ ...change, repriced: 1_250 });
    expect(await countPackages(books.world)).toBe(2_501);
  });

  it('in two processes at the same time leaves one complete catalogue', async () => {
    await Promise.all(Array.from({ length: 4 }, (_, i) => sync([{ ...a, cost: BigInt(i) }, b], 1 + i)));
    expect(await brokenIntervals()).toEqual([]);
    const { packages } = await readCatalogue(books.world);
    expect(packages.map((item) => item.packageCode)).toEqual(['A', 'B']);
  });

  it('keeps versions in one unbroken row when the clock goes back', async () => {
    await sync([a], 10);
    await sync([{ ...a, cost: 1n }], 10);
    await sync([{ ...a, cost: 2n }], 5);
    await sync([{ ...a, cost: 3n }], 20);
    expect(await brokenIntervals()).toEqual([]);
    expect((await versions('A')).at(-1)).toMatchObject({
      cost_usd_e4: 3n,
      valid_from: at(20),
      valid_to: null,
    });
  });
});

/** Packages whose versions leave a gap, overlap, run backwards, or do not end with today's package. */
async function brokenIntervals(): Promise<string[]> {
  const { rows } = await sql<{ package_code: string }>`
    with rows as (
      select *, lead(valid_from) over w as next_from
        from package_versions window w as (partition by package_code order by valid_from)
    )
    select distinct packages.package_code from packages left join rows using (package_code)
     where rows.valid_from is null
        or valid_to is distinct from next_from
        or valid_to <= valid_from
        or (valid_to is null and on_sale and rows.cost_usd_e4 <> packages.cost_usd_e4)
        or (valid_to is null and on_sale <> (packages.withdrawn_at is null))`.execute(books.owner);
  return rows.map((row) => row.package_code);
}

it('of one environment can be written while that of the other is', async () => {
  const live = openDatabase<WorldDatabase>({
    ...{ url: books.url, schema: 'live', role: 'simway_live', maxConnections: 1 },
    ...{ statementTimeoutMs: 10_000, applicationName: 'simway-tests' },
  });
  const none = { supplier: 'esim-access', regions: [region()], packages: [b] };
  try {
    await replaceCatalogue(live, none, at(1), async () => {
      // Its transaction is open, and holds its lock.
      await sync([a], 1);
    });
    expect(await countPackages(books.world)).toBe(1);
  } finally {
    await live.destroy();
  }
});

describe('any sequence of catalogues', () => {
  const codes = ['A', 'B', 'C', 'D'];
  const listing = fc
    .subarray(codes)
    .chain((listed) =>
      fc.tuple(
        ...listed.map((packageCode) =>
          fc.nat(2).map((cost) => basePackage({ packageCode, cost: BigInt(cost) })),
        ),
      ),
    );

  it('leaves versions without gaps or overlaps, and the last listing on sale', async () => {
    await withSeed((seed) =>
      fc.assert(
        fc.asyncProperty(fc.array(listing, { minLength: 1, maxLength: 6 }), async (listings) => {
          await clear();
          await sync([], 0);
          for (const [minute, packages] of listings.entries()) {
            const before = await revision();
            const done = await sync(packages, minute);
            const news = done.added + done.changed + done.repriced + done.withdrawn;
            expect(await revision()).toBe(before + (news > 0 ? 1 : 0));
          }
          expect(await brokenIntervals()).toEqual([]);
          const { packages } = await readCatalogue(books.world);
          const onSale = packages
            .filter((item) => !item.withdrawn)
            .map((item) => [item.packageCode, item.cost]);
          expect(onSale).toEqual(listings.at(-1)!.map((item) => [item.packageCode, item.cost]));
        }),
        { numRuns: size({ ci: 25, prove: 1_000 }), seed },
      ),
    );
  });
});

describe('top-ups', () => {
  const topUp = (code: string, given: Partial<CataloguePackage> = {}): CataloguePackage =>
    basePackage({ packageCode: code, packageType: 'TOPUP', ...given });

  it('are unknown until fetched, then kept in the order of the supplier', async () => {
    await sync([a], 1);
    expect(await readTopUps(books.world, 'A')).toBeUndefined();
    await replaceTopUps(books.world, 'A', [topUp('T2'), topUp('T1')], at(2));
    expect(await readTopUps(books.world, 'A')).toEqual({
      checkedAt: at(2),
      packages: [
        { ...topUp('T2'), supplier: 'esim-access', withdrawn: false },
        { ...topUp('T1'), supplier: 'esim-access', withdrawn: false },
      ],
    });
  });

  it('are replaced as a whole, and may be none', async () => {
    await sync([a], 1);
    await replaceTopUps(books.world, 'A', [topUp('T1'), topUp('T2')], at(2));
    await replaceTopUps(books.world, 'A', [topUp('T2', { cost: 1n })], at(3));
    expect((await readTopUps(books.world, 'A'))?.packages).toMatchObject([{ packageCode: 'T2', cost: 1n }]);
    await replaceTopUps(books.world, 'A', [], at(4));
    expect(await readTopUps(books.world, 'A')).toEqual({ checkedAt: at(4), packages: [] });
    // Known by its code even so.
    expect(await findTopUpPackage(books.world, 'T1')).toMatchObject({ packageCode: 'T1' });
  });

  it('are in no list of BASE packages, and a sync does not withdraw them', async () => {
    await sync([a], 1);
    await replaceTopUps(books.world, 'A', [topUp('T1')], at(2));
    await sync([a], 3);
    expect((await readCatalogue(books.world)).packages.map((item) => item.packageCode)).toEqual(['A']);
    expect(await countPackages(books.world)).toBe(1);
    expect(await findTopUpPackage(books.world, 'A')).toBeUndefined();
    expect(await findTopUpPackage(books.world, 'nothing')).toBeUndefined();
    expect(await findTopUpPackage(books.world, 'T1')).toMatchObject({ withdrawn: false });
  });

  it('are kept once when the supplier names one twice', async () => {
    await sync([a], 1);
    await replaceTopUps(books.world, 'A', [topUp('T1'), topUp('T2'), topUp('T1', { cost: 3n })], at(2));
    expect((await readTopUps(books.world, 'A'))?.packages).toMatchObject([
      { packageCode: 'T1', cost: 3n },
      { packageCode: 'T2' },
    ]);
  });

  it('are replaced correctly by many processes at once', async () => {
    await sync([a, b], 1);
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        replaceTopUps(books.world, i % 2 === 0 ? 'A' : 'B', [topUp('T1'), topUp('T2')], at(2)),
      ),
    );
    for (const code of ['A', 'B']) expect((await readTopUps(books.world, code))?.packages).toHaveLength(2);
  });
});
