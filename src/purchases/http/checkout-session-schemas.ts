/** What agents send and get, as the Agentic Commerce Protocol has it. What we do not use is not kept. */
import { z } from 'zod';
import { ACP_VERSION } from '../../platform/http/acp.ts';
import { isoTime, namedObject, text } from '../../platform/http/answer-fields.ts';
import { missingOr, textField } from '../../platform/http/fields.ts';
import { isJsonNumber, type JsonNumber } from '../../platform/http/json.ts';
import { MAX_PACKAGE_CODE_CHARACTERS } from '../../platform/http/limits.ts';
import { ORDER_STATUSES, SESSION_STATUSES } from '../acp/rules.ts';

/** Far longer than an id of ours, or a token of another handler. */
const MAX_WORD_CHARACTERS = 255;

/** Its form alone is checked: it is bounded by the limits of a body. */
const ignoredObject = (what: string) =>
  z
    .record(z.string(), z.unknown(), 'must be an object')
    .optional()
    .meta({ description: `${what}. Accepted, not used and not kept`, type: 'object' });

const ignored = {
  buyer: ignoredObject('The buyer'),
  fulfillment_details: ignoredObject('Whom to deliver to: an eSIM is delivered by its install link'),
  affiliate_attribution: ignoredObject('Who has found the buyer'),
};

const quantity = z
  .custom<JsonNumber>((value) => isJsonNumber(value) && Number(value.rawJSON) === 1, {
    error: 'must be 1: a session sells one eSIM, make one for each',
  })
  .optional()
  .meta({ type: 'integer', minimum: 1, maximum: 1, description: 'One eSIM a session', example: 1 });

const itemId = textField({
  max: MAX_PACKAGE_CODE_CHARACTERS,
  description: 'The `packageCode` of a BASE package',
  example: 'SIM-OK',
});

/** The protocol writes an item on its own, or in a line that has an id too. */
const lineItem = z
  .object({
    id: itemId.optional().describe('Of the item, or of the line where that has an `item`'),
    item: z.object({ id: itemId }).optional(),
    quantity,
  })
  .transform(({ id, item }, check) => {
    const packageCode = item?.id ?? id;
    const field = `line_items.0.${item ? 'item.id' : 'id'}`;
    if (packageCode !== undefined) return { packageCode, field };
    check.addIssue({ code: 'custom', path: ['id'], message: 'is required' });
    return z.NEVER;
  });

const lineItems = z
  .array(lineItem, { error: missingOr('must be a list') })
  .min(1, 'must hold an item')
  .max(1, 'must hold one item: a session sells one eSIM, make one for each')
  .describe('One package');

const currency = z
  .string({ error: missingOr('must be a string') })
  .regex(/^[A-Za-z]{3}$/, 'must be a currency code of three letters')
  .meta({ description: 'The currency of the account', example: 'usd' });

const capabilities = z
  .record(z.string(), z.unknown(), { error: missingOr('must be an object') })
  .meta({ description: 'What the agent can do. Not used: no session needs anything of it', type: 'object' });

export const createBody = namedObject('CheckoutSessionRequest', {
  line_items: lineItems,
  currency,
  capabilities,
  ...ignored,
  metadata: ignoredObject('Anything'),
});

export const updateBody = namedObject('CheckoutSessionUpdate', {
  line_items: lineItems.optional(),
  ...ignored,
});

const word = (description: string, example: string) =>
  textField({ max: MAX_WORD_CHARACTERS, description, example });

/** As the handlers of a session ask for it. */
const instrument = namedObject('CheckoutInstrument', {
  type: word('`wallet`, or a way to pay that the handler `hosted_page` lists', 'card'),
  credential: z
    .object({ type: word('Any', 'none'), token: word('Any, such as the id of the session', 'none') })
    .describe('Required by the protocol. Neither handler takes a secret: it is not used and not kept'),
});

export const completeBody = namedObject('CheckoutSessionCompletion', {
  payment_data: z.object(
    { handler_id: word('Of `capabilities.payment.handlers`', 'hosted_page'), instrument },
    { error: missingOr('must be an object') },
  ),
  ...ignored,
  risk_signals: ignoredObject('What the agent knows of the buyer'),
  authentication_result: ignoredObject('Of a 3-D Secure check: ours is on the page of the gateway'),
});

export const cancelBody = namedObject('CheckoutSessionCancel', {
  intent_trace: ignoredObject('Why'),
});

/** In the smallest unit of the currency. */
const minor = (description: string) => z.number().int().meta({ description, example: 1250 });

const total = z.object({
  type: z.enum(['items_base_amount', 'subtotal', 'total']),
  display_text: text('For people', 'Total'),
  amount: minor('In the smallest unit of the currency'),
});

const handlerConfig = namedObject('CheckoutHandlerConfig', {
  instruments: z.array(z.string()).describe('The types of `instrument` that it takes for this price'),
});

const handler = z.object({
  id: text('Send it as `payment_data.handler_id`', 'hosted_page'),
  name: text('Of the kind of handler', 'simway.hosted_page'),
  display_name: text('For people', 'Payment page'),
  version: z.literal(ACP_VERSION),
  spec: z.string(),
  requires_delegate_payment: z.literal(false),
  requires_pci_compliance: z.literal(false),
  psp: text('Who takes the money', 'paystack'),
  config_schema: z.string(),
  instrument_schemas: z.array(z.string()),
  config: handlerConfig,
});

const order = z.object({
  type: z.literal('order'),
  id: text('The `transactionId` of the purchase', 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11'),
  checkout_session_id: z.string(),
  permalink_url: text(
    'For the buyer: the page that installs the eSIM, from the payment on. A secret',
    'https://api.example.com/i/Zk3t8xq1Vw0yLr5cNs7aPd2hGe9jUb4m',
  ),
  status: z.enum(ORDER_STATUSES),
});

const MESSAGE_CODES = ['payment_declined', 'out_of_stock', 'conflict', 'expired'] as const;

const message = z.object({
  type: z.enum(['info', 'error']),
  code: z.enum(MESSAGE_CODES).optional().describe('Of an error'),
  resolution: z.enum(['recoverable', 'requires_buyer_review']),
  content_type: z.literal('plain'),
  content: text('For people', 'The buyer pays NGN 19178.13 at continue_url'),
});

export const sessionSchema = namedObject('CheckoutSession', {
  id: text('Of the session', 'checkout-6f9619ff8b864d0191f1c2d3e4f5a6b7'),
  protocol: z.object({ version: z.literal(ACP_VERSION) }),
  capabilities: z.object({
    payment: z.object({ handlers: z.array(handler).describe('Empty unless the session can be paid') }),
  }),
  status: z
    .enum(SESSION_STATUSES)
    .describe(
      'requires_escalation: the buyer pays at `continue_url`. complete_in_progress: being paid for or delivered. ' +
        'canceled: also where the purchase failed; `messages` says where the money is.',
    ),
  currency: text('ISO 4217, in small letters', 'usd'),
  line_items: z.array(
    z.object({
      id: z.string(),
      item: z.object({
        id: text('The `packageCode`', 'SIM-OK'),
        name: z.string(),
        unit_amount: minor('The price'),
      }),
      quantity: z.literal(1),
      name: z.string(),
      totals: z.array(total),
    }),
  ),
  totals: z.array(total),
  fulfillment_options: z.array(
    z.object({
      type: z.literal('digital'),
      id: z.string(),
      title: z.string(),
      description: z.string(),
      totals: z.array(total),
    }),
  ),
  selected_fulfillment_options: z.array(
    z.object({ type: z.literal('digital'), option_id: z.string(), item_ids: z.array(z.string()) }),
  ),
  messages: z.array(message),
  links: z.array(z.object({ type: z.string(), url: z.string() })).describe('Always empty'),
  quote_id: text('The price is frozen by it', 'quote-3b241101e2bb4255896c79a3f0f2d1c7'),
  quote_expires_at: isoTime('As `expires_at`'),
  created_at: isoTime('ISO 8601'),
  updated_at: isoTime('ISO 8601'),
  expires_at: isoTime('Complete before; a payment that was begun may take longer'),
  continue_url: text('The page of the gateway, while the buyer can pay').optional(),
  order: order.optional().describe('Once the purchase was asked for'),
});

/** Of the whole service: nothing in it is about an account. */
export const discoverySchema = namedObject('AgenticCheckout', {
  protocol: z.object({
    name: z.literal('acp'),
    version: z.literal(ACP_VERSION),
    supported_versions: z.array(z.literal(ACP_VERSION)),
    documentation_url: z.string(),
  }),
  api_base_url: text('`/checkout_sessions` stands under it', 'https://api.example.com/acp'),
  transports: z.array(z.literal('rest')),
  capabilities: z.object({
    services: z.array(z.literal('checkout')),
    supported_currencies: z.array(z.string()),
  }),
});
