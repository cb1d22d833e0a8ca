/**
 * Buys the top-ups that mandates agree to in advance, when the data of an eSIM is low. The API prices and
 * signs them, since workers hold no prices; the transaction that opens one decides whether its mandate allows
 * it (migrations/world/baseline/mandates.ts).
 */
import { randomUUID } from 'node:crypto';
import { findCaller } from '../accounts/callers.ts';
import { findAccountRow } from '../accounts/store/accounts.ts';
import { findBrand } from '../accounts/store/brands.ts';
import { READS_ALL, SCOPES, type Environment, type Principal } from '../domain/account.ts';
import { HOUR_MS, MINUTE_MS } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import type { MandateEndReason } from '../domain/mandates.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import { FAILURE_REASONS } from '../domain/refusals.ts';
import { canHaveMandate, isLow } from '../esims/mandates/rules.ts';
import { findEsim } from '../esims/store/esims.ts';
import {
  endMandate,
  leaseDueMandates,
  putOffMandate,
  renewLease,
  type MandateRow,
  type PutOff,
} from '../esims/store/mandates.ts';
import { keyedTransactionId } from '../platform/idempotency/identify-request.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { buildInput } from './buy.ts';
import { chooseTopUp, currentTerms, requireDeliverable, type ChooseDeps } from './terms.ts';

type AutoTopUpDeps = ChooseDeps & { readonly accounts: AccountsDb };

/** Each waits for its supplier for some seconds; the next check takes the rest. */
const MAX_AT_ONCE = 20;
/** The wallet, the supplier or the price has to change first. */
const AFTER_REFUSAL_MS = HOUR_MS;
/** Long enough to learn of a refusal. No caller waits for the delivery. */
const ANSWER_WITHIN_MS = 2_000;

/** Every API process may call it: a try is one process's. Answers how many were looked at. */
export async function topUpDueMandates(deps: AutoTopUpDeps, environment: Environment): Promise<number> {
  const due = await leaseDueMandates(deps.db, MAX_AT_ONCE);
  await Promise.all(due.map((mandate) => tryMandate(deps, environment, mandate)));
  return due.length;
}

/** Nothing more is to be written, since a top-up or another try has begun; or the mandate ends, or waits. */
type Outcome = 'begun' | MandateEndReason | PutOff;

async function tryMandate(deps: AutoTopUpDeps, environment: Environment, mandate: MandateRow): Promise<void> {
  const outcome = await topUp(deps, environment, mandate).catch(outcomeOf);
  if (outcome === 'begun') return;
  if (typeof outcome === 'string') await endMandate(deps.db, mandate.id, outcome);
  else await putOffMandate(deps.db, mandate, outcome);
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof EngineUnavailable) return { afterMs: MINUTE_MS };
  if (error instanceof DomainError) return { afterMs: AFTER_REFUSAL_MS, refusal: error.code };
  throw error;
}

async function topUp(deps: AutoTopUpDeps, environment: Environment, mandate: MandateRow): Promise<Outcome> {
  const { db, clock, idSecret, engine } = deps;
  if (mandate.expires_at <= clock.now()) return 'EXPIRED';
  const stored = await findEsim(db, mandate.esim_id);
  if (!stored || !canHaveMandate(stored)) return 'ESIM_ENDED';
  if (!isLow(stored, mandate)) return { afterMs: null };
  const principal = await findPayer(deps, environment, mandate);
  if (!principal) return 'NOT_ALLOWED';
  const askedAtMs = clock.now().getTime();
  const { package_code: packageCode, esim_id: esimId, id, sequence } = mandate;
  const command = { packageCode, packageType: 'TOPUP', paymentMethod: 'WALLET', esimId } as const;
  // Asks the supplier, whose newest figure may say that there is enough.
  const chosen = await chooseTopUp(deps, principal, command);
  if (!(await renewLease(db, mandate))) return 'begun';
  const fresh = await findEsim(db, esimId);
  if (fresh && !isLow(fresh, mandate)) return { afterMs: null };
  requireDeliverable(deps, command, chosen.item);
  const terms = currentTerms(deps, principal, command, chosen.item);
  if (!hasRoom(mandate, BigInt(terms.quote.priceMinor))) return 'LIMIT_REACHED';
  const ownDetails = { metadata: { mandateId: id } };
  const transactionId = keyedTransactionId(idSecret, {
    ...{ environment, accountId: principal.account.id, after: sequence },
    // No caller's key has a control character.
    idempotencyKey: `\u0001${id}`,
  });
  const context = { requestId: randomUUID() };
  const input = buildInput(deps, principal, command, context, {
    ...chosen,
    ...{ terms, transactionId, ownDetails, askedAtMs, mandate: { id, sequence } },
  });
  const title = `Automatic top-up ${chosen.item.name}`;
  const answer = await engine.purchase(input, ANSWER_WITHIN_MS, title, principal.account.name);
  if (answer === 'unknown' || answer.status !== 'REFUSED') return 'begun';
  const { reason } = answer.refusal;
  // The eSIM has another top-up open: nothing that its shop could change.
  if (reason === 'MANDATE_NOT_VALID') return { afterMs: AFTER_REFUSAL_MS };
  return { afterMs: AFTER_REFUSAL_MS, refusal: FAILURE_REASONS[reason] };
}

const hasRoom = (
  { spent_minor, limit_minor, top_ups, max_top_ups }: MandateRow,
  priceMinor: bigint,
): boolean => spent_minor + priceMinor <= limit_minor && (max_top_ups === null || top_ups < max_top_ups);

/**
 * Whose wallet pays: who agreed must still be allowed to buy, or the shop must still offer it. undefined:
 * neither.
 */
async function findPayer(
  { db, accounts, clock }: AutoTopUpDeps,
  environment: Environment,
  { account_id: accountId, caller }: MandateRow,
): Promise<Principal | undefined> {
  if (caller !== null) {
    const which = { accountId, callerId: caller, environment };
    const principal = await findCaller(accounts, which, clock.now());
    return principal?.scopes.includes('purchase') ? principal : undefined;
  }
  const account = await findAccountRow(accounts, accountId);
  const { autoTopUp } = await findBrand(db, accountId);
  if (!account || account.disabledAt || !autoTopUp) return undefined;
  return {
    ...{ account, keyId: '', maker: 'a traveller', environment, scopes: SCOPES },
    ...{ allowedAddresses: [], ...READS_ALL },
  };
}
