// What depends on Temporal's server, on the version that docker-compose.yml deploys: `npm run test:deployed`,
// with services of its own.
import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';
import { CHECKOUT } from '../support/world/checkout.ts';

it('workflows, searches and rollouts are on it as on the development server', async () => {
  const { code, said } = await new Promise<{ code: number | null; said: string }>((resolve) => {
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.deployed.config.ts'];
    const child = execFile(process.execPath, vitest, { cwd: CHECKOUT, maxBuffer: 1 << 26 }, (_, out, err) =>
      resolve({ code: child.exitCode, said: out + err }),
    );
  });
  expect(code, said).toBe(0);
});
