/** The rollout job: once the workers of a new build are up, everything open and new goes on with it, in every world. Safe to run twice. */
import { makeCurrent } from '../../platform/temporal/rollout.ts';
import { worldConfigs, type ProcessContext } from '../../platform/composition/compose.ts';
import { OperatorMistake } from '../operator-mistake.ts';

/** Workers are up within seconds; a cluster may have to fetch their image first. */
const WITHIN_MS = 120_000;

/** Tells what it did, line by line; rejects when the build's workers do not come up. */
export async function runRollout(
  { config }: ProcessContext,
  log: (line: string) => void,
  withinMs = WITHIN_MS,
): Promise<void> {
  const { deployment } = config;
  if (!deployment)
    throw new OperatorMistake('rollout needs SIMWAY_DEPLOYMENT_BUILD_ID: the build to go on with');
  for (const { namespace } of worldConfigs(config)) {
    const { address } = config.temporal;
    const { before } = await makeCurrent({ address, namespace, deployment, withinMs });
    const was =
      before === '' ? 'none before' : before === deployment.buildId ? 'as before' : `before ${before}`;
    log(`namespace ${namespace}: ${deployment.name} ${deployment.buildId} is current, ${was}`);
  }
}
