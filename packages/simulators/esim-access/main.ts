import { z } from 'zod';
import { neededSecret, runSimulator, secretOf, SWITCH, WHOLE, WHOLE_NUMBER } from '../kit/simulator.ts';
import { createEsimAccessSimulator } from './index.ts';

const USAGE = `usage: SANDBOX_SUPPLIER_CODE=<access code> [SANDBOX_SUPPLIER_SECRET_KEY=<key>]
  node packages/simulators/esim-access/main.ts --data <dir>
  [--host 127.0.0.1] [--port 0] [--control-port 0]
  [--accept-either-key] [--require-signature]
  [--allocation-ms 0] [--activate-after-ms never|5000] [--balance 100000000000] [--seed 1]
  [--public-host qr.sandbox.example|self] [--smdp-host rsp.sandbox.example] [--exit-with-parent]
`;
const FLAGS = {
  acceptEitherKey: SWITCH,
  requireSignature: SWITCH,
  allocationMs: WHOLE.optional(),
  activateAfterMs: z.union([z.literal('never').transform(() => null), WHOLE], WHOLE_NUMBER).optional(),
  balance: WHOLE.optional(),
  publicHost: z.string().optional(),
  smdpHost: z.string().optional(),
};

runSimulator(USAGE, FLAGS, (flags) =>
  createEsimAccessSimulator({
    ...flags,
    accessCode: neededSecret('SANDBOX_SUPPLIER_CODE'),
    secretKey: secretOf('SANDBOX_SUPPLIER_SECRET_KEY') ?? null,
  }),
);
