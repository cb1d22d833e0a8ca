/** eSIMs as rows: a test names only the columns that it is about. */
import type { Insertable } from 'kysely';
import type { EsimsTable } from '../../src/esims/store/tables.ts';
import type { Books } from '../support/world/books.ts';

const AT = new Date('2026-01-01T00:00:00.000Z');

export async function plantEsim(
  { owner }: Books,
  id: string,
  given: Partial<Insertable<EsimsTable>> = {},
): Promise<void> {
  const esim = {
    ...{ id, account_id: 'acc-1', transaction_id: `txn-of-${id}`, esim_tran_no: `tran-${id}` },
    ...{ package_code: 'P', package_name: 'Nigeria 5GB', price_minor: 100n, currency: 'USD' as const },
    ...{
      status: 'CREATED' as const,
      snapshot: '{}',
      supplier: 'esim-access',
      checked_at: AT,
      created_at: AT,
    },
    ...{ total_volume_bytes: 1_000n, total_duration: 30, duration_unit: 'DAY', data_type: 1 },
    ...given,
  };
  await owner.insertInto('esims').values(esim).execute();
}
