/** What a transaction id names, as it now stands: a purchase or a wallet being funded. */
import { z } from 'zod';
import type { TransactionView } from '../../platform/composition/views.ts';
import { presentTransaction } from '../../purchases/http/present.ts';
import { transactionSchema } from '../../purchases/http/schema.ts';
import { presentFundingStanding } from '../../ledger/http/present.ts';
import { fundingStandingSchema } from '../../ledger/http/schema.ts';

export const standingSchema = z.union([transactionSchema, fundingStandingSchema]);

/** The purchase result or the funding, with its timeline. */
export function presentStanding(view: TransactionView) {
  return 'purchase' in view ? presentTransaction(view.purchase) : presentFundingStanding(view.funding);
}
