// The revision that rendered price lists are stored under: it changes when prices do, and is cheap to ask
// for.
import { expect, test } from 'vitest';
import type { Catalogue } from '../../src/catalogue/memory.ts';
import { NO_RULES } from '../../src/catalogue/price-rules.ts';
import { type Rate } from '../../src/catalogue/pricing.ts';
import { createPriceRevision } from '../../src/catalogue/prices.ts';

const MAX_AGE_MS = 1_000;

const rate = (currency: string, observedAtMs: number): Rate => {
  return { id: currency, currency, micros: 1_000_000n, source: 'config', observedAtMs };
};

/** Counts how often all rates were read. */
function catalogueOf(revision: string, ...rates: Rate[]): { catalogue: Catalogue; reads: () => number } {
  let reads = 0;
  class Watched extends Map<string, Rate> {
    override values() {
      reads += 1;
      return super.values();
    }
  }
  const catalogue: Catalogue = {
    revision,
    regions: [],
    regionCodes: new Set(),
    byRegion: new Map(),
    byCode: new Map(),
    settings: { id: 'x', userMarkupBps: 0, merchantMarkupBps: 0, ngnIncrementBps: 0 },
    rates: new Watched(rates.map((one) => [one.currency, one])),
    availability: { shortages: new Map(), tightBalances: new Map() },
    rules: NO_RULES,
    nowMs: () => 0,
  };
  return { catalogue, reads: () => reads };
}

function revisionsAt(nowMs: number) {
  const clock = { nowMs, now: () => new Date(clock.nowMs) };
  const revisionOf = createPriceRevision({
    clock,
    settings: { rateMaxAgeMs: MAX_AGE_MS, topUpsFreshMs: 0, priceLimits: { supplierChangeBps: 0 } },
  });
  return { clock, revisionOf };
}

test('changes at the moment in which a rate grows too old, and back where the clock is set back', () => {
  const { clock, revisionOf } = revisionsAt(1_500);
  const { catalogue } = catalogueOf('1.1.1', rate('NGN', 1_000), rate('KES', 700));
  const at = (nowMs: number): string => {
    clock.nowMs = nowMs;
    return revisionOf(catalogue);
  };
  expect([1_500, 1_700].map(at)).toEqual(['1.1.1', '1.1.1']);
  expect([1_701, 2_000].map(at)).toEqual(['1.1.1:KES', '1.1.1:KES']);
  expect([2_001, 5_000].map(at)).toEqual(['1.1.1:NGN:KES', '1.1.1:NGN:KES']);
  expect([2_000, 1_700, 2_001].map(at)).toEqual(['1.1.1:KES', '1.1.1', '1.1.1:NGN:KES']);
});

test('changes with the catalogue', () => {
  const { revisionOf } = revisionsAt(1_500);
  expect(revisionOf(catalogueOf('1.1.1', rate('NGN', 1_000)).catalogue)).toBe('1.1.1');
  expect(revisionOf(catalogueOf('1.1.2', rate('NGN', 1_000)).catalogue)).toBe('1.1.2');
  expect(revisionOf(catalogueOf('1.1.3', rate('NGN', 100)).catalogue)).toBe('1.1.3:NGN');
});

test('reads the rates once, and again only after one has grown too old', () => {
  const { clock, revisionOf } = revisionsAt(1_500);
  const { catalogue, reads } = catalogueOf('1.1.1', rate('NGN', 1_000), rate('KES', 700));
  for (let ask = 0; ask < 100; ask += 1) revisionOf(catalogue);
  expect(reads()).toBe(1);
  clock.nowMs = 1_701;
  for (let ask = 0; ask < 100; ask += 1) revisionOf(catalogue);
  expect(reads()).toBe(2);
});
