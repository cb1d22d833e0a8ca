/** Agentic checkout: the sessions of the Agentic Commerce Protocol. */
import type { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { ACCOUNT_CURRENCIES, formatMinor } from '../../domain/money.ts';
import { PAYMENT_ERRORS } from '../../payments/http/shared.ts';
import { ACP_VERSION } from '../../platform/http/acp.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import { idParameter } from '../../platform/http/fields.ts';
import { toJson } from '../../platform/http/json.ts';
import { presenter, type View } from '../../platform/http/present.ts';
import { routesFor, type Route } from '../../platform/http/route.ts';
import { failureCode, orderStatus, PAGE_HANDLER, WALLET_HANDLER } from '../acp/rules.ts';
import type { CheckoutSession } from '../acp/sessions.ts';
import { renderWithoutPermalink } from '../stored-answers.ts';
import type { PurchaseCases } from '../use-cases.ts';
import {
  cancelBody,
  completeBody,
  createBody,
  discoverySchema,
  sessionSchema,
  updateBody,
} from './checkout-session-schemas.ts';
import { PRICE_ERRORS } from './shared.ts';

const BASE_PATH = '/acp';
const SESSIONS = `${BASE_PATH}/checkout_sessions` as const;
const SESSION = `${SESSIONS}/{sessionId}` as const;
const ACP = { protocol: 'acp', shapes: ['acp'], takesBearer: true } as const;

const routes = merchantRoutes<PurchaseCases>('Agentic checkout', {
  sessionId: idParameter(
    'checkout',
    'Of the session',
    'Checkout session not found',
    'CHECKOUT_SESSION_NOT_FOUND',
  ),
});

type Shown = View<z.output<typeof sessionSchema>>;

const LINE = 'line_1';
const DELIVERY = 'install_link';

const totalOf = <Type extends string>(type: Type, display_text: string, amount: bigint) => ({
  type,
  display_text,
  amount,
});

function present(session: CheckoutSession): Shown {
  const { id, quote, status } = session;
  const price = quote.price_minor;
  const item = { id: quote.package_code, name: quote.package_name, unit_amount: price };
  const totals = [totalOf('items_base_amount', 'Package', price), totalOf('total', 'Total', price)];
  return {
    id,
    protocol: { version: ACP_VERSION },
    capabilities: { payment: { handlers: status === 'ready_for_payment' ? handlersOf(session) : [] } },
    status,
    currency: quote.currency.toLowerCase(),
    line_items: [{ id: LINE, item, quantity: 1, name: quote.package_name, totals }],
    totals,
    fulfillment_options: [
      {
        type: 'digital',
        id: DELIVERY,
        title: 'Install link',
        description: 'A page that installs the eSIM, as soon as it is paid and delivered',
        totals: [totalOf('total', 'Delivery', 0n)],
      },
    ],
    selected_fulfillment_options: [{ type: 'digital', option_id: DELIVERY, item_ids: [LINE] }],
    messages: messagesOf(session),
    links: [],
    quote_id: session.quote_id,
    quote_expires_at: quote.expires_at,
    created_at: session.created_at,
    updated_at: session.updated_at,
    expires_at: quote.expires_at,
    continue_url: session.payment?.paymentUrl,
    order: orderOf(session),
  };
}

function orderOf({
  id,
  transaction_id,
  purchase_status,
  permalinkUrl,
}: CheckoutSession): Shown['order'] | undefined {
  if (transaction_id === null) return undefined;
  return {
    type: 'order',
    id: transaction_id,
    checkout_session_id: id,
    permalink_url: permalinkUrl,
    status: orderStatus(purchase_status ?? undefined),
  };
}

type Handler = Shown['capabilities']['payment']['handlers'][number];

function handlersOf({ publicUrl, pageInstruments, gateway }: CheckoutSession): Handler[] {
  const schemas = `${publicUrl}/api/openapi.json#/components/schemas`;
  const handler = (id: string, own: Pick<Handler, 'display_name' | 'psp' | 'config'>): Handler => ({
    id,
    name: `simway.${id}`,
    ...own,
    version: ACP_VERSION,
    spec: `${publicUrl}/docs`,
    requires_delegate_payment: false,
    requires_pci_compliance: false,
    config_schema: `${schemas}/CheckoutHandlerConfig`,
    instrument_schemas: [`${schemas}/CheckoutInstrument`],
  });
  const wallet = handler(WALLET_HANDLER, {
    display_name: 'Prepaid wallet of the seller',
    psp: 'seller_managed',
    config: { instruments: [WALLET_HANDLER] },
  });
  if (pageInstruments.length === 0) return [wallet];
  return [
    handler(PAGE_HANDLER, {
      display_name: 'Payment page',
      psp: gateway,
      config: { instruments: pageInstruments },
    }),
    wallet,
  ];
}

/** Where the money of a failed purchase is, unless it goes back to the buyer. */
const MONEY_AFTER: Readonly<Record<string, string>> = {
  PAYMENT_UNDERPAID: 'What was paid is in the wallet of the seller: ask the seller for it',
};

function messagesOf({ status, payment, purchase_reason }: CheckoutSession): Shown['messages'] {
  const error = { type: 'error', resolution: 'recoverable', content_type: 'plain' } as const;
  if (purchase_reason !== null) {
    const money = MONEY_AFTER[purchase_reason] ?? 'Money that came is given back';
    const content = `The purchase failed (${purchase_reason}). ${money}. Create another session`;
    return [{ ...error, code: failureCode(purchase_reason), content }];
  }
  if (status === 'expired')
    return [{ ...error, code: 'expired', content: 'The price has expired: create another session' }];
  if (!payment) return [];
  const { amountMinor, currency } = payment.charge;
  const content = `The buyer pays ${currency} ${formatMinor(amountMinor)} at continue_url`;
  return [{ type: 'info', resolution: 'requires_buyer_review', content_type: 'plain', content }];
}

const show = presenter(sessionSchema);

/**
 * What is kept under the Idempotency-Key holds no permalink. A repeat of any request can be about a session
 * that was bought meanwhile.
 */
function answerOf(status: 200 | 201, session: CheckoutSession) {
  const render = (permalinkUrl: string) => toJson(show(present({ ...session, permalinkUrl })));
  return { status, ...renderWithoutPermalink(session.permalinkUrl, render) };
}

/** A package that is not there is named by the field that this request has it in. */
async function naming<Result>(
  line: { readonly field: string } | undefined,
  done: Promise<Result>,
): Promise<Result> {
  try {
    return await done;
  } catch (error) {
    if (!line || !(error instanceof DomainError) || error.code !== 'PACKAGE_NOT_FOUND') throw error;
    const { code, message } = error;
    throw new DomainError(code, message, { fields: [{ field: line.field, problem: 'is no package' }] });
  }
}

export const checkoutSessionRoutes: readonly Route<PurchaseCases>[] = [
  routes.post(SESSIONS, {
    ...ACP,
    confirmed: false,
    body: createBody,
    errors: [...PRICE_ERRORS, 'KEY_BUDGET_EXCEEDED', 'CURRENCY_MISMATCH', 'TOO_MANY_OPEN_QUOTES'],
    answer: { 201: { description: 'The session', schema: sessionSchema } },
    operationId: 'createCheckoutSession',
    summary: 'Begin the checkout of one eSIM',
    description:
      'Freezes the price for 15 minutes; nothing is bought or held. `capabilities.payment.handlers` says how the session can be paid.',
    async handle({ cases, principal, body, idempotency }) {
      const [line] = body.line_items;
      const command = { packageCode: line?.packageCode ?? '', currency: body.currency };
      const made = cases.createCheckoutSession(principal, command, idempotency);
      return answerOf(201, await naming(line, made));
    },
  }),
  routes.get(SESSION, {
    ...ACP,
    answer: [200, 'The session as it now stands', sessionSchema],
    operationId: 'getCheckoutSession',
    summary: 'Read a checkout session',
    description: 'Sessions are kept until seven days after their price expired.',
    async handle({ cases, principal, params }) {
      return present(await cases.getCheckoutSession(principal, params.sessionId));
    },
  }),
  routes.post(SESSION, {
    ...ACP,
    confirmed: false,
    body: updateBody,
    errors: [...PRICE_ERRORS, 'KEY_BUDGET_EXCEEDED', 'TOO_MANY_OPEN_QUOTES', 'CHECKOUT_SESSION_CLOSED'],
    answer: { 200: { description: 'The session', schema: sessionSchema } },
    operationId: 'updateCheckoutSession',
    summary: 'Change the package of a checkout session',
    description:
      'With `line_items` the session has a new price and 15 minutes more. Possible while it is `ready_for_payment`.',
    async handle({ cases, principal, params, body, idempotency }) {
      const line = body.line_items?.[0];
      const { sessionId } = params;
      const command = { packageCode: line?.packageCode };
      const changed = cases.updateCheckoutSession(principal, sessionId, command, idempotency);
      return answerOf(200, await naming(line, changed));
    },
  }),
  routes.post(`${SESSION}/complete`, {
    ...ACP,
    body: completeBody,
    errors: [
      ...PRICE_ERRORS,
      ...PAYMENT_ERRORS,
      'INSUFFICIENT_BALANCE',
      'KEY_BUDGET_EXCEEDED',
      'QUOTE_NOT_FOUND',
      'PAYMENT_HANDLER_UNSUPPORTED',
      'CHECKOUT_SESSION_CLOSED',
    ],
    answer: { 200: { description: 'The session with its order', schema: sessionSchema } },
    operationId: 'completeCheckoutSession',
    summary: 'Buy what a checkout session holds',
    description:
      'Buys once, however often it is sent. `wallet` charges the account and delivers; `hosted_page` answers `requires_escalation` ' +
      'with `continue_url`, where the buyer pays, and delivers once the money has come.',
    async handle({ cases, principal, params, body, context, idempotency }) {
      const { handler_id: handlerId, instrument } = body.payment_data;
      const command = { handlerId, instrument: instrument.type };
      const { sessionId } = params;
      const session = await cases.completeCheckoutSession(
        principal,
        sessionId,
        command,
        idempotency,
        context,
      );
      return answerOf(200, session);
    },
  }),
  routes.post(`${SESSION}/cancel`, {
    ...ACP,
    confirmed: false,
    body: cancelBody,
    errors: ['CHECKOUT_SESSION_NOT_CANCELABLE'],
    answer: { 200: { description: 'The canceled session', schema: sessionSchema } },
    operationId: 'cancelCheckoutSession',
    summary: 'Cancel a checkout session',
    description:
      'Its price can no longer be bought at. Possible while it is `ready_for_payment`: a payment that the buyer may be making cannot be stopped.',
    async handle({ cases, principal, params, idempotency }) {
      return answerOf(200, await cases.cancelCheckoutSession(principal, params.sessionId, idempotency));
    },
  }),
  routesFor<PurchaseCases>()({
    method: 'GET',
    path: '/.well-known/acp.json',
    key: 'public',
    scope: undefined,
    responses: { 200: { description: 'What agents find here', schema: discoverySchema } },
    docs: {
      operationId: 'getAgenticCheckout',
      tag: 'Agentic checkout',
      summary: 'Find the agentic checkout',
      description: 'For agents that know the address of this service alone. The same for everyone.',
    },
    async handle({ cases }) {
      const publicUrl = await cases.describeAgenticCheckout();
      const shown: View<z.output<typeof discoverySchema>> = {
        protocol: {
          name: 'acp',
          version: ACP_VERSION,
          supported_versions: [ACP_VERSION],
          documentation_url: `${publicUrl}/docs`,
        },
        api_base_url: `${publicUrl}${BASE_PATH}`,
        transports: ['rest'],
        capabilities: {
          services: ['checkout'],
          supported_currencies: ACCOUNT_CURRENCIES.map((currency) => currency.toLowerCase()),
        },
      };
      const body = toJson(presenter(discoverySchema)(shown));
      return { status: 200, body, headers: { 'Cache-Control': 'public, max-age=3600' } };
    },
  }),
];
