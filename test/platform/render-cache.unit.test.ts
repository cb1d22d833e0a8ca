// Answers that are kept are compressed once, where that is worth it.
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { createRenderCache } from '../../src/platform/http/render-cache.ts';

const CATALOGUE = { environment: 'test', revision: '1' } as const;

it.each([
  ['a long list', 500, true],
  ['a short one', 5, false],
])('%s (%i entries) is kept with its compressed form: %s', async (name, length, isWorthIt) => {
  const cache = createRenderCache();
  const regions = Array.from({ length }, (_, n) => ({ regionCode: `R${n}`, regionName: 'Somewhere' }));
  let rendered = 0;
  const read = () =>
    cache.answer(CATALOGUE, [name], () => {
      rendered += 1;
      return Promise.resolve(regions);
    });
  const first = await read();
  expect(await read()).toBe(first);
  expect(rendered).toBe(1);
  expect(first.headers?.['Vary']).toContain('Accept-Encoding');
  expect(JSON.parse(String(first.body))).toEqual(regions);
  expect(first.gzipped === undefined).toBe(!isWorthIt);
  if (first.gzipped) expect(gunzipSync(first.gzipped)).toEqual(first.body);
});
