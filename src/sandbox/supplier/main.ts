/**
 * The supplier simulator as a process: flags in, one JSON line out when both ports listen, a drained stop on SIGTERM and SIGINT.
 * Guarantee: exits within the hard deadline; with --exit-with-parent it never outlives whoever holds its stdin.
 */
import { parseArgs } from 'node:util';
import { createSupplierSimulator, type SupplierSimulatorOptions } from './index.ts';

const HARD_DEADLINE_MS = 5000;

const USAGE = `usage: node src/sandbox/supplier/main.ts --data <dir> --access-code <code>
  [--host 127.0.0.1] [--port 0] [--control-port 0]
  [--secret-key <key>] [--accept-either-key] [--require-signature]
  [--allocation-ms 0] [--activate-after-ms 5000|never] [--balance 100000000000] [--seed 1]
  [--public-host qr.sandbox.example|self] [--smdp-host rsp.sandbox.example] [--exit-with-parent]
`;

function parse(argv: string[]) {
  return parseArgs({
    args: argv,
    strict: true,
    options: {
      data: { type: 'string' },
      'access-code': { type: 'string' },
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '0' },
      'control-port': { type: 'string', default: '0' },
      'secret-key': { type: 'string' },
      'accept-either-key': { type: 'boolean', default: false },
      'require-signature': { type: 'boolean', default: false },
      'allocation-ms': { type: 'string', default: '0' },
      'activate-after-ms': { type: 'string', default: '5000' },
      balance: { type: 'string', default: '100000000000' },
      seed: { type: 'string', default: '1' },
      'public-host': { type: 'string', default: 'qr.sandbox.example' },
      'smdp-host': { type: 'string', default: 'rsp.sandbox.example' },
      'exit-with-parent': { type: 'boolean', default: false },
    },
  }).values;
}

function wholeNumber(text: string, flag: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${flag} must be a whole number`);
  return Number(text);
}

function portNumber(text: string, flag: string): number {
  const port = wholeNumber(text, flag);
  if (port > 65_535) throw new Error(`--${flag} must be at most 65535`);
  return port;
}

function readOptions(argv: string[]): { options: SupplierSimulatorOptions; exitWithParent: boolean } {
  const flags = parse(argv);
  if (flags.data === undefined) throw new Error('--data is needed');
  if (flags['access-code'] === undefined) throw new Error('--access-code is needed');
  const activate = flags['activate-after-ms'];
  return {
    exitWithParent: flags['exit-with-parent'],
    options: {
      dataDir: flags.data,
      accessCode: flags['access-code'],
      secretKey: flags['secret-key'] ?? null,
      acceptEitherKey: flags['accept-either-key'],
      requireSignature: flags['require-signature'],
      host: flags.host,
      port: portNumber(flags.port, 'port'),
      controlPort: portNumber(flags['control-port'], 'control-port'),
      allocationMs: wholeNumber(flags['allocation-ms'], 'allocation-ms'),
      activateAfterMs: activate === 'never' ? null : wholeNumber(activate, 'activate-after-ms'),
      balance: wholeNumber(flags.balance, 'balance'),
      seed: wholeNumber(flags.seed, 'seed'),
      publicHost: flags['public-host'],
      smdpHost: flags['smdp-host'],
      log: (line) => process.stderr.write(`${line}\n`),
    },
  };
}

async function main(): Promise<void> {
  const { options, exitWithParent } = readOptions(process.argv.slice(2));
  const simulator = createSupplierSimulator(options);
  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(0), HARD_DEADLINE_MS).unref();
    simulator.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  if (exitWithParent) {
    process.stdin.on('end', stop).on('close', stop).on('error', stop);
    process.stdin.resume();
  }
  const { url, controlUrl } = await simulator.start();
  process.stdout.write(`${JSON.stringify({ ready: true, url, controlUrl })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n${USAGE}`);
  process.exit(1);
});
