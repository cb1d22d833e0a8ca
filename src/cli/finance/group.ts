import type { Command } from 'commander';
import { z } from 'zod';
import { composeFinance, type FinanceWorld } from '../../app/composition/finance.ts';
import { readFinanceSettings, type FinanceSettings } from '../../app/config/config.ts';
import {
  addCommand,
  option,
  OperatorMistake,
  toggle,
  UsageMistake,
  type CommandSpec,
  type ExitCode,
} from '../../platform/command.ts';
import { NOTHING_RUNS, type Cli } from '../context.ts';
import { createOutput, type Output } from './output.ts';

export interface FinanceGroup {
  readonly cli: Cli;
  readonly parent: Command;
}

interface FinanceCommandSpec<Options extends z.ZodObject> extends Omit<CommandSpec<Options>, 'run'> {
  /** The rows alone are not enough. */
  readonly needsTemporal?: boolean;
  readonly run: (request: FinanceRequest<z.output<Options>>) => Promise<ExitCode>;
}

export interface FinanceRequest<Options> {
  readonly args: readonly string[];
  readonly options: Options;
  readonly world: FinanceWorld;
  readonly out: Output;
}

const COMMON = {
  environment: option(z.enum(['test', 'live']).optional(), 'required once live is switched on', 'test|live'),
  json: toggle('prints one JSON value'),
};

/** Adds a command that works on one environment, which is opened for it and closed after it. */
export function addFinanceCommand<Options extends z.ZodObject>(
  { cli, parent }: FinanceGroup,
  { options: own, needsTemporal = false, run, ...spec }: FinanceCommandSpec<Options>,
): Command {
  return addCommand(parent, {
    ...spec,
    options: own.extend(COMMON),
    run: async (given, ...args) => {
      const options = given as z.output<Options> & z.output<z.ZodObject<typeof COMMON>>;
      const { databaseUrl, temporal, ...settings } = await findSettings(cli);
      const config = worldConfig(settings, options.environment);
      if (databaseUrl === undefined) throw new OperatorMistake(NOTHING_RUNS);
      if (needsTemporal && !temporal)
        throw new OperatorMistake('This command needs Temporal: set TEMPORAL_ADDRESS');
      const world = composeFinance({ databaseUrl, temporal }, config);
      try {
        const out = createOutput(cli.terminal, options.json);
        cli.exitCode = await run({ args, options, world, out });
      } finally {
        await world.close();
      }
    },
  });
}

/** The test environment, unless there is live money: then the person says which. */
function worldConfig({ worlds }: Pick<FinanceSettings, 'worlds'>, name: 'test' | 'live' | undefined) {
  if (name === undefined && worlds.live)
    throw new UsageMistake(
      'The live environment is switched on: add --environment live or --environment test',
    );
  const config = worlds[name ?? 'test'];
  if (!config) throw new OperatorMistake('The live environment is switched off');
  return config;
}

/** Of the installation that the environment names, else of the `npm start` of this checkout. */
async function findSettings({ env, findRunning }: Cli) {
  const given = readFinanceSettings(env);
  if (given.databaseUrl !== undefined) return given;
  const running = await findRunning();
  if (!running) return given;
  return { ...readFinanceSettings(env, running.settings), databaseUrl: running.databaseUrl };
}
