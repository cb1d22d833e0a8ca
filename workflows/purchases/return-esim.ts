/**
 * The return of an unused eSIM: asks its step until the return has ended. Rows say how far it is, so it may
 * be started again at any time.
 */
import { setCurrentDetails, sleep } from '@temporalio/workflow';
import type { ReturnInput } from '../contract.ts';
import { continueAsNewIfSuggested, fromRows } from '../runs.ts';
import { followReturn } from '../steps.ts';
import { startDeliveries } from '../webhooks/deliver-webhook.ts';

/** Before a step that gave no answer is asked again: no worker took it, or its answer was lost. */
const LOST_PAUSE_MS = 5_000;

export const returnEsim = (input: ReturnInput): Promise<string> =>
  fromRows(input, async () => {
    for (;;) {
      const step = await followReturn(input);
      await startDeliveries(step?.messages, input.returnId);
      const line = step?.line ?? 'Waiting for a step that gave no answer.';
      setCurrentDetails(line);
      if (step?.waitMs === null) return line;
      await sleep(step?.waitMs ?? LOST_PAUSE_MS, { summary: line });
      continueAsNewIfSuggested();
    }
  });
