/** The examples about eSIMs. */
/** Values by the name of the case that each is true for. */
export type Examples = Readonly<Record<string, unknown>>;

/** Of requests, and of answers by their status. */
export interface OperationExamples {
  readonly request?: Examples;
  readonly [status: number]: Examples;
}

export const TRANSACTION = 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11';
export const ESIM = 'esim-0f8fad5bd9cb469fa16570867728950e';
export const ICCID = '8944500102030405067';
export const LPA = 'LPA:1$rsp.example.com$K2-1A2B3C-4D5E6F';
export const OPENED = '2026-01-31T09:30:00.000Z';
export const DELIVERED = '2026-01-31T09:31:13.021Z';

export const install = {
  esimDetails: {
    esimId: ESIM,
    iccid: ICCID,
    qrCodeUrl: 'https://p.qrsim.net/1a2b3c.png',
    activationCode: LPA,
    smdpAddress: 'rsp.example.com',
    matchingId: 'K2-1A2B3C-4D5E6F',
  },
};

export const listedEsim = {
  _id: ESIM,
  packageCode: 'SIM-OK',
  packageName: 'Sandbox SIM-OK 1GB 7Days',
  transactionId: TRANSACTION,
  iccid: ICCID,
  qrCodeUrl: install.esimDetails.qrCodeUrl,
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
export const coverage = { coverage: ['Nigeria'], networkProviders: ['MTN', 'Airtel'] };
export const sandboxCoverage = { coverage: ['Sandbox scenarios'], networkProviders: ['Sandbox Mobile'] };

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

const suspendedEsim = { ...esimInUse, esimStatus: 'SUSPENDED', smdpStatus: 'DISABLED', isActive: false };
const expiredEsim = {
  ...esimInUse,
  esimStatus: 'EXPIRED',
  smdpStatus: 'DISABLED',
  validity_usage_remain: 0,
  isActive: false,
};

export const SANDBOX_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  sandboxInstallEsim: {
    request: { 'all the way': { stage: 'CONNECTED' }, 'broken off': { stage: 'DOWNLOAD' } },
    200: {
      'all the way': esimInUse,
      'broken off': {
        ...esimInUse,
        esimStatus: 'CREATED',
        smdpStatus: 'DOWNLOAD',
        activateTime: '',
        orderUsage: 0,
        data_usage_remain: 1073741824,
        validity_usage_remain: 7,
        isActive: false,
      },
    },
  },
  sandboxUseEsim: { request: { 'some data': { bytes: 234881024 } }, 200: { 'in use': esimInUse } },
  sandboxUseUpEsim: {
    200: { 'used up': { ...esimInUse, orderUsage: 1073741824, data_usage_remain: 0 } },
  },
  sandboxExpireEsim: { 200: { expired: expiredEsim } },
  sandboxSuspendEsim: { 200: { suspended: suspendedEsim } },
  sandboxResumeEsim: { 200: { 'in use': esimInUse } },
  sandboxSwitchOffEsim: { 200: { 'switched off': { ...esimInUse, smdpStatus: 'DISABLED' } } },
  sandboxSwitchOnEsim: { 200: { 'in use': esimInUse } },
  sandboxDeleteEsimProfile: { 200: { deleted: { ...esimInUse, smdpStatus: 'DELETED' } } },
  sandboxAdvanceEsimClock: {
    request: { 'one day': { advanceSeconds: 86400 } },
    200: { 'one day older': esimInUse },
  },
};

export const installReady = {
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
export const installInUse = {
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
