import type { ReplacementInput } from '../contract.ts';
import { followReplacement } from '../steps.ts';
import { followed } from './followed.ts';

/**
 * The replacement of an eSIM. The new eSIM is a purchase with a workflow of its own. Ends where a person is
 * to decide, and is started again then.
 */
export const replaceEsim = (input: ReplacementInput): Promise<string> => followed(input, followReplacement);
