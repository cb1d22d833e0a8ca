import { describe, expect, it } from 'vitest';
import {
  keptAnswerHeaders,
  keptRequestHeaders,
  MAX_KEPT_HEADERS,
} from '../../src/webhooks/kept-attempt-rules.ts';

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
