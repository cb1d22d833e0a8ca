/**
 * Replacements of eSIMs, asked for by their merchant. A replacement is a row before the supplier is asked.
 * Its workflow asks, buys the new eSIM and revokes the old one. Callers wait a few seconds for its end.
 */
import { randomBytes } from 'node:crypto';
import type { Principal } from '../../domain/account.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId, makeId } from '../../domain/ids.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import type { Page } from '../../domain/page.ts';
import type { ReplacementRefusal } from '../../domain/states.ts';
import { requireOwnEsim } from '../../esims/read-esims.ts';
import { newEsimId, newTransactionId } from '../../platform/idempotency/identify-request.ts';
import { writeOnce } from '../../platform/idempotency/keyed-writes.ts';
import type { IdempotencyContext } from '../../platform/idempotency/tag.ts';
import type { RequestContext } from '../../platform/telemetry/subject.ts';
import type { BatchDeps } from '../deps.ts';
import {
  findReplacement,
  findReplacementPolicy,
  findReplacementTerms,
  insertReplacement,
  listReplacements as listStored,
  type ReplacementQuery,
  type ReplacementRow,
} from '../store/replacements.ts';
import { REPLACEMENT_REFUSAL_WORDS, replacementPrice } from './rules.ts';

type ReplacementDeps = Pick<BatchDeps, 'db' | 'clock' | 'replacementEngine'> & {
  readonly settings: Pick<BatchDeps['settings'], 'replacements' | 'timings'>;
};

export type ReplacementView = ReplacementRow;

/** A look at the profile, a purchase and a revocation, mostly within two seconds. Later ends are read. */
const ANSWER_WITHIN_MS = 9_000;

interface ReplacementCommand {
  readonly esimId: string;
  readonly reason: string | undefined;
  readonly idempotency: IdempotencyContext | undefined;
}

/**
 * As it stands after a few seconds. Throws ESIM_NOT_FOUND, NOT_YOUR_ESIM, and REPLACEMENT_REFUSED where our
 * rows, the supplier or the purchase do not allow it: then nothing was revoked, and nothing is paid.
 */
export async function requestReplacement(
  deps: ReplacementDeps,
  principal: Principal,
  { esimId, reason, idempotency }: ReplacementCommand,
  { requestId }: RequestContext,
): Promise<ReplacementView> {
  await requireOwnEsim(deps, principal, esimId);
  const { account, maker, keyId } = principal;
  const replacementId = await writeOnce(deps, principal, idempotency, {
    prepare: async () => {
      const policy = await findReplacementPolicy(deps.db, account.id, deps.settings.replacements);
      if (!policy.isAllowed) throw refused('NOT_ALLOWED');
      return policy;
    },
    write: async (db, policy) => {
      const id = makeId('replacement', randomBytes(16).toString('hex'));
      const { fullPriceMinor } = await findReplacementTerms(db, esimId, policy);
      const refusal = await insertReplacement(db, {
        ...{ id, accountId: account.id, esimId, policy, requestId },
        priceMinor: replacementPrice(fullPriceMinor, policy.shareBps),
        newTransactionId: newTransactionId(),
        newEsimId: newEsimId(),
        reason: reason ?? null,
        requestedBy: maker,
        keyId: isId('key', keyId) ? keyId : null,
        inFlightGraceMs: deps.settings.timings.inFlightGraceMs,
      });
      if (refusal) throw refused(refusal);
      return { resultId: id, value: id };
    },
    readEarlier: (id) => Promise.resolve(id),
  });
  return followed(deps, principal, replacementId);
}

/** Begins it, and waits for its end for a while. One that a person decides is begun by that. */
async function followed(
  deps: ReplacementDeps,
  principal: Principal,
  replacementId: string,
): Promise<ReplacementView> {
  const open = await getReplacement(deps, principal, replacementId);
  if (open.closed_at === null && open.state !== 'NEEDS_REVIEW') {
    await deps.replacementEngine.begin(open);
    await deps.replacementEngine.waitFor(replacementId, ANSWER_WITHIN_MS);
  }
  const row = await getReplacement(deps, principal, replacementId);
  if (row.refusal !== null) throw refused(row.refusal, row);
  return row;
}

/** What a replacement of an eSIM would cost, as our rows say; the supplier has the last word. */
export interface ReplacementTerms {
  readonly esimId: string;
  readonly isReplaceable: boolean;
  readonly refusal: ReplacementRefusal | null;
  /** Null: it is not delivered, or cannot be replaced. */
  readonly replaceableUntil: Date | null;
  /** The last replacement of it that was asked for. */
  readonly replacementId: string | null;
  readonly fullPriceMinor: bigint;
  readonly priceMinor: bigint;
  readonly currency: AccountCurrency;
}

/** Throws ESIM_NOT_FOUND and NOT_YOUR_ESIM. */
export async function getReplacementTerms(
  deps: ReplacementDeps,
  principal: Principal,
  esimId: string,
): Promise<ReplacementTerms> {
  const esim = await requireOwnEsim(deps, principal, esimId);
  const policy = await findReplacementPolicy(deps.db, principal.account.id, deps.settings.replacements);
  const found = await findReplacementTerms(deps.db, esimId, policy);
  const isUnused =
    esim.status === 'CREATED' && esim.eid === '' && ['', 'RELEASED'].includes(esim.smdp_status);
  const refusal = policy.isAllowed ? (found.refusal ?? (isUnused ? 'UNUSED' : null)) : 'NOT_ALLOWED';
  return {
    esimId,
    isReplaceable: refusal === null,
    refusal,
    replaceableUntil: policy.isAllowed ? found.until : null,
    replacementId: found.replacementId,
    fullPriceMinor: found.fullPriceMinor,
    priceMinor: replacementPrice(found.fullPriceMinor, policy.shareBps),
    currency: esim.currency,
  };
}

/** REPLACEMENT_NOT_FOUND, also for another account's. */
export async function getReplacement(
  { db }: Pick<ReplacementDeps, 'db'>,
  { account }: Principal,
  replacementId: string,
): Promise<ReplacementView> {
  const row = await findReplacement(db, replacementId);
  if (row?.account_id !== account.id) throw new DomainError('REPLACEMENT_NOT_FOUND', 'Replacement not found');
  return row;
}

export const listReplacements = (
  { db }: Pick<ReplacementDeps, 'db'>,
  { account }: Principal,
  query: ReplacementQuery,
): Promise<Page<ReplacementView>> => listStored(db, account.id, query);

function refused(refusal: ReplacementRefusal, row?: Pick<ReplacementRow, 'id' | 'failure'>): DomainError {
  const details = [refusal, ...(row?.failure ? [row.failure] : []), ...(row ? [row.id] : [])].join(', ');
  return new DomainError(
    'REPLACEMENT_REFUSED',
    `It cannot be replaced: ${REPLACEMENT_REFUSAL_WORDS[refusal]}`,
    { details },
  );
}
