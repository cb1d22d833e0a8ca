/**
 * Sends answers, those of one turn of the event loop one right after the other. With other work between them each write wakes whoever
 * reads on the same machine (a proxy, a bench) anew, which took more of a busy API's time than anything else (docs/decisions/0027).
 */
import type { Answer } from './errors.ts';
import type { RequestKoa } from './request.ts';

const NO_CONTENT = 204;

/**
 * Makes what sends a request's answer at the end of this turn. `sent` is told of each once all are on their way, so that nobody waits for
 * it; what cannot be sent becomes Koa's error of its request.
 */
export function createResponseSender(
  sent: (ctx: RequestKoa, answer: Answer) => void,
): (ctx: RequestKoa, answer: Answer) => void {
  let waiting: [ctx: RequestKoa, answer: Answer][] = [];
  const sendAll = (): void => {
    const ready = waiting;
    waiting = [];
    for (const [ctx, answer] of ready) {
      try {
        write(ctx, answer);
      } catch (error) {
        ctx.onerror(error as Error);
      }
    }
    for (const [ctx, answer] of ready) sent(ctx, answer);
  };
  return (ctx, answer) => {
    // Koa's own ending would set every header on its own and look at the body again: a quarter of a cached read's speed (promise L3).
    ctx.respond = false;
    if (waiting.push([ctx, answer]) === 1) setImmediate(sendAll);
  };
}

function write(ctx: RequestKoa, answer: Answer): void {
  const { headers } = ctx.state;
  if (answer.headers) Object.assign(headers, answer.headers);
  if (answer.status === NO_CONTENT) Reflect.deleteProperty(headers, 'Content-Type');
  else headers['Content-Length'] = String(bytesOf(answer.body));
  ctx.res.writeHead(answer.status, headers);
  // Node leaves the body out where there must be none (HEAD, 204).
  ctx.res.end(answer.body);
}

function bytesOf(body: string | Buffer): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}
