/**
 * The wallet's entries, the list of transactions, spending by day and an eSIM's timeline over HTTP: their
 * answers, and bad input.
 */
import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../src/domain/clock.ts';
import { WALLET_ENTRY_KINDS } from '../../src/ledger/wallet-entry-rules.ts';
import { startApi } from '../support/http/api.ts';
import { generalError } from '../support/http/error-bodies.ts';
import { forFile } from '../support/world/for-file.ts';

const api = await forFile(startApi());

const QUOTED = { packageCode: 'NG-5GB-30D', packageType: 'BASE' };
const BASE = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };

interface Bought {
  readonly transactionId: string;
  readonly package: { readonly price: number };
  readonly esimDetails: { readonly esimId: string; readonly iccid: string };
}
interface Listed {
  readonly data: { readonly items: readonly Record<string, unknown>[]; readonly nextCursor: string };
}
const ask = async <Answer = Listed>(target: string, key = 'ngn', example?: string): Promise<Answer> => {
  const reply = await api.ask(target, { key, example });
  expect(reply.status).toBe(200);
  return reply.json as Answer;
};

const bought = (await api.ask('/api/esim/buy', { key: 'ngn', body: BASE })).json as Bought;
await api.ask('/api/esim/buy', { key: 'ngn', body: { ...BASE, paymentMethod: 'CARD' } });
await api.ask('/api/wallet/fund', { key: 'ngn', body: { amount: 100, paymentMethod: 'CARD' } });

describe('the wallet', () => {
  it('explains its balance, newest first', async () => {
    const { data } = await ask('/api/wallet/entries', 'ngn', 'a purchase and a funding');
    expect(data).toEqual({
      items: [
        {
          id: 'entry-2',
          at: expect.any(String) as unknown,
          kind: 'HOLD',
          amount: -bought.package.price,
          currency: 'NGN',
          balanceAfter: Number((50_000 - bought.package.price).toFixed(2)),
          holdStatus: 'CHARGED',
          transactionId: bought.transactionId,
          packageName: 'Nigeria 5GB 30Days',
          description: 'Paid for Nigeria 5GB 30Days',
          reference: '',
          metadata: {},
        },
        {
          id: 'entry-1',
          at: expect.any(String) as unknown,
          kind: 'FUNDING',
          amount: 50_000,
          currency: 'NGN',
          balanceAfter: 50_000,
          holdStatus: null,
          transactionId: null,
          packageName: null,
          description: 'Wallet funded by command',
          reference: '',
          metadata: {},
        },
      ],
      nextCursor: '',
      hasMore: false,
    });
    const balance = await ask<{ data: Record<string, unknown> }>('/api/wallet/balance');
    expect(balance.data).toMatchObject({ balance: data.items[0]!['balanceAfter'], onHold: 0 });
  });

  it('can be read in pages, and by kind', async () => {
    const first = await ask('/api/wallet/entries?limit=1');
    expect(first.data).toMatchObject({ items: [{ id: 'entry-2' }], nextCursor: 'entry-2', hasMore: true });
    const second = await ask(`/api/wallet/entries?limit=1&after=${first.data.nextCursor}`);
    expect(second.data).toMatchObject({ items: [{ id: 'entry-1' }], nextCursor: '', hasMore: false });
    expect((await ask('/api/wallet/entries?kind=FUNDING')).data.items).toHaveLength(1);
    expect((await ask('/api/wallet/entries?to=2025-01-01T00:00:00Z')).data.items).toEqual([]);
    expect((await ask('/api/wallet/entries?after=')).data.items).toHaveLength(2);
  });

  it('is sent as CSV if Accept prefers it', async () => {
    const { headers, text } = await api.ask('/api/wallet/entries', {
      key: 'ngn',
      headers: { accept: 'text/csv' },
    });
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toBe('attachment; filename="wallet-entries.csv"');
    const lines = text.split('\r\n');
    expect(lines[0]).toMatch(/^id,at,kind,amount,/);
    expect(lines[2]).toMatch(
      /^entry-1,\d{4}-.*,FUNDING,50000\.00,NGN,50000\.00,,,,Wallet funded by command,,$/,
    );
    const both = await api.ask('/api/wallet/entries', { key: 'ngn', headers: { accept: '*/*' } });
    expect(both.headers['content-type']).toMatch(/^application\/json/);
  });
});

describe('the list of transactions', () => {
  it('has purchases and fundings, and is not read as the eSIM “transactions”', async () => {
    const { data } = await ask('/api/esim/transactions', 'ngn', 'purchases and a funding');
    expect(data).toMatchObject({
      items: [
        { type: 'FUNDING', status: 'PENDING', amount: 100, packageName: null, closedAt: null },
        { type: 'BASE', status: 'PENDING', paymentMethod: 'CARD', iccid: null },
        {
          type: 'BASE',
          status: 'SUCCESS',
          transactionId: bought.transactionId,
          amount: bought.package.price,
          esimId: bought.esimDetails.esimId,
          iccid: bought.esimDetails.iccid,
        },
      ],
      pagination: { currentPage: 1, totalItems: 3, totalPages: 1 },
      totalIsMinimum: false,
      nextCursor: '',
    });
  });

  it.each([
    ['type=FUNDING', 1],
    ['type=BASE&status=PENDING', 1],
    ['paymentMethod=CARD', 2],
    ['status=FAILED', 0],
    ['search=nigeria', 2],
    ['search=', 3],
    ['search=%25', 0],
    ['to=2025-01-01T00:00:00Z', 0],
  ])('can be filtered by %s', async (query, many) => {
    expect((await ask(`/api/esim/transactions?${query}`)).data.items).toHaveLength(many);
  });

  it('finds a purchase by every id of its eSIM', async () => {
    const { esimId, iccid } = bought.esimDetails;
    for (const search of [bought.transactionId, esimId, iccid, iccid.slice(-6)])
      expect((await ask(`/api/esim/transactions?search=${search}`)).data.items).toMatchObject([
        { transactionId: bought.transactionId },
      ]);
  });

  it('continues by page and by cursor', async () => {
    const first = await ask('/api/esim/transactions?limit=2');
    const byPage = await ask('/api/esim/transactions?limit=2&page=2');
    const byCursor = await ask(`/api/esim/transactions?limit=2&after=${first.data.nextCursor}`);
    expect(byPage.data.items).toEqual(byCursor.data.items);
    expect(byPage.data.items).toHaveLength(1);
  });
});

interface SpendingJson {
  readonly from: string;
  readonly total: object;
  readonly days: readonly { readonly day: string; readonly purchases: number }[];
}

describe('spending', () => {
  it('has every day, and adds up to the statistics', async () => {
    const { total, days, ...about } = await ask<SpendingJson>('/api/esim/spending');
    expect(about).toMatchObject({ currency: 'NGN' });
    expect(days).toHaveLength(30);
    const sold = { purchases: 1, failed: 0, spent: bought.package.price, dataBytes: 5_368_709_120 };
    expect(total).toMatchObject({ ...sold, usedBytes: 442_450_944 });
    expect(days.at(-1)).toMatchObject(sold);
    expect(days[0]).toEqual({
      day: about.from,
      purchases: 0,
      failed: 0,
      spent: 0,
      dataBytes: 0,
      usedBytes: 0,
    });
  });

  it('has the destinations of the account and of these days only', async () => {
    const destinations = async (key: string, days = '', example?: string) =>
      (await ask<{ topDestinations: unknown }>(`/api/esim/spending${days}`, key, example)).topDestinations;
    const [from, to] = [1, 0].map((ago) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10));
    expect(await destinations('ngn', `?from=${from}&to=${to}`, 'two days')).toEqual([
      { regionCode: 'NG', regionName: 'Nigeria', purchases: 1 },
    ]);
    expect(await destinations('usd')).toEqual([]);
    expect(await destinations('ngn', '?from=2024-01-01&to=2024-12-31')).toEqual([]);
  });

  it('covers up to 366 days in a leap year', async () => {
    const { days } = await ask<SpendingJson>('/api/esim/spending?from=2024-01-01&to=2024-12-31');
    expect([days.length, days[59]?.day, days.at(-1)?.day]).toEqual([366, '2024-02-29', '2024-12-31']);
  });
});

interface FoundJson {
  readonly data: {
    readonly items: readonly { readonly kind: string; readonly id: string; readonly foundBy: string }[];
  };
}

describe('the search', () => {
  const search = async (text: string, key = 'ngn', example?: string) =>
    (await ask<FoundJson>(`/api/search?text=${encodeURIComponent(text)}`, key, example)).data.items;

  it('finds purchases, eSIMs, fundings and batches of the account by complete ids', async () => {
    const { transactionId, esimDetails } = bought;
    expect(await search(transactionId)).toEqual([
      expect.objectContaining({ kind: 'purchase', id: transactionId, foundBy: 'id', status: 'SUCCESS' }),
    ]);
    for (const [text, foundBy] of [
      [esimDetails.esimId, 'id'],
      [esimDetails.iccid, 'iccid'],
    ] as const)
      expect(await search(text, 'ngn', `an eSIM by its ${foundBy}`)).toEqual([
        expect.objectContaining({ kind: 'esim', id: esimDetails.esimId, foundBy }),
      ]);
    const funded = await api.ask('/api/wallet/fund', {
      key: 'ngn',
      body: { amount: 100, paymentMethod: 'CARD' },
    });
    const funding = { kind: 'funding', id: (funded.json as Bought).transactionId };
    expect(await search(funding.id)).toEqual([expect.objectContaining(funding)]);
    expect(await search(String(funded.headers['x-request-id']))).toEqual([
      expect.objectContaining({ ...funding, foundBy: 'request' }),
    ]);
    const ordered = await api.ask('/api/esim/orders/batch', {
      key: 'ngn',
      body: { rows: [{ reference: 'a', packageCode: 'NG-5GB-30D' }] },
    });
    const { batchId } = (ordered.json as { data: { batchId: string } }).data;
    expect(await search(batchId)).toEqual([
      { kind: 'batch', id: batchId, foundBy: 'id', title: 'Batch of 1', status: '' },
    ]);
    for (const text of [transactionId, esimDetails.esimId, esimDetails.iccid, funding.id, batchId])
      expect(await search(text, 'usd')).toEqual([]);
    expect(await search(transactionId.slice(0, 20))).toEqual([]);
  });

  it('finds them by every other id and reference in an answer, for the account only', async () => {
    const post = async <Answer>(target: string, body: object): Promise<Answer> => {
      const reply = await api.ask(target, { key: 'ngn', body });
      expect(reply.status, reply.text).toBeLessThan(300);
      return reply.json as Answer;
    };
    const funded = await post<Bought & { gatewayReference: string }>('/api/wallet/fund', {
      ...{ amount: 100, paymentMethod: 'CARD' },
    });
    const { id: endpointId } = await post<{ id: string }>('/api/webhooks/endpoints', {
      url: 'https://shop.example/hooks',
    });
    const quote = async () => (await post<{ data: { quoteId: string } }>('/api/esim/quotes', QUOTED)).data;
    const [used, unused] = [await quote(), await quote()];
    const quoted = await post<Bought>('/api/esim/buy', {
      ...{ ...BASE, paymentMethod: 'CARD', quoteId: used.quoteId },
    });
    const { esimId } = bought.esimDetails;
    const esim = await ask<{ orderNo: string; esimTranNo: string }>(`/api/esim/${esimId}`);
    const rows = [{ reference: 'booking-4711', packageCode: 'NG-5GB-30D' }];
    const { data: batch } = await post<{ data: { batchId: string } }>('/api/esim/orders/batch', { rows });
    for (const [text, kind, id, foundBy] of [
      // For a first charge it is the id itself.
      [funded.gatewayReference, 'funding', funded.transactionId, 'id'],
      [endpointId, 'endpoint', endpointId, 'id'],
      [used.quoteId, 'purchase', quoted.transactionId, 'quote'],
      [unused.quoteId, 'quote', unused.quoteId, 'id'],
      [esim.orderNo, 'esim', esimId, 'orderNo'],
      [esim.esimTranNo, 'esim', esimId, 'esimTranNo'],
      ['booking-4711', 'batch', batch.batchId, 'batchReference'],
    ] as const) {
      expect(text).toMatch(/./);
      expect(await search(text), text).toEqual([expect.objectContaining({ kind, id, foundBy })]);
      expect(await search(text, 'usd'), text).toEqual([]);
    }
    await api.ask(`/api/webhooks/endpoints/${endpointId}`, { key: 'ngn', method: 'DELETE' });
    expect(await search(endpointId)).toEqual([]);
  });
});

describe('the timeline of an eSIM', () => {
  it('lists what happened, oldest first', async () => {
    const path = `/api/esim/${bought.esimDetails.esimId}`;
    await ask(`${path}/install`);
    await api.ask(`${path}/install/link`, { key: 'ngn', method: 'DELETE' });
    const { data } = await ask<{ data: { items: { what: string; at: string }[]; isComplete: boolean } }>(
      `${path}/timeline`,
      'ngn',
      'bought, its install link revoked',
    );
    expect(data.items.map((item) => item.what)).toEqual(
      expect.arrayContaining(['wallet-held', 'delivered', 'install-link-revoked']),
    );
    const times = data.items.map((item) => item.at);
    expect(times).toEqual(times.toSorted());
    expect(data.isComplete).toBe(true);
    // A second revocation changes nothing.
    await api.ask(`${path}/install/link`, { key: 'ngn', method: 'DELETE' });
    const again = await ask<{ data: { items: { what: string }[] } }>(`${path}/timeline`);
    expect(again.data.items.filter((item) => item.what === 'install-link-revoked')).toHaveLength(1);
  });
});

describe('another account', () => {
  it('gets nothing of the first account', async () => {
    expect((await ask('/api/wallet/entries', 'usd')).data.items).toHaveLength(1);
    expect((await ask('/api/esim/transactions', 'usd')).data.items).toEqual([]);
    const { transactionId, esimDetails } = bought;
    for (const search of [transactionId, esimDetails.esimId, esimDetails.iccid, 'nigeria'])
      expect((await ask(`/api/esim/transactions?search=${search}`, 'usd')).data.items).toEqual([]);
    const after = await api.ask(`/api/esim/transactions?after=${transactionId}`, { key: 'usd' });
    expect(after.status).toBe(400);
    expect(await ask('/api/esim/spending', 'usd')).toMatchObject({ total: { purchases: 0, spent: 0 } });
    const timeline = await api.ask(`/api/esim/${esimDetails.esimId}/timeline`, { key: 'usd' });
    expect([timeline.status, timeline.text]).toEqual([403, expect.not.stringContaining(transactionId)]);
  });
});

it('what people paste is found: blanks, the F of an ICCID, accents in either form, own references', async () => {
  const { esimId, iccid } = bought.esimDetails;
  const esims = async (query: string) =>
    (await ask<{ esims: unknown[] }>(`/api/esim/my-esims?${query}`)).esims;
  const pasted = [
    ` ${iccid} `,
    `${iccid.slice(0, 4)} ${iccid.slice(4, 12)}\u00A0${iccid.slice(12)}F`,
    'Nige\u0301ria',
    'nigéria  5gb',
  ];
  for (const search of pasted) {
    const query = `search=${encodeURIComponent(search)}`;
    expect(await esims(query), search).toContainEqual(expect.objectContaining({ _id: esimId }));
    expect((await ask(`/api/esim/transactions?${query}`)).data.items, search).toContainEqual(
      expect.objectContaining({ transactionId: bought.transactionId }),
    );
  }
  expect((await ask(`/api/search?text=${encodeURIComponent(pasted[1]!)}`)).data.items).toMatchObject([
    { kind: 'esim', id: esimId },
  ]);
  const reference = 'Anaïs, booking 4711'.normalize('NFD');
  const rows = [{ reference, packageCode: 'NG-5GB-30D' }];
  const { status } = await api.ask('/api/esim/orders/batch', { key: 'ngn', body: { rows } });
  expect(status).toBe(202);
  const text = encodeURIComponent('Anaïs,  booking 4711');
  expect((await ask(`/api/search?text=${text}`)).data.items).toMatchObject([{ foundBy: 'batchReference' }]);
  expect((await ask(`/api/search?text=${text}`, 'usd')).data.items).toEqual([]);
});

const TIME = 'must be a time such as 2026-01-31T09:30:00Z';

describe('bad input', () => {
  it.each<[string, string]>([
    ['wallet/entries?after=entry-x', 'after: must be the nextCursor of a page'],
    ['wallet/entries?after=entry-9999999999999999999', 'after: must be the nextCursor of a page'],
    ['wallet/entries?limit=101', 'limit: must be a whole number from 1 to 100'],
    ['wallet/entries?from=yesterday', `from: ${TIME}`],
    ['wallet/entries?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from: must be before to'],
    ['esim/transactions?from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'from: must be before to'],
    ['wallet/entries?kind=hold', `kind: must be one of ${WALLET_ENTRY_KINDS.join(', ')}`],
    ['esim/transactions?type=REFUND', 'type: must be one of BASE, TOPUP, FUNDING'],
    ['esim/transactions?status=ACTIVE', 'status: must be one of PENDING, PROCESSING, SUCCESS, FAILED'],
    ['esim/transactions?after=x', 'after: must be the nextCursor of a page'],
    [`esim/transactions?after=txn-${'0'.repeat(32)}`, 'after: must be the nextCursor of a page'],
    [`esim/transactions?page=2&after=txn-${'0'.repeat(32)}`, 'after: must not be given together with page'],
    ['esim/transactions?page=1001', 'page: reaches the newest 10000; go on with after and nextCursor'],
    [`esim/transactions?search=${'x'.repeat(101)}`, 'search: must be at most 100 characters long'],
    ['esim/transactions?to=2026-02-30T00:00:00Z', `to: ${TIME}`],
    ['search?text=%20', 'text: must not be empty'],
    [`search?text=${'x'.repeat(129)}`, 'text: must be at most 128 characters long'],
    ['esim/spending?from=2025-01-01&to=2026-01-02', 'from: must be at most 365 days before to'],
    ['esim/spending?from=2026-01-02&to=2026-01-01', 'from: must not be after to'],
    ['esim/spending?to=x', 'to: must be a day such as 2026-01-31, in the years 2000 to 9999'],
  ])('in %s is named', async (target, details) => {
    const { status, json } = await api.ask(`/api/${target}`, { key: 'ngn' });
    expect([status, json]).toEqual([400, generalError(400, 'VALIDATION_ERROR', details)]);
  });
});
