/**
 * Money that came for a purchase or a funding that is closed: books it into the wallet, or sends back what is in another currency, and stays
 * until that is done.
 */
import { continueAsNew, setCurrentDetails } from '@temporalio/workflow';
import { callPerson } from './call-person.ts';
import type { LatePaymentInput, PaymentStand } from './contract.ts';
import { freshHistory, pauseUntil } from './fresh-history.ts';
import { listenForLooks, type Looker } from './looker.ts';
import { returnMoney } from './return-money.ts';

/** A gateway that is away is asked so often, at a slowing pace; the hourly sweep goes on after that. */
const MAX_LOOKS = 10;

/** Looks once, and again for everyone who asks while it runs. */
export async function latePayment(input: LatePaymentInput): Promise<PaymentStand> {
  const { transactionId, purpose, timings } = input;
  const look = listenForLooks(transactionId, purpose);
  setCurrentDetails('Looking at the gateway for money that came when all was over.');
  await lookUntilKnown(look, input);
  await returnMoney(transactionId, timings, look, {
    callPerson: (reason) => callPerson(transactionId, reason),
    beforePause: () => freshHistory(() => continueAsNew<typeof latePayment>(input)),
  });
  setCurrentDetails('What the gateway has is booked, and what had to go back is sent.');
  return look.latest();
}

async function lookUntilKnown(look: Looker, { timings }: LatePaymentInput): Promise<void> {
  let pauseMs = timings.refundLookFirstMs;
  for (let looks = 1; ; looks += 1) {
    const { isKnown } = await look.now();
    if (isKnown || looks === MAX_LOOKS) return;
    await pauseUntil(pauseMs, 'before looking at the gateway again', () => look.latest().isKnown);
    pauseMs = Math.min(pauseMs * 2, timings.refundLookMaxMs);
  }
}
