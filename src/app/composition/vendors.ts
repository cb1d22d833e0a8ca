/** The vendors of one environment, each as its ports, within its allowance. */
import type { RateSource } from '../../catalogue/port.ts';
import type { PaymentGateway } from '../../payments/port.ts';
import { NAME as ESIM_ACCESS } from '../../vendors/esim-access/codes.ts';
import { createEsimAccessSupplier } from '../../vendors/esim-access/supplier.ts';
import { createFixedRates } from '../../vendors/exchange-rates/fixed.ts';
import { createOpenErApi } from '../../vendors/exchange-rates/open-er-api.ts';
import { NAME as PAYSTACK } from '../../vendors/paystack/codes.ts';
import { createPaystackGateway } from '../../vendors/paystack/gateway.ts';
import { createSandboxSupplier } from '../../vendors/sandbox-supplier/controls.ts';
import type { Config, WorldConfig } from '../config/config.ts';
import type { Pacer } from '../../platform/rate-limiter.ts';
import type { VendorWork, WorldMetrics } from '../../platform/telemetry/metrics.ts';
import type { Vendor } from '../../platform/telemetry/outgoing.ts';
import { systemClock, type ProcessContext } from './context.ts';
import type { RedisServices } from './redis-services.ts';

/**
 * Where the vendors of a process are, as its own HTTP client names them, and what to call them in metrics and
 * traces.
 */
export function vendorAddresses({ worlds: { test, live } }: Config): ReadonlyMap<string, Vendor> {
  const vendors = new Map<string, Vendor>();
  for (const { environment, supplier, gateway } of live ? [test, live] : [test]) {
    vendors.set(new URL(supplier.baseUrl).host, { vendor: 'supplier', environment });
    if (gateway) vendors.set(new URL(gateway.baseUrl).host, { vendor: 'gateway', environment });
  }
  return vendors;
}

/**
 * A read waits a second for the supplier: a slot that comes later than this leaves no time for the request.
 */
const READ_SLOT_WITHIN_MS = 800;
/** No caller waits for schedules and reconciliation. Well within the time limits of their steps. */
const BACKGROUND_SLOT_WITHIN_MS = 30_000;
/** A check is two or three requests, and its step has 15 s. */
const CHECK_SLOT_WITHIN_MS = 3_000;

/** One account at the supplier, for each kind of work. */
export function composeSupplier(
  { secrets, logger, metrics }: ProcessContext,
  world: WorldConfig,
  redis: RedisServices,
) {
  const credentials = secrets.suppliers[world.environment];
  if (!credentials) throw new Error(`no supplier credentials for ${world.environment}`);
  const counted = (pacer: Pacer, work: VendorWork) =>
    measured(pacer, { vendor: 'supplier', work }, metrics?.world(world.environment));
  const { orders, effectsOf, questionsOf, reads, background, checks } = redis.supplierPacers(
    ESIM_ACCESS,
    world,
    (whole) => counted(whole, 'whole'),
  );
  const supplier = createEsimAccessSupplier({
    baseUrl: world.supplier.baseUrl,
    accessCode: credentials.accessCode,
    secretKey: credentials.secretKey,
    sign: true,
    pacer: counted(orders, 'orders'),
    accountPacer: (accountId, work) =>
      counted(work === 'effects' ? effectsOf(accountId) : questionsOf(accountId), 'orders'),
    clock: systemClock,
    logger,
    timeLimitMs: world.supplier.timeLimitMs,
  });
  return {
    forOrders: supplier,
    forReads: supplier.pacedBy({ pacer: counted(reads, 'reads'), paceWithinMs: READ_SLOT_WITHIN_MS }),
    inBackground: supplier.pacedBy({
      pacer: counted(background, 'background'),
      paceWithinMs: BACKGROUND_SLOT_WITHIN_MS,
    }),
    forChecks: supplier.pacedBy({ pacer: counted(checks, 'checks'), paceWithinMs: CHECK_SLOT_WITHIN_MS }),
    close: () => supplier.close(),
  };
}

/** Undefined in the live environment, and without the address of the simulator's controls. */
export function composeSandboxSupplier({ environment, supplier: { controlUrl } }: WorldConfig) {
  return environment === 'test' && controlUrl !== undefined
    ? createSandboxSupplier({ controlUrl })
    : undefined;
}

/** The sandbox's packages that choose what becomes of their payment (docs/SANDBOX.md). */
export function scenarioOf(packageCode: string): string | undefined {
  const name = /^(?:TOPUP_)?SIM-PAY-([A-Z-]+)$/.exec(packageCode)?.[1];
  if (name === 'NOW' || name === 'REFUNDED') return 'pay-now';
  return name?.toLowerCase();
}

/** The sandbox's packages that choose what becomes of their order. One of them shows what is not sold. */
export const isMagic = (packageCode: string): boolean => /^(?:TOPUP_)?SIM-(?!SOLD-OUT$)/.test(packageCode);

export function composeGateway(
  { secrets, logger, metrics }: ProcessContext,
  world: WorldConfig,
  redis: RedisServices,
): { readonly port: PaymentGateway; readonly forStatements: PaymentGateway; close(): void } {
  const { environment, gateway } = world;
  const keys = secrets.gateways[environment];
  if (!gateway || !keys) return { port: NO_GATEWAY, forStatements: NO_GATEWAY, close: () => undefined };
  const pacers = redis.gatewayPacers(PAYSTACK, world);
  const counted = (pacer: Pacer, work: VendorWork) =>
    measured(pacer, { vendor: 'gateway', work }, metrics?.world(environment));
  const { secretKey, previousSecretKey } = keys;
  const port = createPaystackGateway({
    baseUrl: gateway.baseUrl,
    secretKey,
    previousSecretKeys: previousSecretKey === undefined ? [] : [previousSecretKey],
    mode: environment,
    timeLimitMs: gateway.timeLimitMs,
    pacer: counted(pacers.all, 'monitor'),
    accountPacer: (accountId) => counted(pacers.account(accountId), 'payments'),
    onUnknown: (seen) => logger.error({ seen }, 'gateway word never seen before'),
  });
  const forStatements = port.pacedBy(counted(pacers.reconciliation, 'reconciliation'));
  return { port, forStatements, close: () => port.close() };
}

const noGateway = () =>
  Promise.resolve({
    outcome: 'refused' as const,
    reason: 'METHOD_NOT_SERVED' as const,
    detail: 'no payment gateway is configured',
  });

/** Where no gateway is configured: nothing can be paid through the gateway, and no event is valid. */
const NO_GATEWAY: PaymentGateway = {
  name: 'none',
  forAccount: () => NO_GATEWAY,
  limits: () => undefined,
  charge: noGateway,
  findCharge: noGateway,
  refund: noGateway,
  findRefund: noGateway,
  refundsOf: noGateway,
  paidCharges: () => Promise.resolve({ references: [], count: 0, total: 0, isLast: true }),
  findDisputes: noGateway,
  disputed: async function* () {},
  statement: async function* () {},
  mayBeEvent: () => false,
  verifyWebhook: () => undefined,
};

export function composeRateSources(config: Config): RateSource[] {
  const fixed = createFixedRates({ ratesPerUsd: config.rates.fixed, clock: systemClock });
  return config.rates.openProvider ? [fixed, createOpenErApi({ clock: systemClock })] : [fixed];
}

/** Measures waits for a vendor's allowance. */
function measured(
  pacer: Pacer,
  whose: { readonly vendor: string; readonly work: VendorWork },
  metrics: WorldMetrics | undefined,
): Pacer {
  if (!metrics) return pacer;
  return {
    takeSlot: async (withinMs) => {
      const startedAtMs = performance.now();
      const granted = await pacer.takeSlot(withinMs);
      if (!granted) metrics.count('denied', whose);
      metrics.observe('waits', performance.now() - startedAtMs, whose);
      return granted;
    },
  };
}
