/** What a transaction id names, as it now stands: a purchase or a wallet being funded. */
import { z } from 'zod';
import type { TransactionView } from '../../app/views.ts';
import { presentTransaction } from '../esim/present.ts';
import { transactionSchema } from '../esim/schema.ts';
import { presentFundingStanding } from '../wallet/present.ts';
import { fundingStandingSchema } from '../wallet/schema.ts';

export const standingSchema = z.union([transactionSchema, fundingStandingSchema]);

/** The purchase result or the funding, with its timeline. */
export function presentStanding(view: TransactionView) {
  return 'purchase' in view ? presentTransaction(view.purchase) : presentFundingStanding(view.funding);
}
