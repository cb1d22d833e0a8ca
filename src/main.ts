/** One program, several roles: `dev` brings everything up on a laptop; the others are what production runs. */
import { parseArgs } from 'node:util';
import { ConfigError, readConfig, readDevSettings, readMigrateSettings } from './config.ts';
import type { Parts } from './compose.ts';
import { createLogger } from './observe/logger.ts';
import { OperatorMistake } from './roles/operator-mistake.ts';

const USAGE = `usage: node src/main.ts <role>
  dev                         everything embedded, a test key, a first purchase
  api                         HTTP
  worker [--queues a,b]       Temporal workers: orders, supplier, ops
  migrate                     database schema; with TEMPORAL_ADDRESS namespaces and search attributes
`;

async function main(argv: readonly string[]): Promise<void> {
  const [role, ...rest] = argv;
  switch (role) {
    case 'dev': {
      const { runDev } = await import('./embedded/dev.ts');
      return runDev(readDevSettings());
    }
    case 'api': {
      const { runApi } = await import('./roles/api.ts');
      const api = await runApi(parts('api'));
      ready({ url: api.url, adminUrl: api.adminUrl });
      await api.stopped;
      return;
    }
    case 'worker': {
      const { parseQueues, runWorker } = await import('./roles/worker.ts');
      const { values } = parseArgs({ args: rest, options: { queues: { type: 'string' } } });
      const worker = await runWorker(parts('worker'), parseQueues(values.queues));
      ready({});
      // A worker that fails must not leave a process that only looks alive.
      await worker.finished.finally(() => worker.stop());
      await worker.stopped;
      return;
    }
    case 'migrate': {
      const { runMigrate } = await import('./roles/migrate.ts');
      return runMigrate(readMigrateSettings(), print);
    }
    case 'account':
    case 'key':
    case 'wallet': {
      const { runAccountCommand } = await import('./roles/accounts.ts');
      print(JSON.stringify(await runAccountCommand(parts('command'), argv)));
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
  const { ACCOUNT_COMMANDS_USAGE } = await import('./roles/accounts.ts');
  return `${USAGE}${ACCOUNT_COMMANDS_USAGE}`;
}

function parts(processName: Parts['processName']): Parts {
  const { config, secrets } = readConfig();
  // A command's output is its answer, so that scripts can read it; only problems are told beside it.
  const level = processName === 'command' ? 'error' : config.logLevel;
  const logger = createLogger({ level });
  // Lines are gathered before they are written; the last ones must not be lost.
  process.on('exit', () => logger.flush());
  return { config, secrets, logger, processName };
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
