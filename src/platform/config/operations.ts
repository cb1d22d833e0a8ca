/** The part of the configuration that is for those who run the service: admin ports, traces, mail, and the version that a worker says it is. */
import { z } from 'zod';
import { ConfigError, list, port } from './fields.ts';
import { parseMinor } from '../../domain/money.ts';
import type { ApprovalLimits } from '../../operations/rules.ts';

export interface TracingConfig {
  /** Of a collector that takes OTLP over HTTP; `/v1/traces` is added. */
  readonly endpoint: string;
  /** How many of all requests are traced, 0 to 1. */
  readonly share: number;
}

/** How notices are sent to the owners of accounts. */
export interface MailSettings {
  /** May hold a password. */
  readonly smtpUrl: string;
  readonly from: string;
}

/** A version of the workers that Temporal routes by. */
export interface DeploymentConfig {
  readonly name: string;
  readonly buildId: string;
}

export interface OperationsConfig {
  /** Never to be reached from outside. */
  readonly admin: { readonly host: string; readonly apiPort: number; readonly workerPort: number };
  /** Above these amounts an operator's move needs a second person. */
  readonly approvalLimits: ApprovalLimits;
  /** Addresses or CIDR ranges from where people may use /ops. */
  readonly opsAddresses: readonly string[];
  /** Absent until somebody says where traces go: nothing is traced. */
  readonly tracing?: TracingConfig;
  /** Absent until workers are told what build they are: they are unversioned. */
  readonly deployment?: DeploymentConfig;
}

/** `name=value` pairs, as OpenTelemetry writes them. */
const headers = z
  .string()
  .default('')
  .transform((text, context): Readonly<Record<string, string>> => {
    const pairs = text
      .split(',')
      .filter((pair) => pair.trim() !== '')
      .map((pair) => /^\s*([\w-]+)\s*=\s*(\S+)\s*$/.exec(pair));
    if (pairs.includes(null)) context.addIssue({ code: 'custom', message: 'takes pairs such as name=value' });
    return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', decoded(pair?.[2] ?? '')]));
  });

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `off`: no move needs a second person. A currency that is not named needs none either. */
const approvalLimits = z
  .string()
  .default('NGN=500000.00,USD=300.00')
  .transform((text, context): ApprovalLimits => {
    if (text.trim() === 'off') return {};
    const pairs = text.split(',').map((pair) => {
      const [, currency = '', amount = ''] = /^\s*([A-Z]{3})\s*=\s*(\S+)\s*$/.exec(pair) ?? [];
      return [currency, parseMinor(amount) ?? -1n] as const;
    });
    if (pairs.some(([, limitMinor]) => limitMinor < 0n))
      context.addIssue({ code: 'custom', message: 'takes pairs such as NGN=500000.00,USD=300.00, or off' });
    return Object.fromEntries(pairs);
  });

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/);

/** Variables of the environment. */
export const operationsSettings = {
  SIMWAY_ADMIN_HOST: z.string().default('127.0.0.1'),
  SIMWAY_ADMIN_PORT: port(3001),
  SIMWAY_WORKER_ADMIN_PORT: port(3002),
  SIMWAY_APPROVAL_LIMIT: approvalLimits,
  // Money is moved there: until somebody says otherwise, only from the same machine.
  SIMWAY_OPS_ADDRESSES: list.prefault('127.0.0.0/8,::1'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers,
  SIMWAY_SMTP_URL: z
    .url()
    .regex(/^smtps?:\/\//, 'takes smtp://… or smtps://…')
    .optional(),
  SIMWAY_MAIL_FROM: z.email().optional(),
  SIMWAY_TRACE_SHARE: z.coerce.number().min(0).max(1).default(1),
  SIMWAY_DEPLOYMENT_NAME: name.default('simway'),
  SIMWAY_DEPLOYMENT_BUILD_ID: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/)
    .optional(),
};

type Settings = z.output<z.ZodObject<typeof operationsSettings>>;

export function operationsOf(s: Settings): OperationsConfig {
  const endpoint = s.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '');
  const buildId = s.SIMWAY_DEPLOYMENT_BUILD_ID;
  return {
    admin: {
      host: s.SIMWAY_ADMIN_HOST,
      apiPort: s.SIMWAY_ADMIN_PORT,
      workerPort: s.SIMWAY_WORKER_ADMIN_PORT,
    },
    approvalLimits: s.SIMWAY_APPROVAL_LIMIT,
    opsAddresses: s.SIMWAY_OPS_ADDRESSES,
    ...(endpoint === undefined ? {} : { tracing: { endpoint, share: s.SIMWAY_TRACE_SHARE } }),
    ...(buildId === undefined ? {} : { deployment: { name: s.SIMWAY_DEPLOYMENT_NAME, buildId } }),
  };
}

/** Absent until somebody says how mail is sent: notices to owners then wait, and the log says so. */
export function mailOf(s: Settings): MailSettings | undefined {
  const { SIMWAY_SMTP_URL: smtpUrl, SIMWAY_MAIL_FROM: from } = s;
  if (smtpUrl === undefined) return undefined;
  if (from === undefined) throw new ConfigError(['SIMWAY_MAIL_FROM: is needed with SIMWAY_SMTP_URL']);
  return { smtpUrl, from };
}
