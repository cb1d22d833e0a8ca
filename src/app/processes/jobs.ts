/** Jobs that run once and end. Both are safe to run again. */
import { worldConfigs, type ProcessContext } from '../composition/context.ts';
import type { MigrateSettings } from '../config/config.ts';
import { migrateDatabase } from '../../platform/database/migrate-database.ts';
import { prepareNamespaces } from '../temporal/namespaces.ts';
import { makeCurrent } from '../../platform/temporal/rollout.ts';
import { OperatorMistake } from '../../platform/command.ts';
import { READABLE } from './observing.ts';

/**
 * Migrates the database, then prepares Temporal's namespaces and search attributes where an address is given.
 */
export async function runMigrate(settings: MigrateSettings, log: (line: string) => void): Promise<void> {
  if (settings.isDatabaseReadable) log(READABLE);
  const ran = await migrateDatabase(settings.databaseUrl, log);
  log(ran === 0 ? 'the database was up to date' : `${ran} migrations ran`);
  const { temporal, namespaces } = settings;
  if (temporal) await prepareNamespaces({ ...temporal, namespaces, log });
}

/** Workers are up within seconds; a cluster may have to fetch their image first. */
const WITHIN_MS = 120_000;

/** Routes all workflows to a new build once its workers are up. Rejects if they are not. */
export async function runRollout(
  { config, secrets }: ProcessContext,
  log: (line: string) => void,
  withinMs = WITHIN_MS,
): Promise<void> {
  const { deployment } = config;
  if (!deployment) throw new OperatorMistake('Set SIMWAY_DEPLOYMENT_BUILD_ID to the build to roll out');
  for (const { namespace } of worldConfigs(config)) {
    const { before } = await makeCurrent({ ...secrets.temporal, namespace, deployment, withinMs });
    const was =
      before === '' ? 'none before' : before === deployment.buildId ? 'as before' : `before ${before}`;
    log(`namespace ${namespace}: ${deployment.name} ${deployment.buildId} is current, ${was}`);
  }
}
