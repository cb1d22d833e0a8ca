/**
 * "Look at the gateway now", handed to the workflow that waits for the money; where that has ended, to the one for what comes after closing.
 */
import {
  isGrpcServiceError,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import type { PaymentTimings } from '../../payments/rules.ts';
import type { PurchaseEngine } from '../../purchases/engine.ts';
import { LOOK_SIGNAL, LOOK_UPDATE, type PaymentStand } from '../../../workflows/contract.ts';
import { createAfterClosing } from './after-closing.ts';
import { EngineUnavailable } from '../../domain/outcome.ts';

/** How long handing over a wish may take where nobody waits for it. */
const HAND_OVER_MS = 3_000;

export function createPaymentChecks(
  client: Client,
  timings: PaymentTimings,
): Pick<PurchaseEngine, 'check' | 'checkSoon'> {
  const afterClosing = createAfterClosing(client, timings);
  return {
    check: (payment, deadlineMs) =>
      withinReach(client, deadlineMs, async () => {
        try {
          await client.workflow
            .getHandle(payment.transactionId)
            .executeUpdate<PaymentStand, []>(LOOK_UPDATE, { args: [] });
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
          await afterClosing.update<PaymentStand>({ ...payment, isFromOutside: true }, LOOK_UPDATE, {
            args: [],
          });
        }
      }),
    checkSoon: (payment) =>
      withinReach(client, HAND_OVER_MS, async () => {
        try {
          await client.workflow.getHandle(payment.transactionId).signal(LOOK_SIGNAL);
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
          await afterClosing.signal({ ...payment, isFromOutside: true }, LOOK_SIGNAL);
        }
      }),
  };
}

/** A deadline that passes is no failure: the wish was taken, and what it leads to is in the rows. */
async function withinReach(client: Client, deadlineMs: number, ask: () => Promise<void>): Promise<void> {
  try {
    await client.withDeadline(Date.now() + deadlineMs, ask);
  } catch (error) {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return;
    if (error instanceof ServiceError || isGrpcServiceError(error)) {
      throw new EngineUnavailable('Temporal could not be asked', { cause: error });
    }
    throw error;
  }
}
