/**
 * Promise M8: reconciliation finds every error and no false one. A statement of 100,000 rows at a gateway
 * that uses its vendor's wire format, our ledger, and 20 errors planted on one side or the other, among
 * payments that are still changing and differ for the moment: 20 are found, no others; once the gateway's
 * side is repaired, all are closed.
 */
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/domain/clock.ts';
import { ERRORS, plantErrors, plantMoving } from '../support/money/fixture-errors.ts';
import { planPayments, plantBooks } from '../support/money/fixture-payments.ts';
import { startReconciling } from '../support/money/reconciling.ts';
import { forFile } from '../support/world/for-file.ts';
import { createRandom, seedOfRun, size } from '../support/time/size.ts';

/** The number of rows, including the refunds of some charges. */
const PAYMENTS = size({ ci: 2_000, prove: 97_000 });
const ROWS = size({ ci: 2_000, prove: 100_000 });
/** Only when no other test runs at the same time. */
const WITHIN_MS = size({ ci: Number.POSITIVE_INFINITY, prove: 60_000 });

const seed = seedOfRun();
const nowMs = Date.now();
const settledBeforeMs = nowMs - HOUR_MS;
const planted = planPayments(PAYMENTS, createRandom(seed), {
  fromMs: nowMs - 24 * HOUR_MS,
  toMs: nowMs - HOUR_MS / 2,
});
const errors = plantErrors(planted, createRandom(seed + 1), settledBeforeMs);
const moving = plantMoving(planted, settledBeforeMs);
const reconciling = await forFile(startReconciling(planted.theirs));
reconciling.setNow(nowMs);
await plantBooks(reconciling.books.owner, planted.ours);

describe(`SIMWAY_TEST_SEED=${seed}`, () => {
  it(`finds ${ERRORS} errors in ${ROWS} rows, and nothing else`, async () => {
    const rows = planted.theirs.transactions.length + planted.theirs.refunds.length;
    expect(rows).toBeGreaterThanOrEqual(ROWS);
    expect(moving).toBeGreaterThan(0);
    const startedAt = performance.now();
    const cpuBefore = process.cpuUsage();
    const summary = await reconciling.run();
    const tookMs = Math.round(performance.now() - startedAt);
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpuMs = Math.round((user + system) / 1000);
    console.info(
      `M8: ${rows} rows, ${moving} still moving, ${errors.length} errors: ${tookMs} ms, ${cpuMs} ms of processor`,
    );
    expect(new Set(errors.map((error) => error.kind)).size).toBeGreaterThanOrEqual(8);
    const wanted = errors.map(({ kind, subject }) => `${kind} ${subject}`).toSorted();
    expect(await reconciling.open()).toEqual(wanted);
    expect(summary.opened).toBe(ERRORS);
    expect(tookMs).toBeLessThan(WITHIN_MS);
  });

  it('finds the same ones again, and closes the repaired ones', async () => {
    const again = await reconciling.run();
    expect(again).toMatchObject({ opened: 0, closed: 0 });
    for (const error of errors) error.repair();
    const repaired = await reconciling.run();
    expect(await reconciling.open()).toEqual([]);
    expect(repaired).toMatchObject({ opened: 0, closed: ERRORS, open: [] });
  });
});
