import { randomBytes } from 'node:crypto';
import { hasOwnLimit, type Plan } from '../domain/account.ts';
import type { Clock } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import { formatMinor } from '../domain/money.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { inTransaction } from '../platform/database/transactions.ts';
import {
  insertAccount,
  lockAccountRow,
  replacementTermsOf,
  returnTermsOf,
  updateAccount,
  type NewAccount,
  type ReplacementTerms,
  type ReturnTerms,
} from './store/accounts.ts';
import { writeAudit } from './store/audit.ts';

export type CreateAccount = Omit<NewAccount, 'id' | 'enterpriseRequestsPerMinute'> & {
  /** Enterprise only. */
  readonly requestsPerMinute?: number;
};

/** Returns the new account's id. */
export const createAccount = (db: AccountsDb, request: CreateAccount, actor: string): Promise<string> =>
  inTransaction(db, async (trx) => {
    const id = makeId('account', randomBytes(16).toString('hex'));
    const own = hasOwnLimit(request.plan) ? (request.requestsPerMinute ?? null) : null;
    await insertAccount(trx, { ...request, id, enterpriseRequestsPerMinute: own });
    await writeAudit(trx, { actor, action: 'account.create', subject: id, detail: { ...request } });
    return id;
  });

export interface ChangeAccountTerms {
  readonly plan?: Plan | undefined;
  /** Goes with the plan ENTERPRISE, and with no other. */
  readonly requestsPerMinute?: number | undefined;
  /** true: its keys and members are refused until it is false again. What was begun continues. */
  readonly disabled?: boolean | undefined;
  /** Of unused eSIMs; null: as the settings say. */
  readonly returns?: ReturnTerms | null | undefined;
  /** Of deleted or broken eSIMs; null: as the settings say. */
  readonly replacements?: ReplacementTerms | null | undefined;
  readonly reason: string;
}

/** In every process within 5 s. What does not change is neither written nor recorded. Throws NOT_FOUND. */
export async function changeAccountTerms(
  { db, clock }: { readonly db: AccountsDb; readonly clock: Clock },
  accountId: string,
  { plan, requestsPerMinute, disabled, returns, replacements, reason }: ChangeAccountTerms,
  actor: string,
  beforeDisabling: (trx: AccountsDb) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await lockAccountRow(trx, accountId);
    if (!row) throw noAccount(accountId);
    const before = {
      plan: row.plan,
      requestsPerMinute: row.enterprise_requests_per_minute,
      disabled: row.disabled_at !== null,
      returns: textOfReturns(returnTermsOf(row)),
      replacements: textOfReplacements(replacementTermsOf(row)),
    };
    const terms = returns === undefined ? returnTermsOf(row) : returns;
    const replacing = replacements === undefined ? replacementTermsOf(row) : replacements;
    const wanted = {
      plan: plan ?? before.plan,
      requestsPerMinute: plan === undefined ? before.requestsPerMinute : (requestsPerMinute ?? null),
      disabled: disabled ?? before.disabled,
      returns: textOfReturns(terms),
      replacements: textOfReplacements(replacing),
    };
    const names = (Object.keys(before) as (keyof typeof before)[]).filter(
      (name) => before[name] !== wanted[name],
    );
    if (names.length === 0) return;
    if (wanted.disabled && !before.disabled) await beforeDisabling(trx);
    await updateAccount(trx, accountId, {
      plan: wanted.plan,
      enterprise_requests_per_minute: wanted.requestsPerMinute,
      disabled_at: wanted.disabled ? (row.disabled_at ?? clock.now()) : null,
      returns_allowed: terms?.allowed ?? null,
      return_window_days: terms?.windowDays ?? null,
      return_fee_bps: terms?.feeBps ?? null,
      replacements_allowed: replacing?.allowed ?? null,
      replacement_window_days: replacing?.windowDays ?? null,
      replacement_share_bps: replacing?.shareBps ?? null,
      replacement_max: replacing?.maxCount ?? null,
    });
    const changes = names.map((name) => [name, `${before[name] ?? 'none'} → ${wanted[name] ?? 'none'}`]);
    const detail = {
      reason,
      ...(Object.fromEntries(changes) as Partial<Record<keyof typeof before, string>>),
    };
    await writeAudit(trx, { actor, action: 'account.change', subject: accountId, detail });
  });
}

/** For the audit log. */
function textOfReturns(terms: ReturnTerms | null): string | null {
  if (terms === null) return null;
  return `${allowanceOf(terms)}, fee ${formatMinor(BigInt(terms.feeBps))} %`;
}

function textOfReplacements(terms: ReplacementTerms | null): string | null {
  if (terms === null) return null;
  return `${allowanceOf(terms)}, pays ${formatMinor(BigInt(terms.shareBps))} %, at most ${terms.maxCount}`;
}

const allowanceOf = ({ allowed, windowDays }: ReturnTerms | ReplacementTerms): string =>
  `${allowed ? 'allowed' : 'not allowed'}, ${windowDays} days`;

export function noAccount(accountId: string): DomainError {
  return new DomainError('NOT_FOUND', `no account ${accountId}`);
}
