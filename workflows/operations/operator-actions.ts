/**
 * The desk for operator's moves in a workflow: judges each before it is taken, puts it on record, and has it made at once or at the story's next
 * pause, whichever the story says. A move is made once, and whoever asked hears what became of it.
 */
import { ApplicationFailure, condition, defineUpdate, patched, setHandler } from '@temporalio/workflow';
import {
  couldBeAvailable,
  actionsInSituation,
  REFUSAL_WORDS,
  whyNotAsked,
  type ActionRefusal,
  type PurchaseSituation,
  type ActionRequest,
} from '../../src/operations/rules.ts';
import { MOVE_UPDATE, type EndedMove, type MadeMove, type PaymentStand } from '../contract.ts';
import type { PaymentPoller } from '../payments/payment-poller.ts';
import { startDeliveries } from '../webhooks/start-deliveries.ts';
import { beginMove, closeMove, lookAtSupplier, makeMove } from '../steps.ts';

/** A move on record, to be made. */
export interface StartedRequest {
  readonly wish: ActionRequest;
  readonly moveId: string;
}

/** Makes a move, or says that the rows are at another stage, which the story will come to. */
export type ActionHandler = (asked: StartedRequest) => Promise<MadeMove>;

export interface PendingApproval extends StartedRequest {
  /** `not-now` hands it to whoever makes moves next. */
  answer(made: MadeMove): void;
}

export interface ActionHandlers {
  /** From now on moves are made at once by these hands, and so are those that wait. */
  serve(state: PurchaseSituation | 'any', hands: ActionHandler): void;
  /** From now on moves wait until the story takes them. */
  hold(state: PurchaseSituation): void;
  readonly isWaiting: () => boolean;
  take(): PendingApproval | undefined;
  /** Somebody cannot be answered before the story goes on: it must not wait for all to be answered. */
  readonly isBlocked: () => boolean;
  /** Moves that have ended. */
  count(): number;
}

/** Takes moves from now until the workflow ends; at first they wait. `any`: the rows alone say what fits. */
export function handleActions(first: PurchaseSituation | 'any'): ActionHandlers {
  let state = first;
  let turn = 0;
  let hands: ActionHandler | undefined;
  let parked = 0;
  let ended = 0;
  const waiting: PendingApproval[] = [];
  const enter = (next: PurchaseSituation | 'any', served: ActionHandler | undefined): void => {
    state = next;
    hands = served;
    turn += 1;
    for (const move of waiting.splice(0)) move.answer({ outcome: 'not-now' });
  };
  const makeOnce = (asked: StartedRequest): Promise<MadeMove> =>
    hands ? hands(asked) : new Promise((answer) => waiting.push({ ...asked, answer }));
  const make = async (wish: ActionRequest): Promise<EndedMove> => {
    const begun = await beginMove(wish);
    if (begun.outcome !== 'go') return begun;
    for (;;) {
      const asAt = turn;
      const made = await makeOnce({ wish, moveId: begun.moveId });
      if (made.outcome !== 'not-now') return withoutMessages(made);
      parked += 1;
      await condition(() => turn !== asAt);
      parked -= 1;
    }
  };
  setHandler(
    defineUpdate<EndedMove, [ActionRequest]>(MOVE_UPDATE),
    (wish) => make(wish).finally(() => (ended += 1)),
    {
      validator: (wish: ActionRequest) => {
        if (state === 'any') classify(wish);
        else
          classify(
            wish,
            (move) => couldBeAvailable(move, state as PurchaseSituation),
            actionsInSituation(state),
          );
      },
    },
  );
  return {
    serve: (next, served) => enter(next, served),
    hold: (next) => enter(next, undefined),
    isWaiting: () => waiting.length > 0,
    take: () => waiting.shift(),
    isBlocked: () => waiting.length + parked > 0,
    count: () => ended,
  };
}

/** Pure, as validators are: what is refused here leaves no trace in the history. */
export function classify(
  wish: ActionRequest,
  mayBeMade: (move: ActionRequest['move']) => boolean = () => true,
  fits: readonly string[] = [],
): void {
  const refusal: ActionRefusal | undefined =
    whyNotAsked(wish) ?? (mayBeMade(wish.move) ? undefined : 'DOES_NOT_FIT');
  if (refusal !== undefined) throw ApplicationFailure.nonRetryable(REFUSAL_WORDS[refusal], refusal, fits);
}

/** What it tells others has been handed over by then. */
function withoutMessages(made: EndedMove): EndedMove {
  return Object.fromEntries(Object.entries(made).filter(([name]) => name !== 'messages')) as EndedMove;
}

/** While money is awaited: what a move does to the rows settles the waiting. */
export function awaitingPaymentActions(transactionId: string, look: PaymentPoller): ActionHandler {
  return async ({ wish, moveId }) => {
    if (wish.move === 'look-at-gateway') return lookForMove(moveId, look);
    const made = await makeMove(moveId, 'awaiting-money');
    if (made.outcome === 'done') look.override(wish.move === 'mark-paid' ? PAID : CANCELLED);
    if (made.outcome !== 'not-now') await startDeliveries(made.messages, transactionId);
    return made;
  };
}

const PAID: PaymentStand = { state: 'paid', isKnown: false };
const CANCELLED: PaymentStand = { state: 'ended', reason: 'CANCELLED_BY_OPERATOR', isKnown: false };

/** When all is closed. `look`: absent where the wallet paid. */
export function closedPurchaseActions(transactionId: string, look: PaymentPoller | undefined): ActionHandler {
  return async ({ wish, moveId }) => {
    if (wish.move === 'look-at-gateway' && look) return lookForMove(moveId, look);
    if (wish.move === 'look-at-supplier') {
      const { did } = await lookAtSupplier(transactionId);
      return closeMove(moveId, { did });
    }
    // The rows judge a stated outcome, by what the gateway says of it now. Builds of before took the person's word.
    if (wish.move === 'settle-claim' && look && patched('claim-looked-at')) await look.check();
    const made = await makeMove(moveId, 'closed');
    if (made.outcome === 'not-now') return closeMove(moveId, { refusal: 'DOES_NOT_FIT' });
    await startDeliveries(made.messages, transactionId);
    return made;
  };
}

/** The same, where no workflow carries it any more: one that was opened and never came to be paid is cancelled here. */
export function actionsAfterClosing(transactionId: string, look: PaymentPoller | undefined): ActionHandler {
  const whenClosed = closedPurchaseActions(transactionId, look);
  return async (asked) => {
    if (asked.wish.move !== 'cancel') return whenClosed(asked);
    const made = await makeMove(asked.moveId, 'awaiting-money');
    if (made.outcome === 'not-now') return whenClosed(asked);
    await startDeliveries(made.messages, transactionId);
    return made;
  };
}

/** Asks the gateway, and tells how the payment then stands. */
export async function lookForMove(moveId: string, look: PaymentPoller): Promise<EndedMove> {
  return closeMove(moveId, { did: `looked at the gateway: ${wordsFor(await look.check())}` });
}

function wordsFor(stand: PaymentStand): string {
  const doubt = stand.isKnown ? '' : ', and the gateway does not say all';
  switch (stand.state) {
    case 'paid':
      return `paid${doubt}`;
    case 'ended':
      return `closed (${stand.reason})${doubt}`;
    case 'waiting':
      return 'not paid yet';
    case 'unknown':
      return 'it does not say';
  }
}
