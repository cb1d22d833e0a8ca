/** Every answer is an envelope, unless a fault says otherwise. Must not log bodies. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { answer, appOf, BodyTooLargeError, parseObject, readBody, type Stats } from '../kit/server.ts';
import { checkoutRoutes } from './checkout/server.ts';
import type { GatewayContext } from './context.ts';
import { GatewayError, invalid, notFound, refusalJson, serverError, type Params } from './errors.ts';
import { isDone, ROUTES, takeNetworkFault, type OperationName, sendInTrouble } from './faults.ts';
import { charges } from './operations/charge.ts';
import type { ApiRequest, Operation } from './operations/operation.ts';
import { refunds } from './operations/refunds.ts';
import { settings } from './operations/settings.ts';
import { transactions } from './operations/transactions.ts';
import { toJson } from './wire.ts';

const BODY_LIMIT_BYTES = 1_048_576;

const OPERATIONS: Record<OperationName, Operation> = { ...transactions, ...charges, ...refunds, ...settings };

function unauthorized(message: string, code: string): GatewayError {
  const nextStep = 'Provide the secret key of this integration as Authorization: Bearer SECRET_KEY';
  return new GatewayError(message, { code, status: 401, nextStep });
}

/** Checks the bearer token, in the same time for any key; throws the documented 401. */
function authenticate(header: string | undefined, secretKey: string): void {
  if (header === undefined || header === '') {
    throw unauthorized('No Authorization Header was found', 'missing_key');
  }
  const key = /^Bearer +(\S+)$/.exec(header)?.[1];
  if (key === undefined) {
    throw unauthorized('Format is Authorization: Bearer [secret key]', 'invalid_Key');
  }
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(key), digest(secretKey))) throw unauthorized('Invalid key', 'invalid_Key');
}

async function bodyOf(request: IncomingMessage): Promise<Params | Error> {
  try {
    return parseObject(await readBody(request, BODY_LIMIT_BYTES)) ?? invalid('Invalid JSON body');
  } catch (error) {
    return error instanceof BodyTooLargeError ? error : invalid('Invalid JSON body');
  }
}

function resultOf(work: () => string, onBug: (error: unknown) => void): { status: number; json: string } {
  try {
    return { status: 200, json: work() };
  } catch (error) {
    if (error instanceof GatewayError) return { status: error.status, json: refusalJson(error) };
    if (error instanceof BodyTooLargeError) {
      return { status: 413, json: refusalJson(invalid(error.message, 'body_too_large')) };
    }
    onBug(error);
    return { status: 500, json: refusalJson(serverError()) };
  }
}

export function createApiApp(options: {
  context: GatewayContext;
  secretKey: string;
  stats: Stats;
  runDue: () => void;
  /** Reports a fault of the simulator itself; gets no request data. */
  onBug: (error: unknown) => void;
}) {
  const { context, stats, runDue } = options;

  const perform = (
    { headers }: Context,
    operation: Operation | undefined,
    request: Omit<ApiRequest, 'body'> & { body: Params | Error },
  ): string => {
    authenticate(headers.authorization, options.secretKey);
    if (context.faults.hits('error')) throw serverError();
    if (operation === undefined) throw notFound();
    const { body } = request;
    if (body instanceof Error) throw body;
    runDue();
    const { message, data, meta } = operation(context, { ...request, body });
    return toJson({ status: true, message, data, meta });
  };

  const call = (name?: OperationName, operation?: Operation) => async (koa: Context) => {
    const body = await bodyOf(koa.req);
    const { id = '' } = (koa['params'] ?? {}) as { id?: string };
    const request = { id, query: new URLSearchParams(koa.querystring), body };
    const fault = takeNetworkFault(context.faults, name);
    const isAnswered = fault === null || isDone(fault);
    const { latencyMs } = context.faults.current;
    if (isAnswered && latencyMs > 0) await sleep(latencyMs);
    const result = isAnswered
      ? resultOf(() => perform(koa, operation, request), options.onBug)
      : { status: 0, json: '' };
    stats.count(name ?? 'unknown', fault === null ? String(result.status) : fault.kind);
    if (fault !== null) {
      const named = id === '' && !(body instanceof Error) ? body['reference'] : id;
      const reference = typeof named === 'string' ? named : null;
      await sendInTrouble(koa, fault, { operation: name, reference, ...result });
      return;
    }
    const isEffect = koa.method !== 'GET' && result.status === 200;
    if (isEffect && context.faults.hits('loseAnswer')) stats.loseAnswer(koa);
    else answer(koa, result.status, result.json);
  };

  const router = new Router();
  for (const name of Object.keys(ROUTES) as OperationName[]) {
    const [method = '', path = ''] = ROUTES[name].split(' ');
    router.register(path, [method], call(name, OPERATIONS[name]));
  }
  const checkout = checkoutRoutes(context);
  return appOf(
    (koa, next) => {
      if (!koa.path.startsWith('/checkout/')) return stats.during(next);
      runDue();
      return checkout(koa);
    },
    router.routes() as Middleware,
    call(),
  );
}
