// The supplier and the gateway for HTTP tests: they answer at once, as a test says. Nothing is sent anywhere.
import { createHash, randomInt } from 'node:crypto';
import type { Environment } from '../../../src/domain/account.ts';
import type { EsimSupplier } from '../../../src/esims/port.ts';
import type { ProfileFacts } from '../../../src/esims/rules.ts';
import type { SandboxAction, SandboxRequest, SandboxSupplier } from '../../../src/esims/sandbox-port.ts';
import type { ChargeRequest, PaymentGateway } from '../../../src/payments/port.ts';
import { profileFacts } from '../money/facts.ts';
import { baseItem, NOW, topUpItem } from './packages.ts';

/** The signature that this gateway accepts as its own. */
export const GOOD_SIGNATURE = 'a0'.repeat(64);
export const TRANSFER_EXPIRES_AT = new Date('2099-01-31T10:00:00.250Z');

export interface TestVendors {
  /** The supplier's answer to an order. */
  supplier: 'delivers' | 'is allocating' | 'refuses';
  /** The answer of the test environment's simulator to an action on an eSIM. */
  sandbox: 'acts' | 'refuses' | 'is away';
  /** What the supplier has delivered, by `esimTranNo`. The simulator changes it. */
  readonly profiles: Map<string, ReturnType<typeof newProfile>>;
  /** Everything that the simulator was asked for. */
  readonly acted: SandboxRequest[];
  /** Whether there is a mail server for e-mails to travellers. */
  sendsEmails: boolean;
  /** Addresses and ranges that the supplier sends from. */
  supplierAddresses: readonly string[];
  /** Whether the gateway has sent payment instructions. */
  gatewayAnswers: boolean;
  /** Every charge that the gateway was asked for. */
  readonly charged: ChargeRequest[];
  /** References of payments that the gateway has received. */
  readonly paid: Set<string>;
  /** Every event that was given to the gateway to verify. */
  readonly events: {
    readonly environment: Environment;
    readonly bytes: Buffer;
    readonly headers: Readonly<Record<string, string | undefined>>;
  }[];
}

export function createTestVendors(): TestVendors {
  return {
    supplier: 'delivers',
    sandbox: 'acts',
    profiles: new Map(),
    acted: [],
    sendsEmails: true,
    supplierAddresses: ['127.0.0.0/8'],
    gatewayAnswers: true,
    charged: [],
    paid: new Set(),
    events: [],
  };
}

export function createTestSandbox(vendors: TestVendors): SandboxSupplier {
  return {
    act: (request) => {
      vendors.acted.push(request);
      if (vendors.sandbox === 'is away') return Promise.resolve({ outcome: 'unknown', detail: 'no answer' });
      const profile = vendors.profiles.get(request.esimTranNo);
      if (vendors.sandbox === 'refuses' || !profile)
        return Promise.resolve({
          outcome: 'refused',
          reason: 'NOT_ALLOWED_IN_STATE',
          detail: 'no data is left',
        });
      Object.assign(profile, effectOf(request.action, profile.totalVolumeBytes));
      return Promise.resolve({ outcome: 'done', value: null });
    },
  };
}

/** What an action leaves behind, as far as it shows. */
function effectOf(action: SandboxAction, totalVolumeBytes: number): Partial<ProfileFacts> {
  const inUse = { status: 'ACTIVE', smdpStatus: 'ENABLED' } as const;
  switch (action.name) {
    case 'install': {
      if (action.stage === 'CONNECTED') return inUse;
      // Its status stays: one in use cannot go back.
      return { smdpStatus: action.stage, orderUsageBytes: 0, activateTime: null };
    }
    case 'use':
      return { ...inUse, orderUsageBytes: Math.min(action.bytes, totalVolumeBytes) };
    case 'use-up':
      return { ...inUse, orderUsageBytes: totalVolumeBytes };
    case 'clock':
      return { ...inUse, activateTime: new Date(NOW.getTime() - action.advanceMs).toISOString() };
    case 'expire':
      return { status: 'EXPIRED', smdpStatus: 'DISABLED' };
    case 'suspend':
      return { ...inUse, status: 'SUSPENDED' };
    case 'resume':
    case 'switch-on':
      return inUse;
    case 'switch-off':
      return { ...inUse, smdpStatus: 'DISABLED' };
    case 'delete-profile':
      return { ...inUse, smdpStatus: 'DELETED' };
  }
}

export function createTestSupplier(vendors: TestVendors): EsimSupplier {
  const refused = { outcome: 'refused', reason: 'PACKAGE_UNKNOWN', detail: 'not sold any more' } as const;
  const { profiles } = vendors;
  const ready = (query: { readonly orderNo: string } | { readonly esimTranNo: string }) => {
    const known = 'esimTranNo' in query ? profiles.get(query.esimTranNo) : newProfile(query.orderNo);
    if (known) profiles.set(known.esimTranNo, known);
    return known;
  };
  const supplier: Partial<EsimSupplier> = {
    name: 'esim-access',
    repeats: { order: 'same-request', topUp: 'unknown' },
    effectTimeLimitMs: 1_000,
    topUps: (code) => Promise.resolve(code === baseItem.packageCode ? [topUpItem] : []),
    order: ({ transactionId }) =>
      Promise.resolve(
        vendors.supplier === 'refuses'
          ? refused
          : { outcome: 'done', value: { orderNo: `B-${transactionId}` } },
      ),
    profile: (query) => {
      const profile = vendors.supplier === 'delivers' ? ready(query) : undefined;
      return Promise.resolve({
        outcome: 'done',
        value: profile ? { state: 'ready', profile } : { state: 'allocating' },
      });
    },
    topUp: ({ esimTranNo }) =>
      Promise.resolve(
        vendors.supplier === 'delivers'
          ? {
              outcome: 'done',
              value: {
                iccid: iccidOf(esimTranNo),
                totalVolumeBytes: 6_442_450_944,
                orderUsageBytes: 442_450_944,
                totalDuration: 37,
                expiredTime: null,
              },
            }
          : { outcome: 'unknown', detail: 'no answer' },
      ),
    cancel: ({ esimTranNo }) => {
      const profile = profiles.get(esimTranNo);
      const isUnused = profile?.smdpStatus === 'RELEASED';
      if (isUnused) Object.assign(profile, { status: 'CANCELLED' });
      return Promise.resolve(
        isUnused
          ? { outcome: 'done', value: null }
          : { outcome: 'refused', reason: 'NOT_ALLOWED_IN_STATE', detail: 'in use' },
      );
    },
    revoke: ({ esimTranNo }) => {
      Object.assign(profiles.get(esimTranNo) ?? {}, { status: 'CANCELLED' });
      return Promise.resolve({ outcome: 'done', value: null });
    },
  };
  return supplier as EsimSupplier;
}

const iccidOf = (esimTranNo: string): string => `8944300${esimTranNo}`;

/** In use, so that it can be topped up. */
function newProfile(orderNo: string) {
  const esimTranNo = String(randomInt(1e11, 1e12));
  return {
    ...profileFacts({
      orderNo,
      esimTranNo,
      iccid: iccidOf(esimTranNo),
      imsi: '454000000000001',
      ac: 'LPA:1$rsp.example.com$MATCHING-0001',
      qrCodeUrl: 'https://qr.example.com/0001.png',
      shortUrl: 'https://qr.example.com/0001',
      pin: '1234',
      activateTime: NOW.toISOString(),
      expiredTime: null,
      orderUsageBytes: 442_450_944,
      status: 'ACTIVE',
    }),
    transactionId: '',
    packageCode: '',
    supplierStatus: 'IN_USE',
  };
}

/** Opens every charge between 100.00 and 10,000,000.00, and reports references in `paid` as paid in full. */
export function createTestGateway(environment: Environment, vendors: TestVendors): PaymentGateway {
  const charges = new Map<string, { readonly amountMinor: bigint; readonly currency: string }>();
  const gateway: Partial<PaymentGateway> = {
    name: 'paystack',
    forAccount: () => gateway as PaymentGateway,
    limits: (_method, currency) =>
      ['NGN', 'USD', 'GHS'].includes(currency)
        ? { minMinor: currency === 'NGN' ? 10_000n : 10n, maxMinor: 1_000_000_000n }
        : undefined,
    charge: (request) => {
      const { reference, method, amount } = request;
      vendors.charged.push(request);
      if (!vendors.gatewayAnswers) return Promise.resolve({ outcome: 'unknown', detail: 'no answer' });
      charges.set(reference, amount);
      return Promise.resolve({
        outcome: 'done',
        value:
          method === 'BANK_TRANSFER'
            ? {
                kind: 'bank-transfer',
                bankName: 'Example Bank',
                accountNumber: '0000000001',
                accountName: 'SIMWAY / EXAMPLE',
                expiresAt: TRANSFER_EXPIRES_AT,
              }
            : { kind: 'redirect', paymentUrl: `https://checkout.example.com/${reference}` },
      });
    },
    findCharge: (reference) => {
      const requested = charges.get(reference);
      if (!requested) return Promise.resolve({ outcome: 'done', value: null });
      const isPaid = vendors.paid.has(reference);
      return Promise.resolve({
        outcome: 'done',
        value: {
          reference,
          state: isPaid ? 'paid' : 'abandoned',
          gatewayStatus: isPaid ? 'success' : 'abandoned',
          requested,
          received: requested,
          feesOnTopMinor: 0n,
          paidAt: isPaid ? NOW : null,
          gatewayId: '1',
        },
      });
    },
    findDisputes: () => Promise.resolve({ outcome: 'done', value: [] }),
    mayBeEvent: (headers) => /^[0-9a-f]{128}$/.test(headers['x-paystack-signature'] ?? ''),
    verifyWebhook: (rawBody, headers) => {
      vendors.events.push({ environment, bytes: Buffer.from(rawBody), headers });
      if (headers['x-paystack-signature'] !== GOOD_SIGNATURE) return undefined;
      return {
        eventKey: createHash('sha256').update(rawBody).digest('hex'),
        type: 'charge.success',
        about: 'other',
        reference: null,
        email: null,
        amount: null,
      };
    },
  };
  return gateway as PaymentGateway;
}
