/**
 * Wallets funded, credited and debited by hand. Guarantee: one person asks, an independent second one
 * confirms, and it is booked once, however often either of them sends it.
 */
import { randomBytes } from 'node:crypto';
import { noAccount } from '../accounts/manage-accounts.ts';
import { findAccount } from '../accounts/store/accounts.ts';
import { areTwoPeople } from '../accounts/store/access.ts';
import { writeWorldAudit } from '../accounts/store/audit.ts';
import { readAccountNames } from '../accounts/store/find-accounts.ts';
import type { Session } from '../domain/callers.ts';
import type { Clock } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import { may } from '../domain/operator-roles.ts';
import { plainReference, type AdjustmentKind } from '../domain/wallet-adjustments.ts';
import { enqueueLowBalance, lockWalletFor } from '../ledger/store/low-balance.ts';
import { findFunded } from '../ledger/store/ledger.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import { inTransaction } from '../platform/database/transactions.ts';
import { requireAsker } from './permissions.ts';
import { APPROVAL_WITHIN_MS } from './rules.ts';
import {
  bookAdjustment,
  declineAdjustmentRow,
  findAdjustment,
  findByReference,
  insertAdjustment,
  listAdjustmentRows,
  lockAdjustment,
  type AdjustmentQuery,
  type AdjustmentRow,
  type BookingOutcome,
} from './store/wallet-adjustments.ts';

export interface AdjustmentDeps {
  readonly accounts: AccountsDb;
  readonly db: WorldDb;
  readonly stuck: { readonly clock: Clock };
}

type Asker = Pick<Session, 'person'>;

export interface AskAdjustment {
  readonly accountId: string;
  readonly kind: AdjustmentKind;
  /** In the wallet's currency. */
  readonly amountMinor: bigint;
  readonly reference: string;
  readonly reason: string;
}

const refused = (why: string): DomainError =>
  new DomainError('ACTION_REFUSED', `${why}. Nothing was booked now`);

const paysIn = (kind: AdjustmentKind): boolean => kind === 'FUNDING' || kind === 'CREDIT';

/**
 * The first of two people. The same request again is the same one. NOT_FOUND for an unknown account;
 * ACTION_REFUSED where the reference stands for something else, or was funded before.
 */
export async function askForAdjustment(
  deps: AdjustmentDeps,
  { person }: Asker,
  { accountId, kind, amountMinor, reference: typed, reason }: AskAdjustment,
) {
  const reference = plainReference(typed);
  const account = await findAccount(deps.accounts, accountId);
  if (!account) throw noAccount(accountId);
  const { currency } = account;
  const id = makeId('adjustment', randomBytes(16).toString('hex'));
  await inTransaction(deps.db, async (trx) => {
    const money = { amount_minor: amountMinor, currency };
    const isNew = await insertAdjustment(trx, {
      ...{ id, account_id: accountId, kind, ...money, reference, reason, asked_by: person.email },
      expires_at: new Date(deps.stuck.clock.now().getTime() + APPROVAL_WITHIN_MS),
    });
    if (!isNew) return;
    if (kind === 'FUNDING' && (await findFunded(trx, `fund:${reference}`)))
      throw refused('A wallet was funded with this reference before');
    await writeAuditOf(trx, person.email, 'wallet.ask-adjustment', {
      ...{ account_id: accountId, kind, amount_minor: amountMinor, currency, reference, reason },
    });
  });
  const kept = await findByReference(deps.db, { kind, reference });
  if (kept?.account_id !== accountId || kept.amount_minor !== amountMinor)
    throw refused('This reference stands for another change of a wallet');
  return presented(deps, kept);
}

const WHY_NOT: Readonly<Record<Exclude<BookingOutcome, 'BOOKED' | 'ABSENT'>, string>> = {
  DECLINED: 'It was declined',
  EXPIRED: 'Nobody confirmed it in time',
  REFERENCE_USED: 'Its reference was booked before',
  WALLET_TOO_LOW: 'The wallet has too little',
};

/**
 * The second of two people. Confirmed again it answers the same. FORBIDDEN for who asked, for a person who is
 * not independent, and where who asked may not do so any more; NOT_FOUND; ACTION_REFUSED, with why.
 */
export async function confirmAdjustment(
  deps: AdjustmentDeps,
  { person }: Asker,
  { id, reason }: { readonly id: string; readonly reason: string },
) {
  await inTransaction(deps.db, async (trx) => {
    const asked = await lockAdjustment(trx, id);
    if (!asked) throw notFound();
    if (asked.status === 'BOOKED') return;
    await requireAsker(deps.accounts, asked.asked_by, (role) => may(role, 'wallets'));
    if (!(await areTwoPeople(trx, asked.asked_by, person.email, deps.stuck.clock.now())))
      throw new DomainError('FORBIDDEN', 'A second, independent person must confirm it');
    await book(trx, asked, { by: person.email, reason });
  });
  return presented(deps, await findAdjustment(deps.db, id));
}

async function book(
  trx: WorldDb,
  asked: AdjustmentRow,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> {
  const amount = { amountMinor: asked.amount_minor, currency: asked.currency };
  const low = paysIn(asked.kind) ? undefined : await lockWalletFor(trx, asked.account_id, amount);
  const outcome = await bookAdjustment(trx, { id: asked.id, by, reason });
  if (outcome === 'ABSENT') throw notFound();
  if (outcome !== 'BOOKED') throw refused(WHY_NOT[outcome]);
  if (low) {
    const because = { key: asked.id, subject: null, accountId: asked.account_id, currency: asked.currency };
    await enqueueLowBalance(trx, because, low);
  }
  await writeAuditOf(trx, by, 'wallet.adjust', asked, { proposedBy: asked.asked_by, after: reason });
}

/**
 * By anybody who may confirm one, and by who asked. NOT_FOUND; ACTION_REFUSED where it does not wait, or its
 * time is over.
 */
export async function declineAdjustment(
  deps: AdjustmentDeps,
  { person }: Asker,
  { id, reason }: { readonly id: string; readonly reason: string },
) {
  await inTransaction(deps.db, async (trx) => {
    const asked = await lockAdjustment(trx, id);
    if (!asked) throw notFound();
    const status = statusAt(asked, deps.stuck.clock.now());
    if (status === 'DECLINED') return;
    if (status !== 'WAITS') throw refused(status === 'EXPIRED' ? WHY_NOT.EXPIRED : 'It was booked');
    await declineAdjustmentRow(trx, { id, by: person.email, reason });
    await writeAuditOf(trx, person.email, 'wallet.decline-adjustment', { ...asked, reason });
  });
  return presented(deps, await findAdjustment(deps.db, id));
}

/** One page, newest first. */
export async function listAdjustments(
  { accounts, db, stuck }: AdjustmentDeps,
  { limit, ...query }: AdjustmentQuery,
) {
  const found = await listAdjustmentRows(db, { ...query, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const names = await readAccountNames(accounts, [...new Set(shown.map((row) => row.account_id))]);
  const now = stuck.clock.now();
  return {
    items: shown.map((row) => ({ ...viewOf(row, now), accountName: names.get(row.account_id) ?? '' })),
    next: found.length > limit ? shown.at(-1)?.id : undefined,
  };
}

async function presented({ accounts, stuck }: AdjustmentDeps, row: AdjustmentRow | undefined) {
  if (!row) throw notFound();
  const names = await readAccountNames(accounts, [row.account_id]);
  return { ...viewOf(row, stuck.clock.now()), accountName: names.get(row.account_id) ?? '' };
}

const statusAt = ({ status, expires_at }: AdjustmentRow, now: Date) =>
  status === 'WAITS' && expires_at <= now ? 'EXPIRED' : status;

const viewOf = (row: AdjustmentRow, now: Date) => ({
  adjustmentId: row.id,
  accountId: row.account_id,
  kind: row.kind,
  amountMinor: row.amount_minor,
  currency: row.currency,
  reference: row.reference,
  reason: row.reason,
  status: statusAt(row, now),
  askedBy: row.asked_by,
  askedAt: row.asked_at,
  expiresAt: row.expires_at,
  decidedBy: row.decided_by,
  decidedAt: row.decided_at,
  decisionReason: row.decision_reason,
});

type Told = Pick<AdjustmentRow, 'account_id' | 'kind' | 'amount_minor' | 'currency' | 'reference' | 'reason'>;

const writeAuditOf = (
  trx: WorldDb,
  actor: string,
  action: 'wallet.ask-adjustment' | 'wallet.adjust' | 'wallet.decline-adjustment',
  told: Told,
  more: { readonly proposedBy?: string; readonly after?: string } = {},
) =>
  writeWorldAudit(trx, {
    actor,
    action,
    subject: told.account_id,
    detail: {
      ...{ type: told.kind, amountMinor: String(told.amount_minor), currency: told.currency },
      ...{ reference: told.reference, reason: told.reason, ...more },
    },
  });

const notFound = (): DomainError => new DomainError('NOT_FOUND', 'No such change of a wallet');
