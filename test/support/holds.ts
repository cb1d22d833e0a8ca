// A hold alone, without the purchase that it is for.
import type { AccountCurrency } from '../../src/domain/money.ts';
import { placeHoldQuery } from '../../src/ledger/store/ledger.ts';
import { CROSSING, enqueueLowBalance, type ThresholdCrossing } from '../../src/ledger/store/low-balance.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { newPendingMessages, type PendingMessages } from '../../src/webhooks/store/messages.ts';
import { sql } from 'kysely';

/** Reserves money and enqueues the low-balance webhook with it. `insufficient`: nothing was written. */
export async function placeHold(
  db: WorldDb,
  hold: Parameters<typeof placeHoldQuery>[0],
  written: PendingMessages = newPendingMessages(),
): Promise<'held' | 'already' | 'insufficient'> {
  const { id, accountId, amount } = hold;
  const { rows } =
    await sql<ThresholdCrossing>`with ${placeHoldQuery(hold)} select ${CROSSING} from booked`.execute(db);
  const [booked] = rows;
  if (!booked) {
    const placed = await db.selectFrom('holds').select('id').where('id', '=', id).executeTakeFirst();
    return placed ? 'already' : 'insufficient';
  }
  const because = { key: id, subject: id, accountId, currency: amount.currency as AccountCurrency };
  await enqueueLowBalance(db, because, booked, written);
  return 'held';
}
