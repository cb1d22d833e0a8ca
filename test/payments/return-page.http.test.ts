// The page after a hosted checkout, as bytes: its text, what it may load, and the answer to invalid
// references.
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FAILURE_REASONS } from '../../src/domain/refusals.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { startApi, type TestApi, type Reply } from '../support/http/api.ts';
import { generalError } from '../support/http/error-bodies.ts';
import type { PaymentStatusView } from '../../src/payments/views.ts';
import { html } from '../../src/platform/http/html.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi({ live: true });
});
afterEach(() => api.close());

const REFERENCE = `txn-${'a'.repeat(32)}`;

/**
 * Each status is set directly, since a real payment takes minutes to reach it; the last test uses a real one.
 */
function stands({
  environment = 'live',
  ...changes
}: Partial<PaymentStatusView> & { readonly environment?: 'test' | 'live' } = {}): void {
  const status: PaymentStatusView = {
    reference: REFERENCE,
    purpose: 'purchase',
    status: 'PENDING',
    reason: null,
    packageName: 'Nigeria 5GB 30Days',
    charge: { amountMinor: 1_917_812n, currency: 'NGN' },
    receivedMinor: 0n,
    ...changes,
  };
  api.shop.replace(environment, 'findPaymentStatus', (reference) =>
    Promise.resolve(reference === REFERENCE ? status : undefined),
  );
}

const open = (query = `reference=${REFERENCE}&trxref=${REFERENCE}`): Promise<Reply> =>
  api.ask(`/pay/return?${query}`);
const titleOf = (reply: Reply): string | undefined => /<h1>([^<]*)<\/h1>/.exec(reply.text)?.[1];

describe('the text of the page', () => {
  test.each([
    [{ status: 'PENDING' }, 'Checking your payment'],
    [{ status: 'PROCESSING' }, 'Paid. Preparing your eSIM'],
    [{ status: 'SUCCESS' }, 'Done. Your eSIM is ready'],
    [{ status: 'FAILED', reason: 'PAYMENT_EXPIRED' }, 'Not completed'],
    [{ status: 'PENDING', purpose: 'funding', packageName: null }, 'Checking your payment'],
    [{ status: 'SUCCESS', purpose: 'funding', packageName: null }, 'Done. The money is in your wallet'],
  ] as const)('%o: %s', async (view, title) => {
    stands(view);
    const reply = await open();
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(titleOf(reply)).toBe(title);
    expect(reply.text).toContain(`<title>${title}</title>`);
    expect(reply.text).toContain('<dt>Amount</dt>');
    expect(reply.text).toContain('19,178.12 NGN');
    expect(reply.text).toContain(REFERENCE);
    expect(reply.text.includes('Nigeria 5GB 30Days')).toBe(!('packageName' in view));
  });

  test.each([
    ['less', { status: 'FAILED', reason: 'PAYMENT_UNDERPAID' }, 1_534_250n, '15,342.50 NGN'],
    ['more', { status: 'SUCCESS', purpose: 'funding', packageName: null }, 123_456_789n, '1,234,567.89 NGN'],
  ] as const)(
    'says what was asked for and what came where that is %s',
    async (_how, view, receivedMinor, paid) => {
      stands({ ...view, receivedMinor });
      const { text } = await open();
      const facts = [...text.matchAll(/<d[td]>([^<]*)<\/d[td]>/g)].map(([, words]) => words);
      expect(facts.slice(-6)).toEqual(['Asked for', '19,178.12 NGN', 'Paid', paid, 'Reference', REFERENCE]);
    },
  );

  test.each([
    [{ status: 'PENDING' }, 'Go back to Travel &amp; Co without paying'],
    [{ status: 'PROCESSING' }, 'Back to Travel &amp; Co'],
    [{ status: 'SUCCESS' }, 'Back to Travel &amp; Co'],
    [{ status: 'FAILED', reason: 'PAYMENT_EXPIRED' }, 'Back to Travel &amp; Co'],
  ] as const)('names the shop and leads back to it: %o', async (view, words) => {
    stands({ ...view, shop: 'Travel & Co', backUrl: 'https://shop.example/?a=1&b="2"' });
    const { text } = await open();
    expect(text).toMatch(/<dt>Shop<\/dt>\s*<dd>Travel &amp; Co<\/dd>/);
    expect(text).toContain(`<a href="https://shop.example/?a=1&amp;b=&quot;2&quot;">${words}</a>`);
    stands({ ...view, shop: 'Travel & Co' });
    expect((await open()).text).not.toContain('<a ');
  });

  test('offers to install the eSIM where that is known', async () => {
    stands({ status: 'SUCCESS', installUrl: 'https://shop.example/i/abc' });
    expect((await open()).text).toContain(
      '<a class="first" href="https://shop.example/i/abc">Install your eSIM</a>',
    );
  });

  test('says one amount where exactly that came', async () => {
    stands({ status: 'SUCCESS', receivedMinor: 1_917_812n });
    expect((await open()).text).not.toContain('<dt>Paid</dt>');
  });

  test('polls, by script or by reloading, while the payment is moving, and not when it is settled', async () => {
    for (const status of ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'] as const) {
      stands({ status });
      const { text } = await open();
      const isMoving = status === 'PENDING' || status === 'PROCESSING';
      expect(/<noscript><meta http-equiv="refresh" content="5" ?\/?><\/noscript>/.test(text)).toBe(isMoving);
      expect(text.includes(`data-ask="/pay/status?reference=${REFERENCE}"`)).toBe(isMoving);
      expect(text.includes('<script>')).toBe(isMoving);
      expect(text).toContain(`data-status="${status}"`);
    }
  });

  test.each([...Object.keys(FAILURE_REASONS), 'NEVER_HEARD_OF', 'constructor', null])(
    'has every reason in plain words: %s',
    async (reason) => {
      stands({ status: 'FAILED', reason });
      const { text } = await open();
      const words = /<p>([^<]+)<\/p>/.exec(text)?.[1] ?? '';
      expect(words).toMatch(/^[A-Z][^_]{20,}\.$/);
      if (reason !== null) expect(text).not.toContain(reason);
    },
  );

  test('has names from outside as text, never as markup', async () => {
    stands({ packageName: `<img src=x onerror="alert(1)">&'` });
    const { text } = await open();
    expect(text).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;&#39;');
    expect(text).not.toContain('<img');
  });
});

describe('the payment of the page', () => {
  test.each(['live', 'test'] as const)('is found in %s, without a key', async (environment) => {
    stands({ environment });
    expect((await open()).status).toBe(200);
    const asked = environment === 'live' ? 1 : 2;
    expect(api.shop.calls).toEqual(Array.from({ length: asked }, () => 'findPaymentStatus'));
  });

  test('is found in a key’s own environment only, with that key', async () => {
    stands({ environment: 'live' });
    expect((await api.ask(`/pay/status?reference=${REFERENCE}`, { key: 'ngn' })).status).toBe(404);
    expect((await api.ask(`/pay/status?reference=${REFERENCE}`, { key: 'live/ngn' })).status).toBe(200);
  });

  test.each([`reference=${REFERENCE}`, `trxref=${REFERENCE}`, `reference=${REFERENCE}&trxref=x&color=red`])(
    'is found by %s',
    async (query) => {
      stands();
      expect((await open(query)).status).toBe(200);
    },
  );

  test.each([
    '',
    'reference=',
    `reference=txn-${'b'.repeat(32)}`,
    'reference=<script>alert(1)</script>',
    'reference=%3Cscript%3Ealert(1)%3C%2Fscript%3E',
    'reference=%22%20onload%3Dalert(1)',
    'reference=%00',
    'reference=%E0%A4%A',
    'reference=%ED%A0%80',
    `reference=${'a'.repeat(9_000)}`,
    `reference=${REFERENCE}&reference=${REFERENCE}`,
    `reference[]=${REFERENCE}`,
    Array.from({ length: 60 }, (_, index) => `p${index}=1`).join('&'),
  ])('that is unknown gets a friendly 404 page that repeats nothing (%s)', async (query) => {
    stands();
    const reply = await open(query);
    expect([reply.status, reply.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(titleOf(reply)).toBe('We do not know this payment');
    expect(reply.text).not.toMatch(/alert|<script|onload|txn-/);
    expect(api.logLines.some((line) => line.includes('"level":"error"'))).toBe(false);
  });

  test('has a page during an outage as well, with the headers of the refusal', async () => {
    stands();
    api.shop.failNext = new Error('secret plan');
    const broken = await open();
    expect([broken.status, titleOf(broken)]).toEqual([500, 'Not available right now']);
    expect(broken.text).not.toContain('secret plan');
    api.shop.failNext = new DomainError('SERVICE_UNAVAILABLE', 'words');
    const away = await open();
    expect([away.status, away.headers['retry-after']]).toEqual([503, '5']);
    const limited = await startApi({ settings: { publicRequestsPerMinute: 1 } });
    try {
      await limited.ask('/pay/return');
      const reply = await limited.ask('/pay/return');
      expect([reply.status, titleOf(reply)]).toEqual([429, 'A moment, please']);
      expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    } finally {
      await limited.close();
    }
  });
});

test('the page’s policy allows its own style and script by their hashes, and nothing else', async () => {
  stands();
  const { text, headers } = await open();
  const policy = String(headers['content-security-policy']);
  for (const name of ['style', 'script']) {
    const [, content = ''] = new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(text) ?? [];
    const hash = createHash('sha256').update(content).digest('base64');
    expect(policy).toContain(`${name}-src 'sha256-${hash}';`);
  }
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/https?:|\*|unsafe/);
  expect(policy.match(/[\w-]+(?= 'self')/g)).toEqual(expect.arrayContaining(['img-src', 'connect-src']));
  expect(policy.match(/'self'/g)).toHaveLength(2);
  expect(text).not.toMatch(/\son\w+=|\sstyle=|src=|https?:/);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
});

describe('the status for the script', () => {
  test('is JSON with the harmless fields only', async () => {
    stands({ status: 'FAILED', reason: 'PAYMENT_UNDERPAID' });
    const reply = await api.ask(`/pay/status?reference=${REFERENCE}`);
    expect([reply.status, reply.json]).toEqual([
      200,
      {
        reference: REFERENCE,
        purpose: 'purchase',
        status: 'FAILED',
        reason: 'PAYMENT_UNDERPAID',
        packageName: 'Nigeria 5GB 30Days',
        amount: 19178.12,
        received: 0,
        currency: 'NGN',
      },
    ]);
    expect(reply.headers['cache-control']).toBe('no-store');
  });

  test.each(['', 'reference=x', `reference=txn-${'b'.repeat(32)}`])(
    'is 404 for an unknown reference (%s)',
    async (query) => {
      const reply = await api.ask(`/pay/status?${query}`);
      expect([reply.status, reply.json]).toEqual([
        404,
        generalError(404, 'TRANSACTION_NOT_FOUND', 'Transaction not found'),
      ]);
    },
  );

  test('is 400 for a repeated parameter', async () => {
    const reply = await api.ask('/pay/status?reference=a&reference=b');
    expect([reply.status, reply.json]).toEqual([
      400,
      generalError(400, 'VALIDATION_ERROR', 'reference: must be given once'),
    ]);
  });
});

test('the page is found for a payment that a purchase opened', async () => {
  const body = { packageCode: 'NG-5GB-30D', packageType: 'BASE', paymentMethod: 'CARD' };
  const bought = await api.ask('/api/esim/buy', { key: 'ngn', body });
  const { gatewayReference } = bought.json as { gatewayReference: string };
  const reply = await open(`reference=${gatewayReference}`);
  expect([reply.status, titleOf(reply)]).toEqual([200, 'Checking your payment']);
  expect(reply.text).toContain('19,178.13 NGN');
  expect((await api.ask(`/pay/status?reference=${gatewayReference}`)).json).toMatchObject({
    reference: gatewayReference,
    status: 'PENDING',
    packageName: 'Nigeria 5GB 30Days',
  });
});

test('templates escape every value, once', () => {
  const inner = html`<b>${'<&>'}</b>`;
  expect(html`<p title="${`"'`}">${inner}</p>`.markup).toBe(
    '<p title="&quot;&#39;"><b>&lt;&amp;&gt;</b></p>',
  );
});
