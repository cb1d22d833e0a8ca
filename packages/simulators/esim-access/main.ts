/** The supplier simulator as a process. */
import { neededSecret, runSimulator, secretOf, wholeNumber } from '../kit/process.ts';
import { createEsimAccessSimulator } from './index.ts';

const USAGE = `usage: SANDBOX_SUPPLIER_CODE=<access code> [SANDBOX_SUPPLIER_SECRET_KEY=<key>]
  node packages/simulators/esim-access/main.ts --data <dir>
  [--host 127.0.0.1] [--port 0] [--control-port 0]
  [--accept-either-key] [--require-signature]
  [--allocation-ms 0] [--activate-after-ms 5000|never] [--balance 100000000000] [--seed 1]
  [--public-host qr.sandbox.example|self] [--smdp-host rsp.sandbox.example] [--exit-with-parent]
`;
const FLAGS = {
  'accept-either-key': { type: 'boolean', default: false },
  'require-signature': { type: 'boolean', default: false },
  'allocation-ms': { type: 'string', default: '0' },
  'activate-after-ms': { type: 'string', default: '5000' },
  balance: { type: 'string', default: '100000000000' },
  'public-host': { type: 'string', default: 'qr.sandbox.example' },
  'smdp-host': { type: 'string', default: 'rsp.sandbox.example' },
} as const;

runSimulator(USAGE, FLAGS, (flags, common) => {
  const activate = flags['activate-after-ms'];
  return createEsimAccessSimulator({
    ...common,
    accessCode: neededSecret('SANDBOX_SUPPLIER_CODE'),
    secretKey: secretOf('SANDBOX_SUPPLIER_SECRET_KEY') ?? null,
    acceptEitherKey: flags['accept-either-key'],
    requireSignature: flags['require-signature'],
    allocationMs: wholeNumber(flags['allocation-ms'], 'allocation-ms'),
    activateAfterMs: activate === 'never' ? null : wholeNumber(activate, 'activate-after-ms'),
    balance: wholeNumber(flags.balance, 'balance'),
    publicHost: flags['public-host'],
    smdpHost: flags['smdp-host'],
  });
});
