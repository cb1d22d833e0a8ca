/** What packages are sold at: exchange rates, markups and the NGN increment. */
import { dataOf, type Ops } from 'simway-client';
import type { components } from 'simway-client/generated/ops.ts';
import { z } from 'zod';
import { DAY_MS } from '../../domain/clock.ts';
import { defined, option, OperatorMistake, UsageMistake } from '../../platform/command.ts';
import { count, currency, DRY_RUN, percentage, rate, REASON, rowNumber, YES } from '../values.ts';
import { financeCommand, type AddCommand, type FinanceGroup } from './group.ts';
import { age, isConfirmed, moment, money, type Output } from './output.ts';

type Schemas = components['schemas'];

const APPLIES = 'Applies within a second';

const RATES = financeCommand({
  syntax: 'rates',
  summary: 'Shows current rates, and rates awaiting review',
  options: z.object({}),
  run: async ({ ops, out }) => {
    const view = await dataOf(ops.GET('/ops/rates'));
    out.json(view);
    printRates(out, view);
  },
});

const RATE_CHANGES = [
  financeCommand({
    syntax: 'set',
    summary: 'Sets the rate of a currency',
    help: `Sets how many units of a currency one US dollar is. Applies until changed; --rate config returns to the configured
rate. Open purchases keep the rate they were quoted at.`,
    options: z.object({
      currency: option(currency, 'such as NGN', 'code'),
      rate: option(rate, 'such as 1620.50', 'rate|config'),
      reason: REASON,
      dryRun: DRY_RUN,
      yes: YES,
    }),
    run: async ({ options: { currency: code, rate: wanted, reason, dryRun, yes }, ops, out }) => {
      const { items } = await dataOf(ops.GET('/ops/rates'));
      const before = items.find((one) => one.currency === code)?.rate;
      const isJump = before !== undefined && wanted !== null && Math.abs(wanted - before) > before / 10;
      const warning = isJump ? ', MORE THAN 10 % OFF: another person must confirm it' : '';
      out.line(`${code}: ${rateText(before)} → ${rateText(wanted)}${warning}`);
      if (dryRun) {
        out.json({ outcome: 'would-do', currency: code, before: before ?? null, rate: wanted });
        return 0;
      }
      if (!(await isConfirmed(out, yes, 'Apply this rate?'))) return 1;
      const made = await dataOf<Schemas['RateSet'] | Schemas['RateWaits']>(
        ops.POST('/ops/rates', { body: { currency: code, rate: wanted, reason } }),
      );
      out.json(made);
      if (made.outcome === 'waits')
        out.line(`Another person must confirm it within 24 hours: rates confirm ${made.rateId ?? ''}`);
      else
        out.line(
          wanted === null ? 'The configured rate applies after its next refresh, within 10 minutes' : APPLIES,
        );
      return 0;
    },
  }),
  financeCommand({
    syntax: 'confirm <number>',
    summary: 'Accepts a held rate',
    help: 'Accepts a held rate. `rates` lists them with their numbers.',
    options: z.object({ reason: REASON, dryRun: DRY_RUN }),
    run: async ({ args: [number = ''], options: { dryRun, reason }, ops, out }) => {
      const rateId = rowNumber(number);
      if (dryRun) {
        const { waiting } = await dataOf(ops.GET('/ops/rates'));
        const held = waiting.find((one) => one.rateId === rateId);
        if (!held) throw new OperatorMistake(`No rate ${number} is held`);
        out.json({ outcome: 'would-do', ...held });
        out.line(`would apply: ${held.currency} ${held.rate}`);
        return 0;
      }
      const about = { params: { path: { rateId } }, body: { reason } };
      const confirmed = await dataOf(ops.POST('/ops/rates/{rateId}/confirm', about));
      out.json(confirmed);
      out.line(
        confirmed.outcome === 'confirmed'
          ? 'Accepted; applies within a second'
          : 'No change: the rate was not held',
      );
      return 0;
    },
  }),
  declineCommand('a rate', (ops, rateId, reason) =>
    dataOf(ops.POST('/ops/rates/{rateId}/decline', { params: { path: { rateId } }, body: { reason } })),
  ),
];

/** Nobody can confirm it then. */
function declineCommand(
  what: 'a rate' | 'markups',
  decline: (ops: Ops, number: string, reason: string) => Promise<Schemas['ProposalDeclined']['data']>,
): AddCommand {
  return financeCommand({
    syntax: 'decline <number>',
    summary: `Declines ${what} awaiting confirmation, or withdraws your own`,
    options: z.object({ reason: REASON, yes: YES }),
    run: async ({ args: [number = ''], options: { reason, yes }, ops, out }) => {
      const id = rowNumber(number);
      if (!(await isConfirmed(out, yes, `Decline ${what} with number ${id}?`))) return 1;
      out.json(await decline(ops, id, reason));
      out.line('Declined; prices stay as they are');
      return 0;
    },
  });
}

/** null: as configured. */
function rateText(value: number | null | undefined): string {
  if (value === undefined) return 'no rate';
  return value === null ? 'as configured' : String(value);
}

function printRates(out: Output, { items, waiting, changes }: Schemas['Rates']['data']): void {
  out.table(
    ['CURRENCY', 'RATE', 'SOURCE', 'AGE', ''],
    items.map((one) => [
      one.currency,
      String(one.rate),
      one.source,
      age(one.ageSeconds),
      one.isSold ? '' : 'too old to sell at',
    ]),
  );
  if (waiting.length > 0) {
    out.line('\nheld for review; accept one with rates confirm <number>, end it with rates decline <number>');
    out.table(
      ['NUMBER', 'CURRENCY', 'RATE', 'SOURCE', 'OBSERVED'],
      waiting.map((one) => [
        one.rateId,
        one.currency,
        String(one.rate),
        one.proposedBy ?? one.source,
        moment(one.observedAt),
      ]),
    );
  }
  if (changes.length > 0) {
    out.line('\nset by people');
    out.table(
      ['AT', 'CURRENCY', 'RATE', 'BY', 'REASON'],
      changes.map((one) => [moment(one.at), one.currency, rateText(one.rate), one.by, one.reason]),
    );
  }
}

const HISTORY_LINES = 20;

const CHANGES = {
  userMarkup: option(percentage.optional(), "markup on users' prices", 'percent'),
  merchantMarkup: option(percentage.optional(), "markup on merchants' prices", 'percent'),
  ngnIncrement: option(percentage.optional(), 'increment on prices in NGN', 'percent'),
  examples: option(count(100, 5), 'how many packages to show, 5 by default', 'n'),
};

const PRICES = financeCommand({
  syntax: 'prices',
  summary: 'Lists markups and the NGN increment, newest first',
  help: 'Lists markups and the NGN increment, newest first. The first line applies.',
  options: z.object({}),
  run: async ({ ops, out }) => {
    const query = { limit: HISTORY_LINES };
    const { items, waiting } = await dataOf(ops.GET('/ops/prices', { params: { query } }));
    out.json(items);
    out.table(
      ['FROM', 'USER', 'MERCHANT', 'NGN', 'BY', 'REASON', 'CONFIRMED BY'],
      items.map((one) => [
        ...[moment(one.validFrom), ...percentages(one), one.by, one.reason],
        one.confirmedBy ?? 'not needed',
      ]),
    );
    if (waiting.length === 0) return;
    out.line(
      '\nawaiting another person; accept them with prices confirm <number>, end them with prices decline <number>',
    );
    out.table(
      ['NUMBER', 'USER', 'MERCHANT', 'NGN', 'BY', 'REASON'],
      waiting.map((one) => [one.proposalId, ...percentages(one), one.proposedBy, one.reason]),
    );
  },
});

async function readPrices(ops: Ops, limit: number) {
  return (await dataOf(ops.GET('/ops/prices', { params: { query: { limit } } }))).items;
}

const PRICE_CHANGES = [
  financeCommand({
    syntax: 'preview',
    summary: 'Shows package prices before and after a change',
    help: 'Shows prices before and after a change, of the packages whose price changes most. Changes nothing.',
    options: z.object(CHANGES),
    run: async ({ options, ops, out }) => {
      const { preview } = await previewPrices(ops, options);
      out.json(preview);
      printPrices(out, preview);
      if (preview.outcome !== 'set') out.line(OUTCOMES[preview.outcome]);
    },
  }),
  financeCommand({
    syntax: 'set',
    summary: 'Sets markups and the NGN increment',
    help: 'Sets markups and the NGN increment, in percent. What is not given stays. Open purchases keep their quoted price.',
    options: z.object({ ...CHANGES, reason: REASON, dryRun: DRY_RUN, yes: YES }),
    run: async ({ options, ops, out }) => {
      if (Object.keys(toChange(options)).length === 0) throw new UsageMistake('Give at least one percentage');
      const { preview, terms } = await previewPrices(ops, options);
      const { version, before, after } = preview;
      printPrices(out, preview);
      if (preview.outcome !== 'set') out.line(OUTCOMES[preview.outcome]);
      if (options.dryRun) {
        out.json({ outcome: preview.outcome === 'set' ? 'would-do' : preview.outcome, before, after });
        return 0;
      }
      if (!(await isConfirmed(out, options.yes, 'Apply these prices?'))) return 1;
      const body = { version, ...terms, reason: options.reason };
      const made = await dataOf<Schemas['PricesSet'] | Schemas['PricesWait']>(
        ops.POST('/ops/prices', { body }),
      );
      out.json({ ...made, before, after });
      if (made.outcome === 'waits')
        out.line(`Another person must confirm them within 24 hours: prices confirm ${made.proposalId}`);
      else out.line(made.outcome === 'set' ? APPLIES : 'No change: already set');
      return 0;
    },
  }),
  financeCommand({
    syntax: 'confirm <number>',
    summary: 'Confirms markups that another person set',
    help: 'Confirms markups that another person set. `prices` lists them with their numbers.',
    options: z.object({ reason: REASON, dryRun: DRY_RUN }),
    run: async ({ args: [number = ''], options: { dryRun, reason }, ops, out }) => {
      const proposalId = rowNumber(number);
      if (dryRun) {
        const { waiting } = await dataOf(ops.GET('/ops/prices'));
        const found = waiting.find((one) => one.proposalId === proposalId);
        if (!found) throw new OperatorMistake(`No markups with number ${number} wait`);
        out.json({ outcome: 'would-do', ...found });
        out.line(`would apply: ${percentages(found).join(', ')}`);
        return 0;
      }
      const about = { params: { path: { proposalId } }, body: { reason } };
      out.json(await dataOf(ops.POST('/ops/prices/{proposalId}/confirm', about)));
      out.line(APPLIES);
      return 0;
    },
  }),
  declineCommand('markups', (ops, proposalId, reason) =>
    dataOf(
      ops.POST('/ops/prices/{proposalId}/decline', { params: { path: { proposalId } }, body: { reason } }),
    ),
  ),
];

/** Rates and markups that await a second person, and how to decide; empty for those who may not see them. */
export async function waitingPricing(ops: Ops) {
  const { permissions } = await dataOf(ops.GET('/ops/me'));
  if (!permissions.includes('pricing')) return { items: [], rows: [] };
  const [{ waiting: rates }, { waiting: markups }] = await Promise.all([
    dataOf(ops.GET('/ops/rates')),
    dataOf(ops.GET('/ops/prices')),
  ]);
  const until = (at: string) => moment(new Date(Date.parse(at) + DAY_MS).toISOString());
  return {
    items: [...rates, ...markups],
    rows: [
      ...rates.map((one) => [
        ...[`rates confirm ${one.rateId}`, '', 'rate', `${one.currency} ${one.rate}`],
        ...[one.proposedBy ?? one.source, one.reason ?? '', until(one.observedAt)],
      ]),
      ...markups.map((one) => [
        ...[`prices confirm ${one.proposalId}`, '', 'markups', percentages(one).join(', ')],
        ...[one.proposedBy, one.reason, until(one.proposedAt)],
      ]),
    ],
  };
}

const SUPPLIER_PRICES = financeCommand({
  syntax: 'supplier-prices',
  summary: 'Lists prices of the supplier that await a person',
  help: 'Lists prices of the supplier that moved far from the last one. Until one is confirmed, the last price counts.',
  options: z.object({}),
  run: async ({ ops, out }) => {
    const { items } = await dataOf(ops.GET('/ops/supplier-prices'));
    out.json(items);
    out.table(
      ['NUMBER', 'PACKAGE', 'LAST', 'LISTED', 'SINCE'],
      items.map((one) => [
        ...[one.holdId, one.packageCode, money(one.costUsd, 'USD4'), money(one.heldCostUsd, 'USD4')],
        moment(one.since),
      ]),
    );
  },
});

const HELD_PRICES = [
  financeCommand({
    syntax: 'confirm <number>',
    summary: 'Accepts a price of the supplier',
    help: 'Accepts a price of the supplier. `supplier-prices` lists them with their numbers.',
    options: z.object({ reason: REASON, dryRun: DRY_RUN }),
    run: async ({ args: [number = ''], options: { dryRun, reason }, ops, out }) => {
      const holdId = rowNumber(number);
      if (dryRun) {
        const { items } = await dataOf(ops.GET('/ops/supplier-prices'));
        const held = items.find((one) => one.holdId === holdId);
        if (!held) throw new OperatorMistake(`No price with number ${number} is held`);
        out.json({ outcome: 'would-do', ...held });
        out.line(`would apply: ${held.packageCode} ${money(held.heldCostUsd, 'USD4')}`);
        return 0;
      }
      const about = { params: { path: { holdId } }, body: { reason } };
      out.json(await dataOf(ops.POST('/ops/supplier-prices/{holdId}/confirm', about)));
      out.line(APPLIES);
      return 0;
    },
  }),
];

const OUTCOMES: Record<'waits' | 'below-cost', string> = {
  waits: 'A price moves far from the agreed one: another person must confirm it',
  'below-cost': 'Would be refused: packages would be sold below cost at the agreed rate',
};

type Changes = z.output<z.ZodObject<typeof CHANGES>>;

const toChange = (options: Changes) =>
  defined({
    userMarkupPercent: options.userMarkup,
    merchantMarkupPercent: options.merchantMarkup,
    ngnIncrementPercent: options.ngnIncrement,
  });

/** What is not given stays as it is. */
async function previewPrices(ops: Ops, options: Changes) {
  const [present] = await readPrices(ops, 1);
  if (!present) throw new OperatorMistake('No prices are set yet');
  const { userMarkupPercent, merchantMarkupPercent, ngnIncrementPercent } = present;
  const terms = { userMarkupPercent, merchantMarkupPercent, ngnIncrementPercent, ...toChange(options) };
  const query = { limit: options.examples };
  const preview = await dataOf(ops.POST('/ops/prices/preview', { params: { query }, body: terms }));
  return { preview, terms };
}

const percentages = (
  one: Pick<
    Schemas['PricePreview']['data']['before'],
    'userMarkupPercent' | 'merchantMarkupPercent' | 'ngnIncrementPercent'
  >,
): string[] =>
  [one.userMarkupPercent, one.merchantMarkupPercent, one.ngnIncrementPercent].map(
    (percent) => `${percent.toFixed(2)} %`,
  );

function printPrices(out: Output, preview: Schemas['PricePreview']['data']): void {
  const { before, after, items, packages, topUps } = preview;
  out.table(
    ['', 'USER', 'MERCHANT', 'NGN'],
    [
      ['before', ...percentages(before)],
      ['after', ...percentages(after)],
    ],
  );
  out.line(`\n${packages} packages and ${topUps} top-ups are on sale; those that change most:`);
  out.table(
    ['PACKAGE', 'FOR', 'COST', 'BEFORE', 'AFTER'],
    items.flatMap(({ packageCode, costUsd, prices }) =>
      prices.map((one) => [
        ...[packageCode, one.accountType, money(costUsd, 'USD4')],
        ...[money(one.before, one.currency), money(one.after, one.currency)],
      ]),
    ),
  );
}

const withBelow = (add: AddCommand, below: readonly AddCommand[]) => (group: FinanceGroup) => {
  const parent = add(group);
  for (const addBelow of below) addBelow({ ...group, parent });
};

export const PRICING = [
  withBelow(RATES, RATE_CHANGES),
  withBelow(PRICES, PRICE_CHANGES),
  withBelow(SUPPLIER_PRICES, HELD_PRICES),
];
