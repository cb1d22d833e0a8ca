/** `rates`, `rates set`, `rates confirm`: what is sold at, and a person's word on it. */
import { z } from 'zod';
import { confirmRate, listRates, previewRate, setRate } from '../../catalogue/rates.ts';
import { formatRateMicros } from '../../catalogue/pricing.ts';
import { OperatorMistake } from '../operator-mistake.ts';
import { isConfirmed } from './confirm.ts';
import { defineCommand, UsageMistake, type Command } from './command.ts';
import { currency, rate, rowId, WHO } from './fields.ts';
import { age, moment, type Output } from './output.ts';

export const rateCommands: readonly Command[] = [
  defineCommand({
    name: 'rates',
    usage: '',
    help: 'the rates that are sold at, with their age, what waits in quarantine, and what people set',
    words: [0, 0],
    flags: z.object({}),
    run: async ({ world, out }) => {
      const view = await listRates(world);
      out.json(view);
      if (!out.isJson) tell(out, view);
      return 0;
    },
  }),
  defineCommand({
    name: 'rates set',
    usage: '--currency NGN --rate 1620.50|config --by <person> --reason <text> [--dry-run] [--yes]',
    help: `how much of a currency one US dollar is, from now on and until the next word; config gives it back to the
configuration. Open purchases keep the rate they were quoted at`,
    words: [0, 0],
    flags: z.object({ currency, rate, ...WHO }),
    switches: ['dry-run', 'yes'],
    run: async ({ flags, switches, world, out }) => {
      if (flags.currency === 'USD') throw new OperatorMistake('the dollar is what rates are counted in');
      const change = await previewRate(world, { currency: flags.currency, micros: flags.rate });
      out.line(
        `${change.currency}: ${written(change.beforeMicros)} → ${written(change.afterMicros)}${change.isJump ? ', MORE THAN 10 % OFF' : ''}`,
      );
      if (switches['dry-run']) {
        out.json({ outcome: 'would-do', ...change });
        return 0;
      }
      if (!(await isConfirmed(out, switches.yes, 'Sell at it?'))) return 1;
      await setRate(world, {
        currency: flags.currency,
        micros: flags.rate,
        by: flags.by,
        reason: flags.reason,
      });
      out.json({ outcome: 'done', ...change });
      out.line(
        flags.rate === null
          ? 'the configuration counts again at its next refresh'
          : 'sold at within a second',
      );
      return 0;
    },
  }),
  defineCommand({
    name: 'rates confirm',
    usage: '<number> --by <person> --reason <text> [--dry-run]',
    help: 'lets an observation out of quarantine; `rates` lists them with their numbers',
    words: [1, 1],
    flags: z.object(WHO),
    switches: ['dry-run'],
    run: async ({ words: [word = ''], flags, switches, world, out }) => {
      const id = rowId.safeParse(word);
      if (!id.success) throw new UsageMistake(`no number: ${word}`);
      if (switches['dry-run']) {
        const held = (await listRates(world)).waiting.find((one) => one.id === word);
        if (!held) throw new OperatorMistake(`no observation ${word} waits`);
        out.json({ outcome: 'would-do', ...held });
        out.line(`would sell at: ${held.currency} ${formatRateMicros(held.micros)}`);
        return 0;
      }
      const outcome = await confirmRate(world, { id: id.data, ...flags });
      if (outcome === undefined) throw new OperatorMistake(`no observation ${word} of the last 24 hours`);
      out.json({ outcome });
      out.line(outcome === 'confirmed' ? 'confirmed: sold at within a second' : 'it was good already');
      return 0;
    },
  }),
];

function written(micros: bigint | null | undefined): string {
  if (micros === undefined) return 'no rate';
  return micros === null ? 'as configured' : formatRateMicros(micros);
}

function tell(out: Output, { good, waiting, words }: Awaited<ReturnType<typeof listRates>>): void {
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
    out.line('\nin quarantine: rates confirm <number>');
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
      words.map((word) => [moment(word.at), word.currency, written(word.micros), word.by, word.reason]),
    );
  }
}
