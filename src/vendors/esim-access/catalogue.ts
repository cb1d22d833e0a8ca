/**
 * Reads what the vendor sells: all locations and BASE packages, and the top-ups of one package. Never a part
 * of a catalogue that looks whole.
 */
import type { CataloguePackage } from '../../catalogue/rules.ts';
import { SupplierUnavailable, type PackageSupplier } from '../../catalogue/port.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { ask, requireAnswer, requireReadable, type Answer, type Client } from './client.ts';
import { meaningOf, NAME } from './codes.ts';
import { packagesOf, readRows, regionsOf, type Places } from './map-catalogue.ts';
import { packageListOf, readLocations, readPackage, type WirePackage } from './wire.ts';

/** Thousands of packages with their operators are several megabytes, and the vendor is slow to list them. */
const WHOLE_LIST = { timeLimitMs: 60_000, maxBodyBytes: 64 * 1024 * 1024, isIdempotent: true } as const;

/**
 * A list that was never read has no stored one to show instead, so its reader waits longer for a turn than
 * other readers.
 */
const TOP_UP_LIST = { isIdempotent: true, paceWithinMs: 5_000 } as const;

/** Makes the catalogue's part of the port. */
export function createCatalogueReader(
  client: Client,
  imageHost: string,
  logger: Pick<Logger, 'warn'> | undefined,
): Pick<PackageSupplier, 'catalogue' | 'topUps'> {
  const warnUnreadable = (reasons: readonly string[]): void => {
    if (reasons.length === 0) return;
    logger?.warn({ count: reasons.length, first: reasons[0] }, 'supplier packages left out: unreadable');
  };
  const readList = (answer: Answer): readonly WirePackage[] =>
    requireAnswer('package list', answer, (obj) => {
      const { items, unreadable } = readRows(packageListOf(obj), readPackage);
      warnUnreadable(unreadable);
      return items;
    });
  const mapPackages = (...list: Parameters<typeof packagesOf>): readonly CataloguePackage[] =>
    requireReadable('package list', () => {
      const { items, unreadable } = packagesOf(...list);
      warnUnreadable(unreadable);
      return items;
    });

  return {
    catalogue: async () => {
      const locations = await ask(client, 'location list', ['/location/list', {}, WHOLE_LIST], readLocations);
      const packages = readList(await client.call('/package/list', { type: 'BASE' }, WHOLE_LIST));
      if (packages.length === 0) throw new SupplierUnavailable('package list: empty', { retryable: true });
      // No package says that it is global; the vendor's filter does.
      const filter = { type: 'BASE', locationCode: '!GL' };
      const globals = readList(await client.call('/package/list', filter, WHOLE_LIST));
      const globalCodes = new Set(globals.map((item) => item.locationCode));
      const places: Places = { globalCodes, locations, imageHost };
      return {
        supplier: NAME,
        regions: regionsOf(packages, places),
        packages: mapPackages(packages, 'BASE', places),
      };
    },

    topUps: async (packageCode) => {
      const answer = await client.call('/package/list', { type: 'TOPUP', packageCode }, TOP_UP_LIST);
      // A package that the vendor no longer knows takes no top-ups.
      if (answer.kind === 'failed') {
        const meaning = meaningOf(answer.code);
        if (meaning.kind === 'refused' && meaning.reason === 'PACKAGE_UNKNOWN') return [];
      }
      return mapPackages(readList(answer), 'TOPUP', { globalCodes: new Set(), locations: [], imageHost });
    },
  };
}
