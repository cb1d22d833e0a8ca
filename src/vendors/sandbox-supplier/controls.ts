/** The control interface of the supplier's simulator: the one part of the sandbox that no vendor has. */
import { z } from 'zod';
import { createFence } from '../../platform/fence.ts';
import type { SandboxSupplier } from '../../esims/sandbox-port.ts';
import { createTransport, type HttpAnswer } from '../http/transport.ts';

/** It answers from memory and one file. */
const TIME_LIMIT_MS = 5_000;
const MAX_BODY_BYTES = 65_536;
const BUSY_RETRY_MS = 1_000;

const refusal = z.object({ error: z.object({ message: z.string() }) });

/** One for each process; `close` ends its connections. Throws when the address is no http or https URL. */
export function createSandboxSupplier({
  controlUrl,
}: {
  readonly controlUrl: string;
}): SandboxSupplier & { close(): void } {
  const transport = createTransport({ baseUrl: controlUrl, busyRetryMs: BUSY_RETRY_MS });
  return {
    async act({ esimTranNo, action, requestId }) {
      const path = `/esims/${encodeURIComponent(esimTranNo)}/${action.name}`;
      const body = JSON.stringify({ ...action, name: undefined, requestId });
      const answered = await transport.send(() => ({ method: 'POST', path, headers: {}, body }), {
        timeLimitMs: TIME_LIMIT_MS,
        maxBodyBytes: MAX_BODY_BYTES,
        fence: createFence(TIME_LIMIT_MS),
      });
      if (answered.kind === 'lost') return { outcome: 'unknown', detail: answered.detail };
      return answered.status === 200 ? { outcome: 'done', value: null } : refusedBy(answered);
    },
    close: () => transport.close(),
  };
}

/**
 * Only a refusal in the simulator's own form is one: anything else may come from whatever is at this address.
 */
function refusedBy({ status, body }: HttpAnswer): Awaited<ReturnType<SandboxSupplier['act']>> {
  const read = refusal.safeParse(parsed(body));
  if (!read.success || (status !== 409 && status !== 404))
    return { outcome: 'unknown', detail: `the simulator answered ${status}` };
  return { outcome: 'refused', reason: 'NOT_ALLOWED_IN_STATE', detail: read.data.error.message };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
