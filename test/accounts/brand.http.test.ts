// How a shop looks to its travellers: what may be set, what is refused, and that a refusal changes nothing.
import { beforeEach, describe, expect, it } from 'vitest';
import { contrastOf, textOn } from '../../src/domain/brand.ts';
import { MAX_LOGO_BYTES, pictureOf } from '../../src/accounts/logo-rules.ts';
import { startApi, type Reply } from '../support/http/api.ts';
import { openUsers, sessionCookie } from '../support/http/users.ts';
import { JPEG, PNG, pngOf, WEBP } from '../support/people/pictures.ts';
import { createRandom, seedOfRun } from '../support/time/size.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
const users = openUsers(books);
const api = await forFile(startApi({ users: users.useCases }));

const ask = (method: string, path = '', body?: unknown): Promise<Reply> =>
  api.ask(`/account/brand${path}`, {
    ...{ method, body },
    headers: {
      ...{ cookie: sessionCookie(), 'sec-fetch-site': 'same-origin' },
      ...{ 'simway-account': users.accountId, 'simway-environment': 'test' },
    },
  });
const dataOf = ({ json }: Reply): unknown => (json as { data: unknown }).data;
const putLogo = (bytes: Buffer) => ask('PUT', '/logo', { image: bytes.toString('base64') });

beforeEach(async () => {
  await users.reset();
  api.limiter.counts.clear();
  await books.owner.deleteFrom('brands').execute();
});

const LOOK = {
  shopName: 'Atlas Travel',
  accentColor: '#FFCC00',
  supportEmail: 'help@atlas.example',
  supportUrl: 'https://atlas.example/help',
  supportPhone: '+44 20 7946 0018',
  autoTopUp: { priceText: '€4.50 for each top-up', maxTopUps: 5 },
};

/** How a file of each format begins, and the longest side that its header can name. */
const FORMATS = {
  'image/png': { signature: PNG.subarray(0, 8), largest: 0xffff_ffff },
  'image/jpeg': { signature: JPEG.subarray(0, 3), largest: 0xffff },
  'image/webp': { signature: WEBP.subarray(0, 4), largest: 0x100_0000 },
};

describe('the look of a shop', () => {
  it('is what was set last, as a whole, with a readable text on its colour', async () => {
    const nothing = await ask('GET');
    expect(dataOf(nothing)).toMatchObject({ shopName: null, logoPath: null, autoTopUp: null });
    const set = await ask('PUT', '', LOOK);
    expect(set.status, set.text).toBe(200);
    expect(dataOf(set)).toEqual({
      ...{ ...LOOK, accentColor: '#ffcc00' },
      ...{ textOnAccent: '#000000', logoPath: null },
    });
    expect(dataOf(await ask('GET'))).toEqual(dataOf(set));
    const { shopName } = LOOK;
    expect(dataOf(await ask('PUT', '', { shopName }))).toMatchObject({ shopName, supportEmail: null });
    const audit = await books.accounts
      .selectFrom('audit_log')
      .select('action')
      .where('action', '=', 'brand.change')
      .execute();
    expect(audit.length).toBeGreaterThanOrEqual(2);
  });

  it.each([
    ['accentColor', 'red'],
    ['accentColor', '#12345'],
    ['accentColor', '#000000;}body{display:none'],
    ['shopName', 'x'.repeat(61)],
    ['shopName', 'Atlas\u202eTravel'],
    ['supportEmail', 'nobody'],
    ['supportUrl', 'http://atlas.example'],
    ['supportUrl', 'javascript:alert(1)'],
    ['supportUrl', 'https://user@atlas.example'],
    ['supportUrl', 'https:/dashboard/x'],
    ['supportUrl', 'https:\\\\atlas.example'],
    ['supportUrl', 'https://atlas.example/\u202egpj'],
    ['supportPhone', '020 7946 0018'],
    ['supportPhone', '+44<script>'],
    ['autoTopUp', { priceText: 'free', maxTopUps: 21 }],
    ['autoTopUp', { maxTopUps: 1 }],
  ])('is not changed by a %s of %j', async (field, value) => {
    await ask('PUT', '', LOOK);
    const before = dataOf(await ask('GET'));
    const refused = await ask('PUT', '', { ...LOOK, shopName: 'Another', [field]: value });
    expect([refused.status, (refused.json as { error: { code: string } }).error.code]).toEqual([
      400,
      'VALIDATION_ERROR',
    ]);
    expect(dataOf(await ask('GET'))).toEqual(before);
  });
});

describe('a logo', () => {
  it.each([
    ['image/png', PNG],
    ['image/jpeg', JPEG],
    ['image/webp', WEBP],
  ])('of type %s is kept beside the look, served by its hash, and removed', async (type, bytes) => {
    await ask('PUT', '', LOOK);
    const { logoPath } = dataOf(await putLogo(bytes)) as {
      logoPath: string;
    };
    expect(pictureOf(bytes)?.type).toBe(type);
    expect(dataOf(await ask('PUT', '', LOOK))).toMatchObject({ logoPath });
    const stored = await books.owner.selectFrom('brands').selectAll().executeTakeFirstOrThrow();
    expect([stored.logo_type, stored.logo_bytes, logoPath]).toEqual([
      type,
      bytes,
      `/i/logos/${stored.logo_hash ?? ''}`,
    ]);
    expect(dataOf(await ask('DELETE', '/logo'))).toMatchObject({ logoPath: null });
  });

  it.each([
    ['a text', Buffer.from('not a picture')],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['a GIF', Buffer.from('GIF89a\u0001\0\u0001\0\0\0\0')],
    ['a page that begins like a PNG', Buffer.concat([PNG.subarray(0, 8), Buffer.from('<html><script>')])],
    ['a JPEG that ends too early', JPEG.subarray(0, 12)],
    ['a PNG of 1025 pixels', pngOf(1025, 10)],
    ['a PNG without pixels', pngOf(0, 10)],
    ['129 KB', Buffer.concat([PNG, Buffer.alloc(MAX_LOGO_BYTES)])],
  ])('is refused, and nothing changes, where it is %s', async (_what, bytes) => {
    await putLogo(PNG);
    const before = dataOf(await ask('GET'));
    const refused = await putLogo(bytes);
    expect(refused.status, refused.text).toBe(400);
    const problem = { field: 'image', problem: expect.stringMatching(/^must be /) as string };
    expect(refused.json).toMatchObject({ error: { code: 'VALIDATION_ERROR', fields: [problem] } });
    expect(dataOf(await ask('GET'))).toEqual(before);
  });

  it('is refused where the body is no base64, is missing, or is too large', async () => {
    for (const image of [undefined, '', '!!!', 'a'.repeat(200_000)]) {
      const { status } = await ask('PUT', '/logo', { image });
      expect([400, 413]).toContain(status);
    }
    expect(await books.owner.selectFrom('brands').selectAll().execute()).toEqual([]);
  });

  it('is read without a crash, whatever bytes it has', () => {
    const random = createRandom(seedOfRun());
    for (let round = 0; round < 3_000; round += 1) {
      const whole = random.pick([PNG, JPEG, WEBP]);
      const bytes = Buffer.from(whole.subarray(0, random.below(whole.length + 1)));
      for (let flips = random.below(4); flips > 0 && bytes.length > 0; flips -= 1)
        bytes[random.below(bytes.length)] = random.below(256);
      const picture = pictureOf(bytes);
      if (picture === undefined) continue;
      const { signature, largest } = FORMATS[picture.type];
      expect(bytes.subarray(0, signature.length).equals(signature)).toBe(true);
      for (const side of [picture.width, picture.height]) {
        expect(Number.isInteger(side)).toBe(true);
        expect(side).toBeGreaterThanOrEqual(0);
        expect(side).toBeLessThanOrEqual(largest);
      }
    }
  });
});

it('has a text of at least 4.5:1 on every colour', () => {
  for (let red = 0; red < 256; red += 15)
    for (let green = 0; green < 256; green += 15)
      for (let blue = 0; blue < 256; blue += 15) {
        const color = `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
        expect(contrastOf(color, textOn(color)), color).toBeGreaterThanOrEqual(4.5);
      }
});
