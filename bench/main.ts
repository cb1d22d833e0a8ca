/**
 * `npm run bench`: promises L1, L2 and L3, each against its baselines in the same run. Prints tables, or JSON
 * with --json, and ends with 1 when a promise was not kept. Leaves nothing running and no file behind.
 */
import { parseArgs } from 'node:util';
import { readDevSettings } from '../src/app/config/config.ts';
import type { BenchOptions } from './support/options.ts';
import { describeMachine, readMachine } from './support/machine.ts';
import { allMet, renderFindings, type Findings } from './support/report.ts';
import { startServers, temporalKindOf, type Servers } from './support/servers.ts';

const USAGE = `usage: npm run bench -- [l1] [l2] [l3] [options]       all three without a name
  --seconds N          length of a slice; a side's figure is the median of its slices (l1 4, l2 10, l3 5)
  --rounds N           slices a side, after one to warm up (5)
  --server KIND        l2 on Temporal's embedded server (default) or on its server over postgres
  --soak [--minutes N] the long steady run of l2 (15) or l3 (60) instead of the comparison
  --pgledger A,B       l1: SQL files of pgledger itself, to run beside the stand-in
  --profile DIR        CPU profiles of API and worker
  --orders N           l3: orders of the large table (1000000)
  --webhooks           l2: only purchases with webhook endpoints
  --codec              l2 and l3: payloads in Temporal are encrypted; l2 also compares this with payloads in clear
  --json               for programs
`;

const PROMISES = {
  l1: { temporal: false, soakMinutes: 0 },
  l2: { temporal: true, soakMinutes: 15 },
  l3: { temporal: true, soakMinutes: 60 },
} as const;
type PromiseName = keyof typeof PROMISES;

function read(argv: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      server: { type: 'string', default: 'embedded' },
      soak: { type: 'boolean', default: false },
      minutes: { type: 'string' },
      pgledger: { type: 'string', default: '' },
      profile: { type: 'string' },
      orders: { type: 'string' },
      webhooks: { type: 'boolean', default: false },
      codec: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const names = positionals.length > 0 ? positionals : Object.keys(PROMISES);
  for (const name of names) if (!Object.hasOwn(PROMISES, name)) throw new Error(`no bench ${name}`);
  return { ...values, names: names as PromiseName[], server: temporalKindOf(values.server) };
}

function positive(text: string, flag: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${flag} takes a number above 0`);
  return value;
}

async function main(argv: readonly string[]): Promise<boolean> {
  const flags = read(argv);
  if (flags.help) {
    process.stdout.write(USAGE);
    return true;
  }
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const machine = readMachine();
  say(describeMachine(machine));
  const results: Record<string, { servers: string; findings: Findings }> = {};
  for (const name of flags.names) {
    const { temporal, soakMinutes } = PROMISES[name];
    if (flags.soak && soakMinutes === 0) continue;
    const minutes = flags.minutes === undefined ? soakMinutes : positive(flags.minutes, 'minutes');
    const options: BenchOptions = {
      sliceMs: flags.seconds === undefined ? undefined : positive(flags.seconds, 'seconds') * 1_000,
      rounds: positive(flags.rounds, 'rounds'),
      progress: (line) => say(`  ${line}`),
      log: { info: (line) => say(`  ${line}`), warn: (line) => say(`! ${line}`) },
      soakMs: flags.soak ? minutes * 60_000 : undefined,
      pgledgerFiles: flags.pgledger.split(',').filter(Boolean),
      profileDir: flags.profile,
      orders: flags.orders === undefined ? undefined : positive(flags.orders, 'orders'),
      webhooksOnly: flags.webhooks,
    };
    say(`\n${name}: starting servers`);
    const servers = await startServers({
      settings: readDevSettings(),
      temporal: temporal ? flags.server : 'none',
      redis: temporal,
      codec: flags.codec,
      log: options.log,
    });
    const stopOnSignal = endOnSignal(servers);
    try {
      const described = await servers.describe();
      say(`  ${described}`);
      results[name] = { servers: described, findings: await runBench(name, servers, options) };
    } finally {
      stopOnSignal();
      await servers.close();
    }
  }
  print(flags.json, machine, results);
  return Object.values(results).every(({ findings }) => allMet(findings));
}

async function runBench(name: PromiseName, servers: Servers, options: BenchOptions): Promise<Findings> {
  switch (name) {
    case 'l1':
      return (await import('./l1/main.ts')).benchLedger(servers, options);
    case 'l2':
      return (await import('./l2/main.ts')).benchPurchase(servers, options);
    case 'l3':
      return (await import('./l3/main.ts')).benchReads(servers, options);
  }
}

/** Ctrl-C ends the servers too; answers how to stop listening. */
function endOnSignal(servers: Servers): () => void {
  const end = (): void => {
    void servers.close().finally(() => process.exit(130));
  };
  process.once('SIGINT', end).once('SIGTERM', end);
  return () => void process.off('SIGINT', end).off('SIGTERM', end);
}

function print(
  asJson: boolean,
  machine: ReturnType<typeof readMachine>,
  results: Readonly<Record<string, { servers: string; findings: Findings }>>,
): void {
  if (asJson) {
    process.stdout.write(`${JSON.stringify({ machine, results }, null, 2)}\n`);
    return;
  }
  for (const { servers, findings } of Object.values(results))
    process.stdout.write(`\n${servers}\n\n${renderFindings(findings)}\n`);
  process.stdout.write(`\n${describeMachine(machine)}\n`);
}

main(process.argv.slice(2)).then(
  (kept) => process.exit(kept ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    if (error instanceof Error && error.cause !== undefined) console.error(error.cause);
    process.stderr.write(USAGE);
    process.exit(2);
  },
);
