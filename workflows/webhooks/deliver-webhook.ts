import { condition, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { type DeliverWebhookInput, deliverNow } from '../contract.ts';
import { continueAsNewIfSuggested, fromRows } from '../runs.ts';
import { startDeliveries } from './start-deliveries.ts';
import { attempt } from './steps.ts';

/**
 * Delivers one message to one endpoint, until it is delivered or its schedule ends. Each attempt reads from
 * the message's row whether it is due, so this may be started and woken any number of times. Returns the
 * message's status.
 */
export const deliverWebhook = (input: DeliverWebhookInput): Promise<string> =>
  fromRows(input, async () => {
    let isSignalled = false;
    const wasSignalled = (): boolean => isSignalled;
    setHandler(deliverNow, () => {
      isSignalled = true;
    });
    for (;;) {
      isSignalled = false;
      const step = await attempt(input.messageId);
      if (step.messages) await startDeliveries(step.messages, null);
      // A reopened message comes with a signal.
      if (step.state === 'closed' && !wasSignalled()) return step.status;
      if (step.state === 'waiting') {
        setCurrentDetails(step.why);
        continueAsNewIfSuggested();
        await condition(wasSignalled, step.waitMs, { summary: step.why });
      }
    }
  });
