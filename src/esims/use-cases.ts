/** What routes may call. Bound to their dependencies in app/composition. */
import type { Bound, Guarded } from '../platform/bind.ts';
import { deleteLink, diagnoseEsim, findInstallPage, getInstall } from './installing.ts';
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
};

export type EsimCases = Bound<typeof esimUseCases> & Guarded<SupplierInbox>;
