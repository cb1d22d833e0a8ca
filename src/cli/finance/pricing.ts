/** What packages are sold at: exchange rates, markups and the NGN increment. */
import { z } from 'zod';
import { listPrices, previewPrices, setPrices, type PricePreview } from '../../catalogue/price-settings.ts';
import { formatRateMicros, type PricingSettings } from '../../catalogue/pricing.ts';
import { confirmRate, listRates, previewRate, setRate } from '../../catalogue/rates.ts';
import { defined, option, OperatorMistake, UsageMistake } from '../../platform/command.ts';
import { count, currency, DRY_RUN, percentage, rate, rowNumber, WHO, YES } from '../values.ts';
import { addFinanceCommand, type FinanceGroup } from './group.ts';
import { age, isConfirmed, moment, money, type Output } from './output.ts';

const APPLIES = 'Applies within a second';

export function addRateCommands(group: FinanceGroup): void {
  const rates = addFinanceCommand(group, {
    syntax: 'rates',
    summary: 'Shows current rates, and rates awaiting review',
    options: z.object({}),
    run: async ({ world, out }) => {
      const view = await listRates(world);
      out.json(view);
      printRates(out, view);
      return 0;
    },
  });
  addRateChanges({ ...group, parent: rates });
}

function addRateChanges(group: FinanceGroup): void {
  addFinanceCommand(group, {
    syntax: 'set',
    summary: 'Sets the rate of a currency',
    help: `Sets how many units of a currency one US dollar is. Applies until changed; --rate config returns to the configured
rate. Open purchases keep the rate they were quoted at.`,
    options: z.object({
      currency: option(currency, 'such as NGN', 'code'),
      rate: option(rate, 'such as 1620.50', 'rate|config'),
      ...WHO,
      dryRun: DRY_RUN,
      yes: YES,
    }),
    run: async ({ options: { currency: code, rate: micros, by, reason, dryRun, yes }, world, out }) => {
      if (code === 'USD') throw new OperatorMistake('Rates are counted in US dollars: USD has none');
      const change = await previewRate(world, { currency: code, micros });
      const warning = change.isJump ? ', MORE THAN 10 % OFF' : '';
      out.line(`${code}: ${rateText(change.beforeMicros)} → ${rateText(change.afterMicros)}${warning}`);
      if (dryRun) {
        out.json({ outcome: 'would-do', ...change });
        return 0;
      }
      if (!(await isConfirmed(out, yes, 'Apply this rate?'))) return 1;
      await setRate(world, { currency: code, micros, by, reason });
      out.json({ outcome: 'done', ...change });
      const when = micros === null ? 'The configured rate applies after its next refresh' : APPLIES;
      out.line(when);
      return 0;
    },
  });
  addFinanceCommand(group, {
    syntax: 'confirm <number>',
    summary: 'Accepts a held rate',
    help: 'Accepts a held rate. `rates` lists them with their numbers.',
    options: z.object({ ...WHO, dryRun: DRY_RUN }),
    run: async ({ args: [number = ''], options: { dryRun, by, reason }, world, out }) => {
      const id = rowNumber(number);
      if (dryRun) {
        const held = (await listRates(world)).waiting.find((one) => one.id === number);
        if (!held) throw new OperatorMistake(`No rate ${number} is held`);
        out.json({ outcome: 'would-do', ...held });
        out.line(`would apply: ${held.currency} ${formatRateMicros(held.micros)}`);
        return 0;
      }
      const outcome = await confirmRate(world, { id, by, reason });
      if (outcome === undefined) throw new OperatorMistake(`No rate ${number} in the last 24 hours`);
      if (outcome === 'not-independent')
        throw new OperatorMistake(
          'Another person, independent of the one who set this rate, must confirm it',
        );
      out.json({ outcome });
      out.line(
        outcome === 'confirmed' ? 'Accepted; applies within a second' : 'No change: the rate was not held',
      );
      return 0;
    },
  });
}

/** null: as configured. */
function rateText(micros: bigint | null | undefined): string {
  if (micros === undefined) return 'no rate';
  return micros === null ? 'as configured' : formatRateMicros(micros);
}

function printRates(out: Output, { good, waiting, words }: Awaited<ReturnType<typeof listRates>>): void {
  out.table(
    ['CURRENCY', 'RATE', 'SOURCE', 'AGE', ''],
    good.map((one) => [
      one.currency,
      formatRateMicros(one.micros),
      one.source,
      age(one.ageSeconds),
      one.isSold ? '' : 'too old to sell at',
    ]),
  );
  if (waiting.length > 0) {
    out.line('\nheld for review; accept one with rates confirm <number>');
    out.table(
      ['NUMBER', 'CURRENCY', 'RATE', 'SOURCE', 'OBSERVED'],
      waiting.map((one) => [
        one.id,
        one.currency,
        formatRateMicros(one.micros),
        one.source,
        moment(one.observedAt),
      ]),
    );
  }
  if (words.length > 0) {
    out.line('\nset by people');
    out.table(
      ['AT', 'CURRENCY', 'RATE', 'BY', 'REASON'],
      words.map((one) => [moment(one.at), one.currency, rateText(one.micros), one.by, one.reason]),
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

export function addPriceCommands(group: FinanceGroup): void {
  const prices = addFinanceCommand(group, {
    syntax: 'prices',
    summary: 'Lists markups and the NGN increment, newest first',
    help: 'Lists markups and the NGN increment, newest first. The first line applies.',
    options: z.object({}),
    run: async ({ world, out }) => {
      const settings = await listPrices(world.db, HISTORY_LINES);
      out.json(settings);
      out.table(
        ['FROM', 'USER', 'MERCHANT', 'NGN', 'BY', 'REASON'],
        settings.map((one) => [moment(one.validFrom), ...percentages(one), one.by, one.reason]),
      );
      return 0;
    },
  });
  addPriceChanges({ ...group, parent: prices });
}

function addPriceChanges(group: FinanceGroup): void {
  addFinanceCommand(group, {
    syntax: 'preview',
    summary: 'Shows package prices before and after a change',
    help: 'Shows prices before and after a change, of packages from the cheapest to the dearest. Changes nothing.',
    options: z.object(CHANGES),
    run: async ({ options, world, out }) => {
      const preview = await previewPrices(world.db, toChange(options), options.examples);
      out.json(preview);
      printPrices(out, preview);
      return 0;
    },
  });
  addFinanceCommand(group, {
    syntax: 'set',
    summary: 'Sets markups and the NGN increment',
    help: 'Sets markups and the NGN increment, in percent. What is not given stays. Open purchases keep their quoted price.',
    options: z.object({ ...CHANGES, ...WHO, dryRun: DRY_RUN, yes: YES }),
    run: async ({ options, world, out }) => {
      const change = toChange(options);
      if (Object.keys(change).length === 0) throw new UsageMistake('Give at least one percentage');
      const preview = await previewPrices(world.db, change, options.examples);
      const { before, after } = preview;
      printPrices(out, preview);
      if (options.dryRun) {
        out.json({ outcome: 'would-do', before, after });
        return 0;
      }
      if (!(await isConfirmed(out, options.yes, 'Apply these prices?'))) return 1;
      const outcome = await setPrices(world.db, preview, { by: options.by, reason: options.reason });
      if (outcome === 'changed-meanwhile')
        throw new OperatorMistake(
          'Prices changed since the preview: nothing was done, run the command again',
        );
      out.json({ outcome, before, after });
      out.line(outcome === 'set' ? APPLIES : 'No change: already set');
      return 0;
    },
  });
}

const toChange = (options: z.output<z.ZodObject<typeof CHANGES>>) =>
  defined({
    userMarkupBps: options.userMarkup,
    merchantMarkupBps: options.merchantMarkup,
    ngnIncrementBps: options.ngnIncrement,
  });

const percentages = (one: Omit<PricingSettings, 'id'>): string[] =>
  [one.userMarkupBps, one.merchantMarkupBps, one.ngnIncrementBps].map((bps) => `${money(BigInt(bps), '')} %`);

function printPrices(out: Output, { before, after, examples }: PricePreview): void {
  out.table(
    ['', 'USER', 'MERCHANT', 'NGN'],
    [
      ['before', ...percentages(before)],
      ['after', ...percentages(after)],
    ],
  );
  out.line('');
  out.table(
    ['PACKAGE', 'FOR', 'COST', 'BEFORE', 'AFTER'],
    examples.map((one) => [
      one.packageCode,
      one.accountType,
      money(one.costUsdE4, 'USD4'),
      money(one.beforeMinor, one.currency),
      money(one.afterMinor, one.currency),
    ]),
  );
}
