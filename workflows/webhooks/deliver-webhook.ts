/**
 * One message on its way to one endpoint, until it has arrived or its schedule is over. The message's row says when it is due and what it
 * was given; each attempt asks it anew, so this may begin, wake and begin again as often as anybody likes.
 */
import { condition, continueAsNew, defineSignal, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { DELIVER_NOW_SIGNAL, type DeliverWebhookInput } from '../contract.ts';
import { continueAsNewIfSuggested } from '../continue-as-new.ts';
import { startDeliveries } from './start-deliveries.ts';
import { attempt, attemptDelivery } from './steps.ts';

/** Ends with the message's state. */
export async function deliverWebhook(input: DeliverWebhookInput): Promise<string> {
  let wish = false;
  const isWanted = (): boolean => wish;
  setHandler(defineSignal(DELIVER_NOW_SIGNAL), () => {
    wish = true;
  });
  for (;;) {
    wish = false;
    const step = await (input.inTask ? attempt(input.messageId) : attemptDelivery(input.messageId));
    if (step.messages) await startDeliveries(step.messages, null);
    // Opened again meanwhile: whoever did that has sent the signal.
    if (step.state === 'closed' && !isWanted()) return step.status;
    if (step.state === 'waiting') {
      setCurrentDetails(step.why);
      await continueAsNewIfSuggested(() => continueAsNew<typeof deliverWebhook>(input));
      await condition(isWanted, step.waitMs, { summary: step.why });
    }
  }
}
