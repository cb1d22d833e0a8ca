/** The vendor's API over HTTP: envelopes, business errors with HTTP 200. Must not log bodies. */
import { setTimeout as sleep } from 'node:timers/promises';
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import { toBuffer } from 'qrcode';
import { z } from 'zod';
import { answer, appOf, BodyTooLargeError, parseObject, readBody, type Stats } from '../kit/server.ts';
import { hmacHex } from '../kit/events.ts';
import type { Operation, Outcome, SupplierContext, Operations } from './context.ts';
import { SupplierError, type ErrorCode, type Params, read, text } from './errors.ts';
import { qrNameOf } from './numbers.ts';
import { activationCodeOf, esimOperations } from './operations/esims.ts';
import { catalogueOperations } from './operations/package-list.ts';
import { LONGEST_TRANSACTION_ID, purchaseOperations } from './operations/purchase.ts';

const API_PREFIX = '/api/v1/open/';
const BODY_LIMIT_BYTES = 1_048_576;
const REQUESTS_PER_SECOND = 8;
/** How many eSIMs have a picture of their QR code. */
const RECENT_ESIMS = 5000;

const SAVE = z.object({ webhook: text(2000) });

const accountOperations = {
  'balance/query': ({ storage }) => ({ obj: { balance: storage.balance() } }),
  /** Sends CHECK_HEALTH first; a bad answer means 200008 and the old URL stays. */
  'webhook/save': async ({ webhooks }, params) => {
    const { webhook: url } = read(SAVE, params);
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      throw new SupplierError('200008', 'webhook must be an http or https URL');
    }
    if (!(await webhooks.checkHealth(url))) {
      throw new SupplierError('200008', 'webhook did not answer the health check with 2xx');
    }
    webhooks.saveUrl(url);
    return { obj: {} };
  },
  'webhook/query': ({ webhooks }) => ({ obj: { webhook: webhooks.url() } }),
} satisfies Operations;

const OPERATIONS = new Map<string, Operation>(
  Object.entries({ ...catalogueOperations, ...accountOperations, ...purchaseOperations, ...esimOperations }),
);
const PURCHASES: readonly string[] = ['esim/order', 'esim/topup'];

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

function success({ faults }: SupplierContext, outcome: Outcome): Answer {
  const obj = outcome.objJson ?? JSON.stringify(outcome.obj);
  const code = faults.current.nullErrorCode ? 'null' : '"0"';
  const json = `{"success":true,"errorCode":${code},"errorMsg":null,"obj":${obj}}`;
  return { status: 200, code: '0', json, outcome };
}

/** An empty body, or an empty string in JSON, counts as {}; anything but an object is 000104. */
function parseBody(body: Buffer): Params {
  const params = body.toString('utf8') === '""' ? {} : parseObject(body);
  if (params === undefined) throw new SupplierError('000104');
  return params;
}

/** A purchase that was refused still counts as a request with its transactionId. */
function countRefusal({ storage }: SupplierContext, name: string, { transactionId }: Params): void {
  if (!PURCHASES.includes(name) || typeof transactionId !== 'string') return;
  if (transactionId === '' || transactionId.length > LONGEST_TRANSACTION_ID) return;
  const order = storage.orders.find({ transactionId });
  const topUp = storage.topUps.get(transactionId);
  if (order !== undefined) storage.orders.put({ ...order, requests: order.requests + 1 });
  if (topUp !== undefined) storage.topUps.put({ ...topUp, requests: topUp.requests + 1 });
  if (order === undefined && topUp === undefined) storage.addTry(transactionId);
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

/** For `--public-host self`: the picture behind qrCodeUrl; undefined where the path is no eSIM's. */
async function qrPicture(context: SupplierContext, path: string): Promise<Buffer | undefined> {
  const name = /^\/qr\/([0-9a-f]{32})(?:\.png)?$/.exec(path)?.[1];
  if (name === undefined) return undefined;
  const recent = context.storage.esims.list({}, { isNewestFirst: true, limit: RECENT_ESIMS });
  const esim = recent.find(({ esimTranNo }) => qrNameOf(esimTranNo) === name);
  if (esim === undefined) return undefined;
  return toBuffer(activationCodeOf(context, esim.esimTranNo), { type: 'png', margin: 2, scale: 6 });
}

export function createApiApp(options: {
  context: SupplierContext;
  auth: AuthOptions;
  stats: Stats;
  onBug: (error: unknown) => void;
}) {
  const { context, auth, stats } = options;
  const { faults, now } = context;
  const isWithinLimit = createRateLimit();

  const perform = async (name: string, operation: Operation, params: Params): Promise<Answer> => {
    try {
      const { latencyMs, lateCommitMs } = faults.current;
      if (latencyMs > 0) await sleep(latencyMs);
      if (faults.hits('wrongSignature')) throw new SupplierError('101003');
      if (faults.hits('busy')) throw new SupplierError('900001');
      if (PURCHASES.includes(name) && faults.hits('commitLate')) await sleep(lateCommitMs);
      return success(context, await operation(context, params));
    } catch (error) {
      if (error instanceof SupplierError) countRefusal(context, name, params);
      throw error;
    }
  };

  const perhapsPerform = async ({ req }: Context, name: string): Promise<Answer> => {
    const body = await readBody(req, BODY_LIMIT_BYTES);
    const operation = OPERATIONS.get(name);
    if (operation === undefined) return refusal('000103', 'there is no such operation', 404);
    if (req.method !== 'POST') throw new SupplierError('000103');
    authenticate(auth, req.headers, body, now());
    if (faults.current.rateLimit && !isWithinLimit(now())) {
      return refusal('900001', 'request rate limit exceeded', 429);
    }
    return perform(name, operation, parseBody(body));
  };

  const answerOf = async (request: Context, name: string): Promise<Answer> => {
    try {
      return await perhapsPerform(request, name);
    } catch (error) {
      if (error instanceof SupplierError) {
        return refusal(error.code, error.message, error.code === '000001' ? 500 : 200);
      }
      if (error instanceof BodyTooLargeError) return refusal('000107', error.message, 413);
      options.onBug(error);
      return refusal('000001', 'server error', 500);
    }
  };

  return appOf(async (request) => {
    const { path } = request;
    const isApi = path.startsWith(API_PREFIX);
    const picture = request.method === 'GET' && !isApi ? await qrPicture(context, path) : undefined;
    if (picture !== undefined) {
      request.type = 'image/png';
      request.body = picture;
      return;
    }
    await stats.during(async () => {
      const name = isApi ? path.slice(API_PREFIX.length) : '';
      const { status, json, code, outcome } = await answerOf(request, name);
      stats.count(OPERATIONS.has(name) ? name : 'unknown', code);
      const waitMs = (outcome?.answersAtMs ?? 0) - now();
      if (waitMs > 0) await sleep(waitMs);
      if (outcome?.loseAnswer === true) stats.loseAnswer(request);
      else answer(request, status, json);
    });
  });
}

export interface AuthOptions {
  accessCode: string;
  /** Key of signed requests; null or absent: the access code. */
  secretKey?: string | null;
  /** With a secret set, take the access code as key too. */
  acceptEitherKey?: boolean;
  requireSignature?: boolean;
}

const TIMESTAMP_SKEW_MS = 300_000;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The vendor's worked example has seconds. */
function timestampMs(timestamp: string): number {
  if (!/^(\d{10}|\d{13})$/.test(timestamp)) throw new SupplierError('000102', 'RT-Timestamp is not a time');
  return timestamp.length === 10 ? Number(timestamp) * 1000 : Number(timestamp);
}

/**
 * Checks the RT-* headers of a call. Throws 000101 (header missing), 000102 (format), 101001 (timestamp off
 * by more than five minutes) or 101003 (wrong access code or signature). The vendor's recipe of a signature:
 * hex(HMAC-SHA256(key, timestamp + requestId + accessCode + rawBody)), lower case.
 */
export function authenticate(
  options: AuthOptions,
  headers: IncomingHttpHeaders,
  body: Buffer,
  nowMs: number,
): void {
  const header = (name: string) => [headers[name.toLowerCase()]].flat()[0] || undefined;
  const accessCode = header('RT-AccessCode');
  if (accessCode === undefined) throw new SupplierError('000101', 'RT-AccessCode is missing');
  if (!/^[\w-]{1,128}$/.test(accessCode))
    throw new SupplierError('000102', 'RT-AccessCode has a wrong format');
  if (!sameText(accessCode, options.accessCode))
    throw new SupplierError('101003', 'access code is not known');
  const names = ['RT-Timestamp', 'RT-RequestID', 'RT-Signature'];
  const given = names.map(header);
  if (options.requireSignature !== true && given.every((value) => value === undefined)) return;
  const [timestamp = '', requestId = '', signature = ''] = given.map((value, index) => {
    if (value === undefined) throw new SupplierError('000101', `${names[index]} is missing`);
    return value;
  });
  const sentAtMs = timestampMs(timestamp);
  if (!UUID.test(requestId)) throw new SupplierError('000102', 'RT-RequestID is not a UUID v4');
  if (Math.abs(nowMs - sentAtMs) > TIMESTAMP_SKEW_MS) throw new SupplierError('101001');
  const keys = [options.secretKey ?? accessCode];
  if (options.acceptEitherKey === true) keys.push(accessCode);
  const signatures = keys.map((key) => hmacHex('sha256', key, timestamp, requestId, accessCode, body));
  if (!signatures.some((expected) => sameText(expected, signature.toLowerCase()))) {
    throw new SupplierError('101003');
  }
}
