// Runs of reconciliation: they can be interrupted anywhere and resumed, compare everything that is still
// open, however old it is, reject an incomplete list, and leave alone what a person has closed.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/domain/clock.ts';
import { closeDifference, listOpenDifferences } from '../../src/reconciliation/store/reconciliation.ts';
import { refusalOf } from '../support/world/books.ts';
import { planPayments, plantBooks, type FixtureBooks } from '../support/money/fixture-payments.ts';
import { startReconciling, type Reconciling } from '../support/money/reconciling.ts';
import { createRandom } from '../support/time/size.ts';

const NOW = Date.now();

/** Twelve hours of payments that ended an hour ago, equal on both sides. */
function plan(count: number): FixtureBooks {
  return planPayments(count, createRandom(7), { fromMs: NOW - 14 * HOUR_MS, toMs: NOW - 2 * HOUR_MS });
}

async function start(planted: FixtureBooks) {
  const reconciling = await startReconciling(planted.theirs);
  reconciling.setNow(NOW);
  await plantBooks(reconciling.books.owner, planted.ours);
  return reconciling;
}

/** The nth payment that was paid once, with nothing else, on both sides. */
function plain(planted: FixtureBooks, nth: number) {
  const all = planted.ours.filter(
    (one) => one.refund === null && one.receivedMinor === one.chargeMinor && one.takenBackMinor === 0,
  );
  const ours = all[nth];
  const theirs = planted.theirs.transactions.find((one) => one.reference === ours?.reference);
  if (!ours || !theirs || theirs.amountMinor !== ours.chargeMinor) throw new Error('no such payment');
  return { ours, theirs };
}

describe('differences', () => {
  const planted = plan(300);
  const { theirs } = plain(planted, 10);
  const other = plain(planted, 20);
  let reconciling: Reconciling;
  beforeAll(async () => {
    theirs.amountMinor += 500;
    reconciling = await start(planted);
  });
  afterAll(() => reconciling.close());

  it('are found once, with the values of each side', async () => {
    expect(await reconciling.run()).toMatchObject({ opened: 1, closed: 0 });
    expect(await reconciling.run()).toMatchObject({ opened: 0, closed: 0 });
    const open = await listOpenDifferences(reconciling.books.world, { limit: 10 });
    const { reference, currency, requestedMinor } = theirs;
    expect(open).toMatchObject([
      {
        kind: 'amount-differs',
        subject: reference,
        transactionId: reference,
        currency,
        amountMinor: 500n,
        ours: { [`received${currency}Minor`]: String(requestedMinor) },
        theirs: { [`received${currency}Minor`]: String(requestedMinor + 500) },
      },
    ]);
    const { world } = reconciling.books;
    expect(await listOpenDifferences(world, { limit: 10, kinds: ['fee-differs'] })).toEqual([]);
    expect(await listOpenDifferences(world, { limit: 10, currency: 'ZAR' })).toEqual([]);
    expect(await listOpenDifferences(world, { limit: 10, transactionId: 'txn-other' })).toEqual([]);
    expect(await listOpenDifferences(world, { limit: 10, transactionId: reference, currency })).toHaveLength(
      1,
    );
  });

  it('closed by a person stay closed while the facts are the same, and come back as new ones when they change', async () => {
    const [known] = await listOpenDifferences(reconciling.books.world, { limit: 1 });
    const id = known?.id ?? 0n;
    const closed = { id, by: 'ada', reason: 'a tip', now: new Date() };
    expect(await closeDifference(reconciling.books.world, closed)).toBe('done');
    const logged = sql`select actor, detail ->> 'reason' as reason from accounts.audit_log
                        where action = 'difference.close' and subject = ${String(id)}`;
    expect((await logged.execute(reconciling.books.owner)).rows).toEqual([{ actor: 'ada', reason: 'a tip' }]);
    expect(await reconciling.run()).toMatchObject({ opened: 0, open: [] });
    theirs.amountMinor += 1;
    expect(await reconciling.run()).toMatchObject({ opened: 1 });
    const [reopened] = await listOpenDifferences(reconciling.books.world, { limit: 1 });
    expect(reopened?.id).toBeGreaterThan(id);
    theirs.amountMinor -= 501;
    expect(await reconciling.run()).toMatchObject({ opened: 0, closed: 1, open: [] });
  });

  it('change their kind by closing as one and opening as another', async () => {
    const amountMinor = other.theirs.amountMinor;
    other.theirs.amountMinor += 3;
    await reconciling.run();
    expect(await reconciling.open()).toEqual([`amount-differs ${other.ours.reference}`]);
    other.theirs.status = 'abandoned';
    expect(await reconciling.run()).toMatchObject({ opened: 1, closed: 1 });
    expect(await reconciling.open()).toEqual([`missing-at-gateway ${other.ours.reference}`]);
    Object.assign(other.theirs, { amountMinor, status: 'success' });
    expect(await reconciling.run()).toMatchObject({ opened: 0, closed: 1, open: [] });
  });

  it('are never deleted, nor changed once closed: the database refuses it', async () => {
    const { world, owner } = reconciling.books;
    const set = { close_reason: 'another' };
    expect(await refusalOf(world.updateTable('reconciliation_differences').set(set).execute())).toBe(
      'difference_closes_once',
    );
    expect(await refusalOf(owner.updateTable('reconciliation_differences').set(set).execute())).toBe(
      'difference_closes_once',
    );
    expect(await refusalOf(world.deleteFrom('reconciliation_differences').execute())).toBe(
      'permission denied',
    );
  });
});

describe('the range of a run', () => {
  const planted = plan(300);
  const { theirs } = plain(planted, 30);
  let reconciling: Reconciling;
  beforeAll(async () => {
    reconciling = await start(planted);
  });
  afterAll(() => reconciling.close());

  it('begins with the first payment, then goes back a little behind the last run', async () => {
    const first = await reconciling.run();
    expect(Date.parse(first.from)).toBe(planted.ours[0]?.createdAtMs);
    expect(Date.parse(first.to)).toBe(NOW);
    reconciling.setNow(NOW + 10 * DAY_MS);
    const second = await reconciling.run();
    expect(Date.parse(second.from)).toBe(NOW - 96 * HOUR_MS);
    expect(second.compared).toMatchObject({ charges: first.compared['charges'] });
  });

  it('covers older times again if something is still open there, and only there', async () => {
    reconciling.setNow(NOW + 10 * DAY_MS);
    theirs.feesMinor += 40;
    expect(
      await reconciling.run({ range: { from: new Date(NOW - DAY_MS), to: new Date(NOW) } }),
    ).toMatchObject({ opened: 1 });
    reconciling.setNow(NOW + 30 * DAY_MS);
    const later = await reconciling.run();
    expect(await reconciling.open()).toEqual([`fee-differs ${theirs.reference}`]);
    expect(later.compared['charges']).toBeGreaterThan(0);
    expect(later.compared['charges']).toBeLessThan(200);
    theirs.feesMinor -= 40;
    reconciling.setNow(NOW + 31 * DAY_MS);
    expect(await reconciling.run()).toMatchObject({ opened: 0, closed: 1, open: [] });
    reconciling.setNow(NOW + 32 * DAY_MS);
    expect((await reconciling.run()).compared).toEqual({});
  });

  it('given by hand does not change the next regular run', async () => {
    const before = await reconciling.run();
    await reconciling.run({ range: { from: new Date(NOW - DAY_MS), to: new Date(NOW) } });
    const after = await reconciling.run();
    expect(Date.parse(after.from)).toBe(Date.parse(before.to) - 96 * HOUR_MS);
  });
});

describe('a run', () => {
  const planted = plan(700);
  const { theirs } = plain(planted, 40);
  let reconciling: Reconciling;
  beforeAll(async () => {
    theirs.amountMinor += 9;
    reconciling = await start(planted);
  });
  afterAll(() => reconciling.close());

  it('that was interrupted resumes where it was, and gives the same summary when repeated', async () => {
    const stop = new AbortController();
    const read: number[] = [];
    const left = reconciling.run({
      runKey: 'one',
      signal: stop.signal,
      onProgress: (done) => {
        read.push(done.read);
        if (done.read === 2) stop.abort(new Error('the worker stops'));
      },
    });
    await expect(left).rejects.toThrow('the worker stops');
    expect(await reconciling.open()).toEqual([]);
    const asked = reconciling.gateway.asked;
    const taken = await reconciling.run({ runKey: 'one', onProgress: (done) => read.push(done.read) });
    expect(read.slice(0, 3)).toEqual([1, 2, 3]);
    expect(taken).toMatchObject({ opened: 1 });
    expect(await reconciling.open()).toEqual([`amount-differs ${theirs.reference}`]);
    expect(reconciling.gateway.asked).toBeGreaterThan(asked);
    const again = reconciling.gateway.asked;
    expect(await reconciling.run({ runKey: 'one' })).toEqual(taken);
    expect(reconciling.gateway.asked).toBe(again);
  });

  it('without an answer by the gateway stays unfinished, closes nothing, and is finished later', async () => {
    const before = await reconciling.open();
    reconciling.gateway.fail(true);
    await expect(reconciling.run({ runKey: 'two' })).rejects.toThrow();
    expect(await reconciling.open()).toEqual(before);
    reconciling.gateway.fail(false);
    expect(await reconciling.run({ runKey: 'two' })).toMatchObject({ opened: 0, closed: 0 });
  });

  it('rejects a statement that lacks charges of the gateway', async () => {
    reconciling.gateway.hideLists(true);
    await expect(reconciling.run()).rejects.toThrow('the list is incomplete');
    expect(await reconciling.open()).toEqual([`amount-differs ${theirs.reference}`]);
    reconciling.gateway.hideLists(false);
  });

  it('leaves no lines behind, even if it is abandoned', async () => {
    const count = async () => {
      const { lines } = await reconciling.books.world
        .selectFrom('reconciliation_lines')
        .select((eb) => eb.fn.countAll<bigint>().as('lines'))
        .executeTakeFirstOrThrow();
      return Number(lines);
    };
    const stop = new AbortController();
    const left = reconciling.run({
      runKey: 'three',
      signal: stop.signal,
      onProgress: ({ read, of }) => {
        if (read === of) stop.abort(new Error('gone for good'));
      },
    });
    await expect(left).rejects.toThrow('gone for good');
    await reconciling.run();
    expect(await count()).toBeGreaterThan(0);
    // Rows are touched by Postgres's clock.
    reconciling.setNow(Date.now() + 2 * DAY_MS);
    await reconciling.run();
    expect(await count()).toBe(0);
    await expect(reconciling.run({ runKey: 'three' })).rejects.toThrow('was abandoned');
    // If it were ahead of Postgres's clock, parallel runs would abandon each other.
    reconciling.setNow(Date.now());
  });

  it('may run in parallel with another: a difference that both find is opened once', async () => {
    const { reference } = theirs;
    await Promise.all([reconciling.run(), reconciling.run()]);
    expect(await reconciling.open()).toEqual([`amount-differs ${reference}`]);
  });
});
