import { Command, CommanderError } from 'commander';
import { z } from 'zod';
import { DomainError } from '../domain/errors.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import { ConfigError, readDevSettings, readMigrateSettings } from '../app/config/config.ts';
import { addCommand, option, OperatorMistake, toggle, type ExitCode } from '../platform/command.ts';
import { createCli, openProcess, print, type Cli } from './context.ts';

/** Groups with an npm script of their own: `npm run finance -- stuck`. */
const SCRIPTS = ['finance', 'webhooks'];

/** Runs one command to its end. Throws only what is a fault of ours. */
export async function runCli(words: readonly string[], replaced: Partial<Cli> = {}): Promise<ExitCode> {
  const cli = createCli(replaced);
  const [first = ''] = words;
  const isBareFinance = first === 'finance' && words.length === 1;
  try {
    const program = await createProgram(cli, first);
    await program.parseAsync(isBareFinance ? ['finance', 'help'] : [...words], { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : first === 'finance' ? 2 : 1;
    cli.terminal.stderr(`${mistakeOf(error, first)}\n`);
    return 1;
  }
}

/**
 * Loads only the groups that `first` needs: the code of the others takes longer to load than a command to
 * run.
 */
export async function createProgram(cli: Cli, first: string): Promise<Command> {
  const program = new Command('simway')
    .exitOverride()
    // Otherwise `rates` takes the --json and --environment of `rates set` for its own.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: cli.terminal.stdout,
      writeErr: cli.terminal.stderr,
      outputError: (message, write) => write(message.replace(/^error: /, '')),
    })
    .configureHelp({
      commandUsage: (command) => `${typedAs(command)} ${command.usage()}`,
      visibleCommands: listedIn,
      subcommandTerm: (command) => {
        const args = command.registeredArguments.map((one) =>
          one.required ? `<${one.name()}>` : `[${one.name()}]`,
        );
        return [...namesOf(command), ...args].join(' ');
      },
    })
    .showHelpAfterError(true)
    .addHelpText('after', '\nAdd --help to a command to see its options.');
  addProcesses(cli, program);
  addWriters(program);
  const finance = program
    .command('finance')
    .description('Finds and resolves what is stuck; npm run finance -- help');
  if (first === 'finance') (await import('./finance/index.ts')).addFinanceCommands(cli, finance);
  const webhooks = program
    .command('webhooks')
    .description('For developers of webhook receivers; npm run webhooks -- help');
  if (first === 'webhooks') (await import('./webhooks.ts')).addWebhookCommands(cli, webhooks);
  if (!program.commands.some((command) => command.name() === first)) {
    (await import('./accounts.ts')).addAccountCommands(cli, program);
    (await import('./people.ts')).addPersonCommands(cli, program);
  }
  return program;
}

/** The names below the program, without that of an npm script. */
function namesOf(command: Command): string[] {
  const names: string[] = [];
  for (let at = command; at.parent; at = at.parent) names.unshift(at.name());
  return names.length > 1 && SCRIPTS.includes(names[0] ?? '') ? names.slice(1) : names;
}

function typedAs(command: Command): string {
  let group = command;
  while (group.parent?.parent) group = group.parent;
  if (!SCRIPTS.includes(group.name())) return ['npm run simway --', ...namesOf(command)].join(' ');
  return [`npm run ${group.name()} --`, ...(group === command ? [] : namesOf(command))].join(' ');
}

/** What can be run, in groups of groups as well; a script's commands are listed by the script's own help. */
function listedIn(command: Command): Command[] {
  return command.commands.flatMap((child) => {
    if (!command.parent && SCRIPTS.includes(child.name())) return [child];
    const below = listedIn(child);
    const isGroup = child.summary() === '';
    return isGroup ? below : [child, ...below];
  });
}

function mistakeOf(error: unknown, first: string): string {
  if (error instanceof DomainError) return error.details ?? error.message;
  if (error instanceof OperatorMistake || error instanceof ConfigError || error instanceof EngineUnavailable)
    return error.message;
  const { code } = error as { readonly code?: unknown };
  // Without the message, which holds the address.
  const isNoDatabase = typeof code === 'string' && /^(E[A-Z]+|28\w{3}|3D000|57P0\d)$/.test(code);
  if (isNoDatabase && !PROCESSES.includes(first)) return `Postgres is not reachable (${code})`;
  throw error;
}

const PROCESSES = ['dev', 'api', 'worker', 'migrate', 'bundle', 'rollout'];
const NONE = z.object({});

function addProcesses(cli: Cli, program: Command): void {
  const log = (line: string): void => print(cli, line);
  const ready = (fields: object): void => log(JSON.stringify({ ready: true, ...fields }));
  addCommand(program, {
    syntax: 'dev',
    summary: 'npm start: everything embedded, with test keys',
    options: NONE,
    run: async () => {
      const { runDev } = await import('../dev/dev.ts');
      const { LockHeldError } = await import('../dev/lock.ts');
      await runDev(readDevSettings(cli.env)).catch((error: unknown) => {
        throw error instanceof LockHeldError ? new OperatorMistake(error.message) : error;
      });
    },
  });
  addCommand(program, {
    syntax: 'api',
    summary: 'Serves HTTP',
    options: NONE,
    run: async () => {
      const { runApi } = await import('../app/processes/api.ts');
      const { url, adminUrl, stopped } = await runApi(openProcess(cli, 'api'));
      ready({ url, adminUrl });
      await stopped;
    },
  });
  addCommand(program, {
    syntax: 'worker',
    summary: 'Runs Temporal workers: orders, supplier, gateway, webhooks, ops',
    options: z.object({
      queues: option(z.string().optional(), 'only these queues, separated by commas', 'queues'),
    }),
    run: async ({ queues }) => {
      const { parseQueues, runWorker } = await import('../app/processes/worker.ts');
      const worker = await runWorker(openProcess(cli, 'worker'), parseQueues(queues));
      ready({ adminUrl: worker.adminUrl });
      // A failed worker ends the process, so that it is started again.
      try {
        await worker.finished;
      } finally {
        await worker.stop();
      }
      await worker.stopped;
    },
  });
  addCommand(program, {
    syntax: 'migrate',
    summary: 'Updates the database schema; with TEMPORAL_ADDRESS also namespaces and search attributes',
    options: NONE,
    run: async () => (await import('../app/processes/jobs.ts')).runMigrate(readMigrateSettings(cli.env), log),
  });
  addCommand(program, {
    syntax: 'rollout',
    summary: 'Makes the workers of SIMWAY_DEPLOYMENT_BUILD_ID the current ones',
    options: NONE,
    run: async () => (await import('../app/processes/jobs.ts')).runRollout(openProcess(cli, 'command'), log),
  });
  addCommand(program, {
    syntax: 'patches',
    summary: 'Counts the open workflows that need the code of each patch',
    help: 'For each patch of the workflow code: how many open workflows have its marker, and how many do not',
    options: z.object({ json: toggle('one JSON value for programs') }),
    run: async ({ json }) => (await import('./patches.ts')).printPatches(cli, json),
  });
}

/** Files that a build makes. */
function addWriters(program: Command): void {
  addCommand(program, {
    syntax: 'bundle <file>',
    summary: 'Writes the workflows for SIMWAY_WORKFLOW_BUNDLE, so that workers start sooner',
    options: NONE,
    run: async (_options, file = '') => (await import('../platform/temporal/bundle.ts')).writeBundle(file),
  });
  addCommand(program, {
    syntax: 'openapi <document> <file>',
    summary: 'Writes an OpenAPI document, api or ops, to a file',
    options: NONE,
    run: async (_options, name = '', file = '') => {
      const { DOCUMENT_NAMES, openApiDocument } = await import('../app/routes/route-table.ts');
      const document = DOCUMENT_NAMES.find((one) => one === name);
      if (!document) throw new OperatorMistake(`the documents are ${DOCUMENT_NAMES.join(' and ')}`);
      const { VERSION } = await import('../platform/version.ts');
      const { writeFile } = await import('node:fs/promises');
      await writeFile(file, await openApiDocument(document, { version: VERSION, brand: 'simway' }));
    },
  });
}
