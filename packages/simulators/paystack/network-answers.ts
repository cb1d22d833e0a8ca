/**
 * Answers that go wrong on the way, as the fault's name says. Whether the work was done is decided elsewhere.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'koa';
import { answer, cut, JSON_TYPE } from '../kit/server.ts';
import { duplicateReference, GatewayError, refusalJson, serverError } from './errors.ts';
import type { NetworkFault, NetworkKind, OperationName } from './faults.ts';
import { toJson } from './wire.ts';

const TRICKLE_MS = 30_000;
const TRICKLE_STEPS = 30;
const TRUNCATED_SHARE = 0.6;

const BAD_GATEWAY =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n';

interface Answered {
  operation: OperationName | undefined;
  /** The reference of the request, where it named one. */
  reference: string | null;
  status: number;
  json: string;
}

/** Leaves the caller without an answer until it, or the server, hangs up. */
function leaveHanging(context: Context): Promise<void> {
  const response = rawResponse(context);
  return new Promise((resolve) => {
    response.once('close', resolve);
    if (response.destroyed) resolve();
  });
}

/** The response, which Koa then leaves alone. */
function rawResponse(context: Context): ServerResponse {
  context.respond = false;
  return context.res;
}

function begin(response: ServerResponse, { status, json }: Answered): Buffer {
  const body = Buffer.from(json);
  response.writeHead(status, { 'content-type': JSON_TYPE, 'content-length': body.length });
  return body;
}

async function cutInside(context: Context, answered: Answered): Promise<void> {
  const response = rawResponse(context);
  const body = begin(response, answered);
  const half = body.subarray(0, Math.floor(body.length / 2));
  await new Promise<void>((resolve) => response.write(half, () => resolve()));
  response.destroy();
}

/** Sends the answer in small pieces over a long time. */
async function trickle(context: Context, answered: Answered, lastingMs: number): Promise<void> {
  const response = rawResponse(context);
  const body = begin(response, answered);
  const size = Math.ceil(body.length / TRICKLE_STEPS);
  for (let at = 0; at < body.length; at += size) {
    if (response.destroyed) return;
    response.write(body.subarray(at, at + size));
    await sleep(lastingMs / TRICKLE_STEPS);
  }
  response.end();
}

/** HTTP 200 that says no: in `data.status` of a charge or verify, in `status` elsewhere. */
function failed({ operation, reference }: Answered): string {
  const message = 'Declined';
  const isCharge = operation?.startsWith('charge') === true || operation === 'transaction/verify';
  if (!isCharge) return toJson({ status: false, message });
  const data = { status: 'failed', reference, message, gateway_response: message };
  return toJson({ status: true, message: 'Charge attempted', data });
}

const LIMITED = new GatewayError('Please wait a few minutes and try again.', {
  code: 'rate_limited',
  status: 429,
  type: 'api_error',
});

const ANSWERS: Record<
  NetworkKind,
  (context: Context, answered: Answered, fault: NetworkFault) => void | Promise<void>
> = {
  'connect-refused': cut,
  'timeout-before': leaveHanging,
  'timeout-after': leaveHanging,
  reset: cutInside,
  '429': (context) => answer(context, 429, refusalJson(LIMITED)),
  '500': (context) => answer(context, 500, refusalJson(serverError())),
  'html-502': (context) => answer(context, 502, BAD_GATEWAY, 'text/html'),
  'bad-json': (context, { json }) => answer(context, 200, json.slice(0, json.length * TRUNCATED_SHARE)),
  'failed-200': (context, answered) => answer(context, 200, failed(answered)),
  'duplicate-reference': (context) => answer(context, 400, refusalJson(duplicateReference())),
  trickle: (context, answered, { trickleMs = TRICKLE_MS }) => trickle(context, answered, trickleMs),
};

/** Answers in the way of the fault. */
export async function sendInTrouble(context: Context, fault: NetworkFault, answered: Answered) {
  await ANSWERS[fault.kind](context, answered, fault);
}
