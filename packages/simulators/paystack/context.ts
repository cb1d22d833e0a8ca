import type { FaultBoard } from '../kit/faults.ts';
import type { GatewayFaults } from './faults.ts';
import type { Integration } from './rules.ts';
import type { PlannedKind, Storage } from './storage.ts';
import type { WebhookEmitter } from './webhooks.ts';

/** What every operation works with. */
export interface GatewayContext extends Storage {
  now: () => number;
  integration: Integration;
  faults: FaultBoard<GatewayFaults>;
  webhooks: WebhookEmitter;
  /** Has something happen by itself, once the caller's transaction is over. */
  plan: (kind: PlannedKind, target: number, atMs: number, data?: object) => void;
  /** The pace of scenarios: what they do comes after one, two, three of these. */
  scenarioMs: number;
  /** Makes identifiers of another data folder differ. */
  seed: number;
  /** The address of a charge's hosted page. */
  pageUrl: (accessCode: string) => string;
}
