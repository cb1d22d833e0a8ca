import type { Principal } from '../domain/account.ts';
import type { PaymentDeps } from './deps.ts';
import { ifReachable, refused } from './first-answer.ts';
import { countUnpaid } from './store/unpaid.ts';

/**
 * Refuses before anything is started. TOO_MANY_UNPAID_PAYMENTS. The step that opens the payment counts again under a lock, for requests that come
 * together; it also decides while the database is away here.
 */
export async function requireRoomForUnpaid(
  {
    db,
    events,
    settings,
  }: Pick<PaymentDeps, 'db' | 'events'> & {
    readonly settings: Pick<PaymentDeps['settings'], 'unpaidLimits'>;
  },
  { account }: Principal,
): Promise<void> {
  const limit = settings.unpaidLimits[account.plan];
  const open = await ifReachable(() => countUnpaid(db, account.id, limit));
  if (open === undefined || open < limit) return;
  events.unpaidRefused({ accountId: account.id });
  throw refused({ reason: 'TOO_MANY_UNPAID_PAYMENTS', detail: `${open} are open` });
}
