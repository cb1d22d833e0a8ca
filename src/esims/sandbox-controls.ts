import { createHash } from 'node:crypto';
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import type { IdempotencyContext } from '../platform/idempotency/tag.ts';
import { visibleEsim, type EsimView } from './install-data.ts';
import { requireOwnEsim } from './read-esims.ts';
import { refreshFromSupplier, type RefreshDeps } from './refresh.ts';
import type { SandboxAction, SandboxSupplier } from './sandbox-port.ts';

export interface SandboxDeps extends RefreshDeps {
  /** Undefined in the live environment, and where the test environment's supplier is no simulator. */
  readonly sandboxSupplier?: SandboxSupplier | undefined;
}

export interface SandboxCommand {
  readonly esimId: string;
  readonly action: SandboxAction;
  readonly idempotency: IdempotencyContext | undefined;
}

/**
 * Has something happen to one eSIM at the simulator and returns it as it now stands. Throws NOT_FOUND without
 * a simulator, ESIM_NOT_FOUND, NOT_YOUR_ESIM, SANDBOX_ACTION_REFUSED where the eSIM's state does not allow
 * it, and SERVICE_UNAVAILABLE where the simulator does not answer.
 */
export async function controlSandboxEsim(
  deps: SandboxDeps,
  principal: Principal,
  { esimId, action, idempotency }: SandboxCommand,
): Promise<EsimView> {
  const { sandboxSupplier } = deps;
  if (!sandboxSupplier) throw new DomainError('NOT_FOUND', 'There are no sandbox controls here');
  const row = await requireOwnEsim(deps, principal, esimId);
  if (row.esim_tran_no === '') throw refused('the eSIM is not delivered');
  const answer = await sandboxSupplier.act({
    esimTranNo: row.esim_tran_no,
    action,
    requestId: idempotency && requestIdOf(principal, idempotency),
  });
  if (answer.outcome === 'refused') throw refused(answer.detail);
  if (answer.outcome === 'unknown') {
    throw new DomainError(
      'SERVICE_UNAVAILABLE',
      'The sandbox does not answer: read the eSIM to see whether it happened',
    );
  }
  return visibleEsim(deps.installData, await refreshFromSupplier(deps, row), principal);
}

/**
 * The simulator remembers it, so that a repeat after a lost answer changes nothing. Another path or body is
 * another request.
 */
function requestIdOf({ account }: Principal, { key, fingerprint }: IdempotencyContext): string {
  return createHash('sha256')
    .update(JSON.stringify([account.id, key, fingerprint]))
    .digest('hex');
}

const refused = (why: string): DomainError =>
  new DomainError('SANDBOX_ACTION_REFUSED', `Not possible now: ${why}. Nothing was changed`);
