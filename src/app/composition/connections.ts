/** What API and workers have in one environment: its database, Temporal and its vendors. */
import { readRevisions } from '../../catalogue/store/revisions.ts';
import type { Environment } from '../../domain/account.ts';
import { createInstallData } from '../../esims/install-data.ts';
import { createInstallTokens } from '../../esims/install-tokens.ts';
import type { WorldConfig } from '../config/config.ts';
import { createReturnKeys } from '../../payments/return-keys.ts';
import { createTermsSigner } from '../../platform/frozen-terms.ts';
import type { ReadinessCheck } from '../../platform/http/admin.ts';
import { createSecretBox } from '../../platform/secret-box.ts';
import { createEvents, type Events } from '../../platform/telemetry/events.ts';
import { connectClient, type TemporalClient } from '../../platform/temporal/connect.ts';
import { traceStarts } from '../temporal/context-propagation.ts';
import { openWorld, type ProcessContext } from './context.ts';
import type { RedisServices } from './redis-services.ts';
import { composeGateway, composeSupplier } from './vendors.ts';

export function openConnections(context: ProcessContext, world: WorldConfig, redis: RedisServices) {
  const db = openWorld(context, world);
  // Each line names the environment.
  const events = createEvents(
    context.logger.child({ environment: world.environment }),
    context.metrics?.world(world.environment),
    context.metrics?.people,
  );
  const temporal = openTemporal(context, world, events);
  const supplier = composeSupplier(context, world, redis);
  const gateway = composeGateway(context, world, redis);
  return {
    db,
    temporal,
    supplier,
    gateway: gateway.port,
    /** For reconciliation, which can wait. */
    statementGateway: gateway.forStatements,
    events,
    installData: createInstallData({
      secretBox: createSecretBox(context.secrets.secretKeys),
      onUnreadable: events.esimUnreadable,
    }),
    installTokens: createInstallTokens({
      idSecret: Buffer.from(context.secrets.idSecret),
      environment: world.environment,
      publicUrl: context.config.publicUrl,
    }),
    returnKeys: createReturnKeys({
      idSecret: Buffer.from(context.secrets.idSecret),
      environment: world.environment,
    }),
    checks: () => [
      check(`postgres ${world.environment}`, () => readRevisions(db)),
      check(`temporal ${world.environment}`, () => temporal.check(CHECK_TIME_LIMIT_MS)),
    ],
    close: async () => {
      supplier.close();
      gateway.close();
      await Promise.allSettled([db.destroy(), temporal.close()]);
    },
  };
}

export const composeTerms = ({ secrets }: ProcessContext, environment: Environment) =>
  createTermsSigner(Buffer.from(secrets.idSecret), environment);

const CHECK_TIME_LIMIT_MS = 2_000;

export async function check(name: string, probe: () => Promise<unknown>): Promise<ReadinessCheck> {
  try {
    await probe();
    return { name, ok: true };
  } catch (error) {
    return { name, ok: false, detail: error instanceof Error ? error.message : 'failed' };
  }
}

function openTemporal(
  { secrets, tracing }: ProcessContext,
  { namespace }: WorldConfig,
  events: Events,
): TemporalClient {
  const interceptor = tracing && traceStarts(tracing);
  const onUnreadable = events.temporalPayloadUnreadable;
  return connectClient({ ...secrets.temporal, namespace, interceptor, onUnreadable });
}
