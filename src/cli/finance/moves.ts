/** The operator's moves as commands: each takes one purchase or funding, those that need no amount also all that a filter finds. */
import { z } from 'zod';
import type { MoveRequest } from '../../operations/actions.ts';
import type { ActionOutcome } from '../../operations/rules.ts';
import { defineCommand, UsageMistake, type Command } from './command.ts';
import { amount, currency, text, WHO } from './fields.ts';
import { previewEntryOf } from './foresight.ts';
import type { Result } from './result.ts';
import { doToAll, FILTER, FILTER_USAGE } from './targets.ts';
import type { OperatorAction } from '../../accounts/roles.ts';
import { DISPUTE_OUTCOMES } from '../../payments/rules.ts';

interface MoveSpec {
  readonly name: string;
  readonly move: OperatorAction;
  readonly help: string;
  /** Flags beyond who, why and evidence. */
  readonly takes?: 'amount' | 'package';
  readonly evidence: 'needed' | 'where needed';
  /** How a claim ended is to be stated. */
  readonly settles?: true;
  /** May be asked for although it was delivered. */
  readonly goodwill?: true;
}

const SPECS: readonly MoveSpec[] = [
  {
    name: 'refund',
    move: 'refund-to-source',
    help: 'sends money back to where it came from, over the gateway; at most what was paid and is not given back',
    takes: 'amount',
    evidence: 'where needed',
    goodwill: true,
  },
  {
    name: 'credit',
    move: 'credit-wallet',
    help: 'gives money back into the account’s wallet; --evidence says where it can be seen that the gateway sends nothing',
    takes: 'amount',
    evidence: 'where needed',
    goodwill: true,
  },
  {
    name: 'mark-paid',
    move: 'mark-paid',
    help: 'takes a payment for made, by the evidence of a statement or a ticket, and goes on with the purchase',
    takes: 'amount',
    evidence: 'needed',
  },
  {
    name: 'deliver-other',
    move: 'deliver-other',
    help: 'delivers another, equal package in place of the one that the supplier does not deliver; --package names it',
    takes: 'package',
    evidence: 'where needed',
  },
  {
    name: 'cancel',
    move: 'cancel',
    help: 'ends an open purchase or funding, or a charge left open; money that came goes back',
    evidence: 'where needed',
  },
  {
    name: 'settle',
    move: 'settle-claim',
    help: `Settles a dispute or a claim on money: --outcome won or lost, checked against the gateway. --dispute names one where several
are open. --override goes against the gateway's word: another person must approve it`,
    evidence: 'needed',
    settles: true,
  },
];

const FLAGS = {
  ...FILTER,
  ...WHO,
  evidence: text(500).optional(),
  key: text(200).optional(),
  amount: amount.optional(),
  package: text(100).optional(),
  outcome: z.enum(DISPUTE_OUTCOMES, 'takes won or lost').optional(),
  dispute: text(100).optional(),
};

export const moveCommands: readonly Command[] = SPECS.map(defineMove);

/** What a move does not take is not a flag of its command. */
function defineMove(spec: MoveSpec): Command {
  const { takes, goodwill, settles } = spec;
  const { amount: amountFlag, package: packageFlag, outcome: outcomeFlag, dispute, ...common } = FLAGS;
  const flags = z.object({
    ...common,
    ...(takes === 'amount' ? { amount: amountFlag, currency: currency.optional() } : {}),
    ...(takes === 'package' ? { package: packageFlag } : {}),
    ...(settles ? { outcome: outcomeFlag, dispute } : {}),
  }) as unknown as z.ZodObject<typeof FLAGS>;
  const switches = [
    ...(goodwill ? (['goodwill'] as const) : []),
    ...(settles ? (['override'] as const) : []),
    'dry-run' as const,
    'yes' as const,
  ];
  return defineCommand({
    name: spec.name,
    usage: usageOf(spec),
    help: spec.help,
    words: [0, 1],
    flags,
    switches,
    needsTemporal: true,
    run: ({ words, flags: given, switches: on, world, out }) => {
      const { by, reason, evidence, key, amount: amountMinor, package: packageCode, ...rest } = given;
      const { outcome, dispute: disputeId, ...filter } = rest;
      const [named] = words;
      const ofOne = { amountMinor, packageCode, disputeId, key };
      if (named === undefined && Object.values(ofOne).some((value) => value !== undefined))
        throw new UsageMistake('--amount, --package, --dispute and --key go with one id');
      if (amountMinor !== undefined && filter.currency === undefined)
        throw new UsageMistake('--amount goes with --currency');
      // Beside an amount the currency is the amount's, not a filter.
      const { currency: inCurrency, ...others } = filter;
      const isAmount = amountMinor !== undefined && inCurrency !== undefined;
      const requestFor = (transactionId: string): MoveRequest => ({
        transactionId,
        move: spec.move,
        by,
        reason,
        ...(evidence === undefined ? {} : { evidence }),
        ...(key === undefined ? {} : { moveKey: key }),
        ...(packageCode === undefined ? {} : { packageCode }),
        ...(isAmount ? { amount: { amountMinor, currency: inCurrency } } : {}),
        ...(goodwill && on.goodwill ? { goodwill: true } : {}),
        ...(outcome === undefined ? {} : { outcome }),
        ...(disputeId === undefined ? {} : { disputeId }),
        ...(settles && on.override ? { overrides: true } : {}),
      });
      return doToAll({
        world,
        out,
        words,
        flags: isAmount ? { ...others, currency: undefined } : filter,
        isYes: on.yes,
        isPreview: false,
        isDryRun: on['dry-run'],
        verb: `Do ${spec.move} to`,
        foresee: async (transactionId) =>
          previewEntryOf(transactionId, await world.moves.foresee(requestFor(transactionId))),
        act: async (transactionId) =>
          toResult(transactionId, await world.moves.make(requestFor(transactionId))),
      });
    },
  });
}

function usageOf({ takes, evidence, goodwill, settles }: MoveSpec): string {
  return [
    `<transactionId> | ${FILTER_USAGE} `,
    ...(takes === 'amount' ? ['[--amount 12.50 --currency NGN]'] : []),
    ...(takes === 'package' ? ['[--package <code>]'] : []),
    ...(goodwill ? ['[--goodwill]'] : []),
    ...(settles ? ['--outcome won|lost [--dispute <id>] [--override]'] : []),
    evidence === 'needed' ? '--evidence <where>' : '[--evidence <where>]',
    '--by <person> --reason <text> [--key <text>] [--dry-run] [--yes]',
  ].join(' ');
}

/** A move's outcome, all of it, with a sentence for people. */
export type MoveResult = Result &
  Partial<Omit<Extract<ActionOutcome, { outcome: 'refused' }>, 'outcome' | 'detail'>> & {
    readonly moveId?: string;
  };

export function toResult(transactionId: string, outcome: ActionOutcome): MoveResult {
  switch (outcome.outcome) {
    case 'done':
      return {
        transactionId,
        outcome: 'done',
        moveId: outcome.moveId,
        detail: outcome.again ? `${outcome.did} (done before; nothing was done now)` : outcome.did,
      };
    case 'waits-for-approval':
      return {
        transactionId,
        outcome: 'waits-for-approval',
        moveId: outcome.moveId,
        detail: `another person has until ${outcome.expiresAt}: approve ${outcome.moveId} --by <person>`,
      };
    case 'refused': {
      const { code, detail, fits } = outcome;
      const instead = fits.length === 0 ? 'nothing fits now' : `what fits now: ${fits.join(', ')}`;
      return { transactionId, outcome: 'refused', code, fits, detail: `${code}: ${detail}; ${instead}` };
    }
    case 'unknown':
      return { transactionId, outcome: 'unknown', detail: outcome.detail };
  }
}
