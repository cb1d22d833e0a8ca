/**
 * Reading what the vendor sells: all locations and BASE packages, and the top-ups of one package. Guarantee: a whole catalogue or
 * SupplierUnavailable, never a part of one that looks whole.
 */
import type { CataloguePackage } from '../../catalogue/rules.ts';
import { SupplierUnavailable, type SupplierCatalogue } from '../../catalogue/port.ts';
import type { Answer, Client } from './client.ts';
import { meaningOf } from './codes.ts';
import type { Logger } from './logger.ts';
import { packagesOf, readRows, regionsOf, type Places } from './map-catalogue.ts';
import { locationListOf, packageListOf, readLocation, readPackage, type WirePackage } from './wire.ts';

/** Thousands of packages with their operators are several megabytes, and the vendor takes its time over them. */
const WHOLE_LIST = { timeLimitMs: 60_000, maxBodyBytes: 64 * 1024 * 1024, question: true } as const;

/** The `obj` of an answered question. Throws SupplierUnavailable, final when the vendor refused the asking itself. */
export function answeredObj(what: string, answer: Answer): unknown {
  if (answer.kind === 'answered') return answer.obj;
  if (answer.kind === 'lost') throw new SupplierUnavailable(`${what}: ${answer.detail}`, { retryable: true });
  const retryable = meaningOf(answer.code).kind !== 'refused';
  throw new SupplierUnavailable(`${what}: ${answer.code} ${answer.message}`, { retryable });
}

/** Runs a reader over an answer; what it cannot read is SupplierUnavailable. */
export function readable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new SupplierUnavailable(`${what}: unreadable: ${(cause as Error).message}`, {
      retryable: true,
      cause,
    });
  }
}

export interface CatalogueReader {
  catalogue(): Promise<SupplierCatalogue>;
  topUps(packageCode: string): Promise<readonly CataloguePackage[]>;
}

/** Makes the catalogue's part of the port. */
export function createCatalogueReader(options: {
  readonly client: Client;
  readonly imageHost: string;
  readonly logger: Logger;
}): CatalogueReader {
  const { client, imageHost, logger } = options;

  const readList = (answer: Answer): readonly WirePackage[] => {
    const obj = answeredObj('package list', answer);
    return readable('package list', () => {
      const { items, unreadable } = readRows(packageListOf(obj), readPackage);
      warnUnreadable(unreadable);
      return items;
    });
  };
  const inOurWords = (items: readonly WirePackage[], packageType: 'BASE' | 'TOPUP', places: Places) =>
    readable('package list', () => {
      const packages = packagesOf(items, packageType, places);
      warnUnreadable(packages.unreadable);
      return packages.items;
    });
  const warnUnreadable = (reasons: readonly string[]): void => {
    if (reasons.length === 0) return;
    logger.warn({ count: reasons.length, first: reasons[0] }, 'supplier packages left out: unreadable');
  };

  return {
    catalogue: async () => {
      const locationObj = answeredObj('location list', await client.call('/location/list', {}, WHOLE_LIST));
      const locations = readable('location list', () => locationListOf(locationObj).map(readLocation));
      const packages = readList(await client.call('/package/list', { type: 'BASE' }, WHOLE_LIST));
      if (packages.length === 0) throw new SupplierUnavailable('package list: empty', { retryable: true });
      // No package says that it is global; the vendor's filter does.
      const filter = { type: 'BASE', locationCode: '!GL' };
      const globals = readList(await client.call('/package/list', filter, WHOLE_LIST));
      const globalCodes = new Set(globals.map((item) => item.locationCode));
      const places: Places = { globalCodes, locations, imageHost };
      return { regions: regionsOf(packages, places), packages: inOurWords(packages, 'BASE', places) };
    },

    topUps: async (packageCode) => {
      const answer = await client.call('/package/list', { type: 'TOPUP', packageCode }, { question: true });
      // A package that the vendor no longer knows takes no top-ups.
      if (answer.kind === 'failed') {
        const meaning = meaningOf(answer.code);
        if (meaning.kind === 'refused' && meaning.reason === 'PACKAGE_UNKNOWN') return [];
      }
      return inOurWords(readList(answer), 'TOPUP', { globalCodes: new Set(), locations: [], imageHost });
    },
  };
}
