/** Examples of the reference: eSIMs and installing them. */
import {
  DELIVERED,
  ESIM,
  ICCID,
  OPENED,
  PACKAGE,
  QR_CODE_URL,
  TRANSACTION,
  type ExamplesByOperation,
} from '../../platform/http/docs/sample.ts';

const LPA = 'LPA:1$rsp.example.com$K2-1A2B3C-4D5E6F';

export const install = {
  esimDetails: {
    esimId: ESIM,
    iccid: ICCID,
    qrCodeUrl: QR_CODE_URL,
    activationCode: LPA,
    smdpAddress: 'rsp.example.com',
    matchingId: 'K2-1A2B3C-4D5E6F',
  },
};

const listedEsim = {
  _id: ESIM,
  packageCode: 'SIM-OK',
  packageName: PACKAGE,
  transactionId: TRANSACTION,
  iccid: ICCID,
  qrCodeUrl: QR_CODE_URL,
  activationCode: LPA,
  esimStatus: 'ACTIVE',
  data: '1 GB',
  totalVolume: 1073741824,
  orderUsage: 234881024,
  data_usage_remain: 838860800,
  usageAsOf: '2026-02-01T08:00:00.000Z',
  validity: 7,
  activateTime: '2026-01-31T12:00:00.000Z',
  expiredTime: '2026-02-07T12:00:00.000Z',
  createdAt: OPENED,
  price: 3790.4,
  currency: 'NGN',
};
const sandboxCoverage = { coverage: ['Sandbox scenarios'], networkProviders: ['Sandbox Mobile'] };

export const esimInUse = {
  ...listedEsim,
  orderNo: 'B26013109300001',
  esimTranNo: '26013109300001',
  imsi: '234500102030405',
  msisdn: null,
  ac: LPA,
  shortUrl: 'https://p.qrsim.net/1a2b3c',
  smdpAddress: 'rsp.example.com',
  matchingId: 'K2-1A2B3C-4D5E6F',
  eid: '89049032000001000000012345678901',
  smdpStatus: 'ENABLED',
  activeType: '2',
  durationUnit: 'DAY',
  totalDuration: 7,
  validity_usage_remain: 6,
  pin: '1234',
  puk: '12345678',
  apn: 'internet',
  smsStatus: 0,
  dataType: 1,
  packageDetails: { ...sandboxCoverage, dataType: 'Data only', speed: '3G/4G/5G' },
  isActive: true,
  updatedAt: DELIVERED,
};

const installReady = {
  esimId: ESIM,
  installState: 'READY',
  installUrl: 'https://api.example.com/i/Zk3t8xq1Vw0yLr5cNs7aPd2hGe9jUb4m',
  activationCode: LPA,
  smdpAddress: 'rsp.example.com',
  matchingId: 'K2-1A2B3C-4D5E6F',
  qrCode: 'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjwvc3ZnPg==',
  iosInstallUrl: `https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=${encodeURIComponent(LPA)}`,
  androidInstallUrl: `https://esimsetup.android.com/esim_qrcode_provisioning?carddata=${encodeURIComponent(LPA)}`,
  apn: 'internet',
  esimStatus: 'CREATED',
  smdpStatus: 'RELEASED',
  usageAsOf: DELIVERED,
  totalVolume: 1073741824,
  orderUsage: 0,
  data_usage_remain: 1073741824,
  validity_usage_remain: 7,
  durationUnit: 'DAY',
  expiredTime: '2026-07-30T09:31:13.000Z',
};
const installInUse = {
  ...installReady,
  installState: 'INSTALLED',
  activationCode: '',
  smdpAddress: '',
  matchingId: '',
  qrCode: '',
  iosInstallUrl: '',
  androidInstallUrl: '',
  esimStatus: 'ACTIVE',
  smdpStatus: 'ENABLED',
  orderUsage: 234881024,
  data_usage_remain: 838860800,
  validity_usage_remain: 6,
  expiredTime: '2026-02-07T12:00:00.000Z',
};

export const ESIM_EXAMPLES: ExamplesByOperation = {
  listEsims: {
    200: {
      'one eSIM': {
        esims: [{ ...listedEsim, packageDetails: sandboxCoverage }],
        total: 1,
        page: 1,
        limit: 10,
        totalPages: 1,
        totalIsMinimum: false,
        nextCursor: '',
      },
    },
  },
  getEsim: { 200: { 'in use': esimInUse } },
  getEsimInstall: { 200: { ready: installReady, installed: installInUse } },
  revokeInstallLink: { 200: { revoked: { esimId: ESIM, revoked: true } } },
  diagnoseEsim: {
    200: {
      'not installed yet': {
        esimId: ESIM,
        code: 'NOT_SCANNED',
        summary: 'The eSIM has not been installed yet.',
        nextStep: 'Open the install page on the phone and install it, on Wi-Fi.',
        esimStatus: 'CREATED',
        smdpStatus: 'RELEASED',
        usageAsOf: DELIVERED,
      },
      'roaming off': {
        esimId: ESIM,
        code: 'ROAMING_LIKELY_OFF',
        summary: 'The eSIM has connected, but uses no data: data roaming is probably off.',
        nextStep:
          'Switch on data roaming for the eSIM, choose it for mobile data, then switch flight mode on and off.',
        esimStatus: 'ACTIVE',
        smdpStatus: 'ENABLED',
        usageAsOf: '2026-01-31T16:00:00.000Z',
      },
    },
  },
};
