import { LRUCache } from 'lru-cache';
import { findShownBrand } from '../accounts/store/brands.ts';
import type { ShownBrand } from '../domain/brand.ts';
import { READS_ALL, type InstallReader, type Principal } from '../domain/account.ts';
import { diagnose, installStateOf } from './diagnosis.ts';
import {
  remainingUnits,
  usageAsOf,
  withoutInstallData,
  NO_INSTALL_DATA,
  type OpenInstallData,
} from './install-data.ts';
import { installUrl } from './install-links.ts';
import { hashOfToken } from './install-tokens.ts';
import { isOld, readOwnEsim, refreshInTime, requireOwnEsim, type ReadDeps } from './read-esims.ts';
import {
  agreeOnPage,
  endOnPage,
  findPageTopUps,
  type MandateDeps,
  type PageTopUps,
} from './mandates/mandates.ts';
import { findEsims, type EsimRow } from './store/esims.ts';
import { findEsimByTokenHash, revokeInstallLink } from './store/install-links.ts';

/** An eSIM, what is likely wrong with it, and what is left on it. Nothing that installs it. */
export type EsimCondition = ReturnType<typeof conditionOf>;

/** What installs an eSIM, empty unless its state is READY. Secret: never logged. */
export interface InstallView extends EsimCondition {
  readonly ac: string;
  readonly smdpAddress: string;
  readonly matchingId: string;
  /** The supplier's picture of the code. */
  readonly qrCodeUrl: string;
}

export type LinkedInstallView = InstallView & { readonly installUrl: string };

/**
 * Everything that installs an account's own eSIM, with its public link; empty for a caller who may not read
 * it. Throws ESIM_NOT_FOUND, NOT_YOUR_ESIM
 * and SERVICE_UNAVAILABLE.
 */
export async function getInstall(
  deps: ReadDeps,
  principal: Principal,
  esimId: string,
): Promise<LinkedInstallView> {
  return linkedViewOf(deps, await readOwnEsim(deps, principal, esimId), principal);
}

/** Of eSIMs that are known to be the caller's, as their rows say, by id. As `getInstall` otherwise. */
export async function readInstalls(
  deps: Pick<ReadDeps, 'db' | 'clock' | 'installData' | 'installTokens'>,
  reader: InstallReader,
  ownEsimIds: readonly string[],
): Promise<ReadonlyMap<string, LinkedInstallView>> {
  const views = new Map<string, LinkedInstallView>();
  for (const row of await findEsims(deps.db, ownEsimIds))
    views.set(row.id, await linkedViewOf(deps, row, reader));
  return views;
}

async function linkedViewOf(
  deps: Pick<ReadDeps, 'db' | 'clock' | 'installData' | 'installTokens'>,
  row: EsimRow,
  reader: InstallReader,
): Promise<LinkedInstallView> {
  // A link that never leads to an eSIM would only be sent on.
  const url = row.status === 'FAILED' ? '' : await installUrl(deps, row.id, reader);
  return { ...installViewOf(deps, row, reader), installUrl: url };
}

/** Throws ESIM_NOT_FOUND and NOT_YOUR_ESIM. */
export async function diagnoseEsim(
  deps: ReadDeps,
  principal: Principal,
  esimId: string,
): Promise<EsimCondition> {
  return conditionOf(deps, await readOwnEsim(deps, principal, esimId));
}

/**
 * The public link works no longer; the next read makes another. Repeating it changes nothing. Throws
 * ESIM_NOT_FOUND and NOT_YOUR_ESIM.
 */
export async function deleteLink(deps: ReadDeps, principal: Principal, esimId: string): Promise<void> {
  await requireOwnEsim(deps, principal, esimId);
  await revokeInstallLink(deps.db, esimId);
}

export interface InstallPage {
  readonly view: InstallView;
  readonly brand: ShownBrand;
  readonly topUps: PageTopUps | undefined;
}

/** The eSIM behind a public link; undefined where none has this token. Throws SERVICE_UNAVAILABLE. */
export async function findInstallPage(
  deps: MandateDeps & { readonly pageRefreshes: ReturnType<typeof createPageRefreshes> },
  token: string,
): Promise<InstallPage | undefined> {
  const row = await findEsimByTokenHash(deps.db, hashOfToken(token));
  if (!row) return undefined;
  const isRefreshed = isOld(deps, row) && deps.pageRefreshes.lease(row.id);
  const fresh = isRefreshed ? await refreshInTime(deps, row) : row;
  const brand = await findShownBrand(deps.db, row.account_id);
  return {
    view: installViewOf(deps, fresh, READS_ALL),
    brand,
    topUps: await findPageTopUps(deps, fresh),
  };
}

/** Automatic top-ups, by who holds the link. false: no eSIM has this token. INVALID_TOPUP. */
export async function chooseOnPage(
  deps: MandateDeps,
  token: string,
  choice:
    { readonly kind: 'end' } | { readonly kind: 'agree'; readonly topUps: number; readonly days: number },
): Promise<boolean> {
  const row = await findEsimByTokenHash(deps.db, hashOfToken(token));
  if (!row) return false;
  await (choice.kind === 'end' ? endOnPage(deps, row) : agreeOnPage(deps, row, choice));
  return true;
}

/** Each entry is an id of 37 characters. One that is forgotten early costs one request to the supplier. */
const MAX_REMEMBERED = 10_000;

/**
 * Lets one view of a page ask the supplier, and the views at the same time or soon after use what is stored.
 * `everyMs`: at least so long between two, also while the supplier gives no answer.
 */
export function createPageRefreshes(everyMs: number) {
  const leased = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: Math.max(1, everyMs) });
  return {
    lease: (esimId: string): boolean => {
      if (leased.has(esimId)) return false;
      leased.set(esimId, true);
      return true;
    },
  };
}

function installViewOf(
  deps: Pick<ReadDeps, 'clock' | 'installData'>,
  row: EsimRow,
  reader: InstallReader,
): InstallView {
  const condition = conditionOf(deps, row);
  const { ac, smdp_address, matching_id, qr_code_url }: OpenInstallData =
    condition.installState === 'READY' ? deps.installData.open(row, reader) : NO_INSTALL_DATA;
  return { ...condition, ac, smdpAddress: smdp_address, matchingId: matching_id, qrCodeUrl: qr_code_url };
}

function conditionOf({ clock }: Pick<ReadDeps, 'clock'>, row: EsimRow) {
  const facts = {
    status: row.status,
    smdpStatus: row.smdp_status,
    usedBytes: row.order_usage_bytes,
    totalBytes: row.total_volume_bytes,
    activateTime: row.activate_time,
    /** Before the first use: when it lapses without one. */
    expiredTime: row.expired_time,
    /** How old usage, state and validity are; null: not known yet. */
    asOf: usageAsOf(row),
  };
  const ends = { isReturned: row.returned_at !== null, isReplaced: row.replaced_by !== null };
  const code = diagnose({ ...facts, ...ends }, clock.now());
  return {
    ...facts,
    esimId: row.id,
    packageName: row.package_name,
    code,
    installState: installStateOf(facts, code),
    /** In `durationUnit`. */
    remainingUnits: remainingUnits(withoutInstallData(row)),
    durationUnit: row.duration_unit,
    apn: row.apn,
  };
}
