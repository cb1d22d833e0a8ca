/** Taking access away at the dashboard: how often one person may, and for an administrator with whom. */
import { DAY_MS } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import { lockByName } from '../../platform/database/transactions.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { areTwoPeople } from '../store/access.ts';
import type { AuditFacts } from '../audit-facts.ts';
import { writeAudit } from '../store/audit.ts';
import * as store from '../store/removals.ts';
import type { PersonRow } from '../store/people.ts';

/** More than a bad week of a large company; a hijacked login signs no whole company out. */
export const MAX_REMOVALS_A_DAY = 10;
/** As long as a request of a second person is good for. */
const ASKED_WITHIN_MS = DAY_MS;
/** One could confirm nothing. */
const FEWEST_ADMINS = 2;

export interface RemovalDeps {
  readonly events: {
    /** Counted: an alert says when one person removes many. */
    accessRemoved(fields: { readonly outcome: 'done' | 'waits' | 'refused' }): void;
  };
}

/**
 * Call it before a reset, a disabling or another role. Throws RATE_LIMIT_EXCEEDED after ten of one person in
 * 24 hours, on people and on accounts together.
 */
export async function limitRemovals(
  { events }: RemovalDeps,
  trx: AccountsDb,
  by: string,
  now: Date,
): Promise<void> {
  // Requests that come together are counted one after the other.
  await lockByName(trx, `removals by ${by}`);
  const made = await store.countRemovals(trx, by, new Date(now.getTime() - DAY_MS));
  if (made < MAX_REMOVALS_A_DAY) return;
  events.accessRemoved({ outcome: 'refused' });
  throw new DomainError('RATE_LIMIT_EXCEEDED', 'Too many people and accounts were reset or disabled', {
    details: `one person does so at most ${MAX_REMOVALS_A_DAY} times in 24 hours; another administrator can go on`,
    retryAfterSeconds: 3_600,
  });
}

/**
 * `waits`: the person is an administrator at work, and this is the first of two who ask for the same within
 * 24 hours. Throws FORBIDDEN where two administrators would not remain.
 */
export async function requireTwoForAdmin(
  trx: AccountsDb,
  row: PersonRow,
  { change, by, now }: { readonly change: string; readonly by: string; readonly now: Date },
): Promise<'go' | 'waits'> {
  // Two removals wait for each other, so both cannot find the same administrators at work.
  await lockByName(trx, 'administrators');
  const admins = await store.findActiveAdmins(trx);
  if (!admins.includes(row.id)) return 'go';
  if (admins.length - 1 < FEWEST_ADMINS)
    throw new DomainError('FORBIDDEN', 'Two administrators at work must remain', {
      details: 'a single one can confirm nothing: add an administrator first',
    });
  return (await requireTwo(trx, row.id, { change, by, now })) === 'go' ? 'go' : 'waits';
}

/**
 * `waits`: this is the first of two independent people who ask for the same within 24 hours.
 * `not-independent`: of all who asked before; a third person may be independent of any of them.
 */
export async function requireTwo(
  trx: AccountsDb,
  userId: string,
  {
    change,
    by,
    now,
    detail = {},
  }: {
    readonly change: string;
    readonly by: string;
    readonly now: Date;
    readonly detail?: AuditFacts;
  },
): Promise<'go' | 'waits' | 'not-independent'> {
  const asked = { user_id: userId, change, asked_by: by, asked_at: now };
  const others = await store.findAskers(trx, asked, new Date(now.getTime() - ASKED_WITHIN_MS));
  for (const other of others) {
    if (!(await areTwoPeople(trx, other, by, now))) continue;
    await store.forgetRemovals(trx, userId);
    return 'go';
  }
  await store.keepRemoval(trx, asked);
  const entry = { actor: by, action: 'person.ask-removal', subject: userId } as const;
  await writeAudit(trx, { ...entry, detail: { change, ...detail } });
  return others.length === 0 ? 'waits' : 'not-independent';
}
