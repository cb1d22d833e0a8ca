/** The gateway's faults, with their defaults. docs/SANDBOX.md describes each. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Context } from 'koa';
import { AMOUNT, CHANCE, DURATION_MS, FLAG, oneOf, SHARE, isOff, type FaultBoard } from '../kit/control.ts';
import { WEBHOOK_MODE } from '../kit/events.ts';
import { answer, cut, JSON_TYPE } from '../kit/server.ts';
import { WEBHOOK_BYTES, toJson } from './wire.ts';
import { duplicateReference, GatewayError, refusalJson, serverError } from './errors.ts';

/** The vendor's operations, by the names that faults and counters know them by. */
export const ROUTES = {
  'transaction/initialize': 'POST /transaction/initialize',
  'transaction/verify': 'GET /transaction/verify/:id',
  'transaction/list': 'GET /transaction',
  'transaction/fetch': 'GET /transaction/:id',
  'transaction/timeline': 'GET /transaction/timeline/:id',
  charge: 'POST /charge',
  'charge/submit_otp': 'POST /charge/submit_otp',
  'charge/check': 'GET /charge/:id',
  refund: 'POST /refund',
  'refund/list': 'GET /refund',
  'refund/fetch': 'GET /refund/:id',
  'refund/retry': 'POST /refund/retry_with_customer_details/:id',
  'dispute/list': 'GET /dispute',
  'apple-pay/register': 'POST /apple-pay/domain',
  'apple-pay/list': 'GET /apple-pay/domain',
  'apple-pay/unregister': 'DELETE /apple-pay/domain',
  'timeout/fetch': 'GET /integration/payment_session_timeout',
  'timeout/update': 'PUT /integration/payment_session_timeout',
} as const;
export type OperationName = keyof typeof ROUTES;
const OPERATION = oneOf(Object.keys(ROUTES) as OperationName[]);

export const NETWORK_KINDS = [
  'connect-refused',
  'timeout-before',
  'timeout-after',
  'reset',
  '429',
  '500',
  'html-502',
  'bad-json',
  'failed-200',
  'duplicate-reference',
  'trickle',
] as const;
type NetworkKind = (typeof NETWORK_KINDS)[number];

/** Kinds whose name says whether the work is done. */
const DONE_BY_NAME: Partial<Record<NetworkKind, boolean>> = {
  'connect-refused': false,
  'timeout-before': false,
  'timeout-after': true,
};
/** Kinds that leave it open, and have done it unless `done` says otherwise. */
const USUALLY_DONE: readonly NetworkKind[] = ['reset', 'bad-json', 'trickle'];

/** Without `next` and `share` it hits every call. */
const NETWORK = z
  .strictObject(
    {
      kind: oneOf(NETWORK_KINDS),
      operation: OPERATION.optional(),
      next: AMOUNT.optional(),
      share: SHARE.optional(),
      done: FLAG.optional(),
      trickleMs: DURATION_MS.optional(),
    },
    'must be an object with a kind, or null',
  )
  .refine(({ next, share }) => next === undefined || share === undefined, 'takes next or share, not both')
  .refine(({ kind, done }) => done === undefined || (DONE_BY_NAME[kind] ?? done) === done, {
    error: 'has a done that contradicts its kind',
  });
type NetworkFault = z.output<typeof NETWORK>;

const A_WORD = 'must be a word of small letters, or null';
export const RETRY_SCHEDULES = ['test', 'test-72h', 'live'] as const;

export const FAULTS = z.strictObject({
  webhooks: WEBHOOK_MODE.default('deliver'),
  latencyMs: DURATION_MS.default(0),
  loseAnswer: CHANCE.default(0),
  error: CHANCE.default(0),
  shortTransfer: oneOf(['settle', 'return']).default('settle'),
  refund: oneOf(['process', 'fail', 'needs-attention', 'refuse', 'pending']).default('process'),
  refundDelayMs: DURATION_MS.default(300),
  refundShows: oneOf(['success', 'reversed', 'reversal-pending']).default('success'),
  unknownReference: oneOf([400, 404]).default(404),
  otherIntegration: FLAG.default(false),
  chargeFailedEvents: FLAG.default(false),
  shapeDrift: FLAG.default(false),
  unknownStatus: z
    .string(A_WORD)
    .regex(/^[a-z][a-z_-]{0,39}$/, A_WORD)
    .nullable()
    .default(null),
  webhookBytes: oneOf(WEBHOOK_BYTES).default('compact'),
  retries: oneOf(RETRY_SCHEDULES).default('test'),
  rejectedAmount: oneOf(['minor', 'major']).default('minor'),
  network: NETWORK.nullable().default(null),
});
export type GatewayFaults = z.output<typeof FAULTS>;

export function isDone({ kind, done }: NetworkFault): boolean {
  return DONE_BY_NAME[kind] ?? done ?? USUALLY_DONE.includes(kind);
}

/** The network fault that hits this call, if any; uses up a `next`. */
export function takeNetworkFault(faults: FaultBoard<GatewayFaults>, operation: OperationName | undefined) {
  const fault = faults.current.network;
  if (fault === null || (fault.operation !== undefined && fault.operation !== operation)) return null;
  if (fault.share !== undefined) return faults.roll('network', fault.share) ? fault : null;
  if (fault.next === undefined) return fault;
  if (isOff({ next: fault.next })) return null;
  faults.set({ network: { ...fault, next: fault.next - 1 } });
  return fault;
}

/** Whether nothing at all may connect. */
export function isUnreachable({ network }: GatewayFaults): boolean {
  if (network?.kind !== 'connect-refused') return false;
  const { operation, next, share } = network;
  return operation === undefined && next === undefined && (share === undefined || share === 1);
}

const TRICKLE_MS = 30_000;
const TRICKLE_STEPS = 30;
const TRUNCATED_SHARE = 0.6;

const BAD_GATEWAY =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n';

interface Answered {
  operation: OperationName | undefined;
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

export async function sendInTrouble(context: Context, fault: NetworkFault, answered: Answered) {
  await ANSWERS[fault.kind](context, answered, fault);
}
