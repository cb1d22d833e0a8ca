/** What routes may call. Bound to their dependencies in app/composition. */
import type { Bound, Guarded } from '../platform/bind.ts';
import { findLogo } from '../accounts/store/brands.ts';
import { chooseOnPage, deleteLink, diagnoseEsim, findInstallPage, getInstall } from './installing.ts';
import { deleteMandate, getMandate, setMandate, type MandateDeps } from './mandates/mandates.ts';
import { getEsim, listEsims } from './read-esims.ts';
import { controlSandboxEsim } from './sandbox-controls.ts';
import type { SupplierInbox } from './supplier-events.ts';

export const esimUseCases = {
  listEsims,
  getEsim,
  controlSandboxEsim,
  getInstall,
  diagnoseEsim,
  deleteInstallLink: deleteLink,
  findInstallPage,
  chooseOnPage,
  findShopLogo: ({ db }: Pick<MandateDeps, 'db'>, hash: string) => findLogo(db, hash),
  getMandate,
  setMandate,
  deleteMandate,
};

export type EsimCases = Bound<typeof esimUseCases> & Guarded<SupplierInbox>;
