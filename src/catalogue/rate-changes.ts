/** Rates that people set or confirmed, from the audit log: it has the rate before each change. */
import { listAuditRows } from '../accounts/store/audit.ts';
import type { Environment } from '../domain/account.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { parseRateMicros } from './pricing.ts';

/** Fits on a screen. */
const MAX_CHANGES = 20;
const ACTIONS = ['rate.set', 'rate.confirm'] as const;

/** At most 20 of one environment, newest first. */
export async function listRateChanges({
  accounts,
  environment,
}: {
  readonly accounts: AccountsDb;
  readonly environment: Environment;
}) {
  const found = await Promise.all(
    ACTIONS.map((action) =>
      listAuditRows(accounts, { action, environment }, { before: undefined, limit: MAX_CHANGES }),
    ),
  );
  return found
    .flat()
    .toSorted((one, other) => Number(other.atMicros - one.atMicros))
    .slice(0, MAX_CHANGES)
    .map(changeOf);
}

function changeOf(row: Awaited<ReturnType<typeof listAuditRows>>[number]) {
  const detail = row.detail as Readonly<Record<string, unknown>>;
  const text = (name: string): string | null => {
    const value = detail[name];
    return typeof value === 'string' ? value : null;
  };
  const isConfirmed = row.action === 'rate.confirm';
  const reason = text('reason') ?? '';
  return {
    at: row.at,
    currency: row.subject,
    /** null: there was none. */
    beforeMicros: parseRateMicros(text('before') ?? '') ?? null,
    /** null: as configured. */
    afterMicros: parseRateMicros(text('after') ?? '') ?? null,
    /** Who set it, or which provider observed it. */
    by: isConfirmed ? (text('proposedBy') ?? text('source') ?? '') : row.actor,
    reason: isConfirmed ? (text('proposedReason') ?? '') : reason,
    /** null: it applied without a second person. */
    confirmedBy: isConfirmed ? row.actor : null,
    confirmReason: isConfirmed ? reason : null,
  };
}
