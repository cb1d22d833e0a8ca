/**
 * L3, reads: beside a bare Koa server, what they ask of Postgres and Redis, and eSIM lists in a large table.
 */
import type { BenchOptions } from '../support/options.ts';
import { newFindings, type Findings } from '../support/report.ts';
import type { Servers } from '../support/servers.ts';
import { startService } from '../support/service.ts';
import { compareMyEsims } from './my-esims.ts';
import { compareReads, countReads } from './reads.ts';
import { soakReads } from './soak.ts';

export async function benchReads(servers: Servers, options: BenchOptions): Promise<Findings> {
  const findings = newFindings('L3');
  const service = await startService(servers, options);
  const { apiKey } = await service.account();
  if (options.soakMs !== undefined) {
    await soakReads(service, apiKey, options, findings);
    return findings;
  }
  await compareReads(servers, service, apiKey, options, findings);
  await countReads(servers, options, findings);
  await compareMyEsims(servers, options, findings);
  if (servers.redisUrl === undefined)
    findings.remarks.push('no Redis here: limits were counted in the process');
  return findings;
}
