/**
 * Makes a build of the workers the one that every open and every new workflow continues with. Temporal
 * refuses while that build does not serve every queue that the build before it served, so nothing is left
 * without a worker; asking again changes nothing.
 */
import { Connection } from '@temporalio/client';
import { connectionOptions, type TemporalServer } from './connect.ts';
import { grpcCodeOf, insist } from './errors.ts';

const CALL_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 250;
/**
 * By the numbers of gRPC: the build is unknown yet, does not serve every queue yet, or the server is busy.
 */
const NOT_YET: ReadonlySet<number> = new Set([4, 5, 8, 9, 14]);

/**
 * Resolves once tasks are routed to the new build, with the build before; empty where there was none. Throws
 * Temporal's own reason if that takes longer than `withinMs`: the time that the build's workers may take to
 * come up.
 */
export async function makeCurrent({
  namespace,
  deployment,
  withinMs,
  ...server
}: TemporalServer & {
  readonly namespace: string;
  readonly deployment: { readonly name: string; readonly buildId: string };
  readonly withinMs: number;
}): Promise<{ readonly before: string }> {
  const connection = await Connection.connect(connectionOptions(server));
  const { workflowService } = connection;
  const insistOn = <T>(call: () => Promise<T>): Promise<T> =>
    insist(() => connection.withDeadline(Date.now() + CALL_WITHIN_MS, call), {
      mayPass: (error) => NOT_YET.has(grpcCodeOf(error) ?? 0),
      withinMs,
      everyMs: ASK_EVERY_MS,
    });
  try {
    // Read first: where the answer to a change is lost, the next one names the new build as the one before.
    const { workerDeploymentInfo } = await insistOn(() =>
      workflowService.describeWorkerDeployment({ namespace, deploymentName: deployment.name }),
    );
    const before = workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId ?? '';
    await insistOn(() =>
      workflowService.setWorkerDeploymentCurrentVersion({
        namespace,
        deploymentName: deployment.name,
        buildId: deployment.buildId,
        identity: 'simway rollout',
      }),
    );
    return { before };
  } finally {
    await connection.close();
  }
}
