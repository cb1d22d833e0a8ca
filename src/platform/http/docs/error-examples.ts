/** Examples of refusals: each code that a route can give, in the body that the service makes of it. */
import { unknownSession, SIGN_IN } from '../../../domain/callers.ts';
import { DomainError, type ErrorCode } from '../../../domain/errors.ts';
import { renderError, usualMessage, type ErrorShape } from '../errors.ts';
import { invalidRequest } from '../invalid-request.ts';
import type { MissingFields, Route } from '../route.ts';

/** Values by the name of the case that each is true for. */
export type Examples = Readonly<Record<string, unknown>>;

/** Where `details` says more than the message. */
const DETAILS: Readonly<Partial<Record<ErrorCode, string>>> = {
  INSUFFICIENT_BALANCE: 'INSUFFICIENT_BALANCE: nothing was charged',
  KEY_BUDGET_EXCEEDED:
    'KEY_BUDGET_EXCEEDED: maxPrice is NGN 10000.00, and this package costs more; ' +
    'a member of the account can change the limits of this key in the dashboard, nothing was charged',
  PACKAGE_UNAVAILABLE: 'PACKAGE_UNAVAILABLE: nothing was charged',
  PAYMENT_FAILED: 'PAYMENT_NOT_OPENED: nothing was charged',
};

/** Codes that a route with two shapes gives only in one of them. */
const ONE_SHAPE: Readonly<Record<string, Partial<Record<ErrorCode, ErrorShape>>>> = {
  buy: { ESIM_NOT_FOUND: 'top-up', INVALID_TOPUP: 'top-up' },
  listPackages: { MISSING_REGION_CODE: 'base', PACKAGE_NOT_FOUND: 'top-up' },
};

/** What the caller asked for where a route has both shapes. */
const ASKED: Readonly<Partial<Record<ErrorShape, string>>> = { base: 'BASE', 'top-up': 'TOPUP' };

/** By name: the code, and for which kind of package where the body depends on it. */
export function errorExamplesOf(route: Route, codes: readonly ErrorCode[]): Examples {
  const examples: Record<string, unknown> = {};
  for (const code of codes) {
    const only = ONE_SHAPE[route.docs?.operationId ?? '']?.[code];
    const shapes = only === undefined ? route.shapes : [only];
    const bodies = new Map(
      shapes.map((shape) => [renderError(refusalOf(route, code, shape), shape).body, shape]),
    );
    for (const [body, shape] of bodies)
      examples[bodies.size === 1 ? code : `${code}, ${ASKED[shape] ?? shape}`] = JSON.parse(body);
  }
  return examples;
}

function refusalOf(route: Route, code: ErrorCode, shape: ErrorShape): DomainError {
  if (code === 'FORBIDDEN' && route.scope !== undefined)
    return new DomainError(code, `This key lacks the permission "${route.scope}"`);
  if (code === 'INVALID_TOKEN' && route.key === 'session') return unknownSession();
  if (code === 'UNAUTHORIZED' && route.key === 'session') return new DomainError(code, SIGN_IN.session);
  if (code === 'UNAUTHORIZED' && (route.key === 'user' || route.key === 'member'))
    return new DomainError(code, SIGN_IN.user);
  if (code === 'VALIDATION_ERROR') return invalidRequest(...wrongFields(route, shape));
  const details = DETAILS[code];
  return new DomainError(code, usualMessage(code), details === undefined ? {} : { details });
}

/** What this route itself says of a request that is wrong: missing fields, and other problems. */
function wrongFields(
  route: Route,
  shape: ErrorShape,
): readonly [missing: MissingFields | undefined, problems: readonly string[]] {
  if (shape === 'top-up') {
    const missing = route.missing?.({ query: new Map([['type', 'TOPUP']]), body: { packageType: 'TOPUP' } });
    if (missing) return [missing, []];
  }
  const wrong = route.body?.safeParse({});
  if (wrong?.error)
    return [
      undefined,
      wrong.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`),
    ];
  if (route.body) return [undefined, ['body: must be a JSON object']];
  const [name] = route.queryNames;
  return [
    undefined,
    [name === undefined ? 'query: malformed percent-encoding' : `${name}: must be given once`],
  ];
}
