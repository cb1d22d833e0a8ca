// Returns over HTTP: every answer of the reference, and what a wrong request is told.
import { afterAll, describe, expect, it } from 'vitest';
import { startApi, type Ask, type Reply } from '../support/http/api.ts';
import { baseItem } from '../support/http/packages.ts';

const api = await startApi();
await api.shop.setBalance(1_000_000n, 'usd');
afterAll(() => api.close());

const ask = (path: string, more: Ask = {}): Promise<Reply> => api.ask(path, { key: 'usd', ...more });
interface Data {
  readonly returnId: string;
  readonly amount: number;
  readonly items: readonly unknown[];
}

const dataOf = ({ json }: Reply): Data => (json as { data: Data }).data;

/** `smdpStatus`: what the supplier says of its profile. */
async function bought(smdpStatus = 'RELEASED'): Promise<string> {
  const reply = await ask('/api/esim/buy', {
    body: { packageCode: baseItem.packageCode, packageType: 'BASE', paymentMethod: 'WALLET' },
  });
  expect(reply.status, reply.text).toBe(201);
  const esimId = api.idOf((reply.json as { esimDetails: { esimId: string } }).esimDetails.esimId);
  const { esim_tran_no: esimTranNo } = await api.shop.owner
    .selectFrom('esims')
    .select('esim_tran_no')
    .where('id', '=', esimId)
    .executeTakeFirstOrThrow();
  const profile = api.shop.vendors.profiles.get(esimTranNo);
  if (!profile) throw new Error('the supplier has no such profile');
  Object.assign(profile, { smdpStatus, status: 'CREATED', eid: '', orderUsageBytes: 0 });
  return esimId;
}

describe('returns', () => {
  it('show what goes back, give it back, and are listed', async () => {
    const esimId = await bought();
    const terms = await ask(`/api/esim/${esimId}/return-terms`, { example: 'can be returned' });
    expect(dataOf(terms)).toMatchObject({ returnable: true, refundTo: 'WALLET', fee: 0 });
    const beforeMinor = await api.shop.balance('usd');
    const reply = await ask(`/api/esim/${esimId}/returns`, {
      body: { reason: 'The traveller stays at home' },
      example: 'unused eSIM',
    });
    expect(reply.status, reply.text).toBe(201);
    const { returnId, amount } = dataOf(reply);
    expect(await api.shop.balance('usd')).toBe(beforeMinor + BigInt(Math.round(amount * 100)));
    expect(
      dataOf(await ask(`/api/esim/returns/${api.idOf(returnId)}`, { example: 'returned' })),
    ).toMatchObject({
      state: 'RETURNED',
      reason: 'The traveller stays at home',
    });
    const list = await ask('/api/esim/returns?state=RETURNED', { example: 'one return' });
    expect(dataOf(list).items).toHaveLength(1);
  });

  it('of an installed eSIM are refused, and of many each has its line', async () => {
    const [used, unused] = [await bought('ENABLED'), await bought()];
    const beforeMinor = await api.shop.balance('usd');
    const refused = await ask(`/api/esim/${used}/returns`, { body: {} });
    expect(refused).toMatchObject({ status: 409, json: { error: { code: 'RETURN_REFUSED' } } });
    expect(await api.shop.balance('usd')).toBe(beforeMinor);
    const missing = `esim-${'0'.repeat(32)}`;
    const many = await ask('/api/esim/returns', {
      body: { esimIds: [unused, missing] },
      example: 'two eSIMs',
    });
    expect(many.status, many.text).toBe(202);
    expect(dataOf(many).items).toMatchObject([
      { state: 'PENDING', refusal: null },
      { returnId: null, refusal: 'NOT_FOUND' },
    ]);
  });

  it.each([
    [{ esimIds: [] }, 'esimIds'],
    [{ esimIds: ['x'] }, 'esimIds'],
    [{ esimIds: Array.from({ length: 101 }, (_, n) => `esim-${String(n).padStart(32, '0')}`) }, 'esimIds'],
    [{}, 'esimIds'],
  ])('of a wrong list are refused with the field: %o', async (body, field) => {
    const reply = await ask('/api/esim/returns', { body });
    expect(reply).toMatchObject({ status: 400, json: { error: { code: 'VALIDATION_ERROR' } } });
    expect(reply.text).toContain(field);
  });

  it('that are not there are not found', async () => {
    const nobody = await ask(`/api/esim/returns/return-${'0'.repeat(32)}`);
    expect(nobody).toMatchObject({ status: 404, json: { error: { code: 'RETURN_NOT_FOUND' } } });
  });
});
