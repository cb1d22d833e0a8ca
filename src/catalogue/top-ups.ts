/**
 * Top-up packages. The supplier lists them per package only, so they are asked for on demand and kept: in memory, in Postgres, then at
 * the supplier. A supplier that cannot answer, or not in a reader's time, leaves the last known list in use.
 */
import { LRUCache } from 'lru-cache';
import { TOP_UP_PREFIX, type CataloguePackage } from './rules.ts';
import { DomainError } from '../domain/errors.ts';
import { findTopUpPackage, readTopUps, replaceTopUps, type StoredPackage } from './store/catalogue.ts';
import type { CircuitBreaker } from '../platform/circuit-breaker.ts';
import type { CatalogueDeps } from './deps.ts';

export interface TopUps {
  /** Top-ups that fit a BASE package, the supplier's order. SERVICE_UNAVAILABLE when nothing is known and nobody answers. */
  of(base: StoredPackage): Promise<readonly CataloguePackage[]>;
  /** One top-up by its code, with or without the TOPUP_ prefix, or undefined. */
  find(code: string): Promise<CataloguePackage | undefined>;
}

/** Lists kept in memory; a few hundred bytes each. */
const MAX_LISTS = 5_000;
/** Another process may have looked meanwhile, so memory is trusted only this long. */
const MEMORY_TTL_MS = 30_000;

type LookUpDeps = Pick<CatalogueDeps, 'db' | 'supplier' | 'clock' | 'settings'> & {
  readonly supplierReads: CircuitBreaker;
};

export function createTopUps(deps: LookUpDeps & Pick<CatalogueDeps, 'catalogue'>): TopUps {
  const memory = new LRUCache<string, readonly CataloguePackage[]>({
    max: MAX_LISTS,
    ttl: MEMORY_TTL_MS,
    fetchMethod: (packageCode) => lookUp(deps, packageCode),
  });

  const of = async (base: StoredPackage): Promise<readonly CataloguePackage[]> =>
    base.topUpAvailable ? ((await memory.fetch(base.packageCode)) ?? []) : [];

  const find = async (code: string): Promise<CataloguePackage | undefined> => {
    const baseCode = code.startsWith(TOP_UP_PREFIX) ? code.slice(TOP_UP_PREFIX.length) : code;
    const base = deps.catalogue.current().byCode.get(baseCode);
    const listed = base && (await of(base)).find((topUp) => topUp.packageCode === TOP_UP_PREFIX + baseCode);
    return listed ?? findTopUpPackage(deps.db, code);
  };

  return { of, find };
}

async function lookUp(deps: LookUpDeps, packageCode: string): Promise<readonly CataloguePackage[]> {
  const now = deps.clock.now();
  const known = await readTopUps(deps.db, packageCode);
  if (known && now.getTime() - known.lookedAt.getTime() <= deps.settings.topUpsFreshMs) return known.packages;
  const ask = async (): Promise<readonly CataloguePackage[]> => {
    const topUps = await deps.supplier.topUps(packageCode);
    await replaceTopUps(deps.db, packageCode, topUps, now);
    return topUps;
  };
  if (known) return (await deps.supplierReads.run(ask).catch(() => undefined)) ?? known.packages;
  try {
    return await ask();
  } catch (cause) {
    const unavailable = new DomainError('SERVICE_UNAVAILABLE', 'Top-ups cannot be listed right now', {
      retryAfterSeconds: 5,
    });
    unavailable.cause = cause;
    throw unavailable;
  }
}
