/** The vendor's API over HTTP. Every answer is an envelope; business errors go out with HTTP 200, as the vendor's do. Must not log bodies. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BodyTooLargeError,
  parseObject,
  readBody,
  sendJson,
  type Handler,
  type Stats,
} from '../support/http.ts';
import { authenticate, type AuthOptions } from './auth.ts';
import type { Operation, Outcome, SupplierContext } from './context.ts';
import { SupplierError, type ErrorCode } from './errors.ts';
import { queryBalance, queryWebhook, saveWebhook } from './operations/account.ts';
import { cancelEsim, revokeEsim, sendSms, suspendEsim, unsuspendEsim } from './operations/change.ts';
import { placeOrder } from './operations/order.ts';
import { listLocations, listPackages } from './operations/package-list.ts';
import { LONGEST_TRANSACTION_ID } from './operations/purchase.ts';
import { queryEsims, queryUsage } from './operations/query.ts';
import { topUpEsim } from './operations/topup.ts';
import type { Params } from './params.ts';

const API_PREFIX = '/api/v1/open/';
const BODY_LIMIT_BYTES = 1_048_576;
const REQUESTS_PER_SECOND = 8;

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

/** An empty body, or an empty string in JSON, counts as {}; anything but an object is 000104. */
function parseBody(body: Buffer): Params {
  const params = body.toString('utf8') === '""' ? {} : parseObject(body);
  if (params === undefined) throw new SupplierError('000104');
  return params;
}

function isPurchase(operation: string): boolean {
  return operation === 'esim/order' || operation === 'esim/topup';
}

/** A purchase that was refused still counts as a request with its transactionId. */
function countRefusal({ orders, account }: SupplierContext, name: string, { transactionId }: Params): void {
  if (!isPurchase(name) || typeof transactionId !== 'string') return;
  if (transactionId === '' || transactionId.length > LONGEST_TRANSACTION_ID) return;
  const known = [orders.countOrderRequest, orders.countTopUpRequest].some(
    (count) => count(transactionId) > 0,
  );
  if (!known) account.addTry(transactionId);
}

/** Answers whether a call is within the vendor's limit over a sliding second, and counts it when it is. */
function createRateLimit(): (nowMs: number) => boolean {
  let recent: number[] = [];
  return (nowMs) => {
    recent = recent.filter((atMs) => nowMs - atMs < 1000);
    if (recent.length >= REQUESTS_PER_SECOND) return false;
    recent.push(nowMs);
    return true;
  };
}

/** The request handler of the supplier's API. */
export function createApiHandler(options: {
  context: SupplierContext;
  auth: AuthOptions;
  stats: Stats;
  /** Reports a fault of the simulator itself; gets no request data. */
  onBug: (error: unknown) => void;
  /** Answers GET outside the API (QR pictures); false when it is not for it. */
  serveFile: (path: string, response: ServerResponse) => Promise<boolean>;
}): Handler {
  const { context, auth, stats } = options;
  const withinLimit = createRateLimit();

  const perform = async (name: string, operation: Operation, params: Params): Promise<Answer> => {
    try {
      const { latencyMs, lateCommitMs } = context.faults.current;
      if (latencyMs > 0) await sleep(latencyMs);
      if (context.faults.hits('wrongSignature')) throw new SupplierError('101003');
      if (context.faults.hits('busy')) throw new SupplierError('900001');
      if (isPurchase(name) && context.faults.hits('commitLate')) await sleep(lateCommitMs);
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
    const name = path.startsWith(API_PREFIX) ? path.slice(API_PREFIX.length) : '';
    const { status, json, code, outcome } = await answerOrRefuse(request, name);
    stats.count(OPERATIONS.has(name) ? name : 'unknown', code);
    const waitMs = (outcome?.answersAtMs ?? 0) - context.now();
    if (waitMs > 0) await sleep(waitMs);
    if (outcome?.loseAnswer === true) stats.loseAnswer(request);
    else sendJson(response, status, json);
  };

  return async (request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    if (request.method === 'GET' && !path.startsWith(API_PREFIX)) {
      if (await options.serveFile(path, response)) return;
    }
    await stats.during(() => respond(request, response, path));
  };
}
