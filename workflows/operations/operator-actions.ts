/** Operator actions inside a workflow: validated, recorded, and carried out once, now or at the workflow's next pause. */
import {
  ApplicationFailure,
  condition,
  defineUpdate,
  patched,
  proxySinks,
  setHandler,
} from '@temporalio/workflow';
import {
  actionsInSituation,
  REFUSAL_MESSAGES,
  requestRefusal,
  type PurchaseSituation,
  type ActionRequest,
} from '../../src/operations/rules.ts';
import type { OperatorAction } from '../../src/accounts/operators/roles.ts';
import {
  MOVE_UPDATE,
  type ActionSinks,
  type BegunAction,
  type EndedAction,
  type CarriedOutAction,
  type PaymentCheckState,
} from '../contract.ts';
import type { PaymentPoller } from '../payments/payment-poller.ts';
import { startDeliveries } from '../webhooks/start-deliveries.ts';
import { beginMove, closeMove, checkSupplier, makeMove } from '../steps.ts';

/** `not-now`: the rows are at another stage, which the workflow will reach. */
export type ActionHandler = (asked: BegunAction) => Promise<CarriedOutAction>;

export interface PendingAction extends BegunAction {
  /** `not-now` leaves it to the next handler. */
  answer(made: CarriedOutAction): void;
}

export interface ActionHandlers {
  /** From now on this handler carries out actions at once, also those that wait. */
  serve(state: PurchaseSituation | 'any', handler: ActionHandler): void;
  /** From now on actions wait until the workflow takes them. */
  hold(state: PurchaseSituation): void;
  readonly isWaiting: () => boolean;
  take(): PendingAction | undefined;
  /** A caller can be answered only after the workflow continues, so it must not wait for all answers. */
  readonly isBlocked: () => boolean;
  /** Actions that have ended. */
  count(): number;
}

/** Takes actions of one purchase or funding until the workflow ends; at first they wait. `any`: the rows alone decide. */
export function handleActions(transactionId: string, first: PurchaseSituation | 'any'): ActionHandlers {
  let state = first;
  let turn = 0;
  let handler: ActionHandler | undefined;
  let parked = 0;
  let ended = 0;
  const waiting: PendingAction[] = [];
  const enter = (next: PurchaseSituation | 'any', served?: ActionHandler): void => {
    state = next;
    handler = served;
    turn += 1;
    for (const move of waiting.splice(0)) move.answer({ outcome: 'not-now' });
  };
  const makeOnce = (asked: BegunAction): Promise<CarriedOutAction> =>
    handler ? handler(asked) : new Promise((answer) => waiting.push({ ...asked, answer }));
  const make = async (asked: ActionRequest): Promise<EndedAction> => {
    const begun = await beginMove({ ...asked, transactionId });
    if (begun.outcome !== 'go') return begun;
    // Steps of earlier builds did not say what is on record.
    const { moveId, request = asked } = begun;
    for (;;) {
      const asAt = turn;
      const made = await makeOnce({ request, moveId });
      if (made.outcome !== 'not-now') return withoutMessages(made);
      parked += 1;
      await condition(() => turn !== asAt);
      parked -= 1;
    }
  };
  setHandler(
    defineUpdate<EndedAction, [ActionRequest]>(MOVE_UPDATE),
    (request) => make(request).finally(() => (ended += 1)),
    {
      validator: (request: ActionRequest) =>
        reportingRefusal(transactionId, request, () =>
          classify(request, state === 'any' ? undefined : actionsInSituation(state)),
        ),
    },
  );
  return {
    serve: enter,
    hold: (next) => enter(next),
    isWaiting: () => waiting.length > 0,
    take: () => waiting.shift(),
    isBlocked: () => waiting.length + parked > 0,
    count: () => ended,
  };
}

/** A worker checks whether an operator asked for what is refused here. */
function reportingRefusal(
  transactionId: string,
  request: Partial<ActionRequest> | undefined,
  validate: () => void,
): void {
  try {
    validate();
  } catch (error) {
    const { actions } = proxySinks<ActionSinks>();
    actions.rejected({ transactionId, moveId: String(request?.moveId), move: String(request?.move) });
    throw error;
  }
}

/** Pure, as validators must be: a refusal here leaves no trace in the history. `fits`: absent where every action may fit. */
export function classify(request: ActionRequest, fits?: readonly OperatorAction[]): void {
  const isPossible = fits?.includes(request.move) ?? true;
  const refusal = requestRefusal(request) ?? (isPossible ? undefined : 'DOES_NOT_FIT');
  if (refusal) throw ApplicationFailure.nonRetryable(REFUSAL_MESSAGES[refusal], refusal, fits ?? []);
}

/** The messages are enqueued already. */
function withoutMessages(made: EndedAction): EndedAction {
  return Object.fromEntries(Object.entries(made).filter(([name]) => name !== 'messages')) as EndedAction;
}

/** While a payment is awaited: the effect on the rows ends the wait. */
export function awaitingPaymentActions(transactionId: string, poller: PaymentPoller): ActionHandler {
  return async ({ request, moveId }) => {
    if (request.move === 'look-at-gateway') return checkGatewayFor(moveId, poller);
    const made = await makeMove(moveId, 'awaiting-money');
    if (made.outcome === 'done') poller.override(request.move === 'mark-paid' ? PAID : CANCELLED);
    if (made.outcome !== 'not-now') await startDeliveries(made.messages, transactionId);
    return made;
  };
}

const PAID: PaymentCheckState = { state: 'paid', isKnown: false };
const CANCELLED: PaymentCheckState = { state: 'ended', reason: 'CANCELLED_BY_OPERATOR', isKnown: false };

/** For a closed purchase or funding. `poller`: absent where the wallet paid. */
export function closedPurchaseActions(
  transactionId: string,
  poller: PaymentPoller | undefined,
): ActionHandler {
  return async ({ request, moveId }) => {
    if (request.move === 'look-at-gateway' && poller) return checkGatewayFor(moveId, poller);
    if (request.move === 'look-at-supplier') {
      const { did } = await checkSupplier(transactionId);
      return closeMove(moveId, { did });
    }
    // The stated outcome is checked against what the gateway says now. Earlier builds did not check.
    if (request.move === 'settle-claim' && poller && patched('claim-looked-at')) await poller.check();
    const made = await makeMove(moveId, 'closed');
    if (made.outcome === 'not-now') return closeMove(moveId, { refusal: 'DOES_NOT_FIT' });
    await startDeliveries(made.messages, transactionId);
    return made;
  };
}

/** The same where the workflow is gone: a purchase that was opened and never paid is cancelled here. */
export function actionsAfterClosing(transactionId: string, poller: PaymentPoller | undefined): ActionHandler {
  const whenClosed = closedPurchaseActions(transactionId, poller);
  return async (asked) => {
    if (asked.request.move !== 'cancel') return whenClosed(asked);
    const made = await makeMove(asked.moveId, 'awaiting-money');
    if (made.outcome === 'not-now') return whenClosed(asked);
    await startDeliveries(made.messages, transactionId);
    return made;
  };
}

export async function checkGatewayFor(moveId: string, poller: PaymentPoller): Promise<EndedAction> {
  return closeMove(moveId, { did: `checked the gateway: ${describe(await poller.check())}` });
}

function describe(stand: PaymentCheckState): string {
  const unknown = stand.isKnown ? '' : ', and the gateway does not say all';
  switch (stand.state) {
    case 'paid':
      return `paid${unknown}`;
    case 'ended':
      return `closed (${stand.reason})${unknown}`;
    case 'waiting':
      return 'not paid yet';
    case 'unknown':
      return 'it does not say';
  }
}
