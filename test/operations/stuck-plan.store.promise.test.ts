/**
 * The stuck list on tables of a million purchases: it reads open, flagged or unapplied rows, through their
 * small indexes, and no others.
 */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { stuckLimits } from '../../src/operations/stuck-rules.ts';
import { findOpenRows, findStuckRows } from '../../src/operations/store/stuck.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { openBooks } from '../support/world/books.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { size } from '../support/time/size.ts';
import { ago, fillClosed, HOUR, NOW, rowsOf } from './stuck.support.ts';
import { forFile } from '../support/world/for-file.ts';

const CLOSED = size({ ci: 20_000, prove: 1_000_000 });
/** Open and healthy, or flagged: the rows that the list may read, however many are closed. */
const OPEN = 200;
const FLAGGED = 50;
const limits = stuckLimits({ attentionAfterMs: 600_000, openChargeForMs: 600_000 });
const query = { now: NOW, limits, limit: 10_000 };

const books = await forFile(openBooks({ statementTimeoutMs: 120_000 }));

await fillClosed(books.owner, CLOSED);
const rows = rowsOf(books.owner);
for (let i = 0; i < OPEN; i += 1) {
  const id = await rows.purchase({ payment_method: 'CARD', status: 'PENDING', created_at: ago(HOUR) });
  await rows.payment(id);
}
for (let i = 0; i < FLAGGED; i += 1) {
  const flag = { attention_reason: 'SUPPLIER_OUTCOME_UNKNOWN', needs_attention_since: ago(5) };
  await rows.hold(await rows.purchase(flag));
}
await sql`analyze`.execute(books.owner);

async function planOf(
  run: (db: WorldDb) => Promise<unknown>,
): Promise<{ scans: string[]; rowsRead: number }> {
  const { statements, scans } = await explain(books, run);
  expect(statements).toBe(1);
  return {
    scans: scans.map((node) => `${node['Node Type']} ${node['Relation Name'] ?? node['Index Name'] ?? ''}`),
    rowsRead: rowsReadBy(scans),
  };
}

/** Tables that stay small, so a full read is fine. */
const SMALL = /^Seq Scan (webhook_endpoints|operator_actions|fundings|purchase_events|gateway_windows)$/;

it.each([
  ['the stuck list', findStuckRows, FLAGGED],
  ['what is open', findOpenRows, OPEN],
] as const)(
  `the stuck list reads no table of closed purchases for %s, with ${CLOSED} of them`,
  async (_name, find, most) => {
    const { scans, rowsRead } = await planOf(async (db) => {
      const found = await find(db, query);
      expect(found.length).toBeGreaterThanOrEqual(most);
    });
    expect(scans.filter((scan) => scan.startsWith('Seq Scan') && !SMALL.test(scan))).toEqual([]);
    // Each open purchase is read with its hold and its payments, in a branch or two.
    expect(rowsRead).toBeLessThan(10 * (OPEN + FLAGGED));
  },
  120_000,
);
