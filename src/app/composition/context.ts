/**
 * What a process is made of before it has a role: settings, secrets and a log; and the databases that they
 * name.
 */
import type { Passwords } from '../../accounts/users/passwords.ts';
import type { AccountsDatabase } from '../../platform/database/tables.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Config, Secrets, WorldConfig } from '../config/config.ts';
import { openDatabase } from '../../platform/database/database.ts';
import type { AccountsDb, WorldDatabase, WorldDb } from '../../platform/database/tables.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import type { Metrics } from '../../platform/telemetry/metrics.ts';
import type { Tracing } from '../../platform/telemetry/tracing.ts';

export const systemClock: Clock = { now: () => new Date() };

export interface ProcessContext {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly logger: Logger;
  readonly processName: 'api' | 'worker' | 'command';
  /** Not in commands. */
  readonly metrics?: Metrics;
  /** Only where traces are configured. */
  readonly tracing?: Tracing;
  /** Tests hash with less work than `createPasswords` does by itself. */
  readonly passwords?: Passwords;
}

/** Keys are answered from memory, so a few connections go far. */
const ACCOUNTS_POOL = { maxConnections: 4, purpose: undefined as string | undefined };

/** `purpose`: the end of the application's name that Postgres shows. */
export function openAccounts(
  { config, secrets, processName }: ProcessContext,
  { maxConnections, purpose } = ACCOUNTS_POOL,
): AccountsDb {
  return openDatabase<AccountsDatabase>({
    url: secrets.databaseUrl,
    schema: 'accounts',
    role: 'simway_accounts',
    maxConnections,
    statementTimeoutMs: config.database.statementTimeoutMs,
    applicationName: ['simway', processName, purpose].filter(Boolean).join('-'),
  });
}

export function openWorld(
  { config, secrets, processName, logger }: ProcessContext,
  world: WorldConfig,
): WorldDb {
  return openDatabase<WorldDatabase>({
    url: secrets.databaseUrl,
    schema: world.schema,
    role: `simway_${world.schema}`,
    maxConnections: config.database.maxConnections,
    statementTimeoutMs: config.database.statementTimeoutMs,
    applicationName: `simway-${processName}-${world.environment}`,
    onIdleError: (error) => logger.warn({ detail: error.message }, 'a database connection broke'),
  });
}

/** The environments that are switched on: always test, live once its settings are there. */
export function worldConfigs(config: Config): WorldConfig[] {
  return config.worlds.live ? [config.worlds.test, config.worlds.live] : [config.worlds.test];
}
