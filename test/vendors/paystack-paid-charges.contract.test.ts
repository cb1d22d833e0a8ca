/** What the gateway adapter makes of the vendor's list of paid charges: a page for a question, and an error for what is not certainly one. */
import { afterAll, describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../src/payments/port.ts';
import { startAnsweringGateway, transaction, yes } from '../support/answering-gateway.ts';
import { json } from '../support/answering-server.ts';

const server = await startAnsweringGateway();
afterAll(() => server.close());

const FROM = new Date('2026-09-27T12:00:00.000Z');
const TO = new Date('2026-09-27T12:10:00.000Z');
const page = (page = 1) => server.gateway().paidCharges(FROM, TO, page);
const paid = (reference: string, more = {}) => transaction({ reference, status: 'success', ...more });
const withMeta = (rows: object[], meta: object) => json({ ...yes(rows), meta });

describe('a page of paid charges', () => {
  it('is asked for with one question: what is paid, of those that were opened in that time, a hundred rows', async () => {
    const calls = server.calls.length;
    server.answerWith(withMeta([paid('txn-1'), paid('txn-2')], { total: 102, page: 2, pageCount: 2 }));
    expect(await page(2)).toEqual({ references: ['txn-1', 'txn-2'], count: 2, total: 102, isLast: true });
    expect(server.calls.slice(calls).map((call) => call.path)).toEqual([
      '/transaction?status=success&from=2026-09-27T12%3A00%3A00.000Z&to=2026-09-27T12%3A09%3A59.999Z&perPage=100&page=2',
    ]);
  });

  it('is not the last one while the vendor counts more pages, or gives a full one without counting', async () => {
    server.answerWith(withMeta([paid('txn-1')], { total: 101, page: 1, pageCount: 2 }));
    expect(await page()).toMatchObject({ total: 101, isLast: false });
    server.answerWith(json(yes(Array.from({ length: 50 }, (_, nth) => paid(`txn-${nth}`)))));
    expect(await page()).toMatchObject({ count: 50, total: null, isLast: false });
    server.answerWith(json(yes([paid('txn-1')])));
    expect(await page()).toMatchObject({ count: 1, total: null, isLast: true });
  });

  it('leaves out what is of the other mode, and counts it', async () => {
    server.answerWith(
      withMeta([paid('txn-1', { domain: 'live' }), paid('txn-2')], { total: 2, pageCount: 1 }),
    );
    expect(await page()).toMatchObject({ references: ['txn-2'], count: 2, total: 2 });
  });

  it.each([
    ['no list', json(yes({}))],
    ['a row that cannot be read', json(yes([{ id: 1 }]))],
    ['an error', json('oh no', 500)],
    ['a refusal', json({ status: false, message: 'Invalid key' }, 401)],
  ])('is an error where the vendor gives %s', async (_, answer) => {
    server.answerWith(answer);
    await expect(page()).rejects.toBeInstanceOf(GatewayUnavailable);
  });
});
