/** Where a payment stands → what the return page's script reads. Pure. */
import type { z } from 'zod';
import { moneyJson, type Wire } from '../../../platform/http/json.ts';
import type { standingSchema } from './schema.ts';
import type { PaymentStatusView } from '../../views.ts';

export function presentStanding(standing: PaymentStatusView): Wire<z.output<typeof standingSchema>> {
  const { reference, purpose, status, reason, packageName, charge } = standing;
  return {
    reference,
    purpose,
    status,
    reason,
    packageName,
    amount: moneyJson(charge.amountMinor),
    currency: charge.currency,
  };
}
