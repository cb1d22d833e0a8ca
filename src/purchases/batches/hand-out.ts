/** What a batch has bought, to give to its travellers. Secret: never logged. */
import { findBrand } from '../../accounts/store/brands.ts';
import type { Principal } from '../../domain/account.ts';
import { csvOf } from '../../domain/csv.ts';
import { DomainError } from '../../domain/errors.ts';
import { readInstalls, type LinkedInstallView } from '../../esims/installing.ts';
import { MAX_JOB_ROWS } from '../../jobs/rules.ts';
import type { BatchDeps } from '../deps.ts';
import { listBatchRows } from '../store/batches.ts';
import { requireBatch } from './order-batch.ts';
import { BATCH_CSV_COLUMNS, csvRow, type BatchRowView } from './rules.ts';

type HandOutDeps = Pick<BatchDeps, 'db' | 'clock' | 'installData' | 'installTokens'>;

/** A row, and what installs its eSIM where one is delivered. */
export interface HandedRow {
  readonly row: BatchRowView;
  readonly install: LinkedInstallView | undefined;
}

/**
 * All rows as CSV, as they now stand, with what installs their eSIMs for who may read it. BATCH_NOT_FOUND,
 * SERVICE_UNAVAILABLE.
 */
export async function exportBatch(deps: HandOutDeps, principal: Principal, batchId: string): Promise<string> {
  const rows = await handOut(deps, principal, batchId);
  return csvOf(
    BATCH_CSV_COLUMNS,
    rows.map(({ row, install }) => csvRow(row, install)),
  );
}

/**
 * For sheets that are printed and handed to travellers. They name the shop, or the account without a shop.
 * FORBIDDEN for who may not read what installs an eSIM, BATCH_NOT_FOUND, SERVICE_UNAVAILABLE.
 */
export async function getBatchSheets(
  deps: HandOutDeps,
  principal: Principal,
  batchId: string,
): Promise<{ readonly sender: string; readonly rows: readonly HandedRow[] }> {
  if (!principal.mayInstall)
    throw new DomainError('FORBIDDEN', 'This caller may not read what installs an eSIM');
  const rows = await handOut(deps, principal, batchId);
  const { shopName } = await findBrand(deps.db, principal.account.id);
  return { sender: shopName ?? principal.account.name, rows };
}

async function handOut(deps: HandOutDeps, principal: Principal, batchId: string): Promise<HandedRow[]> {
  await requireBatch(deps, principal, batchId);
  const rows = await listBatchRows(deps.db, batchId, { from: 0, limit: MAX_JOB_ROWS });
  const delivered = rows.flatMap(({ status, esim_id }) => (status === 'SUCCESS' ? (esim_id ?? []) : []));
  const installs = await readInstalls(deps, principal, delivered);
  return rows.map((row) => ({ row, install: installs.get(row.esim_id ?? '') }));
}
