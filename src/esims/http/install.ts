/** What installs an eSIM, its public link, and what is wrong with it. */
import { z } from 'zod';
import { ESIM_STATUSES } from '../../domain/states.ts';
import { count, laterText, text, namedObject } from '../../platform/http/answer-fields.ts';
import { merchantRoutes } from '../../platform/http/define-routes.ts';
import type { Route } from '../../platform/http/route.ts';
import { DIAGNOSIS_CODES, INSTALL_STATES } from '../diagnosis.ts';
import { TEXTS } from '../install-texts/languages.ts';
import type { EsimCondition } from '../installing.ts';
import type { EsimCases } from '../use-cases.ts';
import { androidInstallLink, iosInstallLink, qrDataUrl } from '../activation.ts';
import { esimId } from './shared.ts';

const routes = merchantRoutes<EsimCases>('eSIMs', { esimId });

/** Empty unless the eSIM can still be installed. */
const whenReady = (description: string, example: string) =>
  text(`${description}; empty unless \`installState\` is READY`, example);

const idField = z.string().meta({ example: 'esim-0f8fad5bd9cb469fa16570867728950e' });

const condition = {
  esimStatus: z.enum(ESIM_STATUSES),
  smdpStatus: laterText('Install state of the profile'),
  usageAsOf: text(
    'ISO 8601: how old state, usage and validity are; empty until known',
    '2026-01-31T09:30:00.000Z',
  ),
};

const installSchema = namedObject('EsimInstall', {
  esimId: idField,
  installState: z
    .enum(INSTALL_STATES)
    .describe(
      'NOT_DELIVERED: being prepared. READY: can be installed. INSTALLED: on a device already. ENDED: cannot be installed any more.',
    ),
  installUrl: text(
    'Public page for the traveller, until it is revoked. A secret',
    'https://api.example.com/i/Zk3t8xq1Vw0yLr5cNs7aPd2hGe9jUb4m',
  ),
  activationCode: whenReady('LPA string', 'LPA:1$rsp.example.com$K2-1A2B3C-4D5E6F'),
  smdpAddress: whenReady('SM-DP+ address', 'rsp.example.com'),
  matchingId: whenReady('Matching id', 'K2-1A2B3C-4D5E6F'),
  qrCode: whenReady('QR code as a data URL of an SVG image', 'data:image/svg+xml;base64,PHN2Zw=='),
  iosInstallUrl: whenReady('One tap on iOS 17.4 and later', 'https://esimsetup.apple.com/…'),
  androidInstallUrl: whenReady('One tap on recent Android phones', 'https://esimsetup.android.com/…'),
  apn: laterText('Access point name'),
  ...condition,
  totalVolume: count('Bytes'),
  orderUsage: count('Bytes used'),
  data_usage_remain: z.number().int().min(0).describe('Bytes left'),
  validity_usage_remain: count('Validity left, in `durationUnit`'),
  durationUnit: z.string().meta({ example: 'DAY' }),
  expiredTime: laterText('ISO 8601'),
});

const diagnosisSchema = namedObject('EsimDiagnosis', {
  esimId: idField,
  code: z.enum(DIAGNOSIS_CODES),
  summary: text('What is wrong, in one sentence'),
  nextStep: text('What the traveller can do'),
  ...condition,
});

const revokedSchema = namedObject('InstallLinkRevoked', { esimId: idField, revoked: z.literal(true) });

const presentCondition = ({ status, smdpStatus, asOf }: EsimCondition) => ({
  esimStatus: status,
  smdpStatus,
  usageAsOf: asOf ?? '',
});

export const installRoutes: readonly Route<EsimCases>[] = [
  routes.get('/api/esim/{esimId}/install', {
    errors: ['NOT_YOUR_ESIM'],
    answer: [200, 'What installs it, and the public link', installSchema],
    operationId: 'getEsimInstall',
    summary: 'Read what installs one of your eSIMs',
    description:
      'Activation code, QR code, one-tap links, and `installUrl`: a public page for the traveller. The link is made by the first read and stays ' +
      'the same until it is revoked; a FAILED eSIM gets none. Anyone who has it can install the eSIM.',
    async handle({ cases, principal, params }) {
      const view = await cases.getInstall(principal, params.esimId);
      const { ac, usedBytes, totalBytes } = view;
      const [totalVolume, orderUsage] = [Number(totalBytes), Number(usedBytes)];
      return {
        ...view,
        ...presentCondition(view),
        activationCode: ac,
        qrCode: ac && qrDataUrl(ac),
        iosInstallUrl: ac && iosInstallLink(ac),
        androidInstallUrl: ac && androidInstallLink(ac),
        totalVolume,
        orderUsage,
        data_usage_remain: Math.max(0, totalVolume - orderUsage),
        validity_usage_remain: view.remainingUnits,
        expiredTime: view.expiredTime ?? '',
      };
    },
  }),
  routes.delete('/api/esim/{esimId}/install/link', {
    confirmed: false,
    errors: ['NOT_YOUR_ESIM'],
    answer: [200, 'The link works no longer', revokedSchema],
    operationId: 'revokeInstallLink',
    summary: 'Revoke the public install link',
    description:
      'The page at the link is not found from now on; the next read of the install data makes a new link. The eSIM itself is not touched.',
    async handle({ cases, principal, params }) {
      await cases.deleteInstallLink(principal, params.esimId);
      return { esimId: params.esimId, revoked: true } as const;
    },
  }),
  routes.get('/api/esim/{esimId}/diagnosis', {
    errors: ['NOT_YOUR_ESIM'],
    answer: [200, 'The likeliest cause, and what to do', diagnosisSchema],
    operationId: 'diagnoseEsim',
    summary: 'Find what is wrong with an eSIM',
    description:
      'The likeliest cause from state, profile and usage as last known, with a `code` for programs and a sentence for people. Supplier ' +
      'figures are up to three hours behind.',
    async handle({ cases, principal, params }) {
      const found = await cases.diagnoseEsim(principal, params.esimId);
      const { esimId: id, code } = found;
      return { esimId: id, code, ...TEXTS.en.diagnosis[code], ...presentCondition(found) };
    },
  }),
];
