/** What a transaction id names, as it now stands: a purchase or a wallet being funded. */
import { z } from 'zod';
import { presentTransaction } from './present.ts';
import { transactionSchema } from './schema.ts';
import type { TransactionView } from '../views.ts';
import { presentFundingStanding } from '../../payments/http/present.ts';
import { fundingStandingSchema } from '../../payments/http/schema.ts';

export const standingSchema = z.union([transactionSchema, fundingStandingSchema]);

/** The purchase result or the funding, with its timeline. */
export function presentStanding(view: TransactionView) {
  return 'purchase' in view ? presentTransaction(view.purchase) : presentFundingStanding(view.funding);
}
