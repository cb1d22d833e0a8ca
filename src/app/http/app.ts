/**
 * The HTTP server's chain of middleware, the same for every route; the route table holds what differs. Knows
 * use cases and the limiter only by their interfaces, so tests can replace them.
 */
import Koa from 'koa';
import { isSecure } from '../../accounts/users/sessions.ts';
import type { UseCases } from '../composition/use-cases.ts';
import type { Tracing } from '../../platform/telemetry/tracing.ts';
import type { RateLimiter } from '../../platform/rate-limiter.ts';
import { serveDocs } from '../../platform/http/docs/site.ts';
import { mcpRoute } from '../../mcp/mcp-route.ts';
import { createRouteCalls } from '../../platform/http/call-route.ts';
import { serveDashboard } from '../../platform/http/dashboard.ts';
import { MAX_BODY_BYTES, MAX_EVENT_BYTES_IN_FLIGHT } from '../../platform/http/limits.ts';
import {
  authenticate,
  checkScope,
  createPersonCheck,
  createUserCheck,
  requireConfirmed,
} from './authenticate.ts';
import { findClientAddress, assignRequestId, traceRequests } from '../../platform/http/middleware/arrival.ts';
import { echoAcpHeaders, requireAcpHeaders } from '../../platform/http/middleware/acp.ts';
import { answerErrors } from '../../platform/http/middleware/answer.ts';
import { findRoute, refuseUnknown, handle } from '../../platform/http/middleware/routing.ts';
import { applyIdempotencyKey } from '../../platform/http/middleware/idempotency.ts';
import { pickEnvironment } from './pick-environment.ts';
import {
  createFailureLimit,
  limitRequests,
  type RateLimits,
} from '../../platform/http/middleware/rate-limit.ts';
import { readBody, type BodyLimits, validate } from '../../platform/http/middleware/input.ts';
import type { RequestState } from '../../platform/http/request.ts';
import type { Route } from '../../platform/http/route.ts';
import type { HttpEvents } from '../../platform/telemetry/events.ts';

export interface AppSettings extends RateLimits, BodyLimits {
  /** Addresses or CIDR ranges of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Addresses or CIDR ranges that people may sign in and act from. */
  readonly opsAddresses: readonly string[];
  /** Where browsers reach the service: decides names and attributes of cookies, and which pages are ours. */
  readonly publicUrl: string;
}

export const DEFAULT_APP_SETTINGS: AppSettings = {
  trustedProxies: [],
  opsAddresses: ['127.0.0.0/8', '::1'],
  publicUrl: 'http://127.0.0.1:3000',
  publicRequestsPerMinute: 100,
  failedAuthPerMinute: 100,
  maxBodyBytes: MAX_BODY_BYTES,
  maxEventBytesInFlight: MAX_EVENT_BYTES_IN_FLIGHT,
};

export interface AppDeps {
  readonly useCases: UseCases;
  readonly rateLimiter: RateLimiter;
  readonly events: HttpEvents;
  readonly settings: AppSettings;
  readonly routes: readonly Route[];
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing;
  /** Of the built dashboard. Absent: it is not served. */
  readonly dashboardFolder?: string | undefined;
  /** Of the built documentation, likewise. */
  readonly docsFolder?: string | undefined;
}

export type HttpApp = Koa<RequestState>;

/** Browsers then come by https alone, for a year, also where a link says http. */
const requireHttps: Koa.Middleware = (ctx, next) => {
  ctx.set('Strict-Transport-Security', 'max-age=31536000');
  return next();
};

/** Builds the API. Throws RangeError when a trusted proxy is no address. */
export function buildApp({
  useCases,
  rateLimiter,
  events,
  settings,
  routes,
  tracing,
  dashboardFolder,
  docsFolder,
}: AppDeps): HttpApp {
  const app = new Koa<RequestState>();
  // What goes wrong after the chain is a broken connection: there is no client to answer.
  app.on('error', events.connectionFailed);
  if (isSecure(settings.publicUrl)) app.use(requireHttps);
  if (dashboardFolder !== undefined) app.use(serveDashboard(dashboardFolder));
  if (docsFolder !== undefined) app.use(serveDocs(docsFolder));
  const environment = pickEnvironment(useCases);
  const scope = checkScope(useCases);
  const valid = [validate(), applyIdempotencyKey(events), handle()];
  const callRoute = createRouteCalls([environment, scope, ...valid], events, useCases.requestLog);
  const mcp = mcpRoute({ routes, callRoute, publicUrl: settings.publicUrl });
  const middleware = [
    ...(tracing ? [traceRequests(tracing)] : []),
    answerErrors(events, useCases.requestLog),
    assignRequestId(),
    findRoute([...routes, mcp]),
    echoAcpHeaders(),
    findClientAddress(settings.trustedProxies),
    authenticate({
      accounts: useCases.accounts,
      checkPerson: createPersonCheck(useCases, settings),
      checkUser: createUserCheck(useCases.users, settings),
      failures: createFailureLimit(rateLimiter, settings),
    }),
    limitRequests(rateLimiter, settings),
    refuseUnknown(),
    requireAcpHeaders(),
    environment,
    scope,
    readBody(settings),
    requireConfirmed(useCases),
    ...valid,
  ];
  for (const each of middleware) app.use(each);
  return app;
}
