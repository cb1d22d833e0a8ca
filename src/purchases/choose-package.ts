/** Which package a request names, and whether it can be bought now. */
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { packageNotFound } from '../catalogue/browse.ts';
import type { CataloguePackage } from '../catalogue/rules.ts';
import type { TopUps } from '../catalogue/top-ups.ts';
import { refreshBeforeTopUp } from '../esims/read-esims.ts';
import { findEsim, type EsimRow } from '../esims/store/esims.ts';
import { refused } from '../payments/first-answer.ts';
import type { PurchaseDeps } from './deps.ts';
import type { BuyCommand } from './views.ts';

export type ChooseDeps = PurchaseDeps & { readonly topUps: TopUps };
type PackageChoice = Pick<BuyCommand, 'packageCode' | 'esimId'>;

export interface ChosenPackage {
  readonly item: CataloguePackage;
  readonly esimId: string;
}

/** PACKAGE_NOT_FOUND, PACKAGE_UNAVAILABLE. */
export function chooseBase(deps: Pick<ChooseDeps, 'catalogue'>, choice: PackageChoice): CataloguePackage {
  const item = deps.catalogue.current().byCode.get(choice.packageCode);
  if (!item) throw packageNotFound();
  if (item.withdrawn) throw refused({ reason: 'PACKAGE_WITHDRAWN', detail: '' });
  return item;
}

/** Asks the supplier for the eSIM's state. ESIM_NOT_FOUND, PACKAGE_NOT_FOUND, INVALID_TOPUP. */
export async function chooseTopUp(
  deps: ChooseDeps,
  principal: Principal,
  choice: PackageChoice,
): Promise<ChosenPackage> {
  const { item, row } = await chooseFitting(deps, principal, choice);
  const fresh = row.esim_tran_no === '' ? row : await refreshBeforeTopUp(deps, row);
  if (fresh.status !== 'ACTIVE')
    throw new DomainError(
      'INVALID_TOPUP',
      `Only an ACTIVE eSIM can be topped up, this one is ${fresh.status}`,
    );
  return { item, esimId: row.id };
}

/** The same, in any state of the eSIM. */
export async function chooseFitting(
  deps: Pick<ChooseDeps, 'db' | 'catalogue' | 'topUps'>,
  principal: Principal,
  choice: PackageChoice,
): Promise<{ readonly item: CataloguePackage; readonly row: EsimRow }> {
  const row = await findEsim(deps.db, choice.esimId ?? '');
  if (row?.account_id !== principal.account.id) {
    throw new DomainError('ESIM_NOT_FOUND', 'eSIM not found or does not belong to your account');
  }
  const base = deps.catalogue.current().byCode.get(row.package_code);
  const fitting = base ? await deps.topUps.of(base) : [];
  const item =
    fitting.find((topUp) => topUp.packageCode === choice.packageCode) ??
    fitting.find((topUp) => topUp.packageCode === `TOPUP_${choice.packageCode}`);
  if (item) return { item, row };
  if (!(await deps.topUps.find(choice.packageCode))) throw packageNotFound();
  throw new DomainError('INVALID_TOPUP', 'This top-up package does not fit the package of the eSIM');
}
