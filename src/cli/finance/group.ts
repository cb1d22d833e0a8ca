import type { Command } from 'commander';
import { connectOps, Refusal, type Ops } from 'simway-client';
import { z } from 'zod';
import { secureUrl } from '../../app/config/fields.ts';
import {
  addCommand,
  option,
  OperatorMistake,
  toggle,
  UsageMistake,
  type CommandSpec,
  type ExitCode,
} from '../../platform/command.ts';
import type { Cli } from '../context.ts';
import { findInstallation, passwordTooOld, readToken, sessionEnded } from '../session.ts';
import { createOutput, type Output } from './output.ts';

export interface FinanceGroup {
  readonly cli: Cli;
  readonly parent: Command;
}

interface FinanceCommandSpec<Options extends z.ZodObject> extends Omit<CommandSpec<Options>, 'run'> {
  readonly run: (request: FinanceRequest<z.output<Options>>) => Promise<ExitCode | undefined>;
}

export interface FinanceRequest<Options> {
  readonly args: readonly string[];
  readonly options: Options;
  /** As the person who has signed in, in the environment that the options name. */
  readonly ops: Ops;
  readonly out: Output;
}

export const URL_OPTION = {
  url: option(secureUrl.optional(), 'the address of the service, in place of SIMWAY_URL', 'url'),
};
const COMMON = {
  environment: option(z.enum(['test', 'live']).optional(), 'required once live is switched on', 'test|live'),
  json: toggle('prints one JSON value'),
  ...URL_OPTION,
};

/** Adds one command to a group. */
export type AddCommand = (group: FinanceGroup) => Command;

/** A command that asks the API, as the person who has signed in. */
export function financeCommand<Options extends z.ZodObject>({
  options: own,
  run,
  ...spec
}: FinanceCommandSpec<Options>): AddCommand {
  return ({ cli, parent }) =>
    addCommand(parent, {
      ...spec,
      options: own.extend(COMMON),
      run: async (given, ...args) => {
        const options = given as z.output<Options> & z.output<z.ZodObject<typeof COMMON>>;
        const installation = await findInstallation(cli, options.url);
        const ops = connectTo(installation.url, await readToken(installation), options.environment);
        const out = createOutput(cli.terminal, options.json);
        try {
          cli.exitCode = (await run({ args, options, ops, out })) ?? 0;
        } catch (error) {
          if (error instanceof Refusal && error.status === 401) throw sessionEnded(installation);
          if (error instanceof Refusal && error.code === 'CONFIRMATION_REQUIRED')
            throw passwordTooOld(installation);
          throw error instanceof Refusal ? toMistake(error, installation.url) : error;
        }
      },
    });
}

/** `environment` becomes part of every query. */
export function connectTo(baseUrl: string, token?: string, environment?: string): Ops {
  return connectOps({
    baseUrl,
    ...(token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } }),
    querySerializer: (query) =>
      new URLSearchParams(
        Object.entries({ environment, ...(query as Record<string, string>) }).filter(
          (entry): entry is [string, string] => entry[1] !== undefined,
        ),
      ).toString(),
  });
}

export function toMistake({ status, message, details }: Refusal, url: string): Error {
  if (status === 0) return new OperatorMistake(`${url} cannot be reached`);
  const text = [message, ...(details === undefined ? [] : [details])].join(': ');
  return details?.startsWith('environment: ') ? new UsageMistake(`--${details}`) : new OperatorMistake(text);
}
