/** What the return page asks and hears: the gateway's reference, and only what is harmless in anybody's hands. */
import { z } from 'zod';
import { PURCHASE_STATUSES } from '../../../domain/states.ts';
import { money } from '../../../platform/http/answer-fields.ts';

/** The gateway says the reference twice. Anything may be written there, so whether it names something is decided later. */
export const referenceQuery = z.object({
  reference: z.string().optional(),
  trxref: z.string().optional(),
});

export const standingSchema = z.object({
  reference: z.string(),
  purpose: z.enum(['purchase', 'funding']),
  status: z.enum(PURCHASE_STATUSES),
  reason: z.string().nullable(),
  packageName: z.string().nullable(),
  amount: money('What is asked from the buyer'),
  currency: z.string(),
});
