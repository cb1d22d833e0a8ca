/**
 * Finished answers that are the same for many callers: a popular list is priced and rendered once per
 * revision or minute, not once per request (promise L3). Keys must name everything that the bytes depend on.
 * Refusals are never kept. The ETag is a hash of the bytes, so it is the same in every process, and stays the
 * same where a new revision changes nothing in this answer.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Environment } from '../../domain/account.ts';
import type { Answer } from './errors.ts';
import { toJson } from './json.ts';
import { RENDER_CACHE_BYTES, RENDER_CACHE_TTL_MS } from './limits.ts';

export interface RenderCache {
  /**
   * The 200 for these words in this revision of the environment's catalogue; `render` returns the value to
   * serialise.
   */
  answer(
    catalogue: { readonly environment: Environment; readonly revision: string },
    words: readonly (string | number | undefined)[],
    render: () => Promise<unknown>,
  ): Answer | Promise<Answer>;
}

/**
 * Prices depend on the account, so only the caller may cache an answer, and must revalidate it before each
 * use.
 */
const KEEPING = { 'Cache-Control': 'private, no-cache', Vary: 'X-API-Key, Accept-Encoding' };

type Kept = Answer & { readonly body: Buffer };

/** A list of regions takes a sixth. What fits into some packets is not worth it. */
const WORTH_BYTES = 4_096;
const gzipBody = promisify<Buffer, Buffer>(gzip);

export function createRenderCache(): RenderCache {
  const answers = new LRUCache<string, Kept>({
    maxSize: RENDER_CACHE_BYTES,
    sizeCalculation: ({ body, gzipped }, key) => body.length + (gzipped?.length ?? 0) + key.length,
    ttl: RENDER_CACHE_TTL_MS,
  });
  const renderNew = async (key: string, render: () => Promise<unknown>): Promise<Answer> => {
    const body = Buffer.from(toJson(await render()));
    const ETag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    const answer: Kept = {
      ...{ status: 200, body, headers: { ...KEEPING, ETag } },
      ...(body.length >= WORTH_BYTES && { gzipped: await gzipBody(body) }),
    };
    answers.set(key, answer);
    return answer;
  };
  return {
    answer({ environment, revision }, words, render) {
      // Callers' words are free of control characters (fields.ts), so a newline separates them safely.
      const key = `${environment}\n${revision}\n${words.join('\n')}`;
      return answers.get(key) ?? renderNew(key, render);
    },
  };
}
