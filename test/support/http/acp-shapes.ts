// What the Agentic Commerce Protocol, version 2026-04-17, allows in answers, written from its specification:
// fields, words and formats, and nothing beyond them. Apart from the schemas of the service, which it checks.
import { z } from 'zod';

const oneWordOf = (...lines: string[]) => z.enum(lines.flatMap((line) => line.split(' ')));
const minor = z.int();
const time = z.iso.datetime();
const day = z.literal('2026-04-17');

const total = z.strictObject({
  type: oneWordOf(
    'items_base_amount items_discount subtotal discount fulfillment tax fee',
    'gift_wrap tip store_credit total amount_refunded',
  ),
  display_text: z.string(),
  amount: minor,
});

const handler = z.strictObject({
  id: z.string(),
  name: z.string().regex(/^[a-z][a-z0-9]*(\.[a-z][a-z0-9_-]*)+$/),
  display_name: z.string().optional(),
  version: z.iso.date(),
  spec: z.url(),
  requires_delegate_payment: z.boolean(),
  requires_pci_compliance: z.boolean(),
  psp: z.string(),
  config_schema: z.url(),
  instrument_schemas: z.array(z.url()),
  config: z.object({}),
});

const spoken = {
  resolution: z.enum(['recoverable', 'requires_buyer_input', 'requires_buyer_review']).optional(),
  content_type: z.enum(['plain', 'markdown']),
  content: z.string().min(1),
};
const message = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('info'), ...spoken }),
  // Those of its words that a session of ours could need.
  z.strictObject({
    type: z.literal('error'),
    code: z.enum(['missing', 'invalid', 'out_of_stock', 'payment_declined', 'conflict', 'expired']),
    ...spoken,
  }),
]);

const order = z.strictObject({
  type: z.literal('order'),
  id: z.string(),
  checkout_session_id: z.string(),
  permalink_url: z.url(),
  status: z.enum(['created', 'confirmed', 'manual_review', 'processing', 'shipped', 'completed', 'canceled']),
});

export const acpSession = z.strictObject({
  id: z.string(),
  protocol: z.strictObject({ version: day }),
  capabilities: z.strictObject({ payment: z.strictObject({ handlers: z.array(handler) }) }),
  status: oneWordOf(
    'incomplete not_ready_for_payment requires_escalation authentication_required ready_for_payment',
    'pending_approval complete_in_progress completed canceled in_progress expired',
  ),
  currency: z.string().regex(/^[a-z]{3}$/),
  line_items: z.array(
    z.strictObject({
      id: z.string(),
      item: z.strictObject({ id: z.string(), name: z.string(), unit_amount: minor }),
      quantity: z.int().min(1),
      name: z.string(),
      totals: z.array(total),
    }),
  ),
  totals: z.array(total),
  fulfillment_options: z.array(
    z.strictObject({
      type: z.literal('digital'),
      id: z.string(),
      title: z.string(),
      description: z.string(),
      totals: z.array(total),
    }),
  ),
  selected_fulfillment_options: z.array(
    z.strictObject({ type: z.literal('digital'), option_id: z.string(), item_ids: z.array(z.string()) }),
  ),
  messages: z.array(message),
  links: z.array(z.never()),
  quote_id: z.string(),
  quote_expires_at: time,
  created_at: time,
  updated_at: time,
  expires_at: time,
  continue_url: z.url().optional(),
  order: order.optional(),
});

export const acpError = z.strictObject({
  type: z.enum(['invalid_request', 'processing_error', 'service_unavailable']),
  code: z.string().regex(/^[a-z_]+$/),
  message: z.string().min(1),
  param: z
    .string()
    .regex(/^\$(\.[a-z_]+|\[\d+\])+$/)
    .optional(),
  supported_versions: z.array(day).optional(),
});
