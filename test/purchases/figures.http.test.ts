/** Statistics and top destinations over HTTP: their answers, and bad input in the general shape. */
import { describe, expect, it } from 'vitest';
import { startApi } from '../support/http/api.ts';
import { generalError } from '../support/http/error-bodies.ts';
import { forFile } from '../support/world/for-file.ts';

const api = await forFile(startApi());

const BASE = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
interface MyEsims {
  readonly esims: readonly { readonly usageAsOf: string }[];
}
const DAY_PATTERN = /^\d{4}-\d\d-\d\d$/;

/** Of all accounts, including shops of other files: they share the database. */
const soldToNigeria = async (limit: number): Promise<number> => {
  const { json } = await api.ask(`/api/esim/top-destinations?limit=${limit}`, { key: 'usd' });
  const found = json as { regionCode: string; purchases: number }[];
  return found.find(({ regionCode }) => regionCode === 'NG')?.purchases ?? 0;
};

it('a purchase counts in both at once, and in those of no other account', async () => {
  const sold = await soldToNigeria(50);
  await api.ask('/api/esim/buy', { key: 'ngn', body: BASE });
  await api.ask('/api/esim/buy', { key: 'ngn', body: { ...BASE, paymentMethod: 'CARD' } });
  const mine = await api.ask('/api/esim/statistics', { key: 'ngn', example: 'a month' });
  expect([mine.status, mine.json]).toMatchObject([
    200,
    {
      to: expect.stringMatching(DAY_PATTERN) as unknown,
      purchases: {
        total: 2,
        byStatus: { SUCCESS: 1, PENDING: 1 },
        byPaymentMethod: { CARD: { PENDING: 1 } },
      },
      spend: [{ currency: 'NGN', amount: 19178.13 }],
      esims: { total: 2, byStatus: { CREATED: 1, PENDING: 1 } },
      boughtBytes: 5_368_709_120,
      usedBytes: 442_450_944,
    },
  ]);
  // Both say how old the usage may be: that of the eSIM, the only one that can still use data.
  const { usageAsOf } = mine.json as { usageAsOf: string };
  // The newest waits for its payment.
  const { json } = await api.ask('/api/esim/my-esims', { key: 'ngn' });
  expect(usageAsOf).toBe((json as MyEsims).esims[1]?.usageAsOf);
  expect((await api.ask('/api/esim/spending', { key: 'ngn' })).json).toMatchObject({ usageAsOf });
  const others = await api.ask('/api/esim/statistics', { key: 'usd' });
  expect(others.json).toMatchObject({
    purchases: { total: 0 },
    spend: [{ currency: 'USD', amount: 0 }],
    esims: { total: 0 },
    usageAsOf: '',
  });
  const before = await api.ask('/api/esim/statistics?to=2025-12-31', { key: 'ngn' });
  expect(before.json).toMatchObject({ from: '2025-12-02', to: '2025-12-31', purchases: { total: 0 } });
  const path = '/api/esim/top-destinations?limit=1';
  const destinations = await api.ask(path, { key: 'usd', example: 'by sales' });
  expect(destinations.json).toMatchObject([{ regionType: 'LC' }]);
  expect(await soldToNigeria(49)).toBe(sold + 1);
  // An answer is cached for a minute.
  expect(await soldToNigeria(50)).toBe(sold);
});

const DAY = 'must be a day such as 2026-01-31, in the years 2000 to 9999';
const LIMIT = 'limit: must be a whole number from 1 to 50';

describe('bad input', () => {
  it.each<[string, string]>([
    ['statistics?from=x', `from: ${DAY}`],
    ['statistics?from=2026-02-30', `from: ${DAY}`],
    ['statistics?from=2026-01-01T00:00:00Z', `from: ${DAY}`],
    ['statistics?to=1999-12-31', `to: ${DAY}`],
    ['statistics?from=&to=%00', `from: ${DAY}; to: ${DAY}`],
    ['statistics?from=2026-01-02&to=2026-01-01', 'from: must not be after to'],
    ['statistics?from=2025-01-01&to=2026-01-03', 'from: must be at most 366 days before to'],
    ['statistics?from=2000-01-01', 'from: must be at most 366 days before to'],
    ['statistics?from=2026-01-01&from=2026-01-01', 'from: must be given once'],
    ...['0', '51', '-1', '1.5', 'ten', ''].map((value): [string, string] => [
      `top-destinations?limit=${value}`,
      LIMIT,
    ]),
  ])('in %s is named', async (target, details) => {
    const reply = await api.ask(`/api/esim/${target}`, { key: 'ngn' });
    expect([reply.status, reply.json]).toEqual([400, generalError(400, 'VALIDATION_ERROR', details)]);
  });

  it('allows a year with a leap day', async () => {
    const reply = await api.ask('/api/esim/statistics?from=2024-02-29&to=2025-03-01', { key: 'ngn' });
    expect(reply.status).toBe(200);
  });
});
