/**
 * The page after a hosted checkout, and what its script asks. Public: the reference is unguessable, and the
 * answer holds nothing secret without the key of the checkout's own address (return-keys.ts). A browser has
 * no API key, so we search every environment that is on.
 */
import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { PAYMENT_PURPOSES, PURCHASE_STATUSES } from '../../domain/states.ts';
import { money, answer } from '../../platform/http/answer-fields.ts';
import { presenter } from '../../platform/http/present.ts';
import { routesFor, type Route } from '../../platform/http/route.ts';
import { canBeReference } from '../rules.ts';
import type { PaymentStatusView } from '../views.ts';
import { pageHeaders, refusalPage, renderStatus } from './return-page.ts';
import type { PaymentCases } from '../use-cases.ts';

const defineRoute = routesFor<PaymentCases>();

/** The gateway sends the reference twice, and our key with it. Anyone can write anything here. */
const referenceQuery = z.object({
  reference: z.string().optional(),
  trxref: z.string().optional(),
  key: z.string().optional(),
});

const statusSchema = z.object({
  reference: z.string(),
  purpose: z.enum(PAYMENT_PURPOSES),
  status: z.enum(PURCHASE_STATUSES),
  reason: z.string().nullable(),
  packageName: z.string().nullable(),
  amount: money('What is asked from the buyer'),
  received: money('What came'),
  currency: z.string(),
});

const PUBLIC = {
  method: 'GET',
  key: 'public',
  environment: 'any',
  scope: undefined,
  query: referenceQuery,
  errors: ['TRANSACTION_NOT_FOUND'],
  docs: undefined,
} as const;
const STATUS_PATH = '/pay/status';

const pageRoute = defineRoute({
  ...PUBLIC,
  path: '/pay/return',
  refusalPage,
  responses: { 200: { description: 'The page', contentType: 'text/html', schema: z.string() } },
  async handle({ allCases, query }) {
    const view = await findStatus(allCases, query);
    const statusUrl = `${STATUS_PATH}?reference=${encodeURIComponent(view.reference)}`;
    return { status: 200, body: renderStatus(view, statusUrl), headers: pageHeaders(view.brand) };
  },
});

const statusRoute = defineRoute({
  ...PUBLIC,
  path: STATUS_PATH,
  responses: { 200: { description: 'Where the payment stands', schema: statusSchema } },
  async handle({ allCases, query }) {
    const { charge, ...view } = await findStatus(allCases, query);
    return answer(presenter(statusSchema)({ ...view, ...charge }));
  },
});

async function findStatus(
  allCases: readonly PaymentCases[],
  query: z.output<typeof referenceQuery>,
): Promise<PaymentStatusView> {
  const reference = query.reference ?? query.trxref;
  if (reference !== undefined && canBeReference(reference)) {
    for (const cases of allCases) {
      const view = await cases.findPaymentStatus(reference, query.key);
      if (view) return view;
    }
  }
  throw new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found');
}

export const returnPageRoutes: readonly Route<PaymentCases>[] = [pageRoute, statusRoute];
