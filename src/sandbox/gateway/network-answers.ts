/**
 * Answers that go wrong on the way. Guarantee: what goes out is what the fault's name says; nothing is decided here about what was done.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendJson, sendText } from '../support/http.ts';
import { duplicateReference, GatewayError, refusalBody, serverError } from './errors.ts';
import type { NetworkFault, NetworkKind } from './faults.ts';
import type { OperationName } from './operations/names.ts';
import { toJson } from './wire.ts';

const TRICKLE_MS = 30_000;
const TRICKLE_STEPS = 30;
const TRUNCATED_SHARE = 0.6;

const BAD_GATEWAY =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n';

/** What is being answered. */
export interface Answered {
  operation: OperationName | undefined;
  /** The reference of the request, where it named one. */
  reference: string | null;
  status: number;
  json: string;
}

/** Leaves the caller without an answer until it, or the server, hangs up. */
function leaveHanging(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve);
    if (response.destroyed) resolve();
  });
}

/** Begins the answer and cuts it in the middle. */
async function cutInside(response: ServerResponse, { status, json }: Answered): Promise<void> {
  const body = Buffer.from(json);
  const headers = { 'content-type': 'application/json;charset=UTF-8', 'content-length': body.length };
  response.writeHead(status, headers);
  const half = body.subarray(0, Math.floor(body.length / 2));
  await new Promise<void>((resolve) => response.write(half, () => resolve()));
  response.destroy();
}

/** Sends the answer in small pieces over a long time. */
async function trickle(
  response: ServerResponse,
  { status, json }: Answered,
  lastingMs: number,
): Promise<void> {
  const body = Buffer.from(json);
  response.writeHead(status, {
    'content-type': 'application/json;charset=UTF-8',
    'content-length': body.length,
  });
  const size = Math.ceil(body.length / TRICKLE_STEPS);
  for (let at = 0; at < body.length; at += size) {
    if (response.destroyed) return;
    response.write(body.subarray(at, at + size));
    await sleep(lastingMs / TRICKLE_STEPS);
  }
  response.end();
}

/** HTTP 200 that says no: in `data.status` where a charge is asked about, in `status` elsewhere. */
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

/** The answers that are over at once. */
const AT_ONCE: Partial<Record<NetworkKind, (response: ServerResponse, answered: Answered) => void>> = {
  'connect-refused': (response) => response.destroy(),
  '429': (response) => sendJson(response, 429, toJson(refusalBody(LIMITED))),
  '500': (response) => sendJson(response, 500, toJson(refusalBody(serverError()))),
  'html-502': (response) => sendText(response, 502, 'text/html', BAD_GATEWAY),
  'bad-json': (response, { json }) => sendJson(response, 200, json.slice(0, json.length * TRUNCATED_SHARE)),
  'failed-200': (response, answered) => sendJson(response, 200, failed(answered)),
  'duplicate-reference': (response) => sendJson(response, 400, toJson(refusalBody(duplicateReference()))),
};

/** Answers in the way of the fault. */
export async function sendInTrouble(
  response: ServerResponse,
  fault: NetworkFault,
  answered: Answered,
): Promise<void> {
  if (fault.kind === 'reset') await cutInside(response, answered);
  else if (fault.kind === 'trickle') await trickle(response, answered, fault.trickleMs ?? TRICKLE_MS);
  else if (fault.kind === 'timeout-before' || fault.kind === 'timeout-after') await leaveHanging(response);
  else AT_ONCE[fault.kind]?.(response, answered);
}
