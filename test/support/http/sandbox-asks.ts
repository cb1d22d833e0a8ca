// The OpenAPI test's requests to the sandbox's routes: every action on a bought eSIM, and each kind of
// refusal.
import { PLAIN_SANDBOX_ACTIONS } from '../../../src/esims/sandbox-port.ts';
import type { DocumentedAsk } from './webhook-asks.ts';

export function sandboxAsks(esimId: string): readonly DocumentedAsk[] {
  const one = (action: string, id = esimId): string => `/api/sandbox/esims/${id}/${action}`;
  const key = 'ngn';
  return [
    [one('install'), { key, body: { stage: 'DOWNLOAD' } }, 200],
    [one('install'), { key, method: 'POST' }, 200],
    [one('install'), { key, body: { stage: 'RELEASED' } }, 400],
    [one('use'), { key, body: { bytes: 1 } }, 200],
    [one('use'), { key, body: {} }, 400],
    [one('clock'), { key, body: { advanceSeconds: 86_400 } }, 200],
    [one('clock'), { key, body: { advanceSeconds: -1 } }, 400],
    ...PLAIN_SANDBOX_ACTIONS.map((action): DocumentedAsk => [one(action), { key, method: 'POST' }, 200]),
    [one('expire'), { key: 'usd', method: 'POST' }, 403],
    [one('expire'), { key: 'readonly', method: 'POST' }, 403],
    [one('expire', 'x'), { key, method: 'POST' }, 404],
    [one('expire', `esim-${'f'.repeat(32)}`), { key, method: 'POST' }, 404],
    [one('expire'), { method: 'POST' }, 401],
  ];
}
