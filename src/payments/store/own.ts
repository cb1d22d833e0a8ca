import { sql } from 'kysely';
import type { Metadata } from '../../domain/own-details.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

interface Own {
  readonly reference: string | null;
  readonly metadata: Metadata;
}

/** The caller's own reference and metadata of a purchase or a funding, as events say them. */
export async function findOwn(db: WorldDb, transactionId: string): Promise<Own> {
  const { rows } = await sql<Own>`
    select reference, coalesce(metadata, '{}') as metadata from purchases where transaction_id = ${transactionId}
    union all
    select reference, coalesce(metadata, '{}') from fundings where transaction_id = ${transactionId}`.execute(
    db,
  );
  return rows[0] ?? { reference: null, metadata: {} };
}
