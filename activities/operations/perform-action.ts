/**
 * Performs one operator action by one step: asks the vendor where the action needs its word, then writes
 * effect and record in one transaction. The action's row says what is to be done, and ends once; running this
 * again changes nothing.
 */
import { actionSpec } from '../../src/accounts/operators/action-table.ts';
import type { DisputeReason } from '../../src/domain/states.ts';
import { HoldConflict } from '../../src/ledger/store/holds.ts';
import {
  carryOutAction,
  closeAction,
  findBegunAction,
  findOutcome,
  mayDeliver,
  type ActionOutcomeOnRecord,
} from '../../src/operations/store/actions.ts';
import type { Ended } from '../../src/operations/rules.ts';
import type { ActionRow } from '../../src/operations/store/tables.ts';
import { judgeOtherPackage } from '../../src/operations/store/other-package.ts';
import { findDisputeReason } from '../../src/payments/store/payments.ts';
import { refusedRowOf } from '../../src/platform/database/errors.ts';
import { findPurchase, type PurchaseRow } from '../../src/purchases/store/reads.ts';
import { findOpenReplacement } from '../../src/purchases/store/replacements.ts';
import type { PaymentCheckState, PerformedAction } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import { checkPayment } from '../payments/payments.ts';
import { attemptDelivery } from '../purchases/delivery-attempt.ts';
import { describeEnd, type Again, type Ended as DeliveryEnd } from '../purchases/settle.ts';
import { withdraw } from '../purchases/withdraw.ts';
import { checkSupplier } from './check-supplier.ts';

export async function performAction(deps: ActivityDeps, actionId: string): Promise<PerformedAction> {
  const { db, clock, events } = deps;
  const row = await findBegunAction(db, actionId);
  if (!row) {
    // Our workflows begin an action before they perform it.
    if (!(await findOutcome(db, actionId)))
      events.unverifiedRequest({ what: 'action', detail: `${actionId} was not begun` });
    return { actionId };
  }
  const close = (ended: Ended) => closeAction(db, actionId, ended);
  const carryOut = () => carryOutAction(db, actionId, clock.now());
  /** What our ledger and our tables refuse stays refused, however often it is tried. */
  const closeIfRefused = (error: unknown): Promise<ActionOutcomeOnRecord> => {
    const refused = error instanceof HoldConflict ? error.message : refusedRowOf(error);
    if (refused === undefined) throw error;
    events.rowRefused({ step: row.action, detail: refused });
    return close({ refusal: 'STEP_FAILED', detail: `the ledger refuses it: ${refused}` });
  };
  const decided = await askVendor(deps, row);
  const outcome = decided ? await close(decided) : await carryOut().catch(closeIfRefused);
  if (row.action === 'grant-replacement') await beginGranted(deps, row);
  events.operatorActionEnded({
    actionId,
    transactionId: row.transaction_id,
    action: row.action,
    ...fieldsOf(outcome),
  });
  return { actionId };
}

/** Its step is due at once, and no workflow may be there for it. What is not begun here, the sweep begins. */
async function beginGranted({ db, replacementEngine }: ActivityDeps, { transaction_id }: ActionRow) {
  const open = await findOpenReplacement(db, transaction_id);
  if (open) await replacementEngine.begin(open);
}

const fieldsOf = (ended: ActionOutcomeOnRecord) => ({
  outcome: ended.outcome,
  ...('code' in ended ? { code: ended.code } : {}),
});

/** What the vendor's word decides already. Undefined: the effect in our database is left. */
async function askVendor(given: ActivityDeps, row: ActionRow): Promise<Ended | undefined> {
  // A person's repair does not wait behind the merchant whose purchase it is.
  const deps = { ...given, supplier: given.checksSupplier };
  const { transaction_id: transactionId } = row;
  const purchase = (await findPurchase(deps.db, transactionId))?.purchase;
  const purpose = purchase ? 'purchase' : 'funding';
  const isInDelivery = purchase?.status === 'PROCESSING';
  switch (row.action) {
    case 'check-gateway':
      return {
        did: `checked the gateway: ${describeCheck(await checkPayment(deps, transactionId, purpose))}${await sinceThen(deps, transactionId)}`,
      };
    case 'check-supplier':
      return { did: await checkSupplier(deps, transactionId) };
    case 'retry-delivery':
      // One attempt: the workflow keeps its own pace.
      return isInDelivery ? { did: describeAttempt(await attemptDelivery(deps, transactionId)) } : undefined;
    case 'settle-dispute':
      // The stated outcome is compared with what the gateway says now.
      await checkPayment(deps, transactionId, purpose);
      return undefined;
    default:
      return isInDelivery && actionSpec(row.action).takesBack ? takeBack(deps, row, purchase) : undefined;
  }
}

/** Money goes back, or another package is ordered, only once the first order can no longer arrive. */
async function takeBack(
  deps: ActivityDeps,
  row: ActionRow,
  purchase: PurchaseRow,
): Promise<Ended | undefined> {
  if (row.action === 'deliver-other') {
    // Nothing is cancelled for a package that cannot be delivered.
    const judged = await judgeOtherPackage(deps.db, row, purchase);
    if ('refusal' in judged) return judged;
  }
  const supplierConfirmedUndelivered = row.evidence !== null;
  const withdrawal = await withdraw(deps, row.transaction_id, { supplierConfirmedUndelivered });
  switch (withdrawal.outcome) {
    case 'withdrawn':
      return undefined;
    case 'uncertain':
      return { refusal: 'SUPPLIER_MAY_DELIVER', detail: mayDeliver(withdrawal.detail) };
    case 'delivered':
      return { refusal: 'ALREADY_DELIVERED', detail: withdrawal.detail };
  }
}

const SINCE: Readonly<Record<DisputeReason, string>> = {
  PAYMENT_REVERSED: '; the payment was taken back',
  PAYMENT_DISPUTED: '; the payment is disputed',
};

async function sinceThen({ db }: ActivityDeps, transactionId: string): Promise<string> {
  const reason = await findDisputeReason(db, transactionId);
  return reason === undefined ? '' : SINCE[reason];
}

function describeCheck(check: PaymentCheckState): string {
  const unknown = check.isKnown ? '' : ', and the gateway does not say all';
  switch (check.state) {
    case 'paid':
      return `paid${unknown}`;
    case 'ended':
      return `closed (${check.reason})${unknown}`;
    case 'waiting':
      return 'not paid yet';
    case 'unknown':
      return 'it does not say';
  }
}

const describeAttempt = (attempt: DeliveryEnd | Again): string =>
  attempt.state === 'again' ? `asked the supplier; still open: ${attempt.why}` : describeEnd(attempt);
