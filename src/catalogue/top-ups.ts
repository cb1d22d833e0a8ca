import { LRUCache } from 'lru-cache';
import { DomainError } from '../domain/errors.ts';
import type { CircuitBreaker } from '../platform/circuit-breaker.ts';
import type { CatalogueDeps } from './deps.ts';
import { isCostJump } from './pricing.ts';
import { TOP_UP_PREFIX, type CataloguePackage } from './rules.ts';
import { findTopUpPackage, readTopUps, replaceTopUps, type StoredPackage } from './store/catalogue.ts';

export interface TopUps {
  /**
   * The top-ups of a BASE package, in the supplier's order. Throws SERVICE_UNAVAILABLE when no list is stored
   * and the supplier does not answer.
   */
  of(base: StoredPackage): Promise<readonly CataloguePackage[]>;
  /** One top-up by its code, with or without the TOPUP_ prefix, or undefined. */
  find(code: string): Promise<CataloguePackage | undefined>;
}

/** A few hundred bytes each. */
const MAX_LISTS = 5_000;
/** Another process may have stored a newer list. */
const MEMORY_TTL_MS = 30_000;

type FetchDeps = Pick<CatalogueDeps, 'db' | 'supplier' | 'clock' | 'settings'> & {
  readonly supplierReads: CircuitBreaker;
};

/**
 * The supplier lists top-ups per package only, so they are fetched on demand: from memory, then from
 * Postgres, then from the supplier. When the supplier does not answer in a reader's time, the last known list
 * stays in use.
 */
export function createTopUps(deps: FetchDeps & Pick<CatalogueDeps, 'catalogue'>): TopUps {
  const memory = new LRUCache<string, readonly CataloguePackage[]>({
    max: MAX_LISTS,
    ttl: MEMORY_TTL_MS,
    fetchMethod: (packageCode) => fetchTopUps(deps, packageCode),
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

async function fetchTopUps(deps: FetchDeps, packageCode: string): Promise<readonly CataloguePackage[]> {
  const now = deps.clock.now();
  const known = await readTopUps(deps.db, packageCode);
  if (known && now.getTime() - known.checkedAt.getTime() <= deps.settings.topUpsFreshMs)
    return known.packages;
  const fetchNow = async (): Promise<readonly CataloguePackage[]> => {
    const listed = await deps.supplier.topUps(packageCode);
    return replaceTopUps(deps.db, packageCode, listed, now, isCostJump(deps.settings.priceLimits));
  };
  if (known) return (await deps.supplierReads.run(fetchNow).catch(() => undefined)) ?? known.packages;
  try {
    return await fetchNow();
  } catch (cause) {
    const unavailable = new DomainError('SERVICE_UNAVAILABLE', 'Top-ups cannot be listed right now', {
      retryAfterSeconds: 5,
    });
    unavailable.cause = cause;
    throw unavailable;
  }
}
