// What callers say for themselves: it comes back with what was opened, and nothing wrong moves money.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceReturnHosts } from '../../src/accounts/store/return-hosts.ts';
import { forgetBuyerEmails } from '../../src/payments/store/buyer-details.ts';
import { startApi, type Ask, type Reply, type TestApi } from '../support/http/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const BUY = { packageCode: 'NG-5GB-30D', packageType: 'BASE', paymentMethod: 'WALLET' };
const OWN = { reference: 'order-1001', metadata: { z: 'last', a: 'first', '1': '' } };

const buy = (body: object, more: Ask = {}) =>
  api.ask('/api/esim/buy', { key: 'usd', ...more, body: { ...BUY, ...body } });
const fund = (body: object) =>
  api.ask('/api/wallet/fund', { key: 'usd', body: { amount: 50, paymentMethod: 'CARD', ...body } });
const quote = (body: object) =>
  api.ask('/api/esim/quotes', {
    key: 'usd',
    body: { packageCode: 'NG-5GB-30D', packageType: 'BASE', ...body },
  });
const read = (path: string) => api.ask(path, { key: 'usd' });

const idOf = (reply: Reply): string => (reply.json as { transactionId: string }).transactionId;
const problemsOf = ({ json }: Reply): string[] =>
  (json as { error: { fields: { field: string }[] } }).error.fields.map(({ field }) => field);

async function nothingOpened(work: () => Promise<void>): Promise<void> {
  const mine = (table: 'fundings' | 'payments') =>
    api.shop.owner.selectFrom(table).select('account_id').where('account_id', '=', api.shop.accountId('usd'));
  const rows = async () => ({
    balance: await api.shop.balance('usd'),
    purchases: await api.shop.purchases('usd'),
    fundings: (await mine('fundings').execute()).length,
    payments: (await mine('payments').execute()).length,
  });
  const before = await rows();
  await work();
  expect(await rows()).toEqual(before);
}

const allow = (...hosts: string[]) =>
  replaceReturnHosts(api.shop.db, { accountId: api.shop.accountId('usd'), changedBy: 'a test' }, hosts);

const eventsOf = async (id: string): Promise<string[]> =>
  (
    await api.shop.owner.selectFrom('events').select('body').where('subject', '=', api.idOf(id)).execute()
  ).map(({ body }) => body);

describe('reference and metadata', () => {
  it('come back with a purchase, its webhook, the list, the filter and the searches', async () => {
    const bought = await buy(OWN);
    expect(bought).toMatchObject({ status: 201, json: OWN });
    const id = idOf(bought);
    await buy({});
    expect((await read(`/api/esim/transactions/${id}`)).json).toMatchObject(OWN);
    for (const path of ['?reference=order-1001', '?search=order-1001'])
      expect((await read(`/api/esim/transactions${path}`)).json).toMatchObject({
        data: { items: [{ transactionId: id, ...OWN }], pagination: { totalItems: 1 } },
      });
    expect((await read('/api/esim/transactions?reference=order-100')).json).toMatchObject({
      data: { items: [] },
    });
    expect((await read('/api/search?text=order-1001')).json).toMatchObject({
      data: { items: [{ kind: 'purchase', id, foundBy: 'reference' }] },
    });
    expect((await read('/api/esim/my-esims?search=order-1001')).json).toMatchObject({ total: 1 });
    const [event] = await eventsOf(id);
    expect(event).toContain('"reference":"order-1001","metadata":{"1":"","z":"last","a":"first"}}');
  });

  it('are empty where none were given', async () => {
    expect((await buy({})).json).toMatchObject({ reference: '', metadata: {} });
    expect((await read('/api/esim/transactions')).json).toMatchObject({
      data: { items: [{ reference: '', metadata: {} }] },
    });
  });

  it('come back with a funding, and are found', async () => {
    const funded = await fund(OWN);
    expect(funded).toMatchObject({ status: 201, json: OWN });
    expect((await read('/api/esim/transactions?reference=order-1001')).json).toMatchObject({
      data: { items: [{ transactionId: idOf(funded), type: 'FUNDING', ...OWN }] },
    });
    expect((await read('/api/search?text=order-1001')).json).toMatchObject({
      data: { items: [{ kind: 'funding', foundBy: 'reference' }] },
    });
  });

  it('of a quote go to its purchase, but for what the purchase says itself', async () => {
    const quoted = await quote(OWN);
    expect(quoted.json).toMatchObject({ data: OWN });
    const { quoteId } = (quoted.json as { data: { quoteId: string } }).data;
    const bought = await buy({ quoteId, metadata: { own: 'yes' } });
    expect(bought.json).toMatchObject({ reference: OWN.reference });
    expect((bought.json as { metadata: object }).metadata).toEqual({ own: 'yes' });
  });

  it('of another account are not found', async () => {
    await buy(OWN);
    const theirs = await api.ask('/api/search?text=order-1001', { key: 'ngn' });
    expect(theirs.json).toMatchObject({ data: { items: [] } });
  });

  it.each([
    ['an empty reference', { reference: '' }, ['reference']],
    ['a reference that is too long', { reference: 'x'.repeat(101) }, ['reference']],
    ['a hidden character', { reference: 'order\u200b1' }, ['reference']],
    ['uniqueness of nothing', { uniqueReference: true }, ['reference']],
    [
      '21 keys',
      { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, ''])) },
      ['metadata'],
    ],
    [
      'wrong keys and values',
      { metadata: { 'a b': '', ok: '1', n: 1, deep: {}, long: 'x'.repeat(501) } },
      ['metadata.a?b', 'metadata.n', 'metadata.deep', 'metadata.long'],
    ],
    ['a key that is too long', { metadata: { ['k'.repeat(41)]: '' } }, [`metadata.${'k'.repeat(40)}`]],
    ['a list', { metadata: ['a'] }, ['metadata']],
    ['no address', { customerEmail: 'nobody' }, ['customerEmail']],
    ['a script', { successUrl: 'javascript:alert(1)' }, ['successUrl']],
    ['a user in an address', { cancelUrl: 'https://shop.example@evil.example/' }, ['cancelUrl']],
  ])('%s is refused by name, and nothing is opened', async (_name, wrong, fields) => {
    await nothingOpened(async () => {
      for (const reply of [await buy(wrong), await fund(wrong), await quote(wrong)]) {
        expect(reply.status).toBe(400);
        expect(problemsOf(reply)).toEqual(fields);
      }
    });
  });

  it('take 20 keys of 40 characters with 500 each', async () => {
    const keys = Array.from({ length: 20 }, (_, i) => String(i).padStart(40, 'k'));
    const metadata = Object.fromEntries(keys.map((key) => [key, 'é'.repeat(500)]));
    expect((await buy({ metadata })).json).toMatchObject({ metadata });
  });

  it('of a megabyte are refused, and nothing is opened', async () => {
    await nothingOpened(async () => {
      const reply = await buy({ metadata: { a: 'x'.repeat(1_048_576) } });
      expect(reply).toMatchObject({ status: 413, json: { error: { code: 'PAYLOAD_TOO_LARGE' } } });
    });
  });
});

describe('a reference that is to be unique', () => {
  const UNIQUE = { reference: 'order-7', uniqueReference: true };
  const REFUSED = { status: 400, json: { error: { code: 'REFERENCE_ALREADY_USED' } } };

  it('is bought with once: of two at once one is refused, and the wallet moves once', async () => {
    const before = await api.shop.balance('usd');
    const replies = await Promise.all(Array.from({ length: 6 }, () => buy(UNIQUE)));
    const [won] = replies.filter(({ status }) => status === 201);
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    const lost = replies.filter(({ status }) => status !== 201);
    for (const reply of lost) expect(reply).toMatchObject(REFUSED);
    expect(lost[0]?.text).toContain(`used by ${won ? idOf(won) : ''}`);
    expect(before - (await api.shop.balance('usd'))).toBe(12_50n);
    expect(await api.shop.purchases('usd')).toBe(1);
  });

  it('is one for purchases and fundings, by wallet and by card', async () => {
    expect((await fund(UNIQUE)).status).toBe(201);
    await nothingOpened(async () => {
      expect(await buy(UNIQUE)).toMatchObject(REFUSED);
      expect(await buy({ ...UNIQUE, paymentMethod: 'CARD' })).toMatchObject(REFUSED);
      expect(await fund(UNIQUE)).toMatchObject({ status: 400 });
    });
    // Who does not ask for it gets it again.
    expect((await buy({ reference: 'order-7' })).status).toBe(201);
  });

  it('of two at once is opened once at the gateway too', async () => {
    const byCard = { ...UNIQUE, paymentMethod: 'CARD' };
    const replies = await Promise.all([buy(byCard), fund(UNIQUE), buy(byCard), fund(UNIQUE)]);
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  it('is the same purchase for the same Idempotency-Key', async () => {
    const tagged = { headers: { 'idempotency-key': 'k-1' } };
    const first = await buy(UNIQUE, tagged);
    expect((await buy(UNIQUE, tagged)).text).toBe(first.text);
    expect((await buy({ ...UNIQUE, reference: 'other' }, tagged)).status).toBe(422);
  });

  it('is free again once its purchase has failed', async () => {
    api.shop.vendors.supplier = 'refuses';
    expect((await buy(UNIQUE)).status).toBe(400);
    api.shop.vendors.supplier = 'delivers';
    expect((await buy(UNIQUE)).status).toBe(201);
  });

  it('is of one account alone', async () => {
    expect((await buy(UNIQUE)).status).toBe(201);
    expect((await buy(UNIQUE, { key: 'ngn' })).status).toBe(201);
  });
});

describe('a return address', () => {
  const URLS = {
    successUrl: 'https://shop.example/ok?id={transactionId}',
    cancelUrl: 'https://shop.example/no',
  };

  it.each([
    ['another host', 'https://evil.example/'],
    ['a host that only begins alike', 'https://shop.example.evil.example/'],
    ['another port', 'https://shop.example:8443/'],
    ['plain http', 'http://shop.example/'],
    ['a host made of the id', 'https://{transactionId}.shop.example/'],
  ])('with %s is refused, and nothing is opened', async (_name, successUrl) => {
    await allow('shop.example');
    await nothingOpened(async () => {
      for (const reply of [
        await buy({ successUrl, paymentMethod: 'CARD' }),
        await buy({ successUrl }),
        await fund({ successUrl }),
        await quote({ successUrl }),
      ]) {
        expect(reply).toMatchObject({ status: 400, json: { error: { code: 'RETURN_URL_NOT_ALLOWED' } } });
        expect(problemsOf(reply)).toEqual(['successUrl']);
      }
    });
  });

  it('is refused where the account has no list', async () => {
    expect(await fund(URLS)).toMatchObject({
      status: 400,
      json: { error: { code: 'RETURN_URL_NOT_ALLOWED' } },
    });
  });

  it('is linked by the page as the payment stands, until its host leaves the list', async () => {
    await allow('shop.example', 'localhost:3000');
    const bought = await buy({ ...URLS, paymentMethod: 'CARD' });
    expect(bought.status).toBe(201);
    const id = idOf(bought);
    const page = async () => (await api.ask(`/pay/return?reference=${api.idOf(id)}`)).text;
    expect(await page()).toContain('href="https://shop.example/no"');
    await api.shop.owner
      .updateTable('return_hosts')
      .set({ hosts: ['other.example'] })
      .execute();
    expect(await page()).not.toContain('shop.example');
  });

  it('may be the developer’s own machine in the sandbox', async () => {
    await allow('localhost:3000');
    expect((await fund({ successUrl: 'http://localhost:3000/ok' })).status).toBe(201);
    expect((await fund({ successUrl: 'http://localhost:4000/ok' })).status).toBe(400);
  });
});

describe('the buyer of a checkout', () => {
  const BY_CARD = { paymentMethod: 'CARD', customerEmail: 'Buyer@Example.com' };
  const keep = () =>
    api.shop.owner
      .selectFrom('buyer_details')
      .select(['transaction_id', 'customer_email'])
      .where('customer_email', '=', 'Buyer@Example.com')
      .execute();

  it('is in no answer, no event and no workflow, and is forgotten after 30 days', async () => {
    const bought = await buy(BY_CARD);
    expect((await buy({ ...BY_CARD, paymentMethod: 'WALLET' })).status).toBe(201);
    const id = idOf(bought);
    expect(await keep()).toEqual([{ transaction_id: api.idOf(id), customer_email: 'Buyer@Example.com' }]);
    const seen = await Promise.all(
      [`/api/esim/transactions/${id}`, '/api/esim/transactions', '/api/events'].map(read),
    );
    expect(
      [bought, ...seen]
        .map(({ text }) => text)
        .join()
        .toLowerCase(),
    ).not.toContain('buyer@example');
    await forgetBuyerEmails(api.shop.db, new Date(Date.now() - 60_000));
    expect(await keep()).toHaveLength(1);
    await forgetBuyerEmails(api.shop.db, new Date(Date.now() + 60_000));
    expect(await keep()).toEqual([]);
  });

  const checkout = async () => {
    await allow('shop.example');
    const urls = {
      successUrl: 'https://shop.example/ok?id={transactionId}',
      cancelUrl: 'https://shop.example/no',
    };
    const bought = await buy({ ...BY_CARD, ...urls });
    const id = idOf(bought);
    const asked = api.shop.vendors.charged.at(-1);
    return { id, asked, bought, keyed: new URL(asked?.returnUrl ?? '').search };
  };
  const pageOf = async (id: string, query = '?'): Promise<string> =>
    (await api.ask(`/pay/return${query}&reference=${api.idOf(id)}`)).text;
  const paid = async (id: string): Promise<void> => {
    api.shop.vendors.paid.add(api.idOf(id));
    const body = { transactionId: id };
    const confirmed = await api.ask('/api/esim/confirm-payment', { key: 'usd', body });
    expect(confirmed.json).toMatchObject({ status: 'SUCCESS' });
  };

  it('gets the gateway’s receipt, which names the shop and leads back to it', async () => {
    const { asked } = await checkout();
    expect(asked).toMatchObject({
      email: 'Buyer@Example.com',
      shop: expect.any(String) as string,
      cancelUrl: 'https://shop.example/no',
      returnUrl: expect.stringMatching(/\/pay\/return\?key=[A-Za-z0-9_-]{32}$/) as string,
    });
  });

  it('is offered to install the eSIM, alone with the key of the checkout, and for a day', async () => {
    const { id, keyed, bought } = await checkout();
    const install = 'Install your eSIM';
    expect(await pageOf(id, keyed)).not.toContain(install);
    await paid(id);
    const page = await pageOf(id, keyed);
    expect(page).toContain(install);
    expect(page).toContain(`href="https://shop.example/ok?id=${id}"`);
    const other = await checkout();
    for (const wrong of ['?', '?key=', `?key=${'A'.repeat(32)}`, other.keyed]) {
      const shown = await pageOf(id, wrong);
      expect(shown).toContain('Back to');
      expect(shown).not.toContain(install);
    }
    const key = keyed.slice('?key='.length);
    const seen = [
      bought.text,
      (await eventsOf(id)).join(),
      (await read(`/api/esim/transactions/${id}`)).text,
    ];
    expect(seen.join()).not.toContain(key);
    await api.shop.owner
      .updateTable('purchases')
      .set({ closed_at: new Date(Date.now() - 86_400_001) })
      .where('transaction_id', '=', api.idOf(id))
      .execute();
    expect(await pageOf(id, keyed)).not.toContain(install);
  });
});
