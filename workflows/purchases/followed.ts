/**
 * What a row is followed by: its step is asked until it has ended. Rows say how far it is, so it may be
 * started again at any time.
 */
import { setCurrentDetails, sleep } from '@temporalio/workflow';
import type { FollowStep } from '../contract.ts';
import { continueAsNewIfSuggested, fromRows } from '../runs.ts';

/** Before a step that gave no answer is asked again: no worker took it, or its answer was lost. */
const LOST_PAUSE_MS = 5_000;

/** Ends with the last line of its steps. Undefined from a step: its answer was lost. */
export const followed = <Input>(
  input: Input,
  follow: (input: Input) => Promise<FollowStep | undefined>,
): Promise<string> =>
  fromRows(input, async () => {
    for (;;) {
      const step = await follow(input);
      const line = step?.line ?? 'Waiting for a step that gave no answer.';
      setCurrentDetails(line);
      if (step?.waitMs === null) return line;
      await sleep(step?.waitMs ?? LOST_PAUSE_MS, { summary: line });
      continueAsNewIfSuggested();
    }
  });
