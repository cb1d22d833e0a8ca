/**
 * Reads bodies under limits, as JSON or as they came. Own code rather than a package because a body is refused before it is buffered, is
 * never decompressed, must be valid UTF-8, and has to be told apart as too large, not JSON, not an object or too deep.
 */
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../domain/errors.ts';
import { ClientGone } from './errors.ts';
import { parseJson } from './json.ts';
import { MAX_JSON_DEPTH, MAX_JSON_MEMBERS } from './limits.ts';

const JSON_CONTENT_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i;

/** What the client announced, in bytes; undefined for a chunked body. */
export function declaredLength(request: IncomingMessage): number | undefined {
  const text = request.headers['content-length'];
  return text === undefined ? undefined : Number(text);
}

/** Whether the client waits for our word before it sends the body (RFC 9110, 10.1.1). */
export function asksFirst(request: IncomingMessage): boolean {
  return request.httpVersion !== '1.0' && request.headers.expect?.toLowerCase() === '100-continue';
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** Called once the body is wanted and before it is waited for. */
  readonly onWanted: () => void;
}

/**
 * The body's object, or an empty one when there is no body; its numbers are literals (json.ts). Throws PAYLOAD_TOO_LARGE,
 * UNSUPPORTED_MEDIA_TYPE, INVALID_JSON, VALIDATION_ERROR, and ClientGone when the connection ends first.
 */
export async function readJsonBody(
  request: IncomingMessage,
  limits: BodyLimits,
): Promise<Readonly<Record<string, unknown>>> {
  const bytes = await readBody(request, limits, () => requireJson(request));
  return bytes.length === 0 ? {} : parseObject(bytes);
}

/** The body byte for byte, whatever it is labelled as; empty when there is none. Throws PAYLOAD_TOO_LARGE and ClientGone. */
export function readBytesBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return readBody(request, limits, () => undefined);
}

async function readBody(
  request: IncomingMessage,
  { maxBytes, onWanted }: BodyLimits,
  refuse: () => void,
): Promise<Buffer> {
  const length = declaredLength(request);
  const hasBody = request.headers['transfer-encoding'] !== undefined || (length ?? 0) > 0;
  if (!hasBody) return Buffer.alloc(0);
  if (length !== undefined && length > maxBytes) throw tooLarge(maxBytes);
  refuse();
  onWanted();
  return collect(request, maxBytes);
}

function requireJson(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding');
  }
  if (!JSON_CONTENT_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send a JSON body with Content-Type: application/json');
  }
}

function tooLarge(maxBytes: number): DomainError {
  return new DomainError('PAYLOAD_TOO_LARGE', `The request body may have at most ${maxBytes} bytes`);
}

/** Gathers chunks up to the limit; past it nothing more is kept, and what still arrives is thrown away. */
function collect(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const finish = (settle: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      settle();
    };
    const onData = (chunk: Buffer): void => {
      received += chunk.length;
      if (received <= maxBytes) chunks.push(chunk);
      else {
        finish(() => reject(tooLarge(maxBytes)));
        request.resume();
      }
    };
    const onEnd = (): void => finish(() => resolve(Buffer.concat(chunks, received)));
    const onClose = (): void => finish(() => reject(new ClientGone()));
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function parseObject(bytes: Buffer): Readonly<Record<string, unknown>> {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new DomainError('INVALID_JSON', 'The request body is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidBody('must be a JSON object');
  }
  checkSize(value);
  // A second time, now that it is known to be flat enough for a parser that calls back.
  return parseJson(text) as Readonly<Record<string, unknown>>;
}

/** Walks level by level, so that depth costs no stack. */
function checkSize(body: object): void {
  let members = 0;
  let level: object[] = [body];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH) throw invalidBody(`must not nest deeper than ${MAX_JSON_DEPTH} levels`);
    const next: object[] = [];
    for (const container of level) {
      for (const member of Object.values(container) as unknown[]) {
        members += 1;
        if (members > MAX_JSON_MEMBERS) {
          throw invalidBody(`must not have more than ${MAX_JSON_MEMBERS} members in all`);
        }
        if (typeof member === 'object' && member !== null) next.push(member);
      }
    }
    level = next;
  }
}

function invalidBody(what: string): DomainError {
  return new DomainError('VALIDATION_ERROR', 'Invalid request', { details: `body: ${what}` });
}
