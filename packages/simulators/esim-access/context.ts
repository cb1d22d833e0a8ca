import type { FaultBoard } from '../kit/faults.ts';
import type { Catalogue, CatalogueEntry } from './catalogue.ts';
import type { SupplierFaults } from './faults.ts';
import { magicRule } from './magic.ts';
import type { Params } from './params.ts';
import type { Storage } from './storage.ts';
import type { WebhookScheduler } from './webhooks/scheduler.ts';

/** What every operation works with. */
export interface SupplierContext {
  now: () => number;
  catalogue: Catalogue;
  storage: Storage;
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
export type Operations = Record<string, Operation>;

/** A package as it is sold now: price override applied; undefined when withdrawn. */
export function effective(context: SupplierContext, entry: CatalogueEntry): CatalogueEntry | undefined {
  const override = context.storage.overrides.get(entry.item.packageCode);
  if (override === undefined) return entry;
  if (override.withdrawn) return undefined;
  return override.price === null ? entry : { ...entry, item: { ...entry.item, price: override.price } };
}

/** When an eSIM of this package that is allocated at this moment goes into use; null: not by itself. */
export function activationMs(
  { activateAfterMs }: SupplierContext,
  packageCode: string,
  allocatedAtMs: number | null,
): number | null {
  if (allocatedAtMs === null || activateAfterMs === null) return null;
  return magicRule(packageCode)?.manualLife === true ? null : allocatedAtMs + activateAfterMs;
}
