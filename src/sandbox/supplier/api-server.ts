/**
 * The vendor's API over HTTP: method, limit, authentication, JSON, faults, operation, envelope, in this order.
 * Guarantee: every answer is an envelope; business errors go out with HTTP 200, as the vendor's do. Must not log bodies.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { authenticate, type AuthOptions } from './auth.ts';
import { BodyTooLargeError, readBody, sendJson } from '../support/http.ts';
import type { Stats } from '../support/stats.ts';
import type { Operation, Outcome, SupplierContext } from './context.ts';
import { SupplierError, type ErrorCode } from './errors.ts';
import { queryBalance, queryWebhook, saveWebhook } from './operations/account.ts';
import { cancelEsim, revokeEsim, sendSms, suspendEsim, unsuspendEsim } from './operations/change.ts';
import { LONGEST_TRANSACTION_ID, placeOrder } from './operations/order.ts';
import { listLocations, listPackages } from './operations/package-list.ts';
import { queryEsims, queryUsage } from './operations/query.ts';
import { topUpEsim } from './operations/topup.ts';
import type { Params } from './params.ts';
import { createRateLimit } from './rate-limit.ts';

export const API_PREFIX = '/api/v1/open';
const BODY_LIMIT_BYTES = 1_048_576;

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['package/list', listPackages],
  ['location/list', listLocations],
  ['balance/query', queryBalance],
  ['webhook/save', saveWebhook],
  ['webhook/query', queryWebhook],
  ['esim/order', placeOrder],
  ['esim/query', queryEsims],
  ['esim/cancel', cancelEsim],
  ['esim/suspend', suspendEsim],
  ['esim/unsuspend', unsuspendEsim],
  ['esim/revoke', revokeEsim],
  ['esim/topup', topUpEsim],
  ['esim/sendSms', sendSms],
  ['esim/usage/query', queryUsage],
]);

export interface ApiOptions {
  context: SupplierContext;
  auth: AuthOptions;
  stats: Stats;
  /** Tells of a fault of the simulator itself; gets no request data. */
  onBug: (error: unknown) => void;
  /** Answers GET outside the API (QR pictures); false when it is not for it. */
  serveFile: (path: string, response: ServerResponse) => Promise<boolean>;
}

interface Answer {
  status: number;
  json: string;
  code: ErrorCode | '0';
  outcome?: Outcome;
}

function refusal(code: ErrorCode, message: string, status = 200): Answer {
  const json = JSON.stringify({ success: false, errorCode: code, errorMsg: message, obj: null });
  return { status, code, json };
}

function success(context: SupplierContext, outcome: Outcome): Answer {
  const obj = outcome.objJson ?? JSON.stringify(outcome.obj);
  const code = context.faults.current.nullErrorCode ? 'null' : '"0"';
  const json = `{"success":true,"errorCode":${code},"errorMsg":null,"obj":${obj}}`;
  return { status: 200, code: '0', json, outcome };
}

/** An empty body counts as {}; anything but an object is 000104. */
function parseBody(body: Buffer): Params {
  if (body.length === 0) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    throw new SupplierError('000104');
  }
  if (parsed === '') return {};
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new SupplierError('000104');
  return parsed as Params;
}

function isPurchase(operation: string): boolean {
  return operation === 'esim/order' || operation === 'esim/topup';
}

/** A purchase that was refused still counts as a request with its transactionId. */
function countRefusal(context: SupplierContext, name: string, params: Params): void {
  const { transactionId } = params;
  if (!isPurchase(name)) return;
  if (typeof transactionId !== 'string' || transactionId === '') return;
  if (transactionId.length > LONGEST_TRANSACTION_ID) return;
  const order = context.orders.orderByTransaction(transactionId);
  if (order !== undefined) context.orders.countOrderRequest(order.orderNo);
  else if (context.orders.topUpByTransaction(transactionId) !== undefined) {
    context.orders.countTopUpRequest(transactionId);
  } else context.account.addTry(transactionId);
}

/** The request handler of the supplier's API. */
export function createApiHandler(options: ApiOptions) {
  const { context, auth, stats } = options;
  const withinLimit = createRateLimit();

  const perform = async (name: string, operation: Operation, params: Params): Promise<Answer> => {
    try {
      const { latencyMs } = context.faults.current;
      if (latencyMs > 0) await sleep(latencyMs);
      if (context.faults.hits('wrongSignature')) throw new SupplierError('101003');
      if (context.faults.hits('busy')) throw new SupplierError('900001');
      if (isPurchase(name) && context.faults.hits('commitLate'))
        await sleep(context.faults.current.lateCommitMs);
      return success(context, await operation(context, params));
    } catch (error) {
      if (error instanceof SupplierError) countRefusal(context, name, params);
      throw error;
    }
  };

  const answer = async (request: IncomingMessage, name: string, body: Buffer): Promise<Answer> => {
    const operation = OPERATIONS.get(name);
    if (operation === undefined) return refusal('000103', 'there is no such operation', 404);
    if (request.method !== 'POST') throw new SupplierError('000103');
    authenticate(auth, request.headers, body, context.now());
    if (context.faults.current.rateLimit && !withinLimit(context.now())) {
      return refusal('900001', 'request rate limit exceeded', 429);
    }
    return perform(name, operation, parseBody(body));
  };

  const answerOrRefuse = async (request: IncomingMessage, name: string): Promise<Answer> => {
    try {
      return await answer(request, name, await readBody(request, BODY_LIMIT_BYTES));
    } catch (error) {
      if (error instanceof SupplierError) {
        return refusal(error.code, error.message, error.code === '000001' ? 500 : 200);
      }
      if (error instanceof BodyTooLargeError) return refusal('000107', error.message, 413);
      options.onBug(error);
      return refusal('000001', 'server error', 500);
    }
  };

  const respond = async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    const name = path.startsWith(`${API_PREFIX}/`) ? path.slice(API_PREFIX.length + 1) : '';
    const result = await answerOrRefuse(request, name);
    stats.count(OPERATIONS.has(name) ? name : 'unknown', result.code);
    const waitMs = (result.outcome?.answersAtMs ?? 0) - context.now();
    if (waitMs > 0) await sleep(waitMs);
    if (result.outcome?.loseAnswer === true) {
      stats.countLostAnswer();
      request.socket.destroy();
      return;
    }
    sendJson(response, result.status, result.json);
  };

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    if (request.method === 'GET' && !path.startsWith(API_PREFIX)) {
      if (await options.serveFile(path, response)) return;
    }
    stats.begin();
    try {
      await respond(request, response, path);
    } finally {
      stats.end();
    }
  };
}
