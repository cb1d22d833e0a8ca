import type { Database } from '../support/database.ts';
import type { FaultBoard } from '../support/faults.ts';
import type { Catalogue, CatalogueEntry } from './catalogue/catalogue.ts';
import type { SupplierFaults } from './faults.ts';
import type { Params } from './params.ts';
import type { AccountStore, OrderStore } from './storage/store.ts';
import type { WebhookScheduler } from './webhooks/scheduler.ts';

/** What every operation works with. */
export interface SupplierContext {
  now: () => number;
  catalogue: Catalogue;
  database: Database;
  orders: OrderStore;
  account: AccountStore;
  faults: FaultBoard<SupplierFaults>;
  nextOrderNo: (nowMs: number) => string;
  nextTranNo: (nowMs: number) => string;
  /** How long after allocation an eSIM goes into use; null: never by itself. */
  activateAfterMs: number | null;
  smdpHost: string;
  /** Prefix of QR picture addresses, without a slash at its end. */
  qrBaseUrl: () => string;
  webhooks: WebhookScheduler;
}

/** What an operation answers. */
export interface Outcome {
  obj: unknown;
  /** `obj` already as JSON, for answers that are kept. */
  objJson?: string;
  /** The work is done, but the connection is to be cut instead of answered. */
  loseAnswer?: boolean;
  /** The answer may not leave before this time. */
  answersAtMs?: number;
}

export type Operation = (context: SupplierContext, params: Params) => Outcome | Promise<Outcome>;

/** A package as it is sold now: price override applied; undefined when withdrawn. */
export function effective(context: SupplierContext, entry: CatalogueEntry): CatalogueEntry | undefined {
  const override = context.account.overrides.get(entry.item.packageCode);
  if (override === undefined) return entry;
  if (override.withdrawn) return undefined;
  return override.price === null ? entry : { ...entry, item: { ...entry.item, price: override.price } };
}
