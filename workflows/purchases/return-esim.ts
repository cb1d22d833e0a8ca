import type { ReturnInput } from '../contract.ts';
import { followReturn } from '../steps.ts';
import { followed } from './followed.ts';

/** The return of an unused eSIM. */
export const returnEsim = (input: ReturnInput): Promise<string> => followed(input, followReturn);
