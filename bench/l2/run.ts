import type { BenchOptions } from '../support/options.ts';
import type { Findings } from '../support/report.ts';
import type { Servers } from '../support/servers.ts';
import type { Service } from '../support/service.ts';
import type { Buyer } from './buyer.ts';
import type { Floors } from './floors.ts';

/** What L2's parts share: who buys where, beside which floors, and where it is noted. */
export interface Run {
  readonly servers: Servers;
  readonly service: Service;
  readonly buyer: Buyer;
  readonly floors: Floors;
  readonly options: BenchOptions & { readonly sliceMs: number };
  readonly findings: Findings;
}
