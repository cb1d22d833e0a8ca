import type { FaultBoard } from '../kit/control.ts';
import type { Catalogue, CatalogueEntry } from './catalogue.ts';
import type { Params } from './errors.ts';
import { magicRule } from './magic.ts';
import type { Storage, SupplierFaults } from './storage.ts';
import type { WebhookScheduler } from './webhooks/scheduler.ts';

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

export interface Outcome {
  obj: unknown;
  objJson?: string;
  loseAnswer?: boolean;
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
