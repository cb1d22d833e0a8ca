// Automatic top-ups over HTTP: agreed to by the API for a traveller, and on the install page by who holds its
// link; and how the page looks with the shop's brand.
import { randomUUID } from 'node:crypto';
import { sql, type Insertable, type Updateable } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LANGUAGES, TEXTS } from '../../src/esims/install-texts/languages.ts';
import { lockMandates } from '../../src/esims/store/mandates.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import { startApi, type Ask, type Reply } from '../support/http/api.ts';
import { until } from '../support/time/until.ts';
import { PNG } from '../support/people/pictures.ts';
import { forFile } from '../support/world/for-file.ts';

const api = await forFile(startApi({ live: true }));
beforeAll(async () => {
  await api.shop.setBalance(10_000_000_000n);
});
beforeEach(async () => {
  await api.shop.owner.deleteFrom('brands').execute();
  api.limiter.counts.clear();
});

const BASE = { packageCode: 'NG-5GB-30D', packageType: 'BASE', paymentMethod: 'WALLET' };
const IN_A_WEEK = new Date(Date.now() + 7 * 86_400_000).toISOString();
const TERMS = { limit: 30_000, currency: 'NGN', expiresAt: IN_A_WEEK };

async function esim(changes: Updateable<WorldDatabase['esims']> = {}): Promise<string> {
  const { json, text } = await api.ask('/api/esim/buy', { key: 'ngn', body: BASE });
  const details = (json as { esimDetails?: { esimId: string } }).esimDetails;
  if (!details) throw new Error(text);
  const id = api.idOf(details.esimId);
  await api.shop.owner
    .updateTable('esims')
    .set({ status: 'ACTIVE', smdp_status: 'ENABLED', ...changes })
    .where('id', '=', id)
    .execute();
  return id;
}

const mandate = (id: string, ask: Ask = {}) => api.ask(`/api/esim/${id}/mandate`, { key: 'ngn', ...ask });
const put = (id: string, body: object, ask: Ask = {}) => mandate(id, { method: 'PUT', body, ...ask });
const dataOf = ({ json, text }: Reply): Record<string, unknown> => {
  const { data } = json as { data?: Record<string, unknown> };
  if (!data) throw new Error(text);
  return data;
};
const codeOf = ({ status, json }: Reply) => [status, (json as { error: { code: string } }).error.code];

describe('a mandate by the API', () => {
  it('is given, read, given again and ended', async () => {
    const id = await esim();
    expect(codeOf(await mandate(id, { example: 'none' }))).toEqual([404, 'NOT_FOUND']);
    const given = dataOf(await put(id, { ...TERMS, maxTopUps: 3 }, { example: 'three top-ups' }));
    expect(given).toMatchObject({
      ...{ state: 'ACTIVE', agreedBy: 'MERCHANT', endReason: null },
      ...{ limit: 30_000, spent: 0, currency: 'NGN', maxTopUps: 3, topUps: 0, expiresAt: IN_A_WEEK },
      ...{ packageCode: 'TOPUP_NG-1GB-7D', thresholdVolume: Math.floor(1024 ** 3 / 5) },
    });
    // The same again is the same.
    expect(dataOf(await put(id, { ...TERMS, maxTopUps: 3 }))).toEqual(given);
    expect(dataOf(await mandate(id, { example: 'active' }))).toEqual(given);
    const other = dataOf(await put(id, { ...TERMS, thresholdVolume: 5, packageCode: 'NG-1GB-7D' }));
    expect(other).toMatchObject({ state: 'ACTIVE', maxTopUps: null, thresholdVolume: 5 });
    expect(other['mandateId']).not.toBe(given['mandateId']);
    const slip = await put(id, { ...TERMS, thresholdVolume: 1024 ** 3 + 1 });
    expect(codeOf(slip)).toEqual([400, 'VALIDATION_ERROR']);
    const ended = () => mandate(id, { method: 'DELETE', example: 'ended' });
    expect([(await ended()).status, (await ended()).status]).toEqual([200, 200]);
    expect(dataOf(await mandate(id, { example: 'after its end' }))).toMatchObject({
      ...{ mandateId: other['mandateId'], state: 'ENDED', endReason: 'ENDED_BY_MERCHANT' },
    });
  });

  it.each([
    ['INSUFFICIENT_BALANCE', 'INSUFFICIENT_BALANCE'],
    ['OUT_OF_STOCK', 'PACKAGE_UNAVAILABLE'],
  ])('says when a top-up was last tried, and that %s left it without', async (refusal, shown) => {
    const id = await esim();
    await put(id, TERMS);
    const triedAt = new Date(1_700_000_000_000);
    await api.shop.owner
      .updateTable('top_up_mandates')
      .set({ tried_at: triedAt, refusal })
      .where('esim_id', '=', id)
      .execute();
    const expected = { triedAt: triedAt.toISOString(), refusal: shown };
    expect(dataOf(await mandate(id))).toMatchObject(expected);
    expect(dataOf(await put(id, TERMS))).toMatchObject(expected);
  });

  it('that has expired is shown as ended', async () => {
    const id = await esim();
    await put(id, TERMS);
    await api.shop.owner
      .updateTable('top_up_mandates')
      .set({ expires_at: new Date(0) })
      .where('esim_id', '=', id)
      .execute();
    expect(dataOf(await mandate(id))).toMatchObject({ state: 'ENDED', endReason: 'EXPIRED' });
  });

  it.each([
    [{ limit: 0 }, 400, 'VALIDATION_ERROR'],
    [{ limit: undefined }, 400, 'VALIDATION_ERROR'],
    [{ currency: 'USD' }, 400, 'CURRENCY_MISMATCH'],
    [{ maxTopUps: 0 }, 400, 'VALIDATION_ERROR'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 400, 'VALIDATION_ERROR'],
    [{ expiresAt: '2999-01-01T00:00:00Z' }, 400, 'VALIDATION_ERROR'],
    [{ packageCode: 'TOPUP_OF_ANOTHER' }, 400, 'INVALID_TOPUP'],
  ])('with %j is refused, and nothing is agreed', async (changes, status, code) => {
    const id = await esim();
    expect(codeOf(await put(id, { ...TERMS, ...changes }))).toEqual([status, code]);
    expect((await mandate(id)).status).toBe(404);
  });

  it('is refused for an eSIM that has ended, and for another account', async () => {
    expect(
      codeOf(await put(await esim({ status: 'EXPIRED' }), TERMS, { example: 'an eSIM that has ended' })),
    ).toEqual([400, 'INVALID_TOPUP']);
    expect(codeOf(await put(await esim({ replaced_by: 'esim-new' }), TERMS))).toEqual([400, 'INVALID_TOPUP']);
    const id = await esim();
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect(
        (await mandate(id, { key: 'usd', method, body: method === 'PUT' ? TERMS : undefined })).status,
      ).toBe(403);
  });
});

const accountOf = async (id: string): Promise<string> =>
  (
    await api.shop.owner
      .selectFrom('esims')
      .select('account_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).account_id;

async function brand(id: string, changes: Partial<Insertable<WorldDatabase['brands']>> = {}): Promise<void> {
  const row = { account_id: await accountOf(id), changed_at: new Date(), changed_by: 'ada', ...changes };
  await api.shop.owner
    .insertInto('brands')
    .values(row)
    .onConflict((on) => on.column('account_id').doUpdateSet(row))
    .execute();
}
const OFFER = { auto_top_up_price_text: '€4.50 <each>', auto_top_up_max: 3 };

async function pathOf(id: string): Promise<string> {
  const { json } = await api.ask(`/api/esim/${id}/install`, { key: 'ngn' });
  return new URL((json as { installUrl: string }).installUrl).pathname;
}
const page = async (id: string, query = ''): Promise<Reply> => api.ask(`${await pathOf(id)}${query}`);
const FORM = {
  'content-type': 'application/x-www-form-urlencoded',
  'sec-fetch-site': 'same-origin',
  origin: 'null',
};
const send = async (id: string, form: string, headers: Record<string, string> = FORM): Promise<Reply> =>
  api.ask(`${await pathOf(id)}/top-ups?lang=fr`, { method: 'POST', rawBody: form, headers });
/** Transactions that wait for another's turn. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from pg_locks join pg_database on oid = database
     where locktype = 'advisory' and not granted and datname = current_database()`.execute(api.shop.owner);
  return rows[0]?.count ?? 0;
}
const AGREE = 'do=agree&topUps=2&days=30';
const state = ({ text }: Reply) => /data-top-ups="(\w+)"/.exec(text)?.[1];

describe('automatic top-ups on the install page', () => {
  it('are offered where the shop does, agreed to within its limit, and turned off', async () => {
    const id = await esim();
    expect(state(await page(id))).toBeUndefined();
    expect((await send(id, AGREE)).status).toBe(400);
    await brand(id, OFFER);
    const offered = await page(id);
    expect(state(offered)).toBe('offered');
    expect(offered.text).toContain('€4.50 &lt;each&gt;');
    expect(offered.text.match(/<option>/g)).toHaveLength(3 + 3);
    const agreed = await send(id, AGREE);
    expect([agreed.status, agreed.headers['location']]).toEqual([303, `${await pathOf(id)}?lang=fr#top-ups`]);
    const given = dataOf(await mandate(id));
    expect(given).toMatchObject({ agreedBy: 'TRAVELLER', maxTopUps: 2, state: 'ACTIVE', currency: 'NGN' });
    const { json } = await api.ask(
      '/api/esim/packages?type=TOPUP&packageCode=NG-5GB-30D&regionCode=NG&currency=NGN',
      { key: 'ngn' },
    );
    const price = Number(/"price":([\d.]+)/.exec(JSON.stringify(json))?.[1]);
    expect(given['limit']).toBe(2 * price);
    const on = await page(id, '?lang=fr');
    expect(state(on)).toBe('on');
    expect(on.text).toContain(TEXTS.fr.topUps.isOn('0', '2'));
    // Agreeing again, as by a second tap, changes nothing.
    expect((await send(id, 'do=agree&topUps=3&days=7')).status).toBe(303);
    expect(dataOf(await mandate(id))).toEqual(given);
    expect((await send(id, 'do=end')).status).toBe(303);
    expect(dataOf(await mandate(id))).toMatchObject({ state: 'ENDED', endReason: 'ENDED_BY_TRAVELLER' });
  });

  it('are bounded for the eSIM over all its mandates, also for pages that are open at once', async () => {
    const id = await esim();
    await brand(id, OFFER);
    await send(id, AGREE);
    await send(id, 'do=end');
    await api.shop.owner
      .updateTable('top_up_mandates')
      .set({ top_ups: 2 })
      .where('esim_id', '=', id)
      .execute();
    expect((await page(id)).text.match(/<option>/g)).toHaveLength(1 + 3);
    expect((await send(id, AGREE)).status).toBe(400);
    await Promise.all(Array.from({ length: 5 }, () => send(id, 'do=agree&topUps=1&days=7')));
    const rows = await api.shop.owner
      .selectFrom('top_up_mandates')
      .selectAll()
      .where('esim_id', '=', id)
      .execute();
    expect(rows.filter((row) => row.state === 'ACTIVE')).toHaveLength(1);
  });

  it.each([
    ['another site', { ...FORM, 'sec-fetch-site': 'cross-site' }, AGREE, 403],
    ['a page beside ours', { ...FORM, 'sec-fetch-site': 'same-site' }, AGREE, 403],
    [
      'another origin, by an old browser',
      { 'content-type': FORM['content-type'], origin: 'https://evil.example' },
      AGREE,
      403,
    ],
    ['no form', { ...FORM, 'content-type': 'text/plain' }, AGREE, 404],
    ['days that are not offered', FORM, 'do=agree&topUps=1&days=3650', 404],
    ['no number', FORM, 'do=agree&topUps=many&days=7', 404],
    ['nothing', FORM, '', 404],
  ])('are not agreed to by %s', async (_who, headers, form, status) => {
    const id = await esim();
    await brand(id, OFFER);
    expect((await send(id, form, headers)).status).toBe(status);
    expect((await mandate(id)).status).toBe(404);
  });

  it('are not offered for an eSIM that has ended, nor at a link of nothing', async () => {
    const id = await esim({ status: 'EXPIRED' });
    await brand(id, OFFER);
    expect(state(await page(id))).toBeUndefined();
    const nowhere = await api.ask(`/i/${'A'.repeat(32)}/top-ups`, {
      method: 'POST',
      rawBody: AGREE,
      headers: FORM,
    });
    expect(nowhere.status).toBe(404);
  });
});

describe('agreements of travellers', () => {
  it('are to a number of top-ups that the shop offers', async () => {
    const id = await esim();
    await brand(id, { ...OFFER, auto_top_up_max: 5 });
    for (const topUps of [4, 10])
      expect((await send(id, `do=agree&topUps=${topUps}&days=7`)).status).toBe(400);
    expect((await mandate(id)).status).toBe(404);
  });

  it('are to what the shop still offers when it is their turn', async () => {
    const id = await esim();
    await brand(id, OFFER);
    const { account_id } = await api.shop.owner
      .selectFrom('brands')
      .select('account_id')
      .executeTakeFirstOrThrow();
    const sent = await api.shop.owner.transaction().execute(async (trx) => {
      await lockMandates(trx, id);
      const answer = send(id, AGREE);
      await until(waiting, (count) => count > 0, { what: 'an agreement that waits' });
      await trx
        .updateTable('brands')
        .set({ auto_top_up_max: 1 })
        .where('account_id', '=', account_id)
        .execute();
      return { answer };
    });
    expect((await sent.answer).status).toBe(400);
    expect((await mandate(id)).status).toBe(404);
  });

  it('are at most ten for one eSIM within a day', async () => {
    const id = await esim();
    await brand(id, OFFER);
    const again = async () => {
      await send(id, 'do=end');
      return (await send(id, AGREE)).status;
    };
    const statuses: number[] = [];
    for (let count = 0; count < 11; count += 1) statuses.push(await again());
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 303), 400]);
    await api.shop.owner
      .updateTable('top_up_mandates')
      .set({ created_at: new Date(Date.now() - 86_400_001) })
      .where('esim_id', '=', id)
      .execute();
    expect(await again()).toBe(303);
  });
});

describe('the install page of a shop', () => {
  it('has its name, logo, colour and contacts, in every language, within its content policy', async () => {
    const id = await esim({ status: 'CREATED', smdp_status: 'RELEASED' });
    const hash = randomUUID().replaceAll('-', '').repeat(2);
    await brand(id, {
      ...{ shop_name: 'Atlas <Travel>', accent_color: '#ffcc00', support_email: 'help@atlas.example' },
      ...{ support_url: 'https://atlas.example/help', support_phone: '+44 20 7946 0018' },
      ...{ logo_bytes: PNG, logo_type: 'image/png', logo_hash: hash },
    });
    for (const language of LANGUAGES) {
      const { text, headers } = await page(id, `?lang=${language}`);
      for (const part of [
        'Atlas &lt;Travel&gt;',
        `src="/i/logos/${hash}"`,
        'href="tel:+442079460018"',
        'href="mailto:help@atlas.example"',
        TEXTS[language].askShop,
        '--shop: #ffcc00; --on-shop: #000000',
      ])
        expect(text, language).toContain(part);
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(/style-src 'sha256-[^']+' 'sha256-[^']+';/);
      expect(policy).toContain("img-src 'self' data:");
    }
    const logo = await api.ask(`/i/logos/${hash}`);
    expect(logo.status).toBe(200);
    expect(logo.headers).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    for (const other of ['0'.repeat(64), 'x', `${hash}0`])
      expect((await api.ask(`/i/logos/${other}`)).status).toBe(404);
  });

  it('is as before where the shop has set nothing', async () => {
    const { text } = await page(await esim());
    expect(text).not.toContain('class="shop"');
    expect(text).not.toContain(TEXTS.en.askShop);
  });
});
