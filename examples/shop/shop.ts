/**
 * A small shop: travellers choose a package, pay by card at the gateway, and get the install link on a page
 * and by e-mail. README.md says how to run it.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTransport } from 'nodemailer';
import { intend, Simway, toNumber, verifyWebhook } from 'simway-sdk';
import type { CreateWebhookEndpointResponse, Intent } from 'simway-sdk';
import { createOrders } from './orders.ts';
import {
  checkout,
  failureOf,
  html,
  orderState,
  packageList,
  page,
  regionList,
  STYLE,
  type Offer,
} from './pages.ts';
import { openStore, type Order } from './store.ts';

const { URL: baseUrl, KEY: apiKey, SHOP_URL, SHOP_DB, SHOP_PORT, SMTP_URL, MAIL_FROM } = process.env;
if (baseUrl === undefined || apiKey === undefined)
  throw new Error('Set URL and KEY, as npm start prints them');
const isTest = apiKey.includes('_test_');
const simway = new Simway({ baseUrl, apiKey, deadlineMs: 12_000, attemptMs: 10_000 });
const mailer = SMTP_URL === undefined ? undefined : createTransport(SMTP_URL);
const store = openStore(SHOP_DB ?? 'shop.sqlite');
const orders = createOrders(store, simway, sendMail);
const secret = store.setting('form secret', () => randomBytes(32).toString('base64url'));
let webhookSecret: string | undefined;

const MAX_BODY_BYTES = 4_096;
const MAX_EVENT_BYTES = 65_536;
const CACHE_MS = 60_000;
const MAX_CACHED = 1_000;
const EMAIL = /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]{1,180}\.[^\s@.<>()[\]\\,;:"]{2,}$/;

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Answers of the catalogue, which every visitor reads. */
const cache = new Map<string, { readonly at: number; readonly value: Promise<unknown> }>();
function cached<T>(key: string, load: () => Promise<T>): Promise<T> {
  const hit = cache.get(key);
  if (hit && Date.now() - hit.at < CACHE_MS) return hit.value as Promise<T>;
  if (cache.size >= MAX_CACHED) cache.clear();
  const value = load();
  cache.set(key, { at: Date.now(), value });
  value.catch(() => cache.delete(key));
  return value;
}

const money = (amount: number, currency: string): string => `${currency} ${toNumber(amount).toFixed(2)}`;
const currency = (): Promise<'NGN' | 'USD'> =>
  cached('currency', async () => (await simway.getWalletBalance()).data.currency);

async function offer(packageCode: string): Promise<Offer & { readonly maxPrice: number }> {
  const query = { currency: await currency() };
  const found = await cached(`package ${packageCode}`, () =>
    simway.getPackage({ path: { packageCode }, query }),
  );
  const gigabytes = `${(found.volume / 1024 ** 3).toFixed(found.volume < 1024 ** 3 ? 1 : 0)} GB`;
  const facts = `${gigabytes}, ${found.duration} days, ${found.location}`;
  return {
    packageCode,
    name: found.name,
    facts,
    price: money(found.price, query.currency),
    maxPrice: found.price,
  };
}

async function packagesOf(regionCode: string): Promise<readonly Offer[]> {
  const found = await cached(`region ${regionCode}`, () => simway.listPackages({ query: { regionCode } }));
  return found.flatMap((one) => {
    if (!('packageName' in one)) return [];
    const { packageCode, packageName: name, data, validity, price, currency: inCurrency } = one;
    return [{ packageCode, name, facts: `${data}, ${validity} days`, price: money(price, inCurrency) }];
  });
}

/** A form is good for one order, of the visitor who got it. `id` becomes the order's. */
const sign = (visitor: string, id: string, code: string, maxPrice: string): string =>
  createHmac('sha256', secret).update([visitor, id, code, maxPrice].join('\n')).digest('base64url');

const visitorOf = ({ headers }: IncomingMessage): string =>
  /(?:^|; )visitor=([\w-]{22})(?:;|$)/.exec(headers.cookie ?? '')?.[1] ?? '';

async function showCheckout(request: IncomingMessage, response: ServerResponse, code: string, problem = '') {
  const wanted = await offer(code);
  const visitor = visitorOf(request) || randomBytes(16).toString('base64url');
  const id = randomBytes(16).toString('base64url');
  const token = JSON.stringify([
    id,
    code,
    String(wanted.maxPrice),
    sign(visitor, id, code, String(wanted.maxPrice)),
  ]);
  const isSecure = SHOP_URL?.startsWith('https:') === true ? '; Secure' : '';
  response.setHeader(
    'Set-Cookie',
    `visitor=${visitor}; HttpOnly; SameSite=Lax; Path=/; Max-Age=86400${isSecure}`,
  );
  send(response, problem === '' ? 200 : 400, page(wanted.name, checkout(wanted, token, problem), { isTest }));
}

async function takeOrder(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams((await bodyOf(request, MAX_BODY_BYTES)).toString());
  const [id, code, price] = readToken(form.get('token') ?? '', visitorOf(request));
  const email = (form.get('email') ?? '').trim();
  if (email.length > 254 || !EMAIL.test(email))
    return showCheckout(request, response, code, 'Please type an e-mail address such as ada@example.com.');
  const { name: packageName } = await offer(code);
  const charged = { maxPrice: toNumber(price), currency: await currency() };
  const order = {
    id,
    email,
    packageName,
    packageCode: code,
    price: money(charged.maxPrice, charged.currency),
  };
  if (!orders.add({ ...order, ...charged }))
    throw new Refusal(503, 'Too many open orders. Please come back later.');
  await orders.advance(id);
  response.writeHead(303, { Location: `/orders/${id}` }).end();
}

function readToken(text: string, visitor: string): [id: string, code: string, price: string] {
  try {
    const [id, code, price, mac] = JSON.parse(text) as [string, string, string, string];
    const [given, right] = [Buffer.from(mac), Buffer.from(sign(visitor, id, code, price))];
    if (visitor !== '' && given.length === right.length && timingSafeEqual(given, right))
      return [id, code, price];
  } catch {
    // Not a token of ours.
  }
  throw new Refusal(403, 'This form is not yours, or is a day old. Please open the package again.');
}

async function takeWebhook(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request, MAX_EVENT_BYTES);
  try {
    const { data } = verifyWebhook(body, request.headers, webhookSecret ?? '');
    if ('transactionId' in data) void orders.advancePurchase(data.transactionId);
  } catch {
    throw new Refusal(401, 'Not signed by Simway');
  }
  response.writeHead(204).end();
}

async function route(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const { pathname } = new URL(request.url ?? '/', 'http://shop');
  const [, first = '', second = '', more] = pathname.split('/').map((part) => decodeURIComponent(part));
  const at = more === undefined ? `${request.method ?? ''} /${first}${second === '' ? '' : '/*'}` : '';
  const show = (title: string, body: Parameters<typeof page>[1], refresh = false) =>
    send(response, 200, page(title, body, { isTest, refresh }));
  if (at === 'GET /')
    return show(
      'Where are you going?',
      regionList(await cached('regions', () => simway.listRegions({ query: { type: 1 } }))),
    );
  if (at === 'GET /style.css') return send(response, 200, STYLE, 'text/css; charset=utf-8');
  if (at === 'GET /packages/*') return show('Packages', packageList(await packagesOf(second)));
  if (at === 'GET /buy/*') return showCheckout(request, response, second);
  if (at === 'POST /orders') return takeOrder(request, response);
  if (at === 'POST /webhooks') return takeWebhook(request, response);
  const order = at === 'GET /orders/*' ? store.find(second) : undefined;
  if (!order) throw new Refusal(404, 'There is no such page.');
  return show('Your order', orderState(order), order.status === 'NEW' || order.status === 'OPEN');
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  type = 'text/html; charset=utf-8',
): ServerResponse {
  const own =
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
  const headers = {
    ...{ 'Content-Type': type, 'Content-Security-Policy': own, 'Cache-Control': 'no-store' },
    ...{ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' },
  };
  return response.writeHead(status, headers).end(body);
}

async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Refusal(413, 'This is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function sendMail(order: Order): Promise<void> {
  const isDelivered = order.status === 'DELIVERED';
  const mail = {
    from: MAIL_FROM ?? 'shop@simway.example',
    to: { name: '', address: order.email },
    subject: isDelivered ? 'Your eSIM is ready' : 'Your eSIM order has failed',
    text: `${order.packageName}, ${order.price}\n\n${isDelivered ? `Install it here: ${order.installUrl ?? ''}` : failureOf(order)}\n\nYour order: ${shopUrl}/orders/${order.id}\n`,
    messageId: `<${order.id}@shop.simway.example>`,
  };
  if (mailer) await mailer.sendMail(mail);
  else console.log(`e-mail to ${order.email}: ${mail.subject}\n${mail.text}`);
}

/** Registers the shop's webhook endpoint once. Without one, polling does the work. */
async function registerWebhook(): Promise<void> {
  webhookSecret = store.findSetting(`secret of ${shopUrl}`);
  if (webhookSecret !== undefined) return;
  const make = () =>
    JSON.stringify(intend('createWebhookEndpoint', { body: { url: `${shopUrl}/webhooks` } }));
  const intent = store.setting(`endpoint for ${shopUrl}`, make);
  try {
    const made = await simway.send(JSON.parse(intent) as Intent<CreateWebhookEndpointResponse>);
    webhookSecret = store.setting(`secret of ${shopUrl}`, () => made.secret);
  } catch (error) {
    console.error('no webhooks, so orders are polled:', error instanceof Error ? error.message : error);
  }
}

const server = createServer((request, response) => {
  route(request, response).catch((error: unknown) => {
    const known = isGone(error) ? new Refusal(404, 'There is no such page or package.') : error;
    const isRefusal = known instanceof Refusal;
    const text = isRefusal ? known.message : 'This does not work now. Please try again later.';
    if (!isRefusal) console.error(request.url, error instanceof Error ? error.message : error);
    if (response.headersSent) response.destroy();
    else send(response, isRefusal ? known.status : 502, page(text, html``, { isTest }));
  });
});
/** Also an address that is no address. */
const isGone = (error: unknown): boolean =>
  error instanceof URIError || (error instanceof Error && 'status' in error && error.status === 404);
await new Promise<void>((resolve) => server.listen(Number(SHOP_PORT ?? 4001), '127.0.0.1', resolve));
const shopUrl = SHOP_URL ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
console.log(`The shop is open at ${shopUrl}${isTest ? ' (test)' : ''}`);
void registerWebhook();
for (;;) {
  await orders.advanceDue();
  await new Promise((resolve) => setTimeout(resolve, 500));
}
