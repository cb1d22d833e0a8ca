/**
 * What every operation of the simulator works with. Guarantee: everything is handed in; no state besides storage and faults.
 */
import type { Database, Meta } from '../support/database.ts';
import type { FaultBoard } from '../support/fault-board.ts';
import type { GatewayFaults } from './faults.ts';
import type { Integration } from './rules.ts';
import type { DomainStore } from './storage/agenda.ts';
import type { RefundStore } from './storage/refunds.ts';
import type { AgendaKind } from './storage/rows.ts';
import type { TransactionStore } from './storage/transactions.ts';

export interface GatewayContext {
  now: () => number;
  integration: Integration;
  database: Database;
  meta: Meta;
  transactions: TransactionStore;
  refunds: RefundStore;
  domains: DomainStore;
  faults: FaultBoard<GatewayFaults>;
  webhooks: WebhookDesk;
  /** Has something happen by itself, once the caller's transaction is over. */
  plan: (kind: AgendaKind, target: number, atMs: number, data?: object) => void;
  /** The pace of scenarios: what they do comes after one, two, three of these. */
  scenarioMs: number;
  /** Makes identifiers of another data folder differ. */
  seed: number;
  /** The address of a charge's hosted page. */
  pageUrl: (accessCode: string) => string;
}

/** Where deeds report what happened. */
export interface WebhookDesk {
  /** Keeps an event and has it delivered; `reference` is for the log, `isSilent` drops it whatever the faults say. */
  emit(event: string, data: object, about: { reference: string; isSilent?: boolean }): void;
}
