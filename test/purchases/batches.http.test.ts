// Batches over HTTP: what is refused, and that nothing is bought then; results while they run, as JSON and as
// CSV; an empty wallet; e-mails to travellers over SMTP. The steps run on a real Postgres, by an engine
// without Temporal.
import { sql } from 'kysely';
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createJobActivities, checkJob } from '../../activities/jobs/run-jobs.ts';
import type { ActivityDeps } from '../../activities/index.ts';
import { replaceBrand } from '../../src/accounts/store/brands.ts';
import { forgetTravellerEmails } from '../../src/purchases/store/batch-emails.ts';
import type { EngineAnswer } from '../../src/payments/engine.ts';
import { EngineUnavailable } from '../../src/domain/outcome.ts';
import { createUnlimitedPacer } from '../../src/platform/redis/pacer.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createMailStops } from '../../src/accounts/mail-stops.ts';
import type { Environment } from '../../src/domain/account.ts';
import { createSmtpMailer } from '../../src/vendors/mail/mailer.ts';
import { startApi, type Ask, type Reply } from '../support/http/api.ts';
import { baseItem } from '../support/http/packages.ts';
import { generalError } from '../support/http/error-bodies.ts';
import { startMailServer } from '../support/people/mail-server.ts';

const PATH = '/api/esim/orders/batch';
const PACKAGE = baseItem.packageCode;
const PRICE_MINOR = 1_250n;
const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };

const [api, mail] = await Promise.all([startApi(), startMailServer()]);
await api.shop.setBalance(1_000_000n, 'usd');
afterAll(async () => {
  await api.close();
  await mail.close();
});

const order = (body: unknown, ask: Ask = {}): Promise<Reply> =>
  api.ask(PATH, { key: 'usd', method: 'POST', body, ...ask });
const read = (path: string, key = 'usd', example?: string): Promise<Reply> =>
  api.ask(`${PATH}${path}`, { key, example });
const NO_BRAND = {
  ...{ shopName: null, accentColor: null, autoTopUp: null },
  ...{ supportEmail: null, supportUrl: null, supportPhone: null },
};
const rows = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => ({ reference: `r-${index}`, packageCode: PACKAGE, ...more }));

interface Data {
  readonly batchId: string;
  readonly status: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly completedAt: string;
}
const dataOf = (reply: Reply): Data => (reply.json as { data: Data }).data;

async function accepted(body: unknown, ask: Ask = {}): Promise<string> {
  const reply = await order(body, ask);
  expect(reply.status, reply.text).toBe(202);
  return dataOf(reply).batchId;
}

const notices = (environment: Environment): ActivityDeps['notices'] => ({
  environment,
  mailer: createSmtpMailer({ url: mail.url, from: 'us@simway.example' }),
  us: 'Simway',
  mailStops: createMailStops({ idSecret: Buffer.alloc(32, 1), publicUrl: 'https://shop.example' }),
});

function depsWith(given: Partial<ActivityDeps> = {}): ActivityDeps {
  return {
    db: api.shop.db,
    clock: { now: () => new Date() },
    engine: api.shop.engine,
    events: createEvents(log),
    batchPacer: createUnlimitedPacer,
    notices: notices('live'),
    installUrl: (esimId: string) => api.shop.installUrl(esimId),
    ...given,
  } as ActivityDeps;
}

const carryOut = (batchId: string, given?: Partial<ActivityDeps>) =>
  checkJob(depsWith(given), api.idOf(batchId), new AbortController().signal);
const sendEmails = (given?: Partial<ActivityDeps>): Promise<string> =>
  createJobActivities(depsWith(given)).sendInstallEmails();
const stored = () =>
  api.shop.owner
    .selectFrom('jobs')
    .select('id')
    .where('account_id', '=', api.shop.accountId('usd'))
    .execute();

describe('a refused batch', () => {
  const wrong = (details: string) => generalError(400, 'VALIDATION_ERROR', details);
  it.each<[string, unknown, number, unknown]>([
    ['no rows', {}, 400, wrong('rows: is required')],
    ['an empty list', { rows: [] }, 400, wrong('rows: must be 1 to 500 rows')],
    ['501 rows', { rows: rows(501) }, 400, wrong('rows: must be 1 to 500 rows')],
    ['rows that are no list', { rows: 'all' }, 400, wrong('rows: must be 1 to 500 rows')],
    ['a row that is no object', { rows: ['all'] }, 400, wrong('rows.0: must be an object')],
    [
      'an unknown package, with every wrong row',
      { rows: [...rows(1), { reference: 'x', packageCode: 'NONE' }, { reference: 'y', packageCode: 'NO' }] },
      400,
      wrong('rows.1.packageCode: is not on sale; rows.2.packageCode: is not on sale'),
    ],
    ...['a@b', 'a@b.example,c@d.example', 'a@b.example\r\nBcc: c@d.example'].map(
      (email): [string, unknown, number, unknown] => [
        `the address ${email}`,
        { rows: rows(1, { email }) },
        400,
        wrong('rows.0.email: must be an e-mail address'),
      ],
    ),
    ...['r-\u200B1', 'r-\u202E1', '\uFEFFr-1', 'R\uFFFDservation'].map(
      (reference): [string, unknown, number, unknown] => [
        `a reference that deceives the eye, ${encodeURIComponent(reference)}`,
        { rows: rows(1, { reference }) },
        400,
        wrong('rows.0.reference: must not contain invisible or direction-changing characters, or U+FFFD'),
      ],
    ),
    [
      'metadata that is no object of texts',
      { rows: rows(1, { metadata: { seat: 7 } }) },
      400,
      wrong('rows.0.metadata.seat: must be a text'),
    ],
    [
      'a date in the past',
      { rows: rows(1, { email: 'a@b.example', sendAt: '2026-01-01T00:00:00Z' }) },
      400,
      wrong('rows.0.sendAt: must not be in the past'),
    ],
    [
      'more than it may cost',
      { rows: rows(3), maxTotalPrice: { amount: 37.49, currency: 'USD' } },
      400,
      wrong('maxTotalPrice.amount: the rows cost 37.50 USD'),
    ],
    [
      'a bound in another currency',
      { rows: rows(1), maxTotalPrice: { amount: 1, currency: 'NGN' } },
      400,
      wrong("maxTotalPrice.currency: must be the account's, USD"),
    ],
    [
      'an empty wallet',
      { rows: rows(500, { packageCode: 'EU-42-5GB-30D' }), maxTotalPrice: { amount: 6250, currency: 'USD' } },
      400,
      generalError(400, 'INSUFFICIENT_BALANCE', 'The rows cost 6250.00 USD, more than the wallet has'),
    ],
  ])('is answered with the reason: %s', async (name, body, status, expected) => {
    const before = await api.shop.balance('usd');
    if (name === 'an empty wallet') await api.shop.setBalance(624_999n, 'usd');
    const reply = await order(body);
    expect([reply.status, reply.json]).toEqual([status, expected]);
    expect(await stored()).toEqual([]);
    await api.shop.setBalance(before, 'usd');
  });

  it('gets at most a hundred problems listed, and its body is limited to the documented size', async () => {
    const reply = await order({ rows: rows(500, { packageCode: 'NONE' }) });
    expect(reply.text.length).toBeLessThan(10_000);
    expect(reply.text).toContain('and 400 more');
    const long = await order({ rows: rows(1), padding: 'x'.repeat(524_288) });
    expect([long.status, long.json]).toEqual([
      413,
      generalError(413, 'PAYLOAD_TOO_LARGE', 'The request body may have at most 524288 bytes'),
    ]);
    const wide = await order({ rows: [], more: Array.from({ length: 9_000 }, () => 1) });
    expect(wide.text).toContain('must not have more than 9000 members in all');
  });

  it('has e-mail addresses where no e-mails are sent (EMAIL_UNAVAILABLE); without them it is ordered', async () => {
    api.shop.vendors.sendsEmails = false;
    try {
      const before = [await stored(), await api.shop.purchases('usd'), await api.shop.balance('usd')];
      const reply = await order({ rows: [...rows(1), { ...rows(2, { email: 'a@b.example' })[1] }] });
      expect([reply.status, reply.json]).toEqual([
        400,
        generalError(400, 'EMAIL_UNAVAILABLE', 'E-mails to travellers are not available: leave email out'),
      ]);
      expect([await stored(), await api.shop.purchases('usd'), await api.shop.balance('usd')]).toEqual(
        before,
      );
      await carryOut(await accepted({ rows: rows(1) }));
    } finally {
      api.shop.vendors.sendsEmails = true;
    }
  });

  it('is not found by other accounts, or by an impossible id', async () => {
    const batchId = await accepted({ rows: rows(1) });
    const missing = generalError(404, 'BATCH_NOT_FOUND', 'Batch not found');
    for (const path of [`/${batchId}`, `/${batchId}/csv`, `/${batchId}/sheets`]) {
      const foreign = await read(path, 'ngn');
      expect([foreign.status, foreign.json]).toEqual([404, missing]);
    }
    for (const path of ['/batch-1', '/%00', `/batch-${'f'.repeat(32)}`])
      expect((await read(path)).json).toEqual(missing);
    await carryOut(batchId);
    expect((await read(`/${batchId}/csv`, 'usd', 'completed')).text).toContain(',SUCCESS,');
    // This supplier delivers eSIMs in use.
    expect((await read(`/${batchId}/sheets`, 'usd', 'nothing to install')).text).toContain('0 eSIMs');
  });
});

describe('a batch', () => {
  it('is accepted with its total, bought row by row, and readable meanwhile', async () => {
    const before = await api.shop.balance('usd');
    const boughtBefore = await api.shop.purchases('usd');
    const reply = await order({ rows: rows(25), maxTotalPrice: { amount: 312.5, currency: 'USD' } });
    expect(reply.status).toBe(202);
    const { batchId } = dataOf(reply);
    expect(reply.json).toEqual({
      success: true,
      data: {
        batchId,
        status: 'PROCESSING',
        cancelReason: '',
        startAt: '',
        counts: { rows: 25, queued: 25, processing: 0, succeeded: 0, failed: 0 },
        totalPrice: 312.5,
        currency: 'USD',
        createdAt: expect.stringMatching(/Z$/) as unknown,
        completedAt: '',
      },
    });
    let bought = 0;
    const half = {
      ...api.shop.engine,
      purchase: (...given: Parameters<typeof api.shop.engine.purchase>): Promise<EngineAnswer> => {
        bought += 1;
        if (bought > 10) return Promise.reject(new EngineUnavailable('away'));
        return api.shop.engine.purchase(...given);
      },
      checkSoon: () => Promise.resolve(),
    };
    expect(await carryOut(batchId, { engine: half })).toMatchObject({ waitMs: 1_000 });
    const running = dataOf(await read(`/${batchId}?limit=100`));
    expect(running).toMatchObject({ status: 'PROCESSING', completedAt: '' });
    expect(running.counts).toEqual({ rows: 25, queued: 15, processing: 0, succeeded: 10, failed: 0 });
    expect(running.items.filter(({ transactionId }) => transactionId !== '')).toHaveLength(10);

    const csv = (await read(`/${batchId}/csv`)).text.trimEnd().split('\r\n');
    expect(csv).toHaveLength(1 + 25);
    const sold = /^\d+,r-\d+,[^,]+,[^,]+,SUCCESS,,(esim-[^,]+),,,12\.50,USD,89\d+,(https?:[^,]+),,,,$/;
    const links = csv.flatMap((line) => (sold.exec(line) ? [sold.exec(line)!.slice(1)] : []));
    expect(links).toHaveLength(10);
    for (const [esimId, link] of links) expect(link).toBe(await api.shop.installUrl(api.idOf(esimId!)));
    expect(csv.filter((line) => line.endsWith(',QUEUED,,,,,,,,,,,,'))).toHaveLength(15);
    // As people count.
    expect(csv.slice(1).map((line) => Number(line.split(',')[0]))).toEqual(rows(25).map((_, at) => at + 1));

    const runs = await Promise.all([carryOut(batchId), carryOut(batchId)]);
    expect(runs.map(({ waitMs }) => waitMs)).toEqual([null, null]);
    const done = dataOf(await read(`/${batchId}?limit=2&page=2`));
    expect(done).toMatchObject({ status: 'COMPLETED', counts: { succeeded: 25, failed: 0 } });
    expect(done.items.map(({ row, reference, status }) => [row, reference, status])).toEqual([
      [2, 'r-2', 'SUCCESS'],
      [3, 'r-3', 'SUCCESS'],
    ]);
    for (const list of ['transactions', 'my-esims']) {
      const found = await api.ask(`/api/esim/${list}?search=%20r-2%20`, { key: 'usd' });
      expect(found.text).toContain(done.items[0]?.['transactionId']);
      expect(found.text).not.toContain(done.items[1]?.['transactionId']);
    }
    expect(await api.shop.purchases('usd')).toBe(boughtBefore + 25);
    expect(await api.shop.balance('usd')).toBe(before - 25n * PRICE_MINOR);
    expect(dataOf(await read('?limit=1', 'usd', 'one batch')).items[0]).toMatchObject({
      batchId,
      counts: { succeeded: 25 },
    });
    const { terms } = await api.shop.owner
      .selectFrom('job_rows')
      .select((eb) => eb.fn.count('terms').as('terms'))
      .where('job_id', '=', api.idOf(batchId))
      .executeTakeFirstOrThrow();
    expect(Number(terms)).toBe(0);
  });

  it('with an Idempotency-Key is ordered once and answered with the same bytes', async () => {
    const headers = { 'Idempotency-Key': randomBytes(8).toString('hex') };
    const before = (await stored()).length;
    const example = { request: 'two travellers', answer: 'accepted' };
    const first = await order({ rows: rows(2) }, { headers, example });
    await carryOut(dataOf(first).batchId);
    const again = await order({ rows: rows(2) }, { headers });
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      202,
      first.text,
      'true',
    ]);
    expect((await order({ rows: rows(3) }, { headers })).status).toBe(422);
    expect((await stored()).length).toBe(before + 1);
  });

  it('continues when the wallet is empty: the rest is refused, nothing is lost, and no slot is used for it', async () => {
    const batchId = await accepted({ rows: rows(20) });
    await api.shop.setBalance(5n * PRICE_MINOR, 'usd');
    let turns = 0;
    const batchPacer = () => ({ takeSlot: () => Promise.resolve((turns += 1) > 0) });
    expect(await carryOut(batchId, { batchPacer })).toMatchObject({ waitMs: null });
    const { items, counts } = dataOf(await read(`/${batchId}?limit=100`));
    expect(counts).toMatchObject({ succeeded: 5, failed: 15 });
    for (const { status, reason, transactionId } of items.filter((it) => it['status'] !== 'SUCCESS'))
      expect([status, reason, transactionId]).toEqual(['FAILED', 'INSUFFICIENT_BALANCE', '']);
    expect(turns).toBeLessThan(15);
    expect(await api.shop.balance('usd')).toBe(0n);
    const csv = await read(`/${batchId}/csv`);
    expect(csv.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${api.idOf(batchId)}.csv"`,
    });
    expect(csv.text.match(/,FAILED,INSUFFICIENT_BALANCE,,,,,,,,,,,\r\n/g)).toHaveLength(15);
    expect(csv.text.split('\r\n')).toHaveLength(22);
    await api.shop.setBalance(1_000_000n, 'usd');
  });

  it('waits for its slot among all batches, and buys nothing without one', async () => {
    const batchId = await accepted({ rows: rows(3) });
    const none = { takeSlot: () => Promise.resolve(false) };
    expect(await carryOut(batchId, { batchPacer: () => none })).toMatchObject({ waitMs: 1_000 });
    expect(dataOf(await read(`/${batchId}`)).counts).toMatchObject({ queued: 3 });
    await carryOut(batchId);
  });

  it('is refused while five still have rows to begin, also when they come together', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => order({ rows: rows(1) })));
    expect(replies.map(({ status }) => status).sort()).toEqual([202, 202, 202, 202, 202, 429, 429, 429]);
    const refused = replies.find(({ status }) => status === 429);
    expect([refused?.json, refused?.headers['retry-after']]).toEqual([
      generalError(429, 'TOO_MANY_BATCHES', '5 batches of this account have not begun all their rows yet'),
      '60',
    ]);
    for (const reply of replies) if (reply.status === 202) await carryOut(dataOf(reply).batchId);
    await carryOut(await accepted({ rows: rows(1) }));
  });
});

it('a batch for later is cancelled, and nothing is bought', async () => {
  const before = await api.shop.purchases('usd');
  const startAt = new Date(Date.now() + 3_600_000).toISOString();
  const batchId = await accepted({ rows: rows(2), startAt });
  const cancelled = await api.ask(`${PATH}/${batchId}/cancel`, {
    ...{ key: 'usd', method: 'POST', example: 'cancelled' },
  });
  expect(dataOf(cancelled)).toMatchObject({ status: 'CANCELLED', cancelReason: 'CANCELLED' });
  expect(dataOf(await read(`/${batchId}`)).counts).toMatchObject({ queued: 0, failed: 2 });
  expect(await api.shop.purchases('usd')).toBe(before);
});

describe('what is handed out', () => {
  /** A batch whose eSIMs are on no phone, but for the last. */
  async function delivered(given: readonly object[]): Promise<string> {
    const batchId = await accepted({ rows: given });
    await carryOut(batchId);
    const { items } = dataOf(await read(`/${batchId}`));
    const unused = { smdp_status: 'RELEASED', order_usage_bytes: 0n, activate_time: null };
    for (const { esimId } of items.slice(0, -1))
      await api.shop.owner
        .updateTable('esims')
        .set({ status: 'CREATED', ...unused })
        .where('id', '=', api.idOf(String(esimId)))
        .execute();
    await sendEmails();
    return batchId;
  }
  const markup = '<b>"R&D"</b>';
  const given = [
    { reference: markup, packageCode: PACKAGE },
    { reference: 'r-2', packageCode: PACKAGE, email: 'a@traveller.example', language: 'fr' },
    { reference: 'r-3', packageCode: PACKAGE },
  ];

  it('has codes and links in the CSV, of what can be installed', async () => {
    const batchId = await delivered(given);
    const [, first = '', , last = ''] = (await read(`/${batchId}/csv`)).text.split('\r\n');
    const [esimId = ''] = /esim-\w+/.exec(first) ?? [];
    const install = (await api.ask(`/api/esim/${esimId}/install`, { key: 'usd' })).json as {
      readonly [Name in 'installUrl' | 'activationCode' | 'smdpAddress' | 'matchingId']: string;
    };
    const { installUrl, activationCode, smdpAddress, matchingId } = install;
    expect(activationCode).toMatch(/^LPA:/);
    expect(first).toContain(`,${[installUrl, activationCode, smdpAddress, matchingId].join(',')},http`);
    expect(last).toMatch(/,https:\/\/shop\.example\/i\/[\w-]{32},,,,$/);
    const { items } = dataOf(await read(`/${batchId}`));
    expect(items.map(({ iccid }) => first.includes(`,${String(iccid)},`))).toEqual([true, false, false]);
  });

  it('is a card on the sheets for each eSIM that can be installed, in its language', async () => {
    const batchId = await delivered(given);
    const sheets = await read(`/${batchId}/sheets?language=es`);
    expect([sheets.status, sheets.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const cards = sheets.text.split('<article ').slice(1);
    expect(cards.map((card) => /^lang="(\w+)"/.exec(card)?.[1])).toEqual(['es', 'fr']);
    const lines = (await read(`/${batchId}/csv`)).text.split('\r\n');
    cards.forEach((card, at) => {
      const code = /,(LPA:[^,]+),/.exec(lines[at + 1]!)![1]!;
      expect(card).toContain(`<code>${code}</code>`);
      expect(card).toContain('<svg ');
    });
    expect(cards[0]).toContain('&lt;b&gt;&quot;R&amp;D&quot;&lt;/b&gt;');
    expect(sheets.text).not.toContain(markup);
    expect(sheets.text).toContain('1 row has no sheet');
    const policy = String(sheets.headers['content-security-policy']);
    for (const [, , text = ''] of sheets.text.matchAll(/<(style|script)>(.*?)<\/\1>/gs))
      expect(policy).toContain(createHash('sha256').update(text).digest('base64'));
  });
});

describe('e-mails to travellers', () => {
  const mailsTo = (address: string) => mail.mails.filter(({ to }) => to.includes(address));
  const statuses = async (batchId: string) =>
    dataOf(await read(`/${batchId}`)).items.map(({ emailStatus }) => emailStatus);

  it('are sent once, when the eSIM is delivered, with the link and no activation code', async () => {
    const body = {
      rows: [
        { reference: 'now', packageCode: PACKAGE, email: 'now@traveller.example', language: 'fr' },
        {
          reference: 'later',
          packageCode: PACKAGE,
          email: 'later@traveller.example',
          sendAt: new Date(Date.now() + 3_600_000).toISOString(),
        },
        { reference: 'none', packageCode: PACKAGE },
      ],
    };
    const accountId = api.shop.accountId('usd');
    await replaceBrand(
      api.shop.db,
      { accountId, changedBy: 'a test' },
      { ...NO_BRAND, shopName: 'Atlas Travel' },
    );
    const batchId = await accepted(body);
    expect(await sendEmails()).toBe('0 e-mails sent, 0 not');
    expect(await carryOut(batchId)).toMatchObject({ hasEmailsDue: true, waitMs: null });
    expect((await Promise.all([sendEmails(), sendEmails()])).sort()).toEqual([
      '0 e-mails sent, 0 not',
      '1 e-mails sent, 0 not',
    ]);
    expect(await statuses(batchId)).toEqual(['SENT', 'WAITING', '']);
    const [letter, ...more] = mailsTo('now@traveller.example');
    expect(more).toEqual([]);
    const [first] = dataOf(await read(`/${batchId}`, 'usd', 'completed')).items;
    const text = Buffer.from(letter!.body, 'base64').toString().includes('shop.example')
      ? Buffer.from(letter!.body, 'base64').toString()
      : letter!.body;
    // The link opens the page of this eSIM, which has the code that is not in the e-mail: this supplier
    // delivers eSIMs in use.
    await api.shop.owner
      .updateTable('esims')
      .set({ smdp_status: 'RELEASED', order_usage_bytes: 0n, activate_time: null })
      .where('id', '=', api.idOf(String(first!['esimId'])))
      .execute();
    const [, path = ''] = /https:\/\/shop\.example(\/i\/[\w-]{32})(?![\w-])/.exec(text) ?? [];
    const page = await api.ask(path);
    const { activationCode, installUrl } = (
      await api.ask(`/api/esim/${String(first!['esimId'])}/install`, { key: 'usd' })
    ).json as { activationCode: string; installUrl: string };
    expect([page.status, installUrl]).toEqual([200, `https://shop.example${path}`]);
    expect(activationCode).toMatch(/^LPA:/);
    expect(page.text).toContain(activationCode);
    expect(text).toContain('vous a envoyé une eSIM');
    expect(text).toContain('Atlas Travel');
    const [, stop] =
      /<(https:\/\/shop\.example\/mails\/stop\/[\w-]{86})>/.exec(letter!.headers['list-unsubscribe'] ?? '') ??
      [];
    expect(text).toContain(stop);
    expect(letter!.headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click');
    expect(text).not.toMatch(/LPA:|K2-/);
    expect(letter!.headers['message-id']).toBe(
      `<install-${api.idOf(String(first!['transactionId']))}@simway.example>`,
    );
    const later = { now: () => new Date(Date.now() + 3_700_000) };
    expect(await sendEmails({ clock: later })).toBe('1 e-mails sent, 0 not');
    expect(mailsTo('later@traveller.example')).toHaveLength(1);
    const lines = JSON.stringify([...log.info.mock.calls, ...log.warn.mock.calls, ...log.error.mock.calls]);
    expect(lines).not.toMatch(/traveller\.example|shop\.example\/i/);
  });

  it('wait for a mail server and for a link, are given up after three days, and deleted 30 days later', async () => {
    const batchId = await accepted({ rows: rows(1, { email: 'gone@traveller.example' }) });
    await carryOut(batchId);
    const noMail = { ...notices('live'), mailer: undefined };
    expect(await sendEmails({ notices: noMail })).toBe('e-mails to travellers are not available');
    expect(await sendEmails({ installUrl: () => Promise.reject(new Error('no link')) })).toBe(
      '0 e-mails sent, 1 not',
    );
    mail.refuseWith(550);
    const days = (count: number) => ({ now: () => new Date(Date.now() + count * 86_400_000) });
    expect(await sendEmails({ clock: days(1) })).toBe('0 e-mails sent, 1 not');
    expect(await statuses(batchId)).toEqual(['WAITING']);
    expect(await sendEmails({ clock: days(4) })).toBe('0 e-mails sent, 1 not');
    mail.refuseWith(undefined);
    expect(await statuses(batchId)).toEqual(['FAILED']);
    expect(mailsTo('gone@traveller.example')).toEqual([]);
    const address = async () => dataOf(await read(`/${batchId}`)).items[0]!['email'];
    await forgetTravellerEmails(api.shop.db, days(3).now());
    expect(await address()).toBe('gone@traveller.example');
    await forgetTravellerEmails(api.shop.db, days(5).now());
    expect(await address()).toBe('');
  });

  it('are not sent for a row that failed', async () => {
    const batchId = await accepted({ rows: rows(1, { email: 'failed@traveller.example' }) });
    await api.shop.setBalance(0n, 'usd');
    await carryOut(batchId);
    await api.shop.setBalance(1_000_000n, 'usd');
    await sendEmails();
    expect(await statuses(batchId)).toEqual(['NOT_SENT']);
    expect(mailsTo('failed@traveller.example')).toEqual([]);
  });

  it('go to members of the account alone in the sandbox', async () => {
    const id = `user-${'a'.repeat(32)}`;
    const account = api.shop.accountId('usd');
    await sql`insert into accounts.users (id, email, name) values (${id}, 'member@merchant.example', 'Ada')`.execute(
      api.shop.owner,
    );
    await sql`insert into accounts.members (account_id, user_id, role) values (${account}, ${id}, 'OWNER')`.execute(
      api.shop.owner,
    );
    const [own, strange] = rows(2, {});
    const batchId = await accepted({
      rows: [
        { ...own, email: 'Member@merchant.example' },
        { ...strange, email: 'stranger@traveller.example' },
      ],
    });
    await carryOut(batchId);
    expect(await sendEmails({ notices: notices('test') })).toBe('1 e-mails sent, 1 not');
    expect(await statuses(batchId)).toEqual(['SENT', 'NOT_SENT']);
    expect(mailsTo('stranger@traveller.example')).toEqual([]);
  });

  it('are never sent to an address that was stopped, and ten a day to one', async () => {
    const [stopped, many] = ['stopped@traveller.example', 'popular@traveller.example'];
    await sql`insert into accounts.mail_stops (address_sha256) values (sha256(convert_to(${stopped}, 'UTF8')))`.execute(
      api.shop.owner,
    );
    const batchId = await accepted({
      rows: [...rows(1, { email: stopped }), ...rows(12, { email: many }).slice(1)],
    });
    await carryOut(batchId);
    expect(await sendEmails()).toBe('10 e-mails sent, 2 not');
    expect([mailsTo(stopped).length, mailsTo(many).length]).toEqual([0, 10]);
    const { items } = dataOf(await read(`/${batchId}?limit=20`));
    const counted = Map.groupBy(items, ({ emailStatus }) => emailStatus);
    expect(Array.from(counted, ([status, all]) => [status, all.length]).toSorted()).toEqual([
      ['NOT_SENT', 1],
      ['SENT', 10],
      ['WAITING', 1],
    ]);
  });

  it('are limited per day in the sandbox', async () => {
    const reply = await order({ rows: rows(500, { email: 'many@traveller.example' }) });
    expect(reply.status, reply.text).toBe(202);
    const over = await order({ rows: rows(500, { email: 'many@traveller.example' }) });
    expect([over.status, over.json]).toEqual([
      429,
      generalError(
        429,
        'RATE_LIMIT_EXCEEDED',
        'At most 1000 e-mails to travellers a day in this environment',
      ),
    ]);
  });
});
