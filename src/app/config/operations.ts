/**
 * Settings for those who run the service: admin ports, traces, mail, and the version that a worker says it
 * is.
 */
import { z } from 'zod';
import { DEFAULT_APPROVAL_LIMITS } from './currencies.ts';
import { ConfigError, list, pairs, port } from './fields.ts';
import { COST_UNITS_PER_CENT } from '../../catalogue/pricing.ts';
import { larger, parseMinor } from '../../domain/money.ts';

const amounts = pairs('NGN=500000.00,USD=300.00, or off', (amount, currency) => {
  const limitMinor = parseMinor(amount) ?? -1n;
  return limitMinor >= 0n && /^[A-Z]{3}$/.test(currency) ? limitMinor : undefined;
});

/** `off`: no limit. A currency that is not named has none either. */
const limits = z
  .string()
  .transform((line) => (line.trim() === 'off' ? '' : line))
  .pipe(amounts);

type Amounts = z.output<typeof limits>;

/** Of several actions of the default limit. More where one may be larger, none where it has no limit. */
const dayLimits = (perAction: Amounts, actions: bigint): Amounts =>
  Object.fromEntries(
    Object.entries(perAction).map(([currency, limitMinor]) => [
      currency,
      larger(limitMinor, DEFAULT_APPROVAL_LIMITS[currency] ?? 0n) * actions,
    ]),
  );

/** Variables of the environment. */
export const approvalSettings = {
  SIMWAY_APPROVAL_LIMIT: limits.default(DEFAULT_APPROVAL_LIMITS),
  SIMWAY_APPROVAL_LIMIT_PERSON_DAY: limits.optional(),
  SIMWAY_APPROVAL_LIMIT_ACCOUNT_DAY: limits.optional(),
};

/** Hundredths of a percent. */
const percentBps = (fallback: number) =>
  z.coerce
    .number()
    .positive()
    .max(10_000)
    .transform((percent) => Math.round(percent * 100))
    .prefault(fallback);

/** What prices may do without a second look. */
export const priceSettings = {
  SIMWAY_PRICE_CHANGE_LIMIT: percentBps(10),
  SIMWAY_SUPPLIER_PRICE_LIMIT: percentBps(50),
  SIMWAY_SELL_BELOW_COST: z.enum(['refuse', 'ask']).default('refuse'),
};

export const priceLimitsOf = (s: z.output<z.ZodObject<typeof priceSettings>>) => ({
  /** One person moves no price farther from the one that two people agreed on. */
  changeBps: s.SIMWAY_PRICE_CHANGE_LIMIT,
  /** A supplier's price that moves farther waits for a person. */
  supplierChangeBps: s.SIMWAY_SUPPLIER_PRICE_LIMIT,
  /** A price below cost is possible, with a second person. */
  allowsBelowCost: s.SIMWAY_SELL_BELOW_COST === 'ask',
});

/** When people are told that the balance at the supplier runs out. */
export const balanceSettings = {
  SIMWAY_SUPPLIER_BALANCE_LOW_HOURS: z.coerce.number().positive().max(8_760).default(72),
  SIMWAY_SUPPLIER_BALANCE_CRITICAL_HOURS: z.coerce.number().positive().max(8_760).default(24),
  SIMWAY_SUPPLIER_BALANCE_MINIMUM: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,2})?$/, 'takes an amount in US dollars, like 500.00')
    .transform((amount) => (parseMinor(amount) ?? 0n) * COST_UNITS_PER_CENT)
    .prefault('0'),
};

export const balanceLimitsOf = (s: z.output<z.ZodObject<typeof balanceSettings>>) => ({
  lowHours: s.SIMWAY_SUPPLIER_BALANCE_LOW_HOURS,
  criticalHours: s.SIMWAY_SUPPLIER_BALANCE_CRITICAL_HOURS,
  minimumUsdE4: s.SIMWAY_SUPPLIER_BALANCE_MINIMUM,
});

/** Returns of unused eSIMs, where nothing else is agreed. A month is what travellers expect. */
export const returnSettings = {
  SIMWAY_RETURNS: z.enum(['on', 'off']).default('on'),
  SIMWAY_RETURN_WINDOW_DAYS: z.coerce.number().int().min(0).max(365).default(30),
  SIMWAY_RETURN_FEE: z.coerce
    .number()
    .min(0)
    .max(100)
    .transform((percent) => Math.round(percent * 100))
    .prefault(0),
};

export const returnPolicyOf = (s: z.output<z.ZodObject<typeof returnSettings>>) => ({
  isAllowed: s.SIMWAY_RETURNS === 'on',
  windowDays: s.SIMWAY_RETURN_WINDOW_DAYS,
  feeBps: s.SIMWAY_RETURN_FEE,
});

/** Replacements of eSIMs, where nothing else is agreed. The merchant pays its share, and we pay the rest. */
const replacementSettings = {
  SIMWAY_REPLACEMENTS: z.enum(['on', 'off']).default('on'),
  SIMWAY_REPLACEMENT_WINDOW_DAYS: z.coerce.number().int().min(0).max(365).default(30),
  SIMWAY_REPLACEMENT_SHARE: z.coerce
    .number()
    .min(0)
    .max(100)
    .transform((percent) => Math.round(percent * 100))
    .prefault(100),
  SIMWAY_REPLACEMENT_MAX: z.coerce.number().int().min(1).max(100).default(1),
};

export const replacementPolicyOf = (s: z.output<z.ZodObject<typeof replacementSettings>>) => ({
  isAllowed: s.SIMWAY_REPLACEMENTS === 'on',
  windowDays: s.SIMWAY_REPLACEMENT_WINDOW_DAYS,
  shareBps: s.SIMWAY_REPLACEMENT_SHARE,
  maxCount: s.SIMWAY_REPLACEMENT_MAX,
});

export const operationsSettings = {
  ...returnSettings,
  ...replacementSettings,
  ...priceSettings,
  ...balanceSettings,
  SIMWAY_ADMIN_HOST: z.string().default('127.0.0.1'),
  SIMWAY_ADMIN_PORT: port(3001),
  SIMWAY_WORKER_ADMIN_PORT: port(3002),
  ...approvalSettings,
  // Money is moved there: unless set, only from the same machine.
  SIMWAY_OPS_ADDRESSES: list.prefault('127.0.0.0/8,::1'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs('name=value', decoded).prefault(''),
  SIMWAY_SMTP_URL: z
    .url()
    .regex(/^smtps?:\/\//, 'takes smtp://… or smtps://…')
    .optional(),
  SIMWAY_MAIL_FROM: z.email().optional(),
  SIMWAY_TRACE_SHARE: z.coerce.number().min(0).max(1).default(1),
  SIMWAY_DEPLOYMENT_NAME: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/)
    .default('simway'),
  SIMWAY_DEPLOYMENT_BUILD_ID: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/)
    .optional(),
};

/** As OpenTelemetry writes values. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

type Settings = z.output<z.ZodObject<typeof operationsSettings>>;

/** Amounts above which an operator action needs a second person. */
export function approvalLimitsOf(s: Pick<Settings, keyof typeof approvalSettings>) {
  const perAction = s.SIMWAY_APPROVAL_LIMIT;
  return {
    perAction,
    /** A day's work. */
    perPersonDay: s.SIMWAY_APPROVAL_LIMIT_PERSON_DAY ?? dayLimits(perAction, 4n),
    /** Two large refunds. */
    perAccountDay: s.SIMWAY_APPROVAL_LIMIT_ACCOUNT_DAY ?? dayLimits(perAction, 2n),
  };
}

export function operationsOf(s: Settings) {
  const endpoint = s.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '');
  const buildId = s.SIMWAY_DEPLOYMENT_BUILD_ID;
  return {
    /** Never to be reached from outside. */
    admin: {
      host: s.SIMWAY_ADMIN_HOST,
      apiPort: s.SIMWAY_ADMIN_PORT,
      workerPort: s.SIMWAY_WORKER_ADMIN_PORT,
    },
    /** Addresses or CIDR ranges from where people may use /ops. */
    opsAddresses: s.SIMWAY_OPS_ADDRESSES,
    /**
     * A collector that takes OTLP over HTTP, and the share of requests that are traced, 0 to 1. Undefined:
     * nothing is traced.
     */
    tracing: endpoint === undefined ? undefined : { endpoint, share: s.SIMWAY_TRACE_SHARE },
    /** The version that Temporal routes by. Undefined: workers are unversioned. */
    deployment: buildId === undefined ? undefined : { name: s.SIMWAY_DEPLOYMENT_NAME, buildId },
  };
}

/**
 * Undefined: no mail server is set. Notices to owners then wait, and the log says so. The URL may hold a
 * password.
 */
export function mailOf(s: Settings) {
  const { SIMWAY_SMTP_URL: smtpUrl, SIMWAY_MAIL_FROM: from } = s;
  if (smtpUrl === undefined) return undefined;
  if (from === undefined) throw new ConfigError(['SIMWAY_MAIL_FROM: is needed with SIMWAY_SMTP_URL']);
  return { smtpUrl, from };
}
