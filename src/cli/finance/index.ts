/**
 * `npm run finance`: the command line of those who find what is stuck and put it right. It trusts whoever holds the database's address; who
 * and why, on every move, are for the record. Standard output is the answer alone; it ends 0 done, 1 refused or failed, 2 called wrongly.
 */
import { createInterface } from 'node:readline/promises';
import { EngineUnavailable } from '../../operations/replay.ts';
import { composeFinance, type FinanceAddresses } from '../../platform/composition/finance.ts';
import type { FinanceSettings, FinanceWorldConfig } from '../../platform/config/config.ts';
import { DomainError } from '../../domain/errors.ts';
import { OperatorMistake } from '../operator-mistake.ts';
import { approvalsCommand, approveCommand, declineCommand } from './approvals.ts';
import { bookCommands } from './books.ts';
import { UsageMistake, type Command, type ExitCode, type ParsedCommand } from './command.ts';
import { dismissCommand } from './dismiss.ts';
import { ledgerCommand } from './ledger.ts';
import { moveCommands } from './moves.ts';
import { createOutput, type Streams } from './output.ts';
import { priceCommands } from './prices.ts';
import { rateCommands } from './rates.ts';
import { reconcileCommands } from './reconcile.ts';
import { replayCommand } from './replay.ts';
import { showCommand } from './show.ts';
import { stuckCommand } from './stuck.ts';

export const FINANCE_COMMANDS: readonly Command[] = [
  stuckCommand,
  showCommand,
  replayCommand,
  ...moveCommands,
  dismissCommand,
  approvalsCommand,
  approveCommand,
  declineCommand,
  ...reconcileCommands,
  ledgerCommand,
  ...bookCommands,
  ...rateCommands,
  ...priceCommands,
];

/** Runs one command; `words` is what follows `finance`. Throws only what nobody foresaw. */
export async function runFinance(
  settings: FinanceSettings,
  addresses: () => Promise<FinanceAddresses>,
  words: readonly string[],
  streams: Streams = processStreams(),
): Promise<ExitCode> {
  const command = findCommand(words);
  if (!command) {
    const asksForHelp = words.length === 0 || ['help', '--help', '-h'].includes(words[0] ?? '');
    (asksForHelp ? streams.stdout : streams.stderr)(`${usage()}\n`);
    return asksForHelp ? 0 : 2;
  }
  try {
    const parsed = command.parse(words.slice(command.name.split(' ').length));
    if (parsed.isHelp) {
      streams.stdout(`${helpOf(command)}\n`);
      return 0;
    }
    return await runIn(worldOf(settings, parsed), addresses, parsed, streams);
  } catch (error) {
    return tellMistake(error, command, streams);
  }
}

async function runIn(
  config: FinanceWorldConfig,
  findAddresses: () => Promise<FinanceAddresses>,
  parsed: ParsedCommand,
  streams: Streams,
): Promise<ExitCode> {
  const addresses = await findAddresses();
  if (parsed.needsTemporal && addresses.temporalAddress === undefined)
    throw new OperatorMistake('this needs Temporal: set TEMPORAL_ADDRESS');
  const world = composeFinance(addresses, config);
  try {
    return await parsed.run(world, createOutput(streams, parsed.isJson));
  } finally {
    await world.close();
  }
}

/** A name of two words goes before one of one. */
function findCommand([first = '', second = '']: readonly string[]): Command | undefined {
  const named = (name: string) => FINANCE_COMMANDS.find((command) => command.name === name);
  return named(`${first} ${second}`) ?? named(first);
}

/** The sandbox unless there is live money; then the person says which. */
function worldOf({ worlds }: FinanceSettings, { worldName }: ParsedCommand): FinanceWorldConfig {
  if (worldName === undefined && worlds.live)
    throw new UsageMistake('live is switched on: say --world live or --world test');
  const config = worlds[worldName ?? 'test'];
  if (!config) throw new OperatorMistake('the live world is switched off');
  return config;
}

function tellMistake(error: unknown, command: Command, { stderr }: Streams): ExitCode {
  if (error instanceof UsageMistake) {
    stderr(`${error.message}\nusage: ${command.name} ${command.usage}\n`);
    return 2;
  }
  const isTheirs =
    error instanceof OperatorMistake || error instanceof DomainError || error instanceof EngineUnavailable;
  const away = awayFrom(error);
  if (!isTheirs && away === undefined) throw error;
  stderr(`${away ?? (error as Error).message}\n`);
  return 1;
}

/** What a database that is not there is told as, without a word of its address. */
function awayFrom(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown };
  const isNoConnection = typeof code === 'string' && /^(E[A-Z]+|28\w{3}|3D000|57P0\d)$/.test(code);
  return isNoConnection ? `Postgres cannot be asked (${code})` : undefined;
}

const WIDTH = 18;

function usage(): string {
  const lines = FINANCE_COMMANDS.map(
    ({ name, help }) => `  ${name.padEnd(WIDTH)}${help.split(/[.;:]|\n/)[0] ?? ''}`,
  );
  return `usage: npm run finance -- <command> [--world test|live] [--json] [--help]\n${lines.join('\n')}`;
}

function helpOf({ name, usage: flags, help }: Command): string {
  return `usage: npm run finance -- ${name} ${flags} [--world test|live] [--json]\n\n${help}`;
}

function processStreams(): Streams {
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    isTerminal: process.stdin.isTTY && process.stderr.isTTY,
    ask: async (question) => {
      const person = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await person.question(question);
      } finally {
        person.close();
      }
    },
  };
}
