/**
 * Returns of unused eSIMs, asked for by their merchant. A return is a row before the supplier is asked. Its
 * workflow asks, cancels there and gives the money back. Callers wait a few seconds for its end.
 */
import { randomBytes } from 'node:crypto';
import type { Principal } from '../../domain/account.ts';
import { DomainError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import type { AccountCurrency, Money } from '../../domain/money.ts';
import type { Page } from '../../domain/page.ts';
import type { RefundTarget, ReturnRefusal } from '../../domain/states.ts';
import { requireOwnEsim } from '../../esims/read-esims.ts';
import { findEsim } from '../../esims/store/esims.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import { writeOnce } from '../../platform/idempotency/keyed-writes.ts';
import type { IdempotencyContext } from '../../platform/idempotency/tag.ts';
import type { BatchDeps } from '../deps.ts';
import { findPurchase } from '../store/reads.ts';
import {
  findPolicy,
  findRefusal,
  findReturn,
  findReturnsOf,
  insertReturn,
  listReturns as listStored,
  type ReturnQuery,
  type ReturnRow,
} from '../store/returns.ts';
import { REFUSAL_WORDS, returnFee, type ReturnPolicy } from './rules.ts';

export type ReturnDeps = Pick<BatchDeps, 'db' | 'clock' | 'returnEngine'> & {
  readonly settings: Pick<BatchDeps['settings'], 'returns'>;
};

export type ReturnView = ReturnRow;

/** Two looks at the profile and a cancellation, mostly within one second. Later ends are read. */
const ANSWER_WITHIN_MS = 7_000;

export interface ReturnCommand {
  readonly esimId: string;
  readonly reason: string | undefined;
  readonly idempotency: IdempotencyContext | undefined;
}

/**
 * As it stands after a few seconds. Throws ESIM_NOT_FOUND, NOT_YOUR_ESIM, and RETURN_REFUSED where our
 * rows or the supplier do not allow it: then nothing was moved.
 */
export async function requestReturn(
  deps: ReturnDeps,
  principal: Principal,
  { esimId, reason, idempotency }: ReturnCommand,
): Promise<ReturnView> {
  await requireOwnEsim(deps, principal, esimId);
  const returnId = await writeOnce(deps, principal, idempotency, {
    prepare: () => requirePolicy(deps, principal),
    write: async (db, policy) => {
      const id = newReturnId();
      const refusal = await write(db, principal, policy, { id, esimId, reason });
      if (refusal) throw refused(refusal);
      return { resultId: id, value: id };
    },
    readEarlier: (id) => Promise.resolve(id),
  });
  return followed(deps, principal, returnId);
}

/** Begins it, and waits for its end for a while. */
async function followed(deps: ReturnDeps, principal: Principal, returnId: string): Promise<ReturnView> {
  const open = await getReturn(deps, principal, returnId);
  if (open.closed_at === null && open.cancelled_at === null) {
    await deps.returnEngine.begin(open);
    await deps.returnEngine.waitFor(returnId, ANSWER_WITHIN_MS);
  }
  const row = await getReturn(deps, principal, returnId);
  if (row.refusal !== null) throw refused(row.refusal, returnId);
  return row;
}

/** One eSIM of a request for several: its return, or why there is none. */
export type ReturnLine =
  | { readonly esimId: string; readonly row: ReturnRow }
  | { readonly esimId: string; readonly refusal: ReturnRefusal | 'NOT_FOUND' };

export interface ReturnsCommand {
  readonly esimIds: readonly string[];
  readonly reason: string | undefined;
  readonly idempotency: IdempotencyContext | undefined;
}

/** Writes a return of each that our rows allow; all are begun, and none is waited for. */
export async function requestReturns(
  deps: ReturnDeps,
  principal: Principal,
  { esimIds, reason, idempotency }: ReturnsCommand,
): Promise<ReturnLine[]> {
  const batchId = await writeOnce(deps, principal, idempotency, {
    prepare: () => requirePolicy(deps, principal),
    write: (db, policy) =>
      inTransaction(db, async (trx) => {
        const id = newReturnId();
        // In one order, so that two requests with the same eSIMs wait for each other.
        for (const esimId of [...new Set(esimIds)].toSorted())
          await write(trx, principal, policy, { id: newReturnId(), esimId, reason, batchId: id });
        return { resultId: id, value: id };
      }),
    readEarlier: (id) => Promise.resolve(id),
  });
  const policy = await findPolicy(deps.db, principal.account.id, deps.settings.returns);
  const rows = new Map((await findReturnsOf(deps.db, batchId)).map((row) => [row.esim_id, row]));
  const open = [...rows.values()].filter((row) => row.closed_at === null && row.cancelled_at === null);
  // What is not begun within this request is begun by the sweep.
  for (let at = 0; at < open.length; at += BEGUN_AT_ONCE)
    await Promise.all(open.slice(at, at + BEGUN_AT_ONCE).map((row) => deps.returnEngine.begin(row)));
  return Promise.all(
    esimIds.map(async (esimId) => {
      const row = rows.get(esimId);
      if (row) return { esimId, row };
      const esim = await findEsim(deps.db, esimId);
      if (esim?.account_id !== principal.account.id) return { esimId, refusal: 'NOT_FOUND' as const };
      const { refusal } = await findRefusal(deps.db, esimId, policy);
      return { esimId, refusal: refusal ?? 'IN_PROGRESS' };
    }),
  );
}

const BEGUN_AT_ONCE = 20;

/** What a return of an eSIM would give back, as our rows say; the supplier has the last word. */
export interface ReturnTerms {
  readonly esimId: string;
  readonly isReturnable: boolean;
  readonly refusal: ReturnRefusal | null;
  /** Null: it is not delivered. */
  readonly returnableUntil: Date | null;
  readonly price: Money & { readonly currency: AccountCurrency };
  readonly feeMinor: bigint;
  readonly amountMinor: bigint;
  readonly refundTo: RefundTarget;
}

/** Throws ESIM_NOT_FOUND and NOT_YOUR_ESIM. */
export async function getReturnTerms(
  deps: ReturnDeps,
  principal: Principal,
  esimId: string,
): Promise<ReturnTerms> {
  const esim = await requireOwnEsim(deps, principal, esimId);
  const policy = await findPolicy(deps.db, principal.account.id, deps.settings.returns);
  const found = await findRefusal(deps.db, esimId, policy);
  const refusal = policy.isAllowed ? found.refusal : 'NOT_ALLOWED';
  const bought = await findPurchase(deps.db, esim.transaction_id);
  const feeMinor = returnFee(esim.price_minor, policy.feeBps);
  return {
    esimId,
    isReturnable: refusal === null,
    refusal,
    returnableUntil: policy.isAllowed ? found.until : null,
    price: { amountMinor: esim.price_minor, currency: esim.currency },
    feeMinor,
    amountMinor: esim.price_minor - feeMinor,
    refundTo: bought && bought.purchase.payment_method !== 'WALLET' ? 'SOURCE' : 'WALLET',
  };
}

/** RETURN_NOT_FOUND, also for another account's. */
export async function getReturn(
  { db }: Pick<ReturnDeps, 'db'>,
  { account }: Principal,
  returnId: string,
): Promise<ReturnView> {
  const row = await findReturn(db, returnId);
  if (row?.account_id !== account.id) throw new DomainError('RETURN_NOT_FOUND', 'Return not found');
  return row;
}

export const listReturns = (
  { db }: Pick<ReturnDeps, 'db'>,
  { account }: Principal,
  query: ReturnQuery,
): Promise<Page<ReturnView>> => listStored(db, account.id, query);

/** RETURN_REFUSED where the account may not return anything. */
async function requirePolicy(deps: ReturnDeps, { account }: Principal): Promise<ReturnPolicy> {
  const policy = await findPolicy(deps.db, account.id, deps.settings.returns);
  if (!policy.isAllowed) throw refused('NOT_ALLOWED');
  return policy;
}

/** The price of an eSIM never changes, so its fee is reckoned from what is read now. */
async function write(
  db: ReturnDeps['db'],
  { account, maker }: Principal,
  { windowDays, feeBps }: ReturnPolicy,
  asked: {
    readonly id: string;
    readonly esimId: string;
    readonly reason: string | undefined;
    readonly batchId?: string;
  },
): Promise<ReturnRefusal | null> {
  const esim = await findEsim(db, asked.esimId);
  if (esim?.account_id !== account.id) return 'NOT_DELIVERED';
  return insertReturn(db, {
    id: asked.id,
    accountId: account.id,
    esimId: asked.esimId,
    windowDays,
    feeMinor: returnFee(esim.price_minor, feeBps),
    reason: asked.reason ?? null,
    requestedBy: maker,
    batchId: asked.batchId ?? null,
  });
}

const newReturnId = (): string => makeId('return', randomBytes(16).toString('hex'));

function refused(refusal: ReturnRefusal, returnId?: string): DomainError {
  const details = returnId === undefined ? refusal : `${refusal}, ${returnId}`;
  return new DomainError('RETURN_REFUSED', `It cannot be returned: ${REFUSAL_WORDS[refusal]}`, { details });
}
