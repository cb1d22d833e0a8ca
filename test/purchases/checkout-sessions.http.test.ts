// Agentic checkout over HTTP: sessions, their headers, the rules of the Idempotency-Key, and one purchase a
// session at most.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startApi, type Ask, type TestApi } from '../support/http/api.ts';
import { keyOf } from '../support/http/shop.ts';
import {
  CARD,
  checkoutOf,
  CREATE,
  expectRefusal,
  keyed,
  PACKAGE,
  payBy,
  SESSIONS,
  WALLET,
  type Session,
} from './checkout-sessions.support.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const { post, read, created, completed, nothingBought } = checkoutOf(() => api);

const expire = (quoteId: string) =>
  api.shop.owner
    .updateTable('quotes')
    .set({ created_at: new Date(0), expires_at: new Date(Date.now() - 1) })
    .where('id', '=', quoteId)
    .execute();

describe('a checkout session', () => {
  it('shows one package with its price in minor units, its expiry, and how it can be paid', async () => {
    await nothingBought(async () => {
      const reply = await post('', CREATE, { example: 'one package' });
      expect(reply.status).toBe(201);
      const total = { type: 'total', display_text: 'Total', amount: 1250 };
      expect(reply.json).toMatchObject({
        protocol: { version: '2026-04-17' },
        status: 'ready_for_payment',
        currency: 'usd',
        line_items: [{ item: { id: PACKAGE, name: 'Nigeria 5GB 30Days', unit_amount: 1250 }, quantity: 1 }],
        totals: [{ type: 'items_base_amount', amount: 1250 }, total],
        fulfillment_options: [{ type: 'digital', totals: [{ amount: 0 }] }],
        messages: [],
        capabilities: {
          payment: {
            handlers: [
              {
                id: 'hosted_page',
                name: 'simway.hosted_page',
                psp: 'paystack',
                config: { instruments: ['card', 'mobile_money', 'apple_pay'] },
              },
              { id: 'wallet', config: { instruments: ['wallet'] } },
            ],
          },
        },
      });
      const { id, ...session } = reply.json as Session & { expires_at: string; created_at: string };
      expect(session).not.toHaveProperty('order');
      expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBe(15 * 60_000);
      expect((await read(id, { example: 'ready for payment' })).json).toEqual(reply.json);
    });
  });

  it('takes an item alone or in a line, and everything that agents send beside it', async () => {
    const buyer = { first_name: 'Ada', email: 'ada@example.com', company: { name: 'Example' } };
    const line = { id: 'line-1', item: { id: PACKAGE }, quantity: 1, totals: [] };
    const example = { request: 'with all that an agent may send' };
    const session = await created(
      {
        ...CREATE,
        currency: 'USD',
        line_items: [line],
        buyer,
        capabilities: { interventions: { supported: ['3ds'] }, extensions: ['discount'] },
        fulfillment_details: { name: 'Ada', email: 'ada@example.com' },
        affiliate_attribution: { provider: 'example.com', publisher_id: 'p' },
        metadata: { chat: 'c', tags: ['a'] },
        locale: 'en-US',
      },
      { example },
    );
    expect(session.status).toBe('ready_for_payment');
    const rows = await api.shop.owner.selectFrom('checkout_sessions').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain('ada@example.com');
  });

  it.each([
    ['two items', { line_items: [{ id: PACKAGE }, { id: PACKAGE }] }, '$.line_items'],
    ['no item', { line_items: [] }, '$.line_items'],
    ['two of an item', { line_items: [{ item: { id: PACKAGE }, quantity: 2 }] }, '$.line_items[0].quantity'],
    ['an item without an id', { line_items: [{ quantity: 1 }] }, '$.line_items[0].id'],
    ['no currency', { currency: undefined }, '$.currency'],
    ['no capabilities', { capabilities: undefined }, '$.capabilities'],
    ['a buyer who is no object', { buyer: 'Ada' }, '$.buyer'],
  ])('is refused for %s, which it names', async (_what, change, param) => {
    const reply = await post('', { ...CREATE, ...change });
    expectRefusal(reply, 400, 'validation_error', param);
  });

  it('is refused for a package that is not sold, and for another currency', async () => {
    const unknown = await post('', { ...CREATE, line_items: [{ id: 'NOWHERE' }] });
    expectRefusal(unknown, 404, 'package_not_found', '$.line_items[0].id');
    const inLine = await post('', { ...CREATE, line_items: [{ id: 'line-1', item: { id: 'NOWHERE' } }] });
    expectRefusal(inLine, 404, 'package_not_found', '$.line_items[0].item.id');
    expectRefusal(await post('', { ...CREATE, currency: 'ngn' }), 400, 'currency_mismatch', '$.currency');
  });

  it('has another price after another item, and the earlier one can no longer be bought at', async () => {
    const { id, quote_id: first } = await created();
    const updated = await post(`/${id}`, { line_items: [{ id: PACKAGE }] }, { example: 'another package' });
    expect(updated).toMatchObject({ status: 200, json: { id, status: 'ready_for_payment' } });
    expect((updated.json as Session).quote_id).not.toBe(first);
    expectRefusal(
      await post(`/${id}`, { line_items: [{ id: 'NOWHERE' }] }),
      404,
      'package_not_found',
      '$.line_items[0].id',
    );
    expect((await read(id)).json).toEqual(updated.json);
    await nothingBought(async () => {
      const body = { packageCode: PACKAGE, packageType: 'BASE', paymentMethod: 'WALLET', quoteId: first };
      const reply = await api.ask('/api/esim/buy', { key: 'usd', body });
      expect(reply).toMatchObject({ status: 400, json: { error: { code: 'QUOTE_USED' } } });
    });
    expect(await post(`/${id}`, { buyer: { email: 'a@example.com' } })).toMatchObject({ status: 200 });
  });

  it('of another account is not found, and stays as it is', async () => {
    const session = await created();
    const { id } = session;
    const ask: Ask = { key: 'usduser' };
    await nothingBought(async () => {
      for (const reply of [
        await read(id, ask),
        await post(`/${id}`, { line_items: [{ id: PACKAGE }] }, ask),
        await post(`/${id}/complete`, WALLET, ask),
        await post(`/${id}/cancel`, {}, ask),
        await read(`checkout-${'0'.repeat(32)}`),
        await read('x'),
      ])
        expectRefusal(reply, 404, 'checkout_session_not_found');
    });
    expect((await read(id)).json).toEqual(session);
  });

  it('that is canceled stays so, and its price cannot be bought at', async () => {
    const { id, quote_id: quoteId } = await created();
    const intent_trace = { reason_code: 'price_sensitivity', trace_summary: 'too dear' };
    const canceled = await post(`/${id}/cancel`, { intent_trace }, { example: 'too dear' });
    expect(canceled).toMatchObject({ status: 200, json: { id, status: 'canceled' } });
    expect(canceled.json).toMatchObject({ capabilities: { payment: { handlers: [] } } });
    await nothingBought(async () => {
      expectRefusal(await post(`/${id}/cancel`, {}), 405, 'checkout_session_not_cancelable');
      expectRefusal(await post(`/${id}/complete`, WALLET), 409, 'checkout_session_closed');
      expectRefusal(await post(`/${id}`, { line_items: [{ id: PACKAGE }] }), 409, 'checkout_session_closed');
      const body = { packageCode: PACKAGE, packageType: 'BASE', paymentMethod: 'WALLET', quoteId };
      expect((await api.ask('/api/esim/buy', { key: 'usd', body })).status).toBe(400);
    });
    expect((await read(id)).json).toEqual(canceled.json);
  });

  it('expires with its price, and sells nothing then', async () => {
    const { id, quote_id: quoteId } = await created();
    await expire(quoteId);
    await nothingBought(async () => {
      const expired = await read(id);
      expect(expired.json).toMatchObject({
        status: 'expired',
        messages: [{ type: 'error', code: 'expired' }],
        capabilities: { payment: { handlers: [] } },
      });
      expectRefusal(await post(`/${id}/complete`, WALLET), 409, 'checkout_session_closed');
      expectRefusal(await post(`/${id}/cancel`, {}), 405, 'checkout_session_not_cancelable');
      expectRefusal(await post(`/${id}`, {}), 409, 'checkout_session_closed');
    });
  });

  it('goes with its quote', async () => {
    const { id, quote_id: quoteId } = await created();
    await api.shop.owner.deleteFrom('quotes').where('id', '=', quoteId).execute();
    expectRefusal(await read(id), 404, 'checkout_session_not_found');
  });
});

describe('completing', () => {
  it('from the wallet delivers, charges the price once, and names the install page, not the code', async () => {
    const { id } = await created();
    const before = await api.shop.balance('usd');
    const session = await completed(id, WALLET, { example: 'from the wallet' });
    expect(session).toMatchObject({
      status: 'completed',
      order: { type: 'order', checkout_session_id: id, status: 'completed' },
    });
    expect(await api.shop.balance('usd')).toBe(before - 12_50n);
    const { order } = session;
    expect(order?.permalink_url).toMatch(/^https:\/\/shop\.example\/i\/[\w-]{32}$/);
    expect(JSON.stringify(session)).not.toContain('MATCHING-0001');
    expect((await read(id)).json).toEqual(session);
    await nothingBought(async () => {
      expect(await completed(id)).toEqual(session);
      expect(await completed(id, CARD)).toEqual(session);
      expectRefusal(await post(`/${id}/cancel`, {}), 405, 'checkout_session_not_cancelable');
      expectRefusal(await post(`/${id}`, { line_items: [{ id: PACKAGE }] }), 409, 'checkout_session_closed');
    });
    const transaction = await api.ask(`/api/esim/transactions/${order?.id ?? ''}`, { key: 'usd' });
    expect(transaction.json).toMatchObject({ status: 'SUCCESS', package: { price: 12.5 } });
  });

  it.each(['card', 'mobile_money', 'apple_pay'])(
    'on the page of the gateway by %s waits for the buyer, and is completed by the payment',
    async (instrument) => {
      const { id, quote_id: quoteId } = await created();
      const isExample = instrument === 'card';
      const example = isExample ? 'by card' : undefined;
      const session = await completed(id, payBy('hosted_page', instrument), { example });
      expect(session).toMatchObject({
        status: 'requires_escalation',
        continue_url: expect.stringMatching(/^https:\/\/checkout\.example\.com\/txn-/) as unknown,
        messages: [{ type: 'info', resolution: 'requires_buyer_review' }],
        order: { status: 'created' },
      });
      // The buyer may be paying: the price stands, and nothing can be taken back.
      await expire(quoteId);
      expectRefusal(await post(`/${id}/cancel`, {}), 405, 'checkout_session_not_cancelable');
      const waiting = (await read(id)).json;
      expect(waiting).toMatchObject({ status: 'requires_escalation', continue_url: session.continue_url });
      for (const body of [WALLET, CARD, payBy('hosted_page', 'apple_pay')])
        expect(await completed(id, body)).toEqual(waiting);
      const change = await post(`/${id}`, { line_items: [{ id: PACKAGE }] });
      expectRefusal(change, 409, 'checkout_session_closed');
      expect(change.text).not.toContain('create another');
      const transactionId = session.order?.id ?? '';
      api.shop.vendors.paid.add(api.idOf(transactionId));
      await api.ask('/api/esim/confirm-payment', { key: 'usd', body: { transactionId } });
      const paid = (await read(id, isExample ? { example: 'paid and delivered' } : {})).json as Session;
      expect(paid).toMatchObject({
        status: 'completed',
        order: { id: transactionId, status: 'completed', permalink_url: session.order?.permalink_url },
      });
      expect(paid).not.toHaveProperty('continue_url');
      expect(await api.shop.purchases('usd')).toBe(1);
    },
  );

  it('is in progress while the supplier delivers', async () => {
    api.shop.vendors.supplier = 'is allocating';
    const { id } = await created();
    expect(await completed(id)).toMatchObject({
      status: 'complete_in_progress',
      order: { status: 'processing' },
    });
  });

  it('that fails ends the session, with the reason, and gives the money back', async () => {
    const before = await api.shop.balance('usd');
    api.shop.vendors.supplier = 'refuses';
    const { id } = await created();
    expectRefusal(await post(`/${id}/complete`, WALLET), 400, 'package_unavailable');
    api.shop.vendors.supplier = 'delivers';
    expect(await api.shop.balance('usd')).toBe(before);
    await nothingBought(async () => {
      expect((await read(id)).json).toMatchObject({
        status: 'canceled',
        messages: [{ type: 'error', code: 'out_of_stock' }],
        order: { status: 'canceled' },
      });
      expectRefusal(await post(`/${id}/complete`, WALLET), 409, 'checkout_session_closed');
      expectRefusal(await post(`/${id}/complete`, CARD), 409, 'checkout_session_closed');
    });
  });

  it('that the buyer does not pay ends the session as declined', async () => {
    const { id } = await created();
    const { order } = await completed(id, CARD);
    await api.shop.engine.expire(api.idOf(order?.id ?? ''), 'purchase');
    expect((await read(id)).json).toMatchObject({
      status: 'canceled',
      messages: [{ type: 'error', code: 'payment_declined' }],
    });
  });

  it('without enough in the wallet leaves the session as it was: it can be paid in another way', async () => {
    const balance = await api.shop.balance('usd');
    const { id } = await created();
    await api.shop.setBalance(1n, 'usd');
    const key = keyed();
    for (let times = 0; times < 2; times += 1)
      expectRefusal(await post(`/${id}/complete`, WALLET, key), 400, 'insufficient_balance');
    expect((await read(id)).json).toMatchObject({ status: 'ready_for_payment' });
    await api.shop.setBalance(balance, 'usd');
    expect(await completed(id, CARD)).toMatchObject({ status: 'requires_escalation' });
  });

  it.each([
    ['an unknown handler', payBy('card_tokenized', 'card')],
    ['an instrument of another handler', payBy('wallet', 'card')],
    ['a bank transfer, which has no page', payBy('hosted_page', 'bank_transfer')],
  ])('is refused for %s, with those that there are', async (_what, body) => {
    await nothingBought(async () => {
      const { id } = await created();
      const reply = await post(`/${id}/complete`, body);
      expectRefusal(reply, 400, 'payment_handler_unsupported', '$.payment_data.handler_id');
      expect(reply.text).toContain('hosted_page (instrument card, mobile_money, apple_pay)');
    });
  });

  it('is refused without payment data', async () => {
    const { id } = await created();
    expectRefusal(await post(`/${id}/complete`, {}), 400, 'validation_error', '$.payment_data');
    const order = { payment_data: { purchase_order_number: 'PO-1' } };
    expectRefusal(await post(`/${id}/complete`, order), 400, 'validation_error', '$.payment_data.handler_id');
  });

  it('64 times at once, each under a key of its own, buys once', async () => {
    const { id } = await created();
    const before = await api.shop.balance('usd');
    const replies = await Promise.all(Array.from({ length: 64 }, () => post(`/${id}/complete`, WALLET)));
    const answered = replies.filter(({ status }) => status === 200);
    expect(answered.length).toBeGreaterThan(0);
    expect(new Set(answered.map(({ json }) => (json as Session).order?.id)).size).toBe(1);
    for (const reply of replies.filter(({ status }) => status !== 200))
      expectRefusal(reply, 409, 'idempotency_in_flight');
    expect(await api.shop.balance('usd')).toBe(before - 12_50n);
    expect(await api.shop.purchases('usd')).toBe(1);
  });

  it('at the same time as canceling or changing either buys or does not, and never both', async () => {
    for (let round = 0; round < 12; round += 1) {
      const { id } = await created();
      const before = [await api.shop.purchases('usd'), await api.shop.balance('usd')] as const;
      const other = round % 2 === 0 ? '/cancel' : '';
      const body = other === '' ? { line_items: [{ id: PACKAGE }] } : {};
      const [buying, changing] = await Promise.all([
        post(`/${id}/complete`, WALLET),
        post(`/${id}${other}`, body),
      ]);
      const isBought = buying.status === 200;
      expect(await api.shop.purchases('usd')).toBe(before[0] + Number(isBought));
      expect(await api.shop.balance('usd')).toBe(before[1] - (isBought ? 12_50n : 0n));
      const { status } = (await read(id)).json as Session;
      if (isBought) {
        expect(status).toBe('completed');
        // It may have been bought after the change, at the new price.
        expect(other === '' ? [200, 409] : [405]).toContain(changing.status);
      } else {
        expectRefusal(buying, 409, 'checkout_session_closed');
        expect(status).toBe(other === '' ? 'ready_for_payment' : 'canceled');
      }
    }
  });
});

describe('an Idempotency-Key', () => {
  it('is required on every POST, and on no GET', async () => {
    const { id } = await created();
    const without: Ask = { headers: { 'idempotency-key': [] } };
    await nothingBought(async () => {
      for (const [path, body] of [
        ['', CREATE],
        [`/${id}`, {}],
        [`/${id}/complete`, WALLET],
        [`/${id}/cancel`, {}],
      ] as const)
        expectRefusal(await post(path, body, without), 400, 'idempotency_key_required');
    });
    expect((await read(id)).status).toBe(200);
  });

  it('answers the first answer again, and marks it', async () => {
    const [creating, completing] = [keyed(), keyed()];
    const first = await post('', CREATE, creating);
    const { id } = first.json as Session;
    const done = await post(`/${id}/complete`, WALLET, completing);
    await nothingBought(async () => {
      for (const [path, body, key, earlier] of [
        ['', CREATE, creating, first],
        [`/${id}/complete`, WALLET, completing, done],
      ] as const) {
        expect(earlier.headers['idempotent-replayed']).toBeUndefined();
        const again = await post(path, body, key);
        expect(again).toMatchObject({ status: earlier.status, text: earlier.text });
        expect(again.headers['idempotent-replayed']).toBe('true');
      }
    });
  });

  it('compares bodies as JSON: order of fields and 1.0 are the same, null, lists and ignored fields are not', async () => {
    const key = keyed();
    const line = `{"id":"l","item":{"id":"${PACKAGE}"},"quantity":1}`;
    const sent = (rawBody: string) => api.ask(SESSIONS, { key: 'usd', method: 'POST', rawBody, ...key });
    const first = await sent(
      `{"line_items":[${line}],"currency":"usd","capabilities":{},"metadata":{"a":[1,2]}}`,
    );
    expect(first.status).toBe(201);
    const turned = line.replace('"quantity":1', '"quantity":1.0');
    const same = await sent(
      `{"metadata":{"a":[1.0,2]},"currency":"usd","capabilities":{},"line_items":[${turned}]}`,
    );
    expect(same).toMatchObject({ status: 201, text: first.text });
    for (const other of [
      `{"line_items":[${line}],"currency":"usd","capabilities":{},"metadata":{"a":[2,1]}}`,
      `{"line_items":[${line}],"currency":"usd","capabilities":{},"metadata":{"a":[1,2],"b":null}}`,
      `{"line_items":[${line}],"currency":"USD","capabilities":{},"metadata":{"a":[1,2]}}`,
    ])
      expectRefusal(await sent(other), 422, 'idempotency_conflict');
  });

  it('counts for its path alone: the same key begins, changes, completes, and buys elsewhere', async () => {
    const key = keyed();
    const { id } = await created(CREATE, key);
    expect((await post(`/${id}`, {}, key)).status).toBe(200);
    expect((await completed(id, WALLET, key)).status).toBe('completed');
    const body = { packageCode: PACKAGE, packageType: 'BASE', paymentMethod: 'WALLET' };
    expect((await api.ask('/api/esim/buy', { key: 'usd', body, ...key })).status).toBe(201);
    expect(await api.shop.purchases('usd')).toBe(2);
  });

  it('of an answer that was lost buys nothing more: the rows answer', async () => {
    const key = keyed();
    const { id } = await created();
    const first = await completed(id, WALLET, key);
    await api.shop.owner
      .updateTable('idempotency_keys')
      .set({ answer_status: null, answer_body: null, created_at: new Date(Date.now() - 60_000) })
      .where('account_id', '=', api.shop.accountId('usd'))
      .execute();
    await nothingBought(async () => expect(await completed(id, WALLET, key)).toEqual(first));
  });

  it('whose first request still runs is told so, with the time to wait', async () => {
    const key = keyed();
    await created(CREATE, key);
    await api.shop.owner
      .updateTable('idempotency_keys')
      .set({ answer_status: null, answer_body: null })
      .where('account_id', '=', api.shop.accountId('usd'))
      .execute();
    const reply = await post('', CREATE, key);
    expectRefusal(reply, 409, 'idempotency_in_flight');
    expect(reply.headers['retry-after']).toBe('1');
  });

  it('keeps no link to the install page with its answer', async () => {
    const { id } = await created();
    const key = keyed();
    const { order } = await completed(id, WALLET, key);
    const kept = await api.shop.owner
      .selectFrom('idempotency_keys')
      .select('answer_body')
      .where('account_id', '=', api.shop.accountId('usd'))
      .where('answer_body', 'is not', null)
      .execute();
    expect(JSON.stringify(kept)).toContain(api.idOf(order?.id ?? ''));
    expect(JSON.stringify(kept)).not.toContain((order?.permalink_url ?? '').slice(-32));
    await api.shop.owner.deleteFrom('quotes').execute();
    const again = await completed(id, WALLET, key);
    expect(again.order?.permalink_url).toBe('https://shop.example/dashboard');
  });
});

describe('every request', () => {
  it('says the version of the protocol; another, an older one or none is refused with those that there are', async () => {
    const { id } = await created();
    for (const version of ['2026-01-30', '2025-09-29', '', []]) {
      const headers = { 'api-version': version };
      for (const reply of [await post('', CREATE, { headers }), await read(id, { headers })]) {
        expect(reply.status).toBe(400);
        expect(reply.json).toEqual({
          type: 'invalid_request',
          code: 'unsupported_api_version',
          message: 'Send API-Version: 2026-04-17',
          supported_versions: ['2026-04-17'],
        });
      }
    }
  });

  it('gets its Request-Id and its Idempotency-Key back, with a refusal too', async () => {
    const headers = { 'request-id': 'agent-7', 'idempotency-key': 'order-7' };
    for (const body of [CREATE, {}]) {
      const reply = await post('', body, { headers });
      expect(reply.headers).toMatchObject(headers);
    }
    const strange = await post('', CREATE, { headers: { 'request-id': 'a b' } });
    expect(strange.headers).not.toHaveProperty('request-id');
  });

  it('needs the API key, as a bearer token', async () => {
    const refused = await api.ask(SESSIONS, { method: 'POST', body: CREATE });
    expectRefusal(refused, 401, 'unauthorized');
    expect(refused.text).toContain('Authorization: Bearer');
    for (const authorization of ['Bearer x', 'Basic eDp5', `Bearer ${'x'.repeat(900)}`])
      expectRefusal(await post('', CREATE, { headers: { authorization } }), 401, 'invalid_token');
    expectRefusal(await post('', CREATE, { key: 'readonly' }), 403, 'forbidden');
    const headers = { authorization: [], 'x-api-key': keyOf('test', 'usd') };
    expect((await post('', CREATE, { headers })).status).toBe(201);
    // Routes that do not speak the protocol take no bearer token.
    const bearer = { authorization: `Bearer ${keyOf('test', 'usd')}` };
    expect((await api.ask('/api/wallet/balance', { headers: bearer })).status).toBe(401);
  });

  it('that fails on our side is told so in the words of the protocol', async () => {
    api.shop.failNext = new Error('a fault');
    expect(await post('', CREATE)).toMatchObject({
      status: 500,
      json: { type: 'processing_error', code: 'internal_error' },
    });
    const bad = await api.ask(SESSIONS, { key: 'usd', rawBody: '{' });
    expectRefusal(bad, 400, 'invalid_json');
  });
});

it('the checkout is found by the address of the service alone, without a key', async () => {
  const reply = await api.ask('/.well-known/acp.json', { example: 'found' });
  expect(reply).toMatchObject({
    status: 200,
    json: {
      protocol: { name: 'acp', version: '2026-04-17', supported_versions: ['2026-04-17'] },
      api_base_url: 'https://shop.example/acp',
      transports: ['rest'],
      capabilities: { services: ['checkout'] },
    },
  });
  expect(reply.headers['cache-control']).toBe('public, max-age=3600');
});
