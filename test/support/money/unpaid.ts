import { PLANS } from '../../../src/domain/account.ts';
import type { UnpaidLimits } from '../../../src/payments/rules.ts';

/** More open payments than any test makes. */
export const UNBOUNDED = Object.fromEntries(PLANS.map((plan) => [plan, 100_000])) as UnpaidLimits;
