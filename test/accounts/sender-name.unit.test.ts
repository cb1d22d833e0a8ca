// How an account is named in mail to strangers: as itself, or not at all.
import { describe, expect, it } from 'vitest';
import { senderName } from '../../src/accounts/sender-name.ts';

describe('the name of an account in mail to strangers', () => {
  it.each([
    ['Ada & Co. Ltd', 'Ada & Co. Ltd'],
    ['  Blue\r\nSky ', 'Blue Sky'],
    ['St. Mary’s (Lagos), 1984', 'St. Mary’s (Lagos), 1984'],
    ['Ａda Travel', 'Ada Travel'],
    ['شركة السفر', 'شركة السفر'],
    ['Za\u200Bra\u202E', 'Zara'],
  ])('is %s', (name, shown) => expect(senderName(name, 'Simway')).toBe(shown));

  it.each([
    'Simway Security',
    'S i m w a y: your wallet is locked',
    'sign in at https://evil.example/login',
    'evil．com/login',
    'evil。com',
    'evil․com',
    'evil\u200B.com',
    'hxxps evil dot com',
    'www evil',
    'a@evil',
    '203.0.113.5/login',
    '3405803781',
    '٢٠٣٠٠ ١١٣',
    'Call +44 20 7946 0000 now',
    '“quoted” and gone',
    'a'.repeat(61),
    '\u200B',
    '',
  ])('is left out: %s', (name) => expect(senderName(name, 'Simway')).toBeUndefined());
});
