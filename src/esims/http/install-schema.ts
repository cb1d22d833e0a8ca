import { z } from 'zod';
import { ESIM_STATUSES } from '../../domain/states.ts';
import { DIAGNOSIS_CODES, INSTALL_STATES } from '../diagnosis.ts';
import type { EsimCondition, InstallView } from '../installing.ts';
import type { Wire } from '../../platform/http/json.ts';
import { androidInstallLink, iosInstallLink, qrDataUrl } from './activation.ts';
import { TEXTS } from '../install-texts/languages.ts';

/** Empty unless the eSIM can still be installed. */
const whenReady = (description: string, example: string) =>
  z.string().meta({ description: `${description}; empty unless \`installState\` is READY`, example });

const esimId = z.string().meta({ example: 'esim-0f8fad5bd9cb469fa16570867728950e' });
const condition = {
  esimStatus: z.enum(ESIM_STATUSES),
  smdpStatus: z.string().meta({ description: 'Install state of the profile; empty until known' }),
  usageAsOf: z.string().meta({
    description: 'ISO 8601: how old state, usage and validity are; empty until known',
    example: '2026-01-31T09:30:00.000Z',
  }),
};

export const installSchema = z
  .object({
    esimId,
    installState: z.enum(INSTALL_STATES).meta({
      description:
        'NOT_DELIVERED: being prepared. READY: can be installed. INSTALLED: on a device already, or was. ENDED: cannot be installed any more.',
    }),
    installUrl: z.string().meta({
      description: 'Public page for the traveller, until it is revoked. A secret',
      example: 'https://api.example.com/i/Zk3t8xq1Vw0yLr5cNs7aPd2hGe9jUb4m',
    }),
    activationCode: whenReady('LPA string', 'LPA:1$rsp.example.com$K2-1A2B3C-4D5E6F'),
    smdpAddress: whenReady('SM-DP+ address', 'rsp.example.com'),
    matchingId: whenReady('Matching id', 'K2-1A2B3C-4D5E6F'),
    qrCode: whenReady('QR code as a data URL of an SVG image', 'data:image/svg+xml;base64,PHN2Zw=='),
    iosInstallUrl: whenReady('One tap on iOS 17.4 and later', 'https://esimsetup.apple.com/…'),
    androidInstallUrl: whenReady('One tap on recent Android phones', 'https://esimsetup.android.com/…'),
    apn: z.string().meta({ description: 'Access point name; empty until known' }),
    ...condition,
    totalVolume: z.number().int().meta({ description: 'Bytes' }),
    orderUsage: z.number().int().meta({ description: 'Bytes used' }),
    data_usage_remain: z.number().int().min(0).meta({ description: 'Bytes left' }),
    validity_usage_remain: z.number().int().meta({ description: 'Validity left, in `durationUnit`' }),
    durationUnit: z.string().meta({ example: 'DAY' }),
    expiredTime: z.string().meta({ description: 'ISO 8601; empty until known' }),
  })
  .meta({ id: 'EsimInstall' });

export const diagnosisSchema = z
  .object({
    esimId,
    code: z.enum(DIAGNOSIS_CODES),
    summary: z.string().meta({ description: 'What is wrong, in one sentence' }),
    nextStep: z.string().meta({ description: 'What the traveller can do' }),
    ...condition,
  })
  .meta({ id: 'EsimDiagnosis' });

export const revokedSchema = z
  .object({ esimId, revoked: z.literal(true) })
  .meta({ id: 'InstallLinkRevoked' });

export function presentInstall(
  view: InstallView & { readonly installUrl: string },
): Wire<z.output<typeof installSchema>> {
  const { ac, usedBytes, totalBytes } = view;
  const [totalVolume, orderUsage] = [Number(totalBytes), Number(usedBytes)];
  return {
    esimId: view.esimId,
    installState: view.installState,
    installUrl: view.installUrl,
    activationCode: ac,
    smdpAddress: view.smdpAddress,
    matchingId: view.matchingId,
    qrCode: ac && qrDataUrl(ac),
    iosInstallUrl: ac && iosInstallLink(ac),
    androidInstallUrl: ac && androidInstallLink(ac),
    apn: view.apn,
    ...presentCondition(view),
    totalVolume,
    orderUsage,
    data_usage_remain: Math.max(0, totalVolume - orderUsage),
    validity_usage_remain: view.remainingUnits,
    durationUnit: view.durationUnit,
    expiredTime: view.expiredTime?.toISOString() ?? '',
  };
}

export function presentDiagnosis(view: EsimCondition): Wire<z.output<typeof diagnosisSchema>> {
  const { esimId: id, code } = view;
  return { esimId: id, code, ...TEXTS.en.diagnosis[code], ...presentCondition(view) };
}

function presentCondition({ status, smdpStatus, usageAsOf }: EsimCondition) {
  return { esimStatus: status, smdpStatus, usageAsOf: usageAsOf?.toISOString() ?? '' };
}
