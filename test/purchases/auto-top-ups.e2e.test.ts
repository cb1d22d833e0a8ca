// Automatic top-ups on the whole service: data runs low by the sandbox's controls, and the wallet pays one
// top-up after the other, as far as the mandate goes and whoever agreed may still buy.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { newBuyer } from '../support/people/buyer.ts';
import { makeKey } from '../support/people/keys.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack } from '../support/world/stack.ts';

const stack = await forFile(startStack());
const WAIT = { timeout: 120_000 };
const NEXT_WEEK = new Date(Date.now() + 7 * 86_400_000).toISOString();

async function traveller() {
  const buyer = await newBuyer(stack);
  const { body } = await buyer.buy('SIM-MANUAL-LIFE');
  const { esimId } = body.esimDetails;
  const key = buyer.account.apiKey;
  const call = (method: string, of: string, given?: object, by = key) =>
    stack.call(method, `/api/esim/${esimId}${of}`, { key: by, ...(given && { body: given }) });
  const act = (action: string, given?: object) =>
    stack.call('POST', `/api/sandbox/esims/${esimId}/${action}`, { key, ...(given && { body: given }) });
  const mandate = async () => (await call('GET', '/mandate')).body.data as unknown as Mandate;
  return {
    ...{ buyer, esimId, call, act, mandate },
    /** What its shop is told of its mandates: the feed has an event a moment after its row. */
    told: (count: number) =>
      until(
        async () => {
          const { body } = await buyer.read('/api/events');
          const { items } = body.data as unknown as { items: { event: string; data: Mandate }[] };
          return items.flatMap(({ event, data }) =>
            event.startsWith('mandate.') ? [[event, data.endReason ?? data.refusal]] : [],
          );
        },
        (all) => all.length >= count,
        { what: 'what the shop is told' },
      ),
    /** By who holds the link of the install page. */
    agreeOnPage: async () => {
      const { body } = await call('GET', '/install');
      const { pathname } = new URL((body as unknown as { installUrl: string }).installUrl);
      const headers = {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
      };
      const form = { body: 'do=agree&topUps=2&days=7', headers };
      return (
        await fetch(stack.apiUrl + pathname + '/top-ups', { method: 'POST', redirect: 'manual', ...form })
      ).status;
    },
    topUps: async () => (await buyer.purchases()).filter(({ package_type }) => package_type === 'TOPUP'),
    becomes: (wanted: Partial<Mandate>) =>
      until(
        mandate,
        (one) => Object.entries(wanted).every(([name, value]) => one[name as keyof Mandate] === value),
        { what: JSON.stringify(wanted) },
      ),
    /** In place of an hour. */
    looksAgain: () =>
      sql`update top_up_mandates set due_at = now() where esim_id = ${esimId} and state = 'ACTIVE'`.execute(
        stack.owner,
      ),
  };
}

interface Mandate {
  readonly mandateId: string;
  readonly state: string;
  readonly endReason: string | null;
  readonly refusal: string | null;
  readonly limit: number;
  readonly spent: number;
  readonly topUps: number;
  readonly openTransactionId: string | null;
}

type Traveller = Awaited<ReturnType<typeof traveller>>;

/** What the shop offers on its install pages; null: nothing. */
async function offer(account_id: string, max: number | null): Promise<void> {
  const terms = { auto_top_up_max: max, auto_top_up_price_text: max === null ? null : '€4.50' };
  const row = { account_id, changed_at: new Date(), changed_by: 'ada', ...terms };
  await stack.owner
    .insertInto('brands')
    .values(row)
    .onConflict((on) => on.column('account_id').doUpdateSet(row))
    .execute();
}

/** What a top-up costs. */
async function priceOf({ read }: Awaited<ReturnType<typeof newBuyer>>): Promise<number> {
  const { text } = await read('/api/esim/packages?type=TOPUP&regionCode=ZZ&packageCode=SIM-MANUAL-LIFE');
  return Number(/"price":([\d.]+)/.exec(text)?.[1]);
}

/** Empties a wallet, as another purchase would. */
async function drain(accountId: string) {
  const setBalance = (minor: bigint) =>
    stack.owner
      .updateTable('wallets')
      .set({ balance_minor: minor })
      .where('account_id', '=', accountId)
      .execute();
  const { balance_minor: before } = await stack.owner
    .selectFrom('wallets')
    .select('balance_minor')
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  await setBalance(0n);
  return { undo: () => setBalance(before) };
}

describe('an automatic top-up', () => {
  it('is bought when data runs low, and again, until the limit is reached', WAIT, async () => {
    const { buyer, call, act, becomes, topUps } = await traveller();
    await act('install');
    const price = await priceOf(buyer);
    const terms = { limit: Number((2 * price + 0.01).toFixed(2)), currency: 'USD', expiresAt: NEXT_WEEK };
    const given = await call('PUT', '/mandate', terms);
    expect(given.status, given.text).toBe(200);
    const before = await buyer.balanceMinor();
    await act('use', { bytes: 700_000_000 });
    expect(await topUps()).toEqual([]);
    await act('use', { bytes: 300_000_000 });
    await becomes({ topUps: 1, openTransactionId: null });
    const [first] = await topUps();
    expect(first).toMatchObject({ status: 'SUCCESS', payment_method: 'WALLET' });
    const { mandateId } = given.body.data as unknown as Mandate;
    const read = await buyer.read(`/api/esim/transactions/${first!.transaction_id}`);
    expect(read.body).toMatchObject({ metadata: { mandateId } });
    await act('use-up');
    await becomes({ topUps: 2, openTransactionId: null });
    await act('use-up');
    const ended = await becomes({ state: 'ENDED' });
    expect(ended).toMatchObject({ endReason: 'LIMIT_REACHED', topUps: 2 });
    expect(before - (await buyer.balanceMinor())).toBe(BigInt(Math.round(200 * price)));
    expect(await topUps()).toHaveLength(2);
  });

  it('is not bought where the wallet has too little, and is once it has', WAIT, async () => {
    const { buyer, call, act, becomes, looksAgain, topUps, told } = await traveller();
    await act('install');
    await call('PUT', '/mandate', { limit: 1_000, currency: 'USD', expiresAt: NEXT_WEEK, maxTopUps: 1 });
    const emptied = await drain(buyer.account.accountId);
    await act('use-up');
    await becomes({ refusal: 'INSUFFICIENT_BALANCE', topUps: 0 });
    expect(await told(1)).toEqual([['mandate.refused', 'INSUFFICIENT_BALANCE']]);
    expect(await topUps()).toEqual([]);
    await emptied.undo();
    await looksAgain();
    await becomes({ topUps: 1, openTransactionId: null, refusal: null });
  });

  it.each<[string, (of: Traveller) => unknown, Partial<Mandate>]>([
    ['is bought for a traveller who agreed on the page', () => undefined, { topUps: 1, state: 'ACTIVE' }],
    [
      'is not bought once the shop has taken its offer back',
      ({ buyer }) => offer(buyer.account.accountId, null),
      { topUps: 0, state: 'ENDED', endReason: 'NOT_ALLOWED' },
    ],
    [
      'is not bought for an eSIM that has expired',
      ({ act }) => act('expire'),
      { topUps: 0, state: 'ENDED', endReason: 'ESIM_ENDED' },
    ],
  ])('%s', WAIT, async (_what, change, after) => {
    const one = await traveller();
    await offer(one.buyer.account.accountId, 3);
    await one.act('install');
    expect(await one.agreeOnPage()).toBe(303);
    await change(one);
    await one.act('use-up');
    await one.becomes({ ...after, openTransactionId: null });
    expect(await one.topUps()).toHaveLength(after.topUps ?? 0);
    const events = after.endReason === undefined ? [] : [['mandate.ended', after.endReason]];
    expect(await one.told(events.length)).toEqual(events);
  });

  it('is not bought for a key that was revoked since', WAIT, async () => {
    const { buyer, call, act, becomes, topUps } = await traveller();
    await act('install');
    const { accountId } = buyer.account;
    const { apiKey, keyId } = await makeKey(stack.accounts, accountId, { scopes: ['read', 'purchase'] });
    const terms = { limit: 1_000, currency: 'USD', expiresAt: NEXT_WEEK };
    expect((await call('PUT', '/mandate', terms, apiKey)).status).toBe(200);
    await sql`update accounts.api_keys set revoked_at = now() where id = ${keyId}`.execute(stack.owner);
    await act('use-up');
    expect(await becomes({ state: 'ENDED' })).toMatchObject({ endReason: 'NOT_ALLOWED', topUps: 0 });
    expect(await topUps()).toEqual([]);
  });
});
