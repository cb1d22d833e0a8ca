/**
 * Stored bodies whose QR address is encrypted with its eSIM: valid JSON at rest, complete when sent; and
 * answers that would store the address.
 */
import { describe, expect, it } from 'vitest';
import { fillQrCodeUrl, sealedEsimOf, sealedQrCodeUrl } from '../../src/webhooks/event-rules.ts';
import { webhookBody, type WebhookFacts } from '../../src/webhooks/events.ts';
import { keptAnswer } from '../../src/webhooks/rules.ts';

const AT = new Date('2026-03-01T10:00:00.000Z');
const URL_OF_QR = 'https://p.qr.example.com/0f3a.png?a="b"&c=$&';

const bodyWith = (qrCodeUrl: string | null, given: Partial<WebhookFacts['esim.purchased']> = {}): string =>
  webhookBody(
    'esim.purchased',
    { transactionId: 'txn-1', status: 'SUCCESS', esimId: 'esim-1', iccid: '89', ...given, qrCodeUrl },
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
        { endpointId: 'ep-1', url: `"qrCodeUrl":"${sealedQrCodeUrl('esim-2')}"`, reason: 'GONE' },
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
