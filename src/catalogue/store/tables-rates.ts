/** The table of exchange rates that people set, as Kysely sees it. Part of `WorldDatabase` in tables.ts. */
import type { Generated } from 'kysely';

/** A person's word on a rate; null: the configuration's counts again. */
export interface SetRatesTable {
  id: Generated<bigint>;
  currency: string;
  rate_micros: bigint | null;
  set_by: string;
  reason: string;
  set_at: Generated<Date>;
}
