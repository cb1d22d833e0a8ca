import { condition, continueAsNew, defineSignal, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { DELIVER_NOW_SIGNAL, type DeliverWebhookInput } from '../contract.ts';
import { continueAsNewIfSuggested } from '../continue-as-new.ts';
import { startDeliveries } from './start-deliveries.ts';
import { attempt, attemptDelivery } from './steps.ts';

/**
 * Delivers one message to one endpoint, until it is delivered or its schedule ends. Each attempt reads from the message's row whether it is due,
 * so this may be started and woken any number of times. Returns the message's status.
 */
export async function deliverWebhook(input: DeliverWebhookInput): Promise<string> {
  let isSignalled = false;
  const wasSignalled = (): boolean => isSignalled;
  setHandler(defineSignal(DELIVER_NOW_SIGNAL), () => {
    isSignalled = true;
  });
  for (;;) {
    isSignalled = false;
    const step = await (input.inTask ? attempt(input.messageId) : attemptDelivery(input.messageId));
    if (step.messages) await startDeliveries(step.messages, null);
    // A reopened message comes with a signal.
    if (step.state === 'closed' && !wasSignalled()) return step.status;
    if (step.state === 'waiting') {
      setCurrentDetails(step.why);
      await continueAsNewIfSuggested(() => continueAsNew<typeof deliverWebhook>(input));
      await condition(wasSignalled, step.waitMs, { summary: step.why });
    }
  }
}
