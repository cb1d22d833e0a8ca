/**
 * Finished bodies of catalogue answers, so that a popular list is priced and rendered once per revision and not once per request
 * (promise L3). Keys must name everything that the bytes depend on; refusals are never kept.
 */
import { LRUCache } from 'lru-cache';
import type { WorldUseCases } from '../composition/use-cases.ts';
import { toJson } from './json.ts';
import { RENDER_CACHE_BYTES, RENDER_CACHE_TTL_MS } from './limits.ts';

export interface RenderCache {
  /** The body for these words in this world's present catalogue; `render` makes the value to be serialised. */
  body(
    world: WorldUseCases,
    words: readonly (string | number | undefined)[],
    render: () => Promise<unknown>,
  ): Promise<Buffer>;
}

export function createRenderCache(): RenderCache {
  const bodies = new LRUCache<string, Buffer>({
    maxSize: RENDER_CACHE_BYTES,
    sizeCalculation: (body, key) => body.length + key.length,
    ttl: RENDER_CACHE_TTL_MS,
  });
  return {
    async body(world, words, render) {
      // Callers' words are free of control characters (fields.ts), so a newline separates without doubt.
      const key = `${world.environment}\n${world.catalogueRevision()}\n${words.join('\n')}`;
      const known = bodies.get(key);
      if (known) return known;
      const body = Buffer.from(toJson(await render()));
      bodies.set(key, body);
      return body;
    },
  };
}
