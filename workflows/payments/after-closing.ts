/**
 * What happens after a purchase or funding is closed and its workflow has ended: late money, operator
 * actions, disputes. One workflow for each. It is started by a message that asks for something, and ends once
 * that is done and the money is at rest.
 */
import { condition, setCurrentDetails } from '@temporalio/workflow';
import { carry } from '../carrier.ts';
import { fromRows, isContinued } from '../runs.ts';
import type { AfterClosingInput } from '../contract.ts';
import { NEEDS_ATTENTION, REASON, show } from '../search-attributes.ts';

/** The message that started this workflow arrives with its first task. */
const REQUEST_WITHIN_MS = 30_000;

/** Ends without a step if nothing was asked of it. */
export const afterClosing = (input: AfterClosingInput): Promise<string> =>
  fromRows(input, async () => {
    const carrier = carry(input);
    if (!isContinued()) await condition(carrier.requests.isPending, REQUEST_WITHIN_MS);
    await carrier.close({ followsMoney: isContinued() });
    show([
      { key: NEEDS_ATTENTION, value: false },
      { key: REASON, value: null },
    ]);
    setCurrentDetails('What the gateway has is booked, and what had to go back is sent.');
    return 'at rest';
  });
