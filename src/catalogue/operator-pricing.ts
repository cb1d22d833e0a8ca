/** Rates, prices and what was on sale, for signed-in operators. Each refusal is a DomainError. */
import type { Bound } from '../platform/bind.ts';
import type { Session } from '../domain/callers.ts';
import type { Environment } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import type { PageQuery } from '../domain/page.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import { readOnSaleAt } from './changes.ts';
import { MAX_AGE_MS, type RateDeps } from './agreed-prices.ts';
import {
  confirmPrices,
  listProposedPrices,
  pagePrices,
  previewCatalogue,
  savePrices,
  type PricingTermsRequest,
} from './price-settings.ts';
import { listRateChanges } from './rate-changes.ts';
import {
  closeRule,
  confirmRule,
  listRules,
  previewRule,
  setRule,
  type RuleDeps,
  type RuleRequest,
} from './price-rule-settings.ts';
import { confirmRate, listRates, proposeRate, readRateHistory } from './rates.ts';
import { confirmHeldCost, findHeldCosts, type Announce } from './store/catalogue.ts';
import { declineProposal } from './store/pricing-settings.ts';
import { declineQuarantined, type SetRate } from './store/rates.ts';
import { countOnSaleAt, type OnSaleFilter } from './store/versions.ts';

export const pricingUseCases = {
  listRates: readRates,
  proposeRate: proposeAsPerson,
  confirmRate: confirmAsPerson,
  listPrices: readPrices,
  previewPrices: previewCatalogue,
  savePrices: saveAsPerson,
  confirmPrices: confirmPricesAsPerson,
  declineProposal: declineAsPerson,
  listHeldPrices: ({ db }: RateDeps) => findHeldCosts(db, MAX_HELD_PRICES),
  confirmHeldPrice: confirmHeldAsPerson,
  listOnSale,
  listPriceRules: listRules,
  previewPriceRule: previewRule,
  setPriceRule: setRuleAsPerson,
  confirmPriceRule: (deps: RuleDeps, { person }: Session, id: bigint, reason: string) =>
    confirmRule(deps, id, { by: person.email, reason }),
  closePriceRule: closeRuleAsPerson,
};

/** More fit no page; the first are shown, and the rest after them. */
const MAX_HELD_PRICES = 500;

export type PricingCases = Bound<typeof pricingUseCases>;

/** `history`: of that currency, where one is named. */
async function readRates(
  deps: RateDeps & { readonly accounts: AccountsDb; readonly environment: Environment },
  { currency, days }: { readonly currency?: string | undefined; readonly days: number },
) {
  const [rates, changes, history] = await Promise.all([
    listRates(deps),
    listRateChanges(deps),
    currency === undefined ? [] : readRateHistory(deps, currency, days),
  ]);
  return { ...rates, changes, history };
}

export type RatesView = Awaited<ReturnType<typeof readRates>>;

/** One page of what was on sale at a moment; now by default. */
async function listOnSale(
  { db, clock }: RateDeps,
  { at = clock.now(), page, limit, ...filter }: OnSaleFilter & PageQuery & { readonly at?: Date | undefined },
) {
  const [{ packages, ...known }, total] = await Promise.all([
    readOnSaleAt(db, { at, ...filter }, { page, limit }),
    countOnSaleAt(db, at, filter),
  ]);
  return { ...known, packages: { items: packages, total, page, limit } };
}

export type OnSaleView = Awaited<ReturnType<typeof listOnSale>>;

/** VALIDATION_ERROR for USD, which rates are counted in. */
async function proposeAsPerson(deps: RateDeps, { person }: Session, rate: Omit<SetRate, 'by'>) {
  if (rate.currency === 'USD')
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
      details: 'currency: rates are counted in US dollars, so USD has none',
    });
  return proposeRate(deps, { ...rate, by: person.email });
}

/**
 * NOT_FOUND where nothing with this id was observed within 24 hours; FORBIDDEN where another person has to
 * confirm it.
 */
async function confirmAsPerson(
  deps: RateDeps,
  { person }: Session,
  id: bigint,
  reason: string,
): Promise<'confirmed' | 'already'> {
  const outcome = await confirmRate(deps, { id, by: person.email, reason });
  if (outcome === undefined) throw new DomainError('NOT_FOUND', 'No such rate of the last 24 hours');
  if (outcome === 'not-independent')
    throw new DomainError('FORBIDDEN', 'Another person must confirm this rate', {
      details: 'you set it, or you two did not get your access independently within the last 24 hours',
    });
  return outcome;
}

async function readPrices(deps: RateDeps, page: PageQuery) {
  const [settings, waiting] = await Promise.all([pagePrices(deps.db, page), listProposedPrices(deps)]);
  return { settings, waiting };
}

/**
 * PRICES_CHANGED where the settings with the id `version` no longer apply, PRICES_BELOW_COST where a package
 * would be sold below cost; nothing was saved.
 */
async function saveAsPerson(
  deps: RateDeps,
  { person }: Session,
  request: { readonly version: string; readonly after: PricingTermsRequest; readonly reason: string },
) {
  const saved = await savePrices(deps, request, { by: person.email, reason: request.reason });
  if (saved.outcome === 'changed-meanwhile' || saved.outcome === 'below-cost') throw notSaved(saved.outcome);
  return saved;
}

const notSaved = (outcome: 'changed-meanwhile' | 'below-cost'): DomainError =>
  outcome === 'below-cost'
    ? new DomainError('PRICES_BELOW_COST', 'Packages would be sold below cost. Nothing was saved', {
        details: "the preview lists them; cost counts at the last rate that is not one person's work",
      })
    : new DomainError('PRICES_CHANGED', 'The prices changed since the preview. Nothing was saved');

/** NOT_FOUND where nothing with this id was proposed within 24 hours; otherwise like saveAsPerson. */
async function confirmPricesAsPerson(
  deps: RateDeps,
  { person }: Session,
  id: bigint,
  reason: string,
): Promise<void> {
  const outcome = await confirmPrices(deps, { id, by: person.email, reason });
  if (outcome === 'set') return;
  if (outcome === 'not-found') throw new DomainError('NOT_FOUND', 'No such proposal of the last 24 hours');
  if (outcome === 'not-independent')
    throw new DomainError('FORBIDDEN', 'Another person must confirm these prices', {
      details: 'you set them, or you two did not get your access independently within the last 24 hours',
    });
  throw notSaved(outcome);
}

const DECLINE = { rate: declineQuarantined, markups: declineProposal };

/** Declines what waits for a second person; the one who proposed it withdraws it so. NOT_FOUND. */
async function declineAsPerson(
  { db, clock }: RateDeps,
  { person }: Session,
  what: keyof typeof DECLINE,
  { id, reason }: { readonly id: bigint; readonly reason: string },
): Promise<void> {
  const since = new Date(clock.now().getTime() - MAX_AGE_MS);
  if (!(await DECLINE[what](db, { id, by: person.email, reason, since })))
    throw new DomainError('NOT_FOUND', `No ${what} with this number await a person`);
}

function setRuleAsPerson(deps: RuleDeps, { person }: Session, rule: RuleRequest, reason: string) {
  return setRule(deps, rule, { by: person.email, reason });
}

function closeRuleAsPerson(
  deps: RuleDeps,
  { person }: Session,
  id: bigint,
  what: 'end' | 'decline',
  reason: string,
): Promise<void> {
  return closeRule(deps, id, what, { by: person.email, reason });
}

/** NOT_FOUND where it is held no more. */
async function confirmHeldAsPerson(
  { db, clock, announce }: RateDeps & { readonly announce: Announce },
  { person }: Session,
  id: bigint,
  reason: string,
): Promise<void> {
  const held = { id, by: person.email, reason, now: clock.now() };
  if ((await confirmHeldCost(db, held, announce)) === undefined)
    throw new DomainError('NOT_FOUND', 'No such price is held');
}
