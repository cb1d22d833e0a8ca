/**
 * Endpoints for operators, on a port of its own that is never reachable from outside: health, readiness and
 * metrics. Answers name what is not ready, but no secret and no customer.
 */
import Koa from 'koa';
import { inTime } from '../circuit-breaker.ts';
import { codecEndpoint, type CodecEndpoint } from './codec-endpoint.ts';
import { toJson } from './json.ts';

export interface ReadinessCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail?: string;
}

export interface AdminDeps {
  /** What must work for this process to take requests; one entry each. */
  readonly checks: () => Promise<readonly ReadinessCheck[]>;
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> };
  readonly version: string;
  readonly checksTimeoutMs?: number;
  /** Undefined: no payload is decrypted. */
  readonly codec?: CodecEndpoint | undefined;
}

/** An orchestrator asks every few seconds: a check that takes longer than this has failed. */
const CHECKS_TIMEOUT_MS = 3_000;

const JSON_TYPE = 'application/json; charset=utf-8';

const json = (status: number, value: object) => ({ status, type: JSON_TYPE, body: toJson(value) });

/**
 * GET /healthz, /readyz (503 while anything is not ready) and /metrics; with `codec` also POST /codec/decode.
 */
export function buildAdminApp(deps: AdminDeps): Koa {
  const pages: Readonly<Record<string, () => Promise<ReturnType<typeof json>>>> = {
    '/healthz': () => Promise.resolve(json(200, { status: 'ok', version: deps.version })),
    '/readyz': () => readiness(deps),
    '/metrics': async () => ({
      status: 200,
      type: deps.metrics.contentType,
      body: await deps.metrics.metrics(),
    }),
  };
  const app = new Koa();
  app.silent = true;
  app.use((ctx, next) => {
    ctx.set('X-Content-Type-Options', 'nosniff');
    return next();
  });
  if (deps.codec) app.use(codecEndpoint(deps.codec));
  app.use(async (ctx) => {
    const page = Object.hasOwn(pages, ctx.path) ? pages[ctx.path] : undefined;
    const answer = page && (ctx.method === 'GET' || ctx.method === 'HEAD') ? await page() : NOT_FOUND;
    ctx.status = answer.status;
    ctx.set('Content-Type', answer.type);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = answer.body;
  });
  return app;
}

const NOT_FOUND = json(404, { status: 'not found' });

async function readiness(deps: AdminDeps) {
  const checks = await withinTime(deps);
  const ready = checks.every((check) => check.ok);
  return json(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks });
}

async function withinTime(deps: AdminDeps): Promise<readonly ReadinessCheck[]> {
  const timeoutMs = deps.checksTimeoutMs ?? CHECKS_TIMEOUT_MS;
  try {
    const checked = await inTime(deps.checks(), timeoutMs);
    if (!checked.late) return checked.value;
    return [{ name: 'checks', ok: false, detail: `no result within ${timeoutMs} ms` }];
  } catch {
    return [{ name: 'checks', ok: false, detail: 'the checks themselves failed' }];
  }
}
