import type { Database } from '../support/database.ts';
import type { FaultBoard } from '../support/faults.ts';
import type { GatewayFaults } from './faults.ts';
import type { Integration } from './rules.ts';
import type { Stores } from './storage/store.ts';
import type { AgendaRow } from './storage/tables.ts';
import type { WebhookEmitter } from './webhooks.ts';

/** What every operation works with. */
export interface GatewayContext extends Pick<Stores, 'transactions' | 'refunds' | 'domains'> {
  now: () => number;
  integration: Integration;
  database: Database;
  faults: FaultBoard<GatewayFaults>;
  webhooks: WebhookEmitter;
  /** Has something happen by itself, once the caller's transaction is over. */
  plan: (kind: AgendaRow['kind'], target: number, atMs: number, data?: object) => void;
  /** The pace of scenarios: what they do comes after one, two, three of these. */
  scenarioMs: number;
  /** Makes identifiers of another data folder differ. */
  seed: number;
  /** The address of a charge's hosted page. */
  pageUrl: (accessCode: string) => string;
}
