/** The gateway's API over HTTP. Every answer is an envelope, unless a fault says otherwise. Must not log bodies. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BodyTooLargeError,
  parseObject,
  readBody,
  sendJson,
  targetOf,
  type Handler,
  type Stats,
} from '../support/http.ts';
import type { GatewayContext } from './context.ts';
import { GatewayError, invalid, notFound, refusalJson, serverError } from './errors.ts';
import { isDone, takeNetworkFault, type OperationName } from './faults.ts';
import { sendInTrouble } from './network-answers.ts';
import { checkCharge, createCharge, submitOtp } from './operations/charge.ts';
import { initialize } from './operations/initialize.ts';
import type { Operation } from './operations/operation.ts';
import { createRefund, fetchRefund, listDisputes, listRefunds, retryRefund } from './operations/refunds.ts';
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

interface Call {
  row: Row | undefined;
  target: URL;
  id: string;
  /** An error where it could not be read. */
  body: Params | Error;
}

/** The reference that a call names, in its path or its body. */
function referenceOf({ id, body }: Call): string | null {
  if (id !== '') return id;
  const named = body instanceof Error ? undefined : body['reference'];
  return typeof named === 'string' ? named : null;
}

async function bodyOf(request: IncomingMessage): Promise<Params | Error> {
  try {
    return parseObject(await readBody(request, BODY_LIMIT_BYTES)) ?? invalid('Invalid JSON body');
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

/** The request handler of the gateway's API and of the hosted page. */
export function createApiHandler(options: {
  context: GatewayContext;
  secretKey: string;
  stats: Stats;
  /** Does what is due before anything is answered. */
  runDue: () => void;
  /** Reports a fault of the simulator itself; gets no request data. */
  onBug: (error: unknown) => void;
  /** Answers what lies under /checkout/. */
  checkout: (request: IncomingMessage, response: ServerResponse, target: URL) => Promise<void>;
}): Handler {
  const { context, stats } = options;

  const perform = (request: IncomingMessage, { row, id, body, target }: Call): string => {
    authenticate(request.headers.authorization, options.secretKey);
    if (context.faults.hits('error')) throw serverError();
    if (row === undefined) throw notFound();
    if (body instanceof Error) throw body;
    options.runDue();
    const { message, data, meta } = row[3](context, { id: decoded(id), query: target.searchParams, body });
    return toJson({ status: true, message, data, meta });
  };

  const answer = async (request: IncomingMessage, call: Call): Promise<{ status: number; json: string }> => {
    const { latencyMs } = context.faults.current;
    if (latencyMs > 0) await sleep(latencyMs);
    try {
      return { status: 200, json: perform(request, call) };
    } catch (error) {
      if (error instanceof GatewayError) return { status: error.status, json: refusalJson(error) };
      if (error instanceof BodyTooLargeError) {
        return { status: 413, json: refusalJson(invalid(error.message, 'body_too_large')) };
      }
      options.onBug(error);
      return { status: 500, json: refusalJson(serverError()) };
    }
  };

  const respond = async (request: IncomingMessage, response: ServerResponse, target: URL): Promise<void> => {
    const { pathname } = target;
    const row = OPERATIONS.find(([, method, path]) => method === request.method && path.test(pathname));
    const operation = row?.[0];
    const id = row?.[2].exec(pathname)?.[1] ?? '';
    const call: Call = { row, target, id, body: await bodyOf(request) };
    const fault = takeNetworkFault(context.faults, operation);
    const result = fault === null || isDone(fault) ? await answer(request, call) : { status: 0, json: '' };
    stats.count(operation ?? 'unknown', fault === null ? String(result.status) : fault.kind);
    if (fault !== null) {
      return sendInTrouble(response, fault, { operation, reference: referenceOf(call), ...result });
    }
    const isEffect = request.method !== 'GET' && result.status === 200;
    if (isEffect && context.faults.hits('loseAnswer')) stats.loseAnswer(request);
    else sendJson(response, result.status, result.json);
  };

  return async (request, response) => {
    const target = targetOf(request);
    if (target === undefined) {
      sendJson(response, 400, refusalJson(invalid('The path is malformed')));
      return;
    }
    if (target.pathname.startsWith('/checkout/')) {
      options.runDue();
      return options.checkout(request, response, target);
    }
    await stats.during(() => respond(request, response, target));
  };
}
