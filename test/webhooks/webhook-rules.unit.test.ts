/**
 * What is kept of attempts, what stored bodies hold in place of a QR address, the e-mail about a disabled
 * endpoint word for word, and cursors of the feed.
 */
import { describe, expect, it } from 'vitest';
import { fillQrCodeUrl, sealedEsimOf, sealedQrCodeUrl } from '../../src/webhooks/event-rules.ts';
import { webhookBody, type WebhookFacts } from '../../src/webhooks/events.ts';
import { CURSOR_CHARACTERS, FEED_START, readCursor, writeCursor } from '../../src/webhooks/feed.ts';
import {
  keptAnswer,
  keptAnswerHeaders,
  keptRequestHeaders,
  MAX_KEPT_HEADERS,
  noticeText,
  type Notice,
} from '../../src/webhooks/rules.ts';

const AT = new Date('2026-03-01T10:00:00.000Z');
const URL_OF_QR = 'https://p.qr.example.com/0f3a.png?a="b"&c=$&';

const bodyWith = (qrCodeUrl: string | null, given: Partial<WebhookFacts['esim.purchased']> = {}): string =>
  webhookBody(
    'esim.purchased',
    {
      ...{ transactionId: 'txn-1', status: 'SUCCESS', esimId: 'esim-1', iccid: '89' },
      ...{ reference: 'order-1', metadata: {}, ...given, qrCodeUrl },
    },
    AT,
  );

describe('a stored body', () => {
  it('is JSON that names its eSIM, and is filled to exactly the body in clear', () => {
    const sealed = bodyWith(sealedQrCodeUrl('esim-1'));
    expect(JSON.parse(sealed)).toMatchObject({ data: { esimId: 'esim-1' } });
    expect(sealedEsimOf(sealed)).toBe('esim-1');
    expect(fillQrCodeUrl(sealed, URL_OF_QR)).toBe(bodyWith(URL_OF_QR));
    expect(fillQrCodeUrl(sealed, '')).toBe(bodyWith(null));
  });

  it.each([
    ['in clear', bodyWith(URL_OF_QR)],
    ['without an address', bodyWith(null)],
    ['that has the mark in another field', bodyWith('', { iccid: sealedQrCodeUrl('esim-2') })],
    [
      'of another event, with a field of a merchant’s making',
      webhookBody(
        'endpoint.disabled',
        {
          endpointId: 'ep-1',
          url: `"qrCodeUrl":"${sealedQrCodeUrl('esim-2')}"`,
          reason: 'GONE',
          messageId: null,
        },
        AT,
      ),
    ],
  ])('does not match a body %s', (_which, body) => {
    expect(sealedEsimOf(body)).toBeUndefined();
    expect(fillQrCodeUrl(body, URL_OF_QR)).toBe(body);
  });
});

describe('an answer', () => {
  const body = bodyWith(URL_OF_QR);

  it.each([
    `got ${body}`,
    JSON.stringify({ url: URL_OF_QR }).replaceAll('/', '\\/'),
    encodeURIComponent(URL_OF_QR),
    'https://p.qr.example.com/0f',
  ])('that repeats the address is not stored: %s', (answer) => {
    expect(keptAnswer(answer, body)).toBe('(left out: it repeats the address of the QR code)');
  });

  it.each(['', 'ok', 'https://example.com/', body.slice(0, 40)])(
    'with other text is stored: %s',
    (answer) => {
      expect(keptAnswer(answer, body)).toBe(answer);
    },
  );

  it.each([bodyWith(null), bodyWith(sealedQrCodeUrl('esim-1')), bodyWith('no address'), '{}'])(
    'to a body without an address is stored: %s',
    (without) => {
      expect(keptAnswer('p.qr.example.com', without)).toBe('p.qr.example.com');
    },
  );
});

const BODY = '{"event":"esim.purchased","data":{}}';

describe('headers of an answer', () => {
  it.each([
    'set-cookie',
    'set-cookie2',
    'authorization',
    'proxy-authorization',
    'www-authenticate',
    'x-auth-token',
    'x-api-key',
    'x-client-secret',
  ])('%s is hidden', (name) => {
    expect(keptAnswerHeaders([{ name, value: 'very-secret' }], BODY)).toEqual([{ name, value: '(hidden)' }]);
  });

  it('that are not secret stay, in their order, long ones cut', () => {
    const kept = keptAnswerHeaders(
      [
        { name: 'server', value: 'nginx' },
        { name: 'x-long', value: 'a'.repeat(201) },
        { name: 'x-fits', value: 'b'.repeat(200) },
        { name: 'n'.repeat(65), value: '' },
      ],
      BODY,
    );
    expect(kept).toEqual([
      { name: 'server', value: 'nginx' },
      { name: 'x-long', value: `${'a'.repeat(199)}…` },
      { name: 'x-fits', value: 'b'.repeat(200) },
      { name: `${'n'.repeat(63)}…`, value: '' },
    ]);
  });

  it('are at most twenty, and two thousand characters in total', () => {
    const many = Array.from({ length: 50 }, (_, index) => ({ name: `x-${index}`, value: '1' }));
    expect(keptAnswerHeaders(many, BODY)).toEqual(many.slice(0, MAX_KEPT_HEADERS));
    const long = Array.from({ length: 15 }, (_, index) => ({ name: `x-${index}`, value: 'v'.repeat(196) }));
    const kept = keptAnswerHeaders(long, BODY);
    expect(kept).toEqual(long.slice(0, 10));
  });

  it('never contain the address of the QR code, nor characters that Postgres refuses', () => {
    const body = '{"data":{"qrCodeUrl":"https://p.qr.example.com/x.png"}}';
    const [location, odd] = keptAnswerHeaders(
      [
        { name: 'location', value: 'https://p.qr.example.com/x.png' },
        { name: 'x-odd', value: 'a\0b\ud800' },
      ],
      body,
    );
    expect(location?.value).not.toContain('qr.example.com');
    expect(odd?.value).toBe('a\ufffdb\ufffd');
  });
});

it('only the beginning of each signature is stored', () => {
  const kept = keptRequestHeaders([
    { name: 'webhook-id', value: 'evt-1' },
    { name: 'webhook-signature', value: 'v1,K5oZfzN95Z9UVu1EsfQ= v1,abcdefghijklmnop=' },
  ]);
  expect(kept).toEqual([
    { name: 'webhook-id', value: 'evt-1' },
    { name: 'webhook-signature', value: 'v1,K5oZfzN9… v1,abcdefgh…' },
  ]);
});

describe('endpoint-disabled', () => {
  const failing: Extract<Notice, { kind: 'endpoint-disabled' }>['facts'] = {
    endpointId: 'ep-1',
    host: 'm.example',
    reason: 'FAILING',
    failingSince: '2026-11-16T09:00:00.000Z',
    disabledAt: '2026-11-21T09:00:00.000Z',
  };

  it('for a failing endpoint says since when, what is kept, and how to get it', () => {
    expect(noticeText({ kind: 'endpoint-disabled', facts: failing }, 'live')).toEqual({
      subject: 'Webhook endpoint disabled: m.example (live)',
      text: `We have stopped sending webhooks to one of your endpoints.

Endpoint:    ep-1
Host:        m.example
Environment: live
Disabled:    2026-11-21T09:00:00.000Z
Why:         FAILING. Every message to it has failed since 2026-11-16T09:00:00.000Z.

New events are stored for it, so that nothing is lost: they can be sent later.

Once your receiver works again, with your API key:

1. PATCH /api/webhooks/endpoints/ep-1 with {"enabled": true}
2. POST /api/webhooks/endpoints/ep-1/recover with {"from": "2026-11-16T09:00:00.000Z"}, at most 14 days back

GET /api/webhooks/messages?endpointId=ep-1 lists what was sent there, with every attempt and its answer.
`,
    });
  });

  it('for an endpoint that is gone says that nothing is kept from now on', () => {
    const facts = { ...failing, reason: 'GONE', failingSince: null } as const;
    const { subject, text } = noticeText({ kind: 'endpoint-disabled', facts }, 'test');
    expect(subject).toBe('Webhook endpoint disabled: m.example (test)');
    expect(text).toContain(
      '\nWhy:         GONE. It answered 410 Gone, which asks us to send nothing more.\n',
    );
    expect(text).toContain(
      '\nEvents from now on are not kept for it; GET /api/events has those of the last 30 days. What had failed before can be sent again.\n',
    );
    expect(text).toContain('recover with {"from": "2026-11-21T09:00:00.000Z"}');
  });

  it('for an unknown first failure counts from the time of disabling', () => {
    const facts = { ...failing, failingSince: null };
    const { text } = noticeText({ kind: 'endpoint-disabled', facts }, 'live');
    expect(text).toContain('Every message to it has failed since 2026-11-21T09:00:00.000Z.');
  });
});

it('endpoint-failing says since when, what happens next, and how to get what was missed', () => {
  const facts = { endpointId: 'ep-1', host: 'm.example', failingSince: '2026-11-21T09:00:00.000Z' };
  const { subject, text } = noticeText({ kind: 'endpoint-failing', facts }, 'live');
  expect(subject).toBe('Webhook endpoint fails: m.example (live)');
  for (const said of [
    'Failing:     since 2026-11-21T09:00:00.000Z',
    'After five days without a success we disable it.',
    'POST /api/webhooks/endpoints/ep-1/recover with {"from": "2026-11-21T09:00:00.000Z"}',
  ])
    expect(text).toContain(said);
});

const OWNER = 'test:acc-1';
const POSITIONS = [
  FEED_START,
  { position: 1n, seq: 0n },
  { position: 4_821_377n, seq: 90_112n },
  { position: 2n ** 62n, seq: 2n ** 63n - 1n },
];

describe('a cursor', () => {
  it.each(POSITIONS)('is read back unchanged: $position, $seq', (position) => {
    const cursor = writeCursor(position, OWNER);
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(cursor).toHaveLength(CURSOR_CHARACTERS);
    expect(readCursor(cursor, OWNER)).toEqual(position);
  });

  it('is invalid with another character at any place', () => {
    const cursor = writeCursor({ position: 4_821_377n, seq: 90_112n }, OWNER);
    for (let index = 0; index < cursor.length; index += 1) {
      const other = cursor[index] === 'A' ? 'B' : 'A';
      expect(readCursor(cursor.slice(0, index) + other + cursor.slice(index + 1), OWNER)).toBeUndefined();
    }
  });

  it('is invalid for another account or environment', () => {
    const cursor = writeCursor({ position: 7n, seq: 1n }, OWNER);
    expect(readCursor(cursor, 'test:acc-2')).toBeUndefined();
    expect(readCursor(cursor, 'live:acc-1')).toBeUndefined();
  });
});
