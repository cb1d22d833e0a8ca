/**
 * Counts requests and says so: three X-RateLimit-* headers on every answer that was counted, errors included.
 * With a key the bucket is account and environment, apart for keys that only read; members have one each, as
 * all users; without either it is the client address; failed
 * authentications have a bucket of their own.
 */
import type { Principal } from '../../../domain/account.ts';
import { DomainError } from '../../../domain/errors.ts';
import type { LimitVerdict, RateLimiter } from '../../rate-limiter.ts';
import { addressBucket } from '../../client-addresses.ts';
import { LOGINS_PER_MINUTE, PERSON_REQUESTS_PER_MINUTE } from '../limits.ts';
import { routeOf, type Middleware, type RequestKoa } from '../request.ts';

export interface RateLimits {
  readonly publicRequestsPerMinute: number;
  readonly failedAuthPerMinute: number;
}

/**
 * Counts every request, except a vendor's: its events must not be lost.
 * RATE_LIMIT_EXCEEDED with the seconds until the window ends.
 */
export function limitRequests(limiter: RateLimiter, limits: RateLimits): Middleware {
  return async (ctx, next) => {
    if (routeOf(ctx)?.key !== 'vendor') {
      const [bucket, limit] = bucketOf(ctx, limits);
      apply(ctx, await limiter.consume(bucket, limit));
    }
    await next();
  };
}

function bucketOf(ctx: RequestKoa, limits: RateLimits): readonly [bucket: string, limit: number] {
  const { principal, session, userSession, clientAddress } = ctx.state;
  const route = routeOf(ctx);
  if (principal && userSession) return [`user:${userSession.user.userId}`, PERSON_REQUESTS_PER_MINUTE];
  if (principal) return bucketOfKey(principal);
  if (session && route?.takesSecret) return [`login:person:${session.person.personId}`, LOGINS_PER_MINUTE];
  if (session) return [`person:${session.person.personId}`, PERSON_REQUESTS_PER_MINUTE];
  if (userSession && route?.takesSecret) return [`login:user:${userSession.user.userId}`, LOGINS_PER_MINUTE];
  if (userSession) return [`user:${userSession.user.userId}`, PERSON_REQUESTS_PER_MINUTE];
  const address = addressBucket(clientAddress);
  // Guesses at both sign-ins count together; sign-ups and links by mail count apart.
  if (
    (route?.key === 'login' && !route.isPolled) ||
    (route?.key === 'anybody' && route.path.startsWith('/auth/sessions'))
  )
    return [`login:${address}`, LOGINS_PER_MINUTE];
  if (route?.key === 'anybody') return [`sign-up:${address}`, LOGINS_PER_MINUTE];
  return [`public:${address}`, limits.publicRequestsPerMinute];
}

/** What may only read has a bucket of its own: it does not keep the account's shop from buying. */
function bucketOfKey({ environment, account, scopes }: Principal): readonly [bucket: string, limit: number] {
  const bucket = `account:${environment}:${account.id}`;
  const mayBuy = scopes.some((scope) => scope !== 'read');
  return [mayBuy ? bucket : `${bucket}:read`, account.requestsPerMinute];
}

/** Counts failed authentications by client address; for authenticate.ts. */
export interface FailureLimit {
  /** Counts one attempt as failed. RATE_LIMIT_EXCEEDED when there were too many. */
  count(ctx: RequestKoa): Promise<void>;
  /** For an attempt that was counted before its outcome was known, and did not fail. */
  giveBack(ctx: RequestKoa): Promise<void>;
}

export function createFailureLimit(limiter: RateLimiter, limits: RateLimits): FailureLimit {
  const bucketOf = (ctx: RequestKoa): string => `failed-auth:${addressBucket(ctx.state.clientAddress)}`;
  return {
    count: async (ctx) => {
      const verdict = await limiter.consume(bucketOf(ctx), limits.failedAuthPerMinute);
      apply(ctx, verdict, 'failed authentications a minute are allowed from your address');
    },
    giveBack: (ctx) => limiter.giveBack(bucketOf(ctx)),
  };
}

function apply(ctx: RequestKoa, verdict: LimitVerdict, what = 'requests a minute are allowed'): void {
  const { headers } = ctx.state;
  headers['X-RateLimit-Limit'] = String(verdict.limit);
  headers['X-RateLimit-Remaining'] = String(Math.max(0, verdict.remaining));
  headers['X-RateLimit-Reset'] = String(Math.ceil(verdict.resetAtMs / 1000));
  if (verdict.allowed) return;
  const retryAfterSeconds = Math.max(1, Math.ceil((verdict.resetAtMs - Date.now()) / 1000));
  throw new DomainError('RATE_LIMIT_EXCEEDED', `At most ${verdict.limit} ${what}`, { retryAfterSeconds });
}
