/**
 * Decrypts payloads for the Temporal UI and the `temporal` command: POST /codec/decode, in the format of
 * Temporal's codec servers. There is no password, so it is on the admin port, and only where
 * SIMWAY_TEMPORAL_UI_ORIGIN is set. Nothing here encrypts.
 */
import type { Payload, PayloadCodec } from '@temporalio/common';
import type { Context, Middleware } from 'koa';
import getRawBody from 'raw-body';
import { z } from 'zod';
import { toJson } from './json.ts';

export interface CodecEndpoint {
  /** The only website that browsers may call from, such as https://temporal.example. */
  readonly uiOrigin: string;
  /** One per environment, by namespace. */
  readonly codecs: ReadonlyMap<string, Pick<PayloadCodec, 'decode'>>;
}

const PATH = '/codec/decode';
/** Temporal sends no larger message. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

const base64 = z.string().transform((text) => Buffer.from(text, 'base64'));
const requestBody = z.object({
  payloads: z.array(
    z.object({ metadata: z.record(z.string(), base64).default({}), data: base64.optional() }),
  ),
});

interface Reply {
  readonly status: number;
  readonly body?: object;
}

const refusal = (status: number, message: string): Reply => ({ status, body: { message } });

/** Passes on everything but its own path. */
export function codecEndpoint(endpoint: CodecEndpoint): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== PATH || (ctx.method !== 'POST' && ctx.method !== 'OPTIONS')) {
      await next();
      return;
    }
    const { status, body } = await replyTo(ctx, endpoint);
    ctx.set({
      'Access-Control-Allow-Origin': endpoint.uiOrigin,
      Vary: 'Origin',
      'Cache-Control': 'no-store',
    });
    ctx.status = status;
    if (body === undefined) return;
    ctx.set('Content-Type', 'application/json; charset=utf-8');
    ctx.body = toJson(body);
  };
}

async function replyTo(ctx: Context, { uiOrigin, codecs }: CodecEndpoint): Promise<Reply> {
  // Programs send no origin. Any other website is turned away, also one whose name was pointed at this
  // machine.
  const origin = ctx.get('Origin');
  if (origin !== '' && origin !== uiOrigin) return refusal(403, `Only ${uiOrigin} may decode payloads`);
  if (ctx.method === 'OPTIONS') return preflight(ctx);
  // A form of another website cannot have this type.
  if (ctx.is('application/json') === false) return refusal(415, 'Send Content-Type: application/json');
  const codec = codecs.get(ctx.get('X-Namespace'));
  if (!codec) return refusal(400, `X-Namespace must be ${[...codecs.keys()].join(' or ')}`);
  const payloads = await readPayloads(ctx);
  if ('status' in payloads) return payloads;
  try {
    return { status: 200, body: { payloads: (await codec.decode(payloads.given)).map(asJson) } };
  } catch (error) {
    return refusal(422, error instanceof Error ? error.message : 'The payloads cannot be decoded');
  }
}

function preflight(ctx: Context): Reply {
  ctx.set('Access-Control-Allow-Methods', 'POST');
  ctx.set('Access-Control-Allow-Headers', 'Content-Type, X-Namespace');
  return { status: 204 };
}

async function readPayloads({ req }: Context): Promise<{ readonly given: Payload[] } | Reply> {
  try {
    const bytes = await getRawBody(req, { limit: MAX_BODY_BYTES });
    return { given: requestBody.parse(JSON.parse(bytes.toString('utf8'))).payloads };
  } catch (error) {
    req.resume();
    if (error instanceof z.ZodError || error instanceof SyntaxError)
      return refusal(400, 'The body must be {"payloads": […]}, as Temporal writes payloads in JSON');
    return refusal(413, `The body may have at most ${MAX_BODY_BYTES} bytes`);
  }
}

function asJson({ metadata, data }: Payload): object {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  return {
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, bytes]) => [name, text(bytes)])),
    data: text(data ?? new Uint8Array()),
  };
}
