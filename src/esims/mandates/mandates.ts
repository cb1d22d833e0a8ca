/**
 * Automatic top-ups that a traveller, or the shop for them, agrees to in advance. The wallet of the account
 * pays each like any top-up; what the shop takes from its traveller is the shop's business.
 */
import { randomBytes } from 'node:crypto';
import { findAccountRow } from '../../accounts/store/accounts.ts';
import { findBrand } from '../../accounts/store/brands.ts';
import type { CatalogueDeps } from '../../catalogue/deps.ts';
import { createPricer, isOnSale } from '../../catalogue/prices.ts';
import { TOP_UP_PREFIX, type CataloguePackage } from '../../catalogue/rules.ts';
import type { TopUps } from '../../catalogue/top-ups.ts';
import type { Account, Principal } from '../../domain/account.ts';
import { DAY_MS } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import { requireOwnEsim, type ReadDeps } from '../read-esims.ts';
import type { EsimRow } from '../store/esims.ts';
import {
  countTravellersAgreements,
  countTravellersTopUps,
  endMandate,
  findMandate,
  insertMandate,
  lockMandates,
  type MandateRow,
  type NewMandate,
} from '../store/mandates.ts';
import {
  canHaveMandate,
  choicesWithin,
  MAX_MANDATE_MS,
  MAX_TRAVELLER_AGREEMENTS_A_DAY,
  thresholdOf,
} from './rules.ts';

export type MandateDeps = ReadDeps &
  Pick<CatalogueDeps, 'catalogue' | 'clock'> & {
    readonly topUps: TopUps;
    readonly accounts: AccountsDb;
    readonly settings: CatalogueDeps['settings'];
  };

export interface MandateCommand {
  readonly limitMinor: bigint;
  readonly currency: string;
  readonly maxTopUps?: number | undefined;
  readonly packageCode?: string | undefined;
  readonly thresholdBytes?: bigint | undefined;
  readonly expiresAt: Date;
}

/** The newest of the eSIM. ESIM_NOT_FOUND, NOT_YOUR_ESIM, NOT_FOUND. */
export async function getMandate(deps: ReadDeps, principal: Principal, esimId: string): Promise<MandateRow> {
  await requireOwnEsim(deps, principal, esimId);
  const found = await findMandate(deps.db, esimId);
  if (!found) throw new DomainError('NOT_FOUND', 'No mandate was ever given for this eSIM');
  return found;
}

/**
 * In place of the one that is active. The same terms of the same caller change nothing, so a request may be
 * repeated. ESIM_NOT_FOUND, NOT_YOUR_ESIM, CURRENCY_MISMATCH, VALIDATION_ERROR, INVALID_TOPUP.
 */
export async function setMandate(
  deps: MandateDeps,
  principal: Principal,
  esimId: string,
  command: MandateCommand,
): Promise<MandateRow> {
  const row = await requireOwnEsim(deps, principal, esimId);
  const { currency } = principal.account;
  if (command.currency !== currency)
    throw new DomainError('CURRENCY_MISMATCH', `The wallet of this account is in ${currency}`);
  const leftMs = command.expiresAt.getTime() - deps.clock.now().getTime();
  if (leftMs <= 0 || leftMs > MAX_MANDATE_MS)
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
      details: 'expiresAt: must be in the future, and within 366 days',
    });
  const item = await fittingTopUp(deps, row, command.packageCode);
  if (!item || !canHaveMandate(row))
    throw new DomainError('INVALID_TOPUP', 'This eSIM cannot be topped up with this package');
  if ((command.thresholdBytes ?? 0n) > BigInt(item.volumeBytes))
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
      details: `thresholdVolume: must be at most ${item.volumeBytes}, which one top-up adds`,
    });
  return agree(deps, row, {
    item,
    agreed_by: 'MERCHANT',
    caller: principal.keyId,
    limit_minor: command.limitMinor,
    currency,
    max_top_ups: command.maxTopUps ?? null,
    threshold_bytes: command.thresholdBytes ?? thresholdOf(BigInt(item.volumeBytes)),
    expires_at: command.expiresAt,
  });
}

/** A top-up that is open goes on. Repeating it changes nothing. ESIM_NOT_FOUND, NOT_YOUR_ESIM. */
export async function deleteMandate(deps: ReadDeps, principal: Principal, esimId: string): Promise<void> {
  await requireOwnEsim(deps, principal, esimId);
  const found = await findMandate(deps.db, esimId);
  if (found) await endMandate(deps.db, found.id, 'ENDED_BY_MERCHANT');
}

/** What the page of an eSIM shows: a mandate that is active, or what is offered. */
export type PageTopUps =
  | { readonly mandate: Pick<MandateRow, 'top_ups' | 'max_top_ups' | 'expires_at'> }
  | {
      readonly offer: {
        readonly priceText: string;
        readonly packageName: string;
        readonly choices: number[];
      };
    };

/** undefined: there is nothing to show. It never fails: the page is there to install. */
export async function findPageTopUps(deps: MandateDeps, row: EsimRow): Promise<PageTopUps | undefined> {
  const mandate = await findMandate(deps.db, row.id);
  if (mandate?.state === 'ACTIVE' && mandate.expires_at > deps.clock.now()) return { mandate };
  const found = await findOffer(deps, row).catch((error: unknown) => {
    if (error instanceof DomainError) return undefined;
    throw error;
  });
  if (!found) return undefined;
  const { priceText, choices, item } = found;
  return { offer: { priceText, packageName: item.name, choices } };
}

interface Offer {
  readonly item: CataloguePackage;
  readonly account: Account;
  readonly priceText: string;
  readonly choices: number[];
}

async function findOffer(deps: MandateDeps, row: EsimRow): Promise<Offer | undefined> {
  if (!canHaveMandate(row) || row.smdp_status === 'DELETED') return undefined;
  const { autoTopUp } = await findBrand(deps.db, row.account_id);
  if (!autoTopUp) return undefined;
  const choices = choicesWithin(autoTopUp.maxTopUps - (await countTravellersTopUps(deps.db, row.id)));
  if (choices.length === 0) return undefined;
  const account = await findAccountRow(deps.accounts, row.account_id);
  const item = account && !account.disabledAt ? await fittingTopUp(deps, row) : undefined;
  return account && item && { item, account, priceText: autoTopUp.priceText, choices };
}

/**
 * By who holds the link of the page, within what the shop offers. One that is active stays. INVALID_TOPUP
 * where nothing is offered, or less than this.
 */
export async function agreeOnPage(
  deps: MandateDeps,
  row: EsimRow,
  { topUps, days }: { readonly topUps: number; readonly days: number },
): Promise<void> {
  const offer = await findOffer(deps, row);
  if (!offer?.choices.includes(topUps)) throw new DomainError('INVALID_TOPUP', 'This is not offered');
  const { item, account } = offer;
  const priced = createPricer(deps, deps.catalogue.current(), account, account.currency).price(item);
  if (!isOnSale(priced)) throw new DomainError('INVALID_TOPUP', 'This is not offered');
  await agree(deps, row, {
    item,
    agreed_by: 'TRAVELLER',
    caller: null,
    limit_minor: priced.price.amountMinor * BigInt(topUps),
    currency: account.currency,
    max_top_ups: topUps,
    threshold_bytes: thresholdOf(BigInt(item.volumeBytes)),
    expires_at: new Date(deps.clock.now().getTime() + days * DAY_MS),
  });
}

export async function endOnPage({ db }: Pick<MandateDeps, 'db'>, row: EsimRow): Promise<void> {
  const found = await findMandate(db, row.id);
  if (found) await endMandate(db, found.id, 'ENDED_BY_TRAVELLER');
}

const SAME = [
  'package_code',
  'agreed_by',
  'caller',
  'limit_minor',
  'currency',
  'max_top_ups',
  'threshold_bytes',
] as const;

type Terms = Omit<NewMandate, 'id' | 'account_id' | 'esim_id' | 'package_code'> & {
  readonly item: CataloguePackage;
};

async function agree(deps: MandateDeps, row: EsimRow, { item, ...terms }: Terms): Promise<MandateRow> {
  const mandate = {
    ...terms,
    id: makeId('mandate', randomBytes(16).toString('hex')),
    account_id: row.account_id,
    esim_id: row.id,
    package_code: item.packageCode,
  };
  return inTransaction(deps.db, async (trx) => {
    const active = await lockMandates(trx, row.id);
    const isSame =
      active &&
      SAME.every((name) => active[name] === mandate[name]) &&
      active.expires_at.getTime() === mandate.expires_at.getTime();
    if (isSame) return active;
    if (mandate.agreed_by === 'TRAVELLER') {
      if (active && active.expires_at > deps.clock.now()) return active;
      await requireOffered(trx, mandate);
    }
    if (active) await endMandate(trx, active.id, 'SUPERSEDED');
    return insertMandate(trx, mandate);
  });
}

/** Again under the lock: of two pages that are open, the second sees what the first has agreed to. */
async function requireOffered(
  trx: MandateDeps['db'],
  { account_id, esim_id, max_top_ups }: Pick<NewMandate, 'account_id' | 'esim_id' | 'max_top_ups'>,
): Promise<void> {
  const { autoTopUp } = await findBrand(trx, account_id);
  const left = (autoTopUp?.maxTopUps ?? 0) - (await countTravellersTopUps(trx, esim_id));
  if ((max_top_ups ?? 0) > left) throw new DomainError('INVALID_TOPUP', 'This is not offered any more');
  if ((await countTravellersAgreements(trx, esim_id)) >= MAX_TRAVELLER_AGREEMENTS_A_DAY)
    throw new DomainError('INVALID_TOPUP', 'This was agreed to too often today. Ask again tomorrow');
}

/**
 * The one that is named. Otherwise that of the eSIM's own package, or the first that its supplier lists.
 * undefined: none fits, or none is sold.
 */
async function fittingTopUp(
  { catalogue, topUps }: Pick<MandateDeps, 'catalogue' | 'topUps'>,
  row: EsimRow,
  packageCode?: string,
): Promise<CataloguePackage | undefined> {
  const base = catalogue.current().byCode.get(row.package_code);
  const fitting = base ? await topUps.of(base) : [];
  const called = (code: string) => fitting.find((item) => item.packageCode === code);
  if (packageCode === undefined) return called(TOP_UP_PREFIX + row.package_code) ?? fitting[0];
  return called(packageCode) ?? called(TOP_UP_PREFIX + packageCode);
}
