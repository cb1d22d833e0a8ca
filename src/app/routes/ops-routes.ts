/** Everything under /ops, and its OpenAPI document, which only people who have signed in may read. */
import { z } from 'zod';
import { deviceLoginRoutes, peopleRoutes } from '../../accounts/http/people.ts';
import { billingOperatorRoutes } from '../../billing/http/months.ts';
import { onSaleRoutes } from '../../catalogue/http/on-sale.ts';
import { priceRuleRoutes } from '../../catalogue/http/price-rules.ts';
import { priceRoutes } from '../../catalogue/http/prices.ts';
import { rateRoutes } from '../../catalogue/http/rates.ts';
import { accountsRoutes } from '../../operations/http/accounts.ts';
import { actionRoutes } from '../../operations/http/actions.ts';
import { alertRoutes } from '../../operations/http/alerts.ts';
import { listRoutes } from '../../operations/http/lists.ts';
import { noteRoutes } from '../../operations/http/notes.ts';
import { walletAdjustmentRoutes } from '../../operations/http/wallet-adjustments.ts';
import { auditRoutes } from '../../operations/http/audit.ts';
import { batchRepairRoutes } from '../../operations/http/batch-repairs.ts';
import { operatorSearchRoutes, purchaseRoutes } from '../../operations/http/purchases.ts';
import { booksRoutes } from '../../reconciliation/http/books.ts';
import { differenceRoutes } from '../../reconciliation/http/differences.ts';
import { overviewRoutes } from '../../reconciliation/http/overview.ts';
import { routesWith } from '../../platform/http/define-routes.ts';
import { makeOpsDocument } from '../../platform/http/docs/openapi.ts';
import { toJson } from '../../platform/http/json.ts';
import { within, type Route } from '../../platform/http/route.ts';
import type { OpsUseCases, OpsWorld } from '../composition/ops-use-cases.ts';
import examples from './examples.json' with { type: 'json' };

const DESCRIPTION = `For the people who operate this service: stuck purchases, timelines, operator actions, reconciliation and the books.

Sign in, and send the token as \`Authorization: Bearer …\`. What your role may do is in \`getMe\`. \`environment\` selects the live or the sandbox environment.
Amounts are numbers with two decimals, of \`USD4\` with four.`;

const TAGS = [
  { name: 'Signing in', description: 'Sessions and your own password' },
  { name: 'People', description: 'Who may sign in, and what they may do' },
  { name: 'Purchases', description: 'Stuck purchases, details and timelines' },
  { name: 'Actions', description: 'Operator actions on one purchase' },
  { name: 'Batch repairs', description: 'One action on many purchases, approved by a second person' },
  { name: 'Reconciliation', description: 'Our books compared with those of the vendors' },
  { name: 'Books', description: 'Reports for finance' },
  { name: 'Months and papers', description: 'Closing months, invoices, statements and receipts' },
  { name: 'Rates and prices', description: 'What packages are sold at' },
  { name: 'Accounts', description: 'Who buys here' },
  { name: 'Lists', description: 'Purchases, fundings and eSIMs of all accounts' },
  { name: 'Notes', description: 'What operators note about accounts and purchases' },
  { name: 'Wallets by hand', description: 'Fundings, credits and corrections by two people' },
  { name: 'Alerts', description: 'What is wrong, who is told, and what can be delivered' },
  { name: 'Audit', description: 'Who did what' },
];

/** What routes for operators take, in the environment that the query names. */
type OpsCases = OpsUseCases & OpsWorld;

export function opsRoutes({ version }: { readonly version: string }): readonly Route<OpsCases>[] {
  const info = { title: 'eSIM Reseller Operations API', version, description: DESCRIPTION };
  // Made on the first request: most processes never get one.
  let document: Buffer | undefined;
  const documentRoute = routesWith<unknown, 'session'>('session', 'Signing in').get('/ops/openapi.json', {
    permission: 'own',
    answer: { 200: { description: 'OpenAPI 3.1', schema: z.record(z.string(), z.unknown()) } },
    operationId: 'getOpsDocument',
    summary: 'Read this document',
    description: 'The OpenAPI description of everything under /ops.',
    handle: () => {
      document ??= Buffer.from(toJson(makeOpsDocument({ routes, examples, info, tags: TAGS })));
      return Promise.resolve({ status: 200, body: document });
    },
  });
  const routes: readonly Route<OpsCases>[] = [
    ...peopleRoutes,
    ...deviceLoginRoutes,
    ...within('operations', purchaseRoutes),
    ...within('operations', actionRoutes),
    ...within('operations', batchRepairRoutes),
    ...within('reconciliation', differenceRoutes),
    ...within('reconciliation', booksRoutes),
    ...within('billing', billingOperatorRoutes),
    ...within('pricing', rateRoutes),
    ...within('pricing', priceRoutes),
    ...within('pricing', priceRuleRoutes),
    ...within('pricing', onSaleRoutes),
    ...within('reconciliation', overviewRoutes),
    ...within('operations', operatorSearchRoutes),
    ...within('operations', accountsRoutes),
    ...within('operations', walletAdjustmentRoutes),
    ...within('operations', listRoutes),
    ...within('operations', noteRoutes),
    ...within('operations', auditRoutes),
    ...within('alerts', alertRoutes),
    documentRoute,
  ];
  return routes;
}
