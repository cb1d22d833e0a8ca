// A small shop: travellers choose a package, pay by card at the gateway, and get the install link on a page
// and by e-mail. It may be killed at any moment. README.md says how to run it; pages.html is what it shows.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import { createTransport } from 'nodemailer';
import rawBody from 'raw-body';
import { intend, Simway, SimwayError, verifyWebhook, WebhookVerificationError } from 'simway-sdk';

const { URL: baseUrl = '', KEY: apiKey = '', SHOP_PORT = '4001', SHOP_DB = 'shop.sqlite' } = process.env;
const { SMTP_URL, MAIL_FROM = 'shop@simway.example', WEBHOOK_SECRET = '' } = process.env;
const { SHOP_URL = `http://127.0.0.1:${SHOP_PORT}` } = process.env;
if (baseUrl === '' || apiKey === '') throw new Error('Set URL and KEY, as npm start prints them');
const simway = new Simway({ baseUrl, apiKey, deadlineMs: 12_000, attemptMs: 10_000 });
const mailer = createTransport(SMTP_URL ?? { jsonTransport: true });
const report = (error: unknown) => console.error(error instanceof Error ? error.message : error);

/** A step is due at `nextAt`; null: it has ended. `detail`: where to pay or to install, or what failed. */
interface Order extends Record<'id' | 'email' | 'item' | 'intent' | 'transactionId' | 'detail', string> {
  readonly status: keyof typeof STEPS;
  readonly createdAt: number;
  readonly nextAt: number | null;
}
const db = new DatabaseSync(SHOP_DB);
// A second process would send every e-mail twice: it fails here. FULL: what is stored survives a power cut.
db.exec(`pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full;
  create table if not exists orders (id text primary key, email text not null, item text not null,
    intent text not null, status text not null default 'NEW', transactionId text, detail text,
    createdAt integer not null, nextAt integer default 0) strict;
  create index if not exists orders_due on orders (nextAt) where nextAt is not null;
  update orders set nextAt = 0 where nextAt is not null;`);
const find = (id = '') => db.prepare('select * from orders where id = ?').get(id) as Order | undefined;
function set(id: string, values: Partial<Order>): void {
  const columns = Object.keys(values).map((name) => `${name} = ?`);
  db.prepare(`update orders set ${columns.join()} where id = ?`).run(...Object.values(values), id);
}

/** Buys under the stored intent. Sent again after a crash, it finds what was bought. */
async function buy({ intent }: Order): Promise<Partial<Order>> {
  try {
    const { transactionId } = await simway.send(JSON.parse(intent) as ReturnType<typeof intend<'buy'>>);
    return { status: 'OPEN', transactionId, nextAt: 0 };
  } catch (error) {
    if (!(error instanceof SimwayError)) throw error;
    // An error with its intent has an unknown outcome: send it again until it is too old.
    if (error.intent && error.code !== 'INTENT_TOO_OLD') throw error;
    return failed(error.code);
  }
}

async function read({ transactionId }: Order): Promise<Partial<Order>> {
  const now = await simway.getTransaction({ path: { transactionId } });
  if (now.status === 'FAILED') return failed(now.reason);
  if (now.status === 'PENDING' && now.paymentUrl) return { status: 'TO_PAY', detail: now.paymentUrl };
  const esim = 'esimDetails' in now ? now.esimDetails : undefined;
  if (now.status !== 'SUCCESS' || !esim || !('esimId' in esim)) return { status: 'OPEN' };
  const { installUrl } = await simway.getEsimInstall({ path: { esimId: esim.esimId } });
  if (installUrl === '') throw new Error('This key may not read install links');
  return { status: 'DELIVERED', detail: installUrl, nextAt: 0 };
}

/** pages.html says why there is no eSIM, by codes of docs/ERRORS.md. */
function failed(code = ''): Partial<Order> {
  const detail = templates.get(code) ?? templates.get('UNDELIVERED') ?? code;
  return { status: 'FAILED', detail, nextAt: 0 };
}

/** Killed before the e-mail is marked as sent, it comes twice: it has the same Message-ID. */
async function tell({ id, email: to, item, status, detail }: Order): Promise<Partial<Order>> {
  const subject = status === 'FAILED' ? 'Your eSIM order has failed' : 'Your eSIM is ready';
  const text = `${item}\n\n${detail}\n\nYour order: ${SHOP_URL}/orders/${id}\n`;
  await mailer.sendMail({ from: MAIL_FROM, to, subject, text, messageId: `<${id}@shop.simway.example>` });
  if (SMTP_URL === undefined) console.log(`e-mail to ${to}: ${subject}\n${text}`);
  return { nextAt: null };
}

const STEPS = { NEW: buy, OPEN: read, TO_PAY: read, DELIVERED: tell, FAILED: tell };
/** Takes an order's next step. What does not work is tried again: soon at first, in the end each minute. */
async function advance(order: Order): Promise<void> {
  const waitMs = Math.min(60_000, Math.max(1_000, (Date.now() - order.createdAt) / 10));
  // Before the step: a webhook that comes meanwhile makes the order due again.
  set(order.id, { nextAt: Math.trunc(Date.now() + waitMs) });
  set(order.id, await STEPS[order.status](order));
}

class Html extends String {}
type Value = string | number | null | Html;
const file = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
const parts = file('pages.html').matchAll(/<template id="(\w+)">(.*?)<\/template>/gs);
const templates = new Map(Array.from(parts, ([, id = '', text = '']) => [id, text.trim()]));
const escape = (text: string) => text.replaceAll(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
/** Fills a template of pages.html. What is put into it is escaped, unless it is a filled template. */
function fill(id: string, values: Readonly<Record<string, Value>> = {}): Html {
  const put = (value: Value = '') => (value instanceof Html ? value.toString() : escape(String(value ?? '')));
  return new Html(templates.get(id)?.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => put(values[name])));
}
const note = apiKey.includes('_test_') ? fill('test') : '';
const page = (title: string, body: Html): string => fill('page', { note, title, body }).toString();
const list = (title: string, rows: readonly Readonly<Record<string, string>>[]): string =>
  page(title, fill('list', { rows: new Html(rows.map((row) => fill('row', row)).join('')) }));

/** Answers that every visitor reads are kept for a minute. */
const cache = new Map<string, Promise<unknown>>();
setInterval(() => cache.clear(), 60_000);
function cached<T>(key: string, load: () => Promise<T>): Promise<T> {
  const value = (cache.get(key) ?? load()) as Promise<T>;
  cache.set(key, value);
  value.catch(() => cache.delete(key));
  return value;
}
const money = (price: number, currency: string): string => `${currency} ${price.toFixed(2)}`;
async function offer(packageCode: string) {
  const currency = await cached('currency', async () => (await simway.getWalletBalance()).data.currency);
  const call = { path: { packageCode }, query: { currency } };
  return cached(`package ${packageCode}`, () => simway.getPackage(call));
}

/** The id becomes the order's, so two clicks on one form make one order. */
async function showForm(ctx: Context, packageCode: string, problem = ''): Promise<void> {
  const { name, price: maxPrice, currencyCode, volume, duration, location } = await offer(packageCode);
  const facts = `${(volume / 1024 ** 3).toFixed(1)} GB, ${duration} days, ${location}`;
  const [id, price] = [randomBytes(16).toString('base64url'), money(maxPrice, currencyCode)];
  ctx.body = page(name, fill('form', { id, packageCode, maxPrice, price, facts, problem }));
  ctx.status = problem === '' ? 200 : 400;
}

const router = new Router();
router.get('/', async (ctx) => {
  const regions = await cached('regions', () => simway.listRegions({ query: { type: 1 } }));
  const rows = regions.map((one) => ({ href: `/packages/${one.regionCode}`, text: one.regionName }));
  ctx.body = list('Where are you going?', rows);
});
router.get('/packages/:id', async (ctx) => {
  const { id: regionCode = '' } = ctx.params;
  const found = await cached(`region ${regionCode}`, () => simway.listPackages({ query: { regionCode } }));
  const rows = found.flatMap((one) => {
    if (!('packageName' in one)) return [];
    const text = `${one.packageName}, ${one.data}, ${one.validity} days`;
    return [{ href: `/buy/${one.packageCode}`, text, price: money(one.price, one.currency) }];
  });
  ctx.body = list('Packages', rows);
});
router.get('/buy/:id', (ctx) => showForm(ctx, ctx.params['id'] ?? ''));
const FORM = /^[\w-]{22} \w[\w.-]{0,63} (?=.*[1-9])\d{1,9}(\.\d{1,2})?$/;
const EMAIL = /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]{1,120}\.[^\s@.<>()[\]\\,;:"]{2,63}$/;
router.post('/orders', async (ctx) => {
  const sent = new URLSearchParams((await rawBody(ctx.req, { limit: 4_096 })).toString());
  const { id = '', packageCode = '', maxPrice: price = '', email = '' } = Object.fromEntries(sent);
  if (!FORM.test(`${id} ${packageCode} ${price}`)) ctx.throw(400);
  if (!EMAIL.test(email)) return showForm(ctx, packageCode, 'Please type an address as ada@example.com.');
  const { name, currencyCode: maxPriceCurrency } = await offer(packageCode);
  const what = { packageCode, packageType: 'BASE', paymentMethod: 'CARD' } as const;
  const body = { ...what, maxPrice: Number(price), maxPriceCurrency };
  const intent = JSON.stringify(intend('buy', { key: `shop-${id}`, body }));
  const item = `${name}, ${money(Number(price), maxPriceCurrency)}`;
  // Stored before anything is bought, unless 500 orders are open. A repeat changes nothing.
  db.prepare(
    `insert into orders (id, email, item, intent, createdAt) select ?, ?, ?, ?, ?
     where (select count(*) from orders where nextAt is not null) < 500 on conflict do nothing`,
  ).run(id, email, item, intent, Date.now());
  if (!find(id)) ctx.throw(503);
  ctx.status = 303;
  ctx.redirect(`/orders/${id}`);
});
router.get('/orders/:id', (ctx) => {
  const order = find(ctx.params['id']) ?? ctx.throw(404);
  if (STEPS[order.status] !== tell) ctx.set('Refresh', '2');
  ctx.body = page('Your order', fill(order.status, { ...order }));
});

/** A webhook only says that it is time to read. Without any, polling does the work. */
router.post('/webhooks', async (ctx) => {
  const { data } = verifyWebhook(await rawBody(ctx.req, { limit: 65_536 }), ctx.headers, WEBHOOK_SECRET);
  const due = db.prepare('update orders set nextAt = 0 where nextAt > 0 and transactionId = ?');
  if ('transactionId' in data) due.run(data.transactionId);
  ctx.status = 204;
});
router.get('/style.css', (ctx) => {
  ctx.type = 'css';
  ctx.body = file('style.css');
});

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  ...{ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' },
};
const app = new Koa();
app.use(async (ctx, next) => {
  ctx.set(HEADERS);
  try {
    await next();
    if (ctx.status === 404) ctx.throw(404);
  } catch (error) {
    report(error);
    const { status = error instanceof WebhookVerificationError ? 401 : 500 } = error as { status?: number };
    // Of the API's refusals, a visitor learns only that a package does not exist.
    ctx.status = error instanceof SimwayError && status !== 404 ? 502 : status;
    ctx.body = page(ctx.message, fill('error'));
  }
});
app.use(router.routes());
app.listen(Number(SHOP_PORT), '127.0.0.1', () => console.log(`The shop is open at ${SHOP_URL}`));
const DUE = db.prepare('select * from orders where nextAt <= ? order by nextAt limit 10');
for (;;) {
  const due = DUE.all(Date.now()) as unknown as Order[];
  await Promise.all(due.map((order) => advance(order).catch(report)));
  await new Promise((resolve) => setTimeout(resolve, 100));
}
