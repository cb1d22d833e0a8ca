/** Prices that finance sets for some buyers or some packages. */
import { z } from 'zod';
import { csvOf } from '../../domain/csv.ts';
import { DomainError } from '../../domain/errors.ts';
import { ACCOUNT_CURRENCIES, formatAmount, formatMinor } from '../../domain/money.ts';
import { RULE_KINDS, RULE_ROUNDINGS, RULE_SCOPES, RULE_TARGETS } from '../../domain/price-rules.ts';
import {
  answer,
  CSV,
  csvAnswer,
  dataAnswer,
  dataObject,
  isoTime,
  money,
  namedObject,
  percent,
  text,
} from '../../platform/http/answer-fields.ts';
import { amountField, choiceField, textField, timeField } from '../../platform/http/fields.ts';
import { MAX_PACKAGE_CODE_CHARACTERS } from '../../platform/http/limits.ts';
import { environmentField, operatorRoutes } from '../../platform/http/ops-route.ts';
import { pageFields, paginationSchema, presentPage } from '../../platform/http/page.ts';
import { presenter, type View } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import type { PricingCases } from '../operator-pricing.ts';
import { RULE_STATUSES } from '../price-rules.ts';
import type { RulePreview, RuleRequest } from '../price-rule-settings.ts';
import type { RuleAmount } from '../pricing.ts';
import type { StoredRule } from '../store/price-rules.ts';
import { changedPrices, declineBody, declinedSchema, reason } from './pricing-fields.ts';

const routes = operatorRoutes<PricingCases>('Rates and prices', {
  ruleId: {
    description: 'The `ruleId` of a price rule',
    example: '42',
    isPossible: (id: string) => /^\d{1,18}$/.test(id),
    notFound: { code: 'NOT_FOUND', message: 'No such price rule' },
  },
});

/** An account's id is the longest name of a buyer. */
const MAX_SCOPE_ID_CHARACTERS = 64;
const MAX_PERCENT = 100_000n;
/** USD 10,000 or NGN 1,000,000,000: no package comes near. */
const MAX_PRICE_MINOR = 100_000_000_000n;

const scope = z.enum(RULE_SCOPES).describe('Whom it is for');
const target = z.enum(RULE_TARGETS).describe('What it prices');
const ruleId = z.string().meta({ example: '42' });

const amounts = {
  markupPercent: percent('MARKUP: on our cost').nullable(),
  price: money('PRICE: in `currency`').nullable(),
  currency: z.enum(ACCOUNT_CURRENCIES).nullable().describe('PRICE: of the accounts that have this price'),
};

const ruleSchema = namedObject('PriceRule', {
  ruleId,
  scope,
  scopeId: text('An account, a plan or a type of account; empty for all'),
  target,
  targetId: text('A package, a country or a region; empty for all'),
  kind: z.enum(RULE_KINDS),
  ...amounts,
  rounding: z.enum(RULE_ROUNDINGS),
  validFrom: isoTime('It applies from then on'),
  validUntil: isoTime('It applies until then; null: until it is ended').nullable(),
  status: z.enum(RULE_STATUSES),
  by: text('Who set it'),
  reason: z.string(),
  createdAt: isoTime('When it was set'),
  confirmedBy: text('The second person; null: none was needed, or it waits').nullable(),
  closedAt: isoTime('When a person ended, declined or withdrew it').nullable(),
  closedBy: z.string().nullable(),
  closedReason: z.string().nullable(),
});

const rulesSchema = dataObject('PriceRules', {
  items: z.array(ruleSchema),
  pagination: paginationSchema,
});

const rulesQuery = z.object({
  ...environmentField,
  status: choiceField(RULE_STATUSES, { description: 'Only rules in this state' }).optional(),
  accountId: textField({
    max: MAX_SCOPE_ID_CHARACTERS,
    description: 'Only rules for this account alone',
  }).optional(),
  ...pageFields,
});

const codeField = (max: number, description: string, example: string) =>
  z.union([z.literal(''), textField({ max, description, example })]).default('');

const ruleFields = {
  scope: choiceField(RULE_SCOPES, { description: 'Whom it is for', example: 'ACCOUNT' }),
  scopeId: codeField(
    MAX_SCOPE_ID_CHARACTERS,
    'The account’s id, the plan or the type of account; empty for ALL',
    'acc-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  ),
  target: choiceField(RULE_TARGETS, {
    description: 'COUNTRY: packages for that country alone. REGION: packages that the catalogue lists there',
    example: 'REGION',
  }),
  targetId: codeField(MAX_PACKAGE_CODE_CHARACTERS, 'The code of it; empty for ALL', 'NG'),
  markupPercent: amountField({
    ...{ minMinor: 0n, maxMinor: MAX_PERCENT, example: 12.5 },
    description: 'On our cost, in percent, in place of the markup of the account type',
  }).optional(),
  price: amountField({
    ...{ minMinor: 1n, maxMinor: MAX_PRICE_MINOR, example: 4.5 },
    description: 'In place of `markupPercent`: a fixed price of one package, with its `currency`',
  }).optional(),
  currency: choiceField(ACCOUNT_CURRENCIES, {
    description: 'Of `price`: accounts in another currency do not have it',
    example: 'USD',
  }).optional(),
  rounding: choiceField(RULE_ROUNDINGS, {
    description:
      'Upwards. TO_99: to the next amount that ends in .99. TO_HUNDREDS: to the next hundred, in NGN',
    example: 'TO_99',
  }).default('NONE'),
  from: timeField({
    description: 'When it begins; at once by default, and where this has passed',
  }).optional(),
  until: timeField({ description: 'When it ends; by default when a person ends it' }).optional(),
};

const previewBody = namedObject('PreviewPriceRuleRequest', ruleFields);
const ruleBody = namedObject('SetPriceRuleRequest', { ...ruleFields, reason });

const previewSchema = dataObject('PriceRulePreview', {
  outcome: z
    .enum(['set', 'waits', 'below-cost', 'overlaps'])
    .describe(
      'What setting it would do: `waits` for a second person, since a price is far from the one of the agreed markups; `below-cost`, `overlaps`: refused',
    ),
  overlapping: ruleSchema.nullable().describe('The rule that is in the way'),
  belowCost: z.number().int().describe('Packages that it would price below our cost'),
  belowCostExamples: z.array(text('A package and its price', 'NG-1: USD 0.90')),
  from: isoTime('When it would begin'),
  until: isoTime('When it would end').nullable(),
  packages: z.number().int().describe('Packages and top-ups that it is for'),
  changed: z.number().int().describe('Of these, how many have another price then'),
  lowestMarginPercent: percent('Of the new prices. Negative: below cost').nullable(),
  largestChangePercent: percent('Of the prices before, without its sign').nullable(),
  items: changedPrices,
  pagination: paginationSchema,
});

const CSV_COLUMNS = [
  ...['packageCode', 'name', 'packageType', 'costUsd', 'accountType', 'currency'],
  ...['before', 'after', 'changePercent', 'marginPercent'],
];

const ruleSetSchema = dataObject('PriceRuleSet', { outcome: z.literal('set'), ruleId });
const ruleWaitsSchema = dataObject('PriceRuleWaits', {
  outcome: z.literal('waits').describe('Another person confirms it within 24 hours'),
  ruleId,
});
const confirmBody = namedObject('ConfirmPriceRuleRequest', { reason });
const confirmedSchema = dataObject('PriceRuleConfirmed', { outcome: z.literal('set') });
const endBody = namedObject('EndPriceRuleRequest', { reason });
const endedSchema = dataObject('PriceRuleEnded', { outcome: z.literal('ended') });

/** VALIDATION_ERROR where it has not exactly one of markup and price. */
function amountOf(body: z.output<typeof previewBody>): RuleAmount {
  const { markupPercent, price, currency } = body;
  if (markupPercent !== undefined && price === undefined && currency === undefined)
    return { kind: 'MARKUP', markupBps: Number(markupPercent) };
  if (markupPercent === undefined && price !== undefined && currency !== undefined)
    return { kind: 'PRICE', priceMinor: price, currency };
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
    details: [
      'markupPercent: is needed, or price and currency',
      'price: is needed with currency, or markupPercent',
    ],
  });
}

function requestOf(body: z.output<typeof previewBody>): RuleRequest {
  const { scope, scopeId, target, targetId, rounding, from, until } = body;
  const whom = { scope, scopeId, target, targetId, rounding };
  return { ...whom, ...amountOf(body), from: from ?? null, until: until ?? null };
}

const viewOf = (rule: StoredRule): View<z.output<typeof ruleSchema>> => ({
  ...rule,
  ruleId: String(rule.id),
  markupBps: rule.kind === 'MARKUP' ? rule.markupBps : null,
  priceMinor: rule.kind === 'PRICE' ? rule.priceMinor : null,
  currency: rule.kind === 'PRICE' ? rule.currency : null,
});

const bps = (value: number | null) => (value === null ? '' : formatMinor(BigInt(value)));
const minor = (value: bigint | null) => (value === null ? '' : formatMinor(value));

const csvOfChanges = (changes: RulePreview['changes']): string =>
  csvOf(
    CSV_COLUMNS,
    changes.flatMap(({ packageCode, name, packageType, cost, prices }) =>
      prices.map((price) => [
        ...[packageCode, name, packageType, formatAmount({ amountMinor: cost, currency: 'USD4' })],
        ...[price.accountType, price.currency, minor(price.beforeMinor), minor(price.afterMinor)],
        ...[bps(price.changeBps), bps(price.marginBps)],
      ]),
    ),
  );

const presentPreview = presenter(previewSchema);

export const priceRuleRoutes: readonly Route<PricingCases>[] = [
  routes.get('/ops/price-rules', {
    permission: 'pricing',
    query: rulesQuery,
    answer: [200, 'One page, newest first', rulesSchema],
    operationId: 'listPriceRules',
    summary: 'List price rules, newest first',
    description:
      'Prices for some buyers or some packages, with who set them and why. Without a rule, the markups apply.',
    async handle({ cases, query }) {
      const { items, pagination } = presentPage(await cases.listPriceRules(query));
      return { items: items.map(viewOf), pagination };
    },
  }),
  routes.post('/ops/price-rules/preview', {
    confirmed: false,
    permission: 'pricing',
    query: z.object({ ...environmentField, ...pageFields }),
    body: previewBody,
    answer: {
      200: {
        description: 'What would change; nothing was saved',
        schema: previewSchema,
        alsoAs: { [CSV]: text(`The columns ${CSV_COLUMNS.join(', ')}`) },
      },
    },
    operationId: 'previewPriceRule',
    summary: 'Preview a price rule over the whole list',
    description:
      'How many prices change, the lowest margin, the largest change, and one page of those that change most. ' +
      'With `Accept: text/csv` all of them as a CSV file.',
    async handle({ cases, query: { page, limit }, body, visitor }) {
      const preview = await cases.previewPriceRule(requestOf(body));
      if (visitor.preferredType('application/json', CSV) === CSV)
        return csvAnswer('price-rule', csvOfChanges(preview.changes));
      const start = (page - 1) * limit;
      const shown = preview.changes
        .slice(start, start + limit)
        .map(({ cost, ...one }) => ({ ...one, costUsdE4: cost }));
      const { items, pagination } = presentPage({ items: shown, total: preview.changed, page, limit });
      const overlapping = preview.overlapping ? viewOf(preview.overlapping) : null;
      const data = { ...preview, outcome: preview.verdict, overlapping, items, pagination };
      return answer(presentPreview({ success: true, data }));
    },
  }),
  routes.post('/ops/price-rules', {
    permission: 'pricing',
    body: ruleBody,
    errors: ['PRICE_RULE_OVERLAPS', 'PRICES_BELOW_COST'],
    answer: {
      200: { description: 'Prices use it within a second of its beginning', schema: ruleSetSchema },
      202: { description: 'It waits until another person confirms it', schema: ruleWaitsSchema },
    },
    operationId: 'setPriceRule',
    summary: 'Set a price rule',
    description:
      'The most specific rule makes a price: package before country before region before all, and for one of these account before plan before ' +
      'type of account before all. Refused where it would price a package below cost, or where another rule has the same buyers and the same target at that time.',
    async handle({ cases, session, body }) {
      const { outcome, id } = await cases.setPriceRule(session, requestOf(body), body.reason);
      return dataAnswer({ outcome, ruleId: String(id) }, outcome === 'waits' ? 202 : 200);
    },
  }),
  routes.post('/ops/price-rules/{ruleId}/confirm', {
    permission: 'pricing',
    body: confirmBody,
    errors: ['PRICE_RULE_OVERLAPS', 'PRICES_BELOW_COST'],
    answer: [200, 'Prices use it within a second of its beginning', confirmedSchema],
    operationId: 'confirmPriceRule',
    summary: 'Confirm a price rule that another person set',
    description: 'It begins at its time, or at once where that has passed. It is judged once more.',
    async handle({ cases, session, params, body }) {
      await cases.confirmPriceRule(session, BigInt(params.ruleId), body.reason);
      return { outcome: 'set' } as const;
    },
  }),
  routes.post('/ops/price-rules/{ruleId}/decline', {
    permission: 'pricing',
    body: declineBody,
    answer: [200, 'It does not wait any more', declinedSchema],
    operationId: 'declinePriceRule',
    summary: 'Decline or withdraw a price rule that awaits confirmation',
    description: 'By another person, or by the one who set it.',
    async handle({ cases, session, params, body }) {
      await cases.closePriceRule(session, BigInt(params.ruleId), 'decline', body.reason);
      return { outcome: 'declined' } as const;
    },
  }),
  routes.post('/ops/price-rules/{ruleId}/end', {
    permission: 'pricing',
    body: endBody,
    answer: [200, 'Prices are without it within a second', endedSchema],
    operationId: 'endPriceRule',
    summary: 'End a price rule',
    description: 'It ends now, or never begins. The next rule, or the markup, makes the price then.',
    async handle({ cases, session, params, body }) {
      await cases.closePriceRule(session, BigInt(params.ruleId), 'end', body.reason);
      return { outcome: 'ended' } as const;
    },
  }),
];
