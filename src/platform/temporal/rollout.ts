/**
 * Makes a build of the workers the one that every open and every new workflow goes on with. Temporal refuses while that build does not serve
 * every queue that the build before it served, so nothing is left without a worker; asking again changes nothing.
 */
import { Connection, isGrpcServiceError } from '@temporalio/client';

export interface RolloutOptions {
  readonly address: string;
  readonly namespace: string;
  readonly deployment: { readonly name: string; readonly buildId: string };
  /** How long the build's workers may take to come up. */
  readonly withinMs: number;
}

export interface Rollout {
  /** The build before; empty where there was none. */
  readonly before: string;
}

const CALL_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 250;
/** By the numbers of gRPC: the build is unknown yet, does not serve every queue yet, or the server is busy. */
const NOT_YET: ReadonlySet<number> = new Set([4, 5, 8, 9, 14]);

/** Resolves once tasks are routed to the build; throws Temporal's own reason when they are not within the time. */
export async function makeCurrent(options: RolloutOptions): Promise<Rollout> {
  const { address, namespace, deployment, withinMs } = options;
  const connection = await Connection.connect({ address });
  const endsAtMs = performance.now() + withinMs;
  try {
    for (;;) {
      try {
        return await connection.withDeadline(Date.now() + CALL_WITHIN_MS, async () => {
          const { previousDeploymentVersion } =
            await connection.workflowService.setWorkerDeploymentCurrentVersion({
              namespace,
              deploymentName: deployment.name,
              buildId: deployment.buildId,
              identity: 'simway rollout',
            });
          return { before: previousDeploymentVersion?.buildId ?? '' };
        });
      } catch (error) {
        const mayPass = isGrpcServiceError(error) && NOT_YET.has(error.code);
        if (!mayPass || performance.now() > endsAtMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
      }
    }
  } finally {
    await connection.close();
  }
}
