/** What installs an eSIM, its public link, and what is wrong with it. */
import { toJson } from '../../platform/http/json.ts';
import { routesFor, type Route } from '../../platform/http/route.ts';
import { esimId } from './esim-parameter.ts';
import {
  diagnosisSchema,
  installSchema,
  presentDiagnosis,
  presentInstall,
  revokedSchema,
} from './install-schema.ts';
import type { EsimCases } from '../use-cases.ts';

const defineRoute = routesFor<EsimCases>();

const TAG = 'eSIMs';

const OWN = {
  key: 'required',
  params: { esimId },
  errors: ['ESIM_NOT_FOUND', 'NOT_YOUR_ESIM'],
} as const;

const installRoute = defineRoute({
  ...OWN,
  method: 'GET',
  path: '/api/esim/{esimId}/install',
  scope: 'read',
  responses: { 200: { description: 'What installs it, and the public link', schema: installSchema } },
  docs: {
    operationId: 'getEsimInstall',
    tag: TAG,
    summary: 'Read what installs one of your eSIMs',
    description:
      'Activation code, QR code, one-tap links, and `installUrl`: a public page for the traveller. The link is made by the first read and stays ' +
      'the same until it is revoked. Anyone who has it can install the eSIM.',
  },
  async handle({ cases, principal, params }) {
    const install = await cases.getInstall(principal, params['esimId'] ?? '');
    return { status: 200, body: toJson(presentInstall(install)) };
  },
});

const revokeRoute = defineRoute({
  ...OWN,
  method: 'DELETE',
  path: '/api/esim/{esimId}/install/link',
  scope: 'purchase',
  responses: { 200: { description: 'The link works no longer', schema: revokedSchema } },
  docs: {
    operationId: 'revokeInstallLink',
    tag: TAG,
    summary: 'Revoke the public install link',
    description:
      'The page at the link is not found from now on; the next read of the install data makes a new link. The eSIM itself is not touched.',
  },
  async handle({ cases, principal, params }) {
    const id = params['esimId'] ?? '';
    await cases.deleteInstallLink(principal, id);
    return { status: 200, body: toJson({ esimId: id, revoked: true }) };
  },
});

const diagnosisRoute = defineRoute({
  ...OWN,
  method: 'GET',
  path: '/api/esim/{esimId}/diagnosis',
  scope: 'read',
  responses: { 200: { description: 'The likeliest cause, and what to do', schema: diagnosisSchema } },
  docs: {
    operationId: 'diagnoseEsim',
    tag: TAG,
    summary: 'Find what is wrong with an eSIM',
    description:
      'The likeliest cause from state, profile and usage as last known, with a `code` for programs and a sentence for people. Supplier ' +
      'figures are up to three hours behind.',
  },
  async handle({ cases, principal, params }) {
    const condition = await cases.diagnoseEsim(principal, params['esimId'] ?? '');
    return { status: 200, body: toJson(presentDiagnosis(condition)) };
  },
});

export const installRoutes: readonly Route<EsimCases>[] = [installRoute, revokeRoute, diagnosisRoute];
