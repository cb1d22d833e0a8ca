/** One program, several roles: `dev` brings everything up on a laptop; the others are what production runs. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  ConfigError,
  readConfig,
  readDevSettings,
  readMigrateSettings,
  readFinanceSettings,
  type FinanceSettings,
} from './platform/config/config.ts';
import type { ProcessContext } from './platform/composition/compose.ts';
import { createLogger } from './platform/telemetry/logger.ts';
import { requireNode } from './cli/processes/node-version.ts';
import { OperatorMistake } from './cli/operator-mistake.ts';

// A command spends more on stripping types than on its work; where this cannot be written it goes on without.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled'));

const NOWHERE_TO_WORK = 'set DATABASE_URL, or have npm start running in this checkout';

const USAGE = `usage: npm run simway -- <role>
  dev                         everything embedded, a test key, a first purchase
  api                         HTTP
  worker [--queues a,b]       Temporal workers: orders, supplier, gateway, webhooks, ops
  finance <command>           finds what is stuck and puts it right; finance help lists the commands
  migrate                     database schema; with TEMPORAL_ADDRESS namespaces and search attributes
  bundle <file>               the workflows for SIMWAY_WORKFLOW_BUNDLE, so that workers start sooner
  rollout                     go on with the workers of SIMWAY_DEPLOYMENT_BUILD_ID
`;

async function main(argv: readonly string[]): Promise<void> {
  requireNode(process.versions.node);
  const [role, ...rest] = argv;
  switch (role) {
    case 'dev': {
      const { runDev } = await import('./dev/dev.ts');
      return runDev(readDevSettings());
    }
    case 'api': {
      const { runApi } = await import('./cli/processes/api.ts');
      const api = await runApi(parts('api'));
      ready({ url: api.url, adminUrl: api.adminUrl });
      await api.stopped;
      return;
    }
    case 'worker': {
      const { parseQueues, runWorker } = await import('./cli/processes/worker.ts');
      const { values } = parseArgs({ args: rest, options: { queues: { type: 'string' } } });
      const worker = await runWorker(parts('worker'), parseQueues(values.queues));
      ready({ adminUrl: worker.adminUrl });
      // A worker that fails must not leave a process that only looks alive.
      await worker.finished.finally(() => worker.stop());
      await worker.stopped;
      return;
    }
    case 'migrate': {
      const { runMigrate } = await import('./cli/processes/migrate.ts');
      return runMigrate(readMigrateSettings(), print);
    }
    case 'bundle': {
      const { runBundle } = await import('./cli/processes/bundle.ts');
      return runBundle(rest);
    }
    case 'rollout': {
      const { runRollout } = await import('./cli/processes/rollout.ts');
      return runRollout(parts('command'), print);
    }
    case 'account':
    case 'key':
    case 'wallet': {
      const { runAccountCommand } = await import('./cli/accounts.ts');
      print(JSON.stringify(await runAccountCommand(await commandParts(), argv)));
      return;
    }
    case 'person': {
      const { runPersonCommand } = await import('./cli/people.ts');
      print(JSON.stringify(await runPersonCommand(await commandParts(), argv)));
      return;
    }
    case 'webhooks': {
      const { runWebhooks } = await import('./cli/webhooks.ts');
      return runWebhooks({ words: rest, findRunning, print, untilAsked });
    }
    case 'finance': {
      const { runFinance } = await import('./cli/finance/index.ts');
      const settings = readFinanceSettings();
      process.exitCode = await runFinance(settings, () => addressesOf(settings), rest);
      return;
    }
    case 'help':
    case '--help':
      print(await usage());
      return;
    default:
      throw new OperatorMistake(await usage());
  }
}

async function usage(): Promise<string> {
  const { ACCOUNT_COMMANDS_USAGE } = await import('./cli/accounts.ts');
  const { PEOPLE_COMMANDS_USAGE } = await import('./cli/people.ts');
  const { WEBHOOKS_USAGE } = await import('./cli/webhooks.ts');
  return `${USAGE}${ACCOUNT_COMMANDS_USAGE}\n${PEOPLE_COMMANDS_USAGE}\n${WEBHOOKS_USAGE}`;
}

/** What the `npm start` of this checkout tells of itself. */
async function findRunning() {
  const { readRunningFile } = await import('./dev/running-file.ts');
  return readRunningFile(readDevSettings().dataDir);
}

/** Resolves when this process is asked to end, which from now on does not end it by itself. */
function untilAsked(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

/** Of the installation that the environment names, else of the `npm start` of this checkout. */
async function commandParts(): Promise<ProcessContext> {
  if (readDevSettings().databaseUrl !== undefined) return parts('command');
  const running = await findRunning();
  if (!running) throw new OperatorMistake(NOWHERE_TO_WORK);
  return parts('command', running.settings);
}

/** `beneath` holds what the environment leaves out. */
function parts(
  processName: ProcessContext['processName'],
  beneath: Readonly<Record<string, string>> = {},
): ProcessContext {
  const { config, secrets } = readConfig(undefined, beneath);
  // A command's output is its answer, so that scripts can read it; only problems are told beside it.
  const level = processName === 'command' ? 'error' : config.logLevel;
  const logger = createLogger({ level });
  return { config, secrets, logger, processName };
}

/** Where the environment says, else where the `npm start` of this checkout says that it is. */
async function addressesOf({ databaseUrl, temporalAddress }: FinanceSettings) {
  if (databaseUrl !== undefined) return { databaseUrl, temporalAddress };
  const running = await findRunning();
  if (!running) throw new OperatorMistake(NOWHERE_TO_WORK);
  return {
    databaseUrl: running.databaseUrl,
    temporalAddress: temporalAddress ?? running.temporalAddress,
  };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** One line that tells whoever started this process that it works. */
function ready(fields: object): void {
  print(JSON.stringify({ ready: true, ...fields }));
}

main(process.argv.slice(2)).then(
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`${told(error)}\n`);
    process.exit(1);
  },
);

/** A mistake of whoever called in its own words, anything else with where it came from. */
function told(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isTheirs = error instanceof OperatorMistake || error instanceof ConfigError;
  return isTheirs ? error.message : (error.stack ?? error.message);
}
