/**
 * Makes a build of the workers the one that every open and every new workflow goes on with. Temporal refuses while that build does not serve
 * every queue that the build before it served, so nothing is left without a worker; asking again changes nothing.
 */
import { Connection, isGrpcServiceError } from '@temporalio/client';
import { insist } from './errors.ts';

const CALL_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 250;
/** By the numbers of gRPC: the build is unknown yet, does not serve every queue yet, or the server is busy. */
const NOT_YET: ReadonlySet<number> = new Set([4, 5, 8, 9, 14]);

/**
 * Resolves with the build before, empty where there was none, once tasks are routed to the new one; throws Temporal's own reason when they are not
 * `withinMs`, which the build's workers may take to come up.
 */
export async function makeCurrent({
  address,
  namespace,
  deployment,
  withinMs,
}: {
  readonly address: string;
  readonly namespace: string;
  readonly deployment: { readonly name: string; readonly buildId: string };
  readonly withinMs: number;
}): Promise<{ readonly before: string }> {
  const connection = await Connection.connect({ address });
  const route = () =>
    connection.workflowService.setWorkerDeploymentCurrentVersion({
      namespace,
      deploymentName: deployment.name,
      buildId: deployment.buildId,
      identity: 'simway rollout',
    });
  try {
    const { previousDeploymentVersion } = await insist(
      () => connection.withDeadline(Date.now() + CALL_WITHIN_MS, route),
      {
        mayPass: (error) => isGrpcServiceError(error) && NOT_YET.has(error.code),
        withinMs,
        everyMs: ASK_EVERY_MS,
      },
    );
    return { before: previousDeploymentVersion?.buildId ?? '' };
  } finally {
    await connection.close();
  }
}
