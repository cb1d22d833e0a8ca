/**
 * The gateway's API over HTTP: faults, authentication, JSON, operation, envelope, in this order. Guarantee: every answer is an envelope,
 * unless a fault says otherwise. Must not log bodies.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../support/checks.ts';
import { BodyTooLargeError, readBody, sendJson, targetOf, type Handler } from '../support/http.ts';
import type { Stats } from '../support/stats.ts';
import { authenticate } from './auth.ts';
import type { GatewayContext } from './context.ts';
import { GatewayError, invalid, notFound, refusalBody, serverError } from './errors.ts';
import { isDone, takeNetworkFault } from './faults.ts';
import { sendInTrouble, type Answered } from './network-answers.ts';
import { checkCharge, createCharge, submitOtp } from './operations/charge.ts';
import { initialize } from './operations/initialize.ts';
import type { OperationName } from './operations/names.ts';
import type { ApiAnswer, Operation } from './operations/operation.ts';
import { listDisputes } from './operations/disputes.ts';
import { createRefund, fetchRefund, listRefunds, retryRefund } from './operations/refunds.ts';
import {
  fetchTimeout,
  listDomains,
  registerDomain,
  unregisterDomain,
  updateTimeout,
} from './operations/settings.ts';
import { fetchTransaction, listTransactions, timeline, verify } from './operations/transactions.ts';
import type { Params } from './params.ts';
import { toJson } from './wire.ts';

const BODY_LIMIT_BYTES = 1_048_576;

type Row = [name: OperationName, method: string, path: RegExp, operation: Operation];

/** The first row that fits counts. */
const OPERATIONS: readonly Row[] = [
  ['transaction/initialize', 'POST', /^\/transaction\/initialize$/, initialize],
  ['transaction/verify', 'GET', /^\/transaction\/verify\/([^/]+)$/, verify],
  ['transaction/timeline', 'GET', /^\/transaction\/timeline\/([^/]+)$/, timeline],
  ['transaction/list', 'GET', /^\/transaction$/, listTransactions],
  ['transaction/fetch', 'GET', /^\/transaction\/([^/]+)$/, fetchTransaction],
  ['charge', 'POST', /^\/charge$/, createCharge],
  ['charge/submit_otp', 'POST', /^\/charge\/submit_otp$/, submitOtp],
  ['charge/check', 'GET', /^\/charge\/([^/]+)$/, checkCharge],
  ['refund', 'POST', /^\/refund$/, createRefund],
  ['refund/list', 'GET', /^\/refund$/, listRefunds],
  ['refund/fetch', 'GET', /^\/refund\/([^/]+)$/, fetchRefund],
  ['refund/retry', 'POST', /^\/refund\/retry_with_customer_details\/([^/]+)$/, retryRefund],
  ['dispute/list', 'GET', /^\/dispute$/, listDisputes],
  ['apple-pay/register', 'POST', /^\/apple-pay\/domain$/, registerDomain],
  ['apple-pay/list', 'GET', /^\/apple-pay\/domain$/, listDomains],
  ['apple-pay/unregister', 'DELETE', /^\/apple-pay\/domain$/, unregisterDomain],
  ['timeout/fetch', 'GET', /^\/integration\/payment_session_timeout$/, fetchTimeout],
  ['timeout/update', 'PUT', /^\/integration\/payment_session_timeout$/, updateTimeout],
];

/** The reference that a call names, in its path or its body. */
function referenceOf({ id, body }: Call): string | null {
  if (id !== '') return id;
  const named = body instanceof Error ? undefined : body['reference'];
  return typeof named === 'string' ? named : null;
}

export interface ApiOptions {
  context: GatewayContext;
  secretKey: string;
  stats: Stats;
  /** Does what is due before anything is answered. */
  runDue: () => void;
  /** Tells of a fault of the simulator itself; gets no request data. */
  onBug: (error: unknown) => void;
  /** Answers what lies under /checkout/. */
  checkout: (request: IncomingMessage, response: ServerResponse, target: URL) => Promise<void>;
}

/** A call that came in; `body` is an error where it could not be read. */
interface Call {
  row: Row | undefined;
  target: URL;
  id: string;
  body: Params | Error;
}

/** An empty body counts as {}; anything but an object is refused. */
async function bodyOf(request: IncomingMessage): Promise<Params | Error> {
  try {
    const body = await readBody(request, BODY_LIMIT_BYTES);
    if (body.length === 0) return {};
    const parsed = JSON.parse(body.toString('utf8')) as unknown;
    return isObject(parsed) ? parsed : invalid('Invalid JSON body');
  } catch (error) {
    return error instanceof BodyTooLargeError ? error : invalid('Invalid JSON body');
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notFound();
  }
}

function envelope({ message, data, meta }: ApiAnswer): string {
  return toJson({ status: true, message, data, meta });
}

/** How an error goes out. */
function answerTo(error: unknown, onBug: (error: unknown) => void): { status: number; json: string } {
  if (error instanceof GatewayError) return { status: error.status, json: toJson(refusalBody(error)) };
  if (error instanceof BodyTooLargeError) {
    return { status: 413, json: toJson(refusalBody(invalid(error.message, 'body_too_large'))) };
  }
  onBug(error);
  return { status: 500, json: toJson(refusalBody(serverError())) };
}

/** The request handler of the gateway's API and of the hosted page. */
export function createApiHandler(options: ApiOptions): Handler {
  const { context, stats } = options;

  const perform = (request: IncomingMessage, { row, id, body, target }: Call): string => {
    authenticate(request.headers.authorization, options.secretKey);
    if (context.faults.hits('error')) throw serverError();
    if (row === undefined) throw notFound();
    if (body instanceof Error) throw body;
    options.runDue();
    return envelope(row[3](context, { id: decoded(id), query: target.searchParams, body }));
  };

  /** Does the work and says how it went. */
  const answer = async (request: IncomingMessage, call: Call) => {
    const { latencyMs } = context.faults.current;
    if (latencyMs > 0) await sleep(latencyMs);
    try {
      return { status: 200, json: perform(request, call) };
    } catch (error) {
      return answerTo(error, options.onBug);
    }
  };

  const respond = async (request: IncomingMessage, response: ServerResponse, target: URL): Promise<void> => {
    const { pathname } = target;
    const row = OPERATIONS.find(([, method, path]) => method === request.method && path.test(pathname));
    const operation = row?.[0];
    const call: Call = {
      row,
      target,
      id: row?.[2].exec(pathname)?.[1] ?? '',
      body: await bodyOf(request),
    };
    const fault = takeNetworkFault(context.faults, operation);
    const isAsked = fault === null || isDone(fault);
    const result = isAsked ? await answer(request, call) : { status: 0, json: '' };
    stats.count(operation ?? 'unknown', fault === null ? String(result.status) : fault.kind);
    if (fault !== null) {
      const answered: Answered = { operation, reference: referenceOf(call), ...result };
      return sendInTrouble(response, fault, answered);
    }
    const isEffect = request.method !== 'GET' && result.status === 200;
    if (isEffect && context.faults.hits('loseAnswer')) {
      stats.countLostAnswer();
      request.socket.destroy();
      return;
    }
    sendJson(response, result.status, result.json);
  };

  return async (request, response) => {
    const target = targetOf(request);
    if (target === undefined) {
      sendJson(response, 400, toJson(refusalBody(invalid('The path is malformed'))));
      return;
    }
    if (target.pathname.startsWith('/checkout/')) {
      options.runDue();
      return options.checkout(request, response, target);
    }
    stats.begin();
    try {
      await respond(request, response, target);
    } finally {
      stats.end();
    }
  };
}
