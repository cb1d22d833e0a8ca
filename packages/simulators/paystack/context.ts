import type { FaultBoard } from '../kit/control.ts';
import type { GatewayFaults } from './faults.ts';
import type { Integration } from './rules.ts';
import type { PlannedKind, Storage } from './storage.ts';
import type { WebhookEmitter } from './webhooks.ts';

export interface GatewayContext extends Storage {
  now: () => number;
  integration: Integration;
  faults: FaultBoard<GatewayFaults>;
  webhooks: WebhookEmitter;
  /** Has something happen by itself, once the caller's transaction is over. */
  plan: (kind: PlannedKind, target: number, atMs: number, data?: object) => void;
  /** The pace of scenarios: what they do comes after one, two, three of these. */
  scenarioMs: number;
  seed: number;
  pageUrl: (accessCode: string) => string;
}
