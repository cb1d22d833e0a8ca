// The shop of examples/shop sells on a real service: each order ends once, whenever the shop is killed. It is
// what a reseller copies first, so its pages are tried with bad input too.
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startMailServer } from '../support/people/mail-server.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack } from '../support/world/stack.ts';
import { createRandom, seedOfRun, size } from '../support/time/size.ts';
import { until } from '../support/time/until.ts';
import { ask, openForm, openShop, order, startBetween, untilShown } from './shop.support.ts';

const stack = await forFile(startStack());
const mails = await forFile(startMailServer());
const me = await stack.account();
const between = await forFile(startBetween(stack.apiUrl));
const shop = await forFile(openShop({ apiUrl: between.url, apiKey: me.apiKey, smtpUrl: mails.url }));

const INSTALL = /href="([^"]+\/i\/[^"]+)"\s*>\s*Install the eSIM/;
const ENDED = /Install the eSIM|class="problem"\s*>\s*([^<]+)/;

const purchases = () =>
  stack.owner.selectFrom('purchases').selectAll().where('account_id', '=', me.accountId).execute();
const mailsTo = (email: string) => mails.mails.filter(({ to }) => to.includes(email));

async function pay(id: string): Promise<void> {
  const payUrl = await untilShown(shop.url, id, /href="([^"]+)"\s*>\s*Pay /);
  const checkout = await (await fetch(payUrl)).text();
  const reference = /Reference<\/\w+>\s*<\w+[^>]*>([\w.=-]+)</.exec(checkout)?.[1] ?? 'none';
  const paid = await fetch(`${stack.gatewayControlUrl}/charges/${reference}/pay`, {
    method: 'POST',
    body: '{}',
  });
  expect(paid.status).toBe(200);
}

describe('the shop', () => {
  it('sells one eSIM for two clicks, shows its install link and sends it once', async () => {
    const list = await (await ask(`${shop.url}/packages/NG`)).text();
    expect(list).toContain('USD ');
    const form = await openForm(shop.url, 'SIM-OK');
    const email = 'two-clicks@traveller.example';
    const clicks = await Promise.all([order(shop.url, form, email), order(shop.url, form, email)]);
    expect(clicks.map(({ status, headers }) => [status, headers.get('location')])).toEqual(
      clicks.map(() => [303, `/orders/${form.id}`]),
    );
    await pay(form.id);
    const link = await untilShown(shop.url, form.id, INSTALL);
    expect((await fetch(link)).status).toBe(200);
    await until(
      () => mailsTo(email),
      (found) => found.length > 0,
    );
    expect(mailsTo(email).map(({ body }) => body.includes(link))).toEqual([true]);
    expect((await purchases()).length).toBe(1);
  });

  it('refuses forms that it did not make, wrong addresses, long bodies, forged webhooks and unknown pages', async () => {
    const before = (await purchases()).length;
    const form = await openForm(shop.url, 'SIM-OK');
    const email = 'a@b.example';
    const answers = [
      await order(shop.url, { ...form, id: 'x' }, email),
      await order(shop.url, { ...form, id: `${form.id}>` }, email),
      await order(shop.url, { ...form, packageCode: '../SIM-OK' }, email),
      await order(shop.url, { ...form, maxPrice: '0.00' }, email),
      await order(shop.url, { ...form, maxPrice: '1e9' }, email),
      await order(shop.url, form, '<script>@b.example'),
      await order(shop.url, form, `a@b.example\r\nBcc: c@d.example`),
      await order(shop.url, form, 'a@b.example,c@d.example'),
      await order(shop.url, { ...form, packageCode: 'SIM-UNKNOWN' }, email),
      await order(shop.url, form, `${'a'.repeat(5_000)}@b.example`),
      await ask(`${shop.url}/webhooks`, { method: 'POST', body: '{"data":{}}' }),
      await ask(`${shop.url}/orders/${'A'.repeat(22)}`),
      await ask(`${shop.url}/buy/%3Cscript%3E`),
      await ask(`${shop.url}/%zz`),
      await ask(`${shop.url}/orders/${form.id}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      ...[400, 400, 400, 400, 400, 400, 400, 400, 404, 413, 401, 404, 404, 404, 404],
    ]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    for (const text of texts) expect(text).not.toMatch(/<script|simway_test_/);
    // The form is shown again.
    for (const text of texts.slice(5, 8))
      expect(text).toMatch(/class="problem" role="alert">Please[^]+<form/);
    expect((await purchases()).length).toBe(before);
  });

  it('buys nothing above the price of the form, says so, and keeps the first of two forms with one id', async () => {
    const before = (await purchases()).length;
    const form = { ...(await openForm(shop.url, 'SIM-OK')), maxPrice: '0.01' };
    const email = 'price@traveller.example';
    expect((await order(shop.url, form, email)).status).toBe(303);
    expect((await order(shop.url, { ...form, maxPrice: '900' }, 'second@traveller.example')).status).toBe(
      303,
    );
    expect(await untilShown(shop.url, form.id, ENDED)).toMatch(/^The price has just changed/);
    await until(
      () => mailsTo(email),
      (found) => found.length > 0,
    );
    expect(mailsTo(email)[0]?.body).toContain('The price has just changed');
    expect(mailsTo('second@traveller.example')).toEqual([]);
    expect((await purchases()).length).toBe(before);
  });

  it('sends an e-mail again that the mail server has refused', async () => {
    mails.refuseWith(451);
    const form = { ...(await openForm(shop.url, 'SIM-OK')), maxPrice: '0.01' };
    await order(shop.url, form, 'later@traveller.example');
    await until(shop.printed, (text) => text.includes('451'));
    mails.refuseWith(undefined);
    const [mail] = await until(
      () => mailsTo('later@traveller.example'),
      (found) => found.length > 0,
    );
    expect(mail?.headers['message-id']).toContain(form.id);
  });

  it('escapes what it shows of the API and of the visitor', async () => {
    between.changeAnswers((text) => text.replace(/"(name|packageName)":"/g, "$&<script>&'"));
    await shop.kill();
    shop.start();
    const form = { ...(await openForm(shop.url, 'SIM-OK')), maxPrice: '0.01' };
    await order(shop.url, form, "o'hara&lt@traveller.example");
    for (const path of ['/packages/NG', '/buy/SIM-OK', `/orders/${form.id}`]) {
      const text = await (await ask(shop.url + path)).text();
      expect(text, path).toContain('&#60;script&#62;&#38;&#39;');
      expect(text, path).not.toContain('<script');
    }
    between.changeAnswers((text) => text);
  });

  it('reads an order when a webhook comes', async () => {
    const form = await openForm(shop.url, 'SIM-OK');
    await order(shop.url, form, 'webhook@traveller.example');
    await untilShown(shop.url, form.id, /Pay by card/);
    // An old order: after the start it is read, and then each minute.
    await shop.changeFile(`update orders set createdAt = 0 where id = '${form.id}'`);
    await ask(`${shop.url}/style.css`);
    await pause(3_000);
    await pay(form.id);
    await untilShown(shop.url, form.id, INSTALL, 40_000);
    expect((await ask(`${shop.url}/orders/${form.id}`)).headers.get('refresh')).toBe(null);
  });

  it('takes no new order while 500 are open', async () => {
    const form = await openForm(shop.url, 'SIM-OK');
    await shop.changeFile(
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 500)
       insert into orders (id, email, item, intent, createdAt, nextAt)
       select 'open ' || n, '', '', '{', 0, 0 from numbers`,
    );
    expect((await order(shop.url, form, 'many@traveller.example')).status).toBe(503);
    expect((await ask(`${shop.url}/orders/${form.id}`)).status).toBe(404);
    await shop.changeFile(`delete from orders where id like 'open %'`);
    expect((await order(shop.url, form, 'many@traveller.example')).status).toBe(303);
    await untilShown(shop.url, form.id, /Pay by card/);
  });

  it('does not start twice on one file of orders', async () => {
    await ask(`${shop.url}/style.css`);
    expect(await shop.startSecond()).toBe(1);
  });

  it('pages run no script, name no key, and say that it is a test', async () => {
    for (const path of ['/', '/packages/NG', '/buy/SIM-OK']) {
      const answer = await ask(shop.url + path);
      const text = await answer.text();
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(text).toContain('Test shop');
      expect(text).not.toMatch(/<script|simway_test_|whsec_/);
    }
  });
});

describe('a shop that is killed at any moment', { timeout: 600_000 }, () => {
  it.each([
    ['is killed', () => shop.kill()],
    ['gives up', () => until(shop.printed, (text) => text.includes('It is not known whether'))],
  ])('finds what was bought when it %s before the answer comes', async (_, end) => {
    const [before, lost] = [(await purchases()).length, between.lost()];
    const form = await openForm(shop.url, 'SIM-OK');
    between.losePurchases(true);
    expect((await order(shop.url, form, 'lost@traveller.example')).status).toBe(303);
    await until(between.lost, (count) => count > lost);
    await end();
    between.losePurchases(false);
    await shop.kill();
    shop.start();
    await untilShown(shop.url, form.id, /Pay by card/);
    expect((await purchases()).length).toBe(before + 1);
  });

  const count = size({ ci: 12, prove: 100 });
  const codes = ['SIM-OK', 'SIM-PAY-NOW', 'SIM-PAY-REFUNDED', 'SIM-PAY-SHORT'];

  it(`ends each of ${count} orders once, as an install link or a failure that it names, and mails it`, async () => {
    const earlier = new Set((await purchases()).map(({ transaction_id: id }) => id));
    const random = createRandom(seedOfRun());
    let [kills, isDone] = [0, false];
    const killing = (async () => {
      while (!isDone) {
        // On a busy machine a start takes seconds: it lives for a random time from then.
        await ask(`${shop.url}/style.css`);
        await pause(random.below(800));
        if (kills >= count) continue;
        await shop.kill();
        kills += 1;
        shop.start();
      }
    })();
    const ended = await Promise.all(
      Array.from({ length: count }, async (_, number) => {
        const code = codes[number % codes.length]!;
        const email = `traveller-${number}@traveller.example`;
        await pause(random.below(4_000));
        const form = await openForm(shop.url, code);
        const clicks = await Promise.all([order(shop.url, form, email), order(shop.url, form, email)]);
        expect(clicks.map(({ status }) => status)).toEqual([303, 303]);
        if (code === 'SIM-OK') await pay(form.id);
        const problem = await untilShown(shop.url, form.id, ENDED);
        await until(
          () => mailsTo(email),
          (found) => found.length > 0,
          { withinMs: 120_000 },
        );
        return { code, email, problem };
      }),
    );
    isDone = true;
    await killing;
    const mine = (await purchases()).filter(({ transaction_id: id }) => !earlier.has(id));
    expect(mine.length).toBe(count);
    const isSold = ({ code }: { readonly code: string }) => code === 'SIM-OK' || code === 'SIM-PAY-NOW';
    const delivered = mine.filter(({ status }) => status === 'SUCCESS');
    expect(delivered.length).toBe(ended.filter(isSold).length);
    for (const { transaction_id: id } of delivered)
      expect((await stack.supplierOrders(id)).length, id).toBe(1);
    for (const one of ended) {
      expect(one.problem, one.code).toMatch(
        isSold(one) ? /^Install/ : one.code === 'SIM-PAY-SHORT' ? /^Less than the price/ : /^It cannot be/,
      );
      const ids = mailsTo(one.email).map(({ headers }) => headers['message-id']);
      expect(new Set(ids).size, one.email).toBe(1);
      expect(ids.length, one.email).toBeLessThanOrEqual(2);
    }
    const twice = ended.filter(({ email }) => mailsTo(email).length > 1).length;
    console.info(`${count} orders, ${kills} kills, ${twice} e-mails came twice`);
    expect(kills).toBeGreaterThan(count / 3);
    expect(twice).toBeLessThanOrEqual(kills);
  });
});
