// Replacements over HTTP: every answer of the reference, and what a wrong request is told.
import { afterAll, describe, expect, it } from 'vitest';
import { startApi, type Ask, type Reply } from '../support/http/api.ts';
import { baseItem } from '../support/http/packages.ts';

const api = await startApi();
await api.shop.setBalance(1_000_000n, 'usd');
afterAll(() => api.close());

const ask = (path: string, more: Ask = {}): Promise<Reply> => api.ask(path, { key: 'usd', ...more });
const dataOf = ({ json }: Reply) => (json as { data: Record<string, string | number | null> }).data;

/** `smdpStatus`: what the supplier says of its profile. */
async function bought(smdpStatus = 'DELETED'): Promise<string> {
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
  Object.assign(profile, { smdpStatus, status: 'ACTIVE', eid: '8904', orderUsageBytes: 0 });
  // As the supplier's event has told us.
  await api.shop.owner
    .updateTable('esims')
    .set({ smdp_status: smdpStatus, status: 'ACTIVE', eid: '8904', order_usage_bytes: 0n })
    .where('id', '=', esimId)
    .execute();
  return esimId;
}

describe('replacements', () => {
  it('show what is paid, deliver the new eSIM, and link both', async () => {
    const esimId = await bought();
    const terms = await ask(`/api/esim/${esimId}/replacement-terms`, { example: 'can be replaced' });
    expect(dataOf(terms)).toMatchObject({ replaceable: true, refusal: null });
    const beforeMinor = await api.shop.balance('usd');
    const reply = await ask(`/api/esim/${esimId}/replacements`, {
      body: { reason: 'The traveller has deleted it' },
      example: 'deleted eSIM',
    });
    expect(reply.status, reply.text).toBe(201);
    const { replacementId, price, replacedBy } = dataOf(reply);
    expect(dataOf(reply)).toMatchObject({ state: 'REPLACED' });
    expect(await api.shop.balance('usd')).toBe(beforeMinor - BigInt(Math.round(Number(price) * 100)));
    const read = await ask(`/api/esim/replacements/${api.idOf(String(replacementId))}`, {
      example: 'replaced',
    });
    expect(dataOf(read)).toMatchObject({ state: 'REPLACED', reason: 'The traveller has deleted it' });
    for (const either of [esimId, String(replacedBy)]) {
      const list = await ask(`/api/esim/replacements?state=REPLACED&esimId=${either}`, {
        example: 'one replacement',
      });
      expect(list.json).toMatchObject({ data: { items: [{ replacementId, replacedBy }] } });
    }
    const old = await ask(`/api/esim/${esimId}`);
    expect(old.json).toMatchObject({
      replacedBy,
      activationCode: '',
    });
  });

  it('of an eSIM on a phone wait for a person', async () => {
    const esimId = await bought('ENABLED');
    const beforeMinor = await api.shop.balance('usd');
    const reply = await ask(`/api/esim/${esimId}/replacements`, { body: {} });
    expect(dataOf(reply)).toMatchObject({ state: 'NEEDS_REVIEW', replacedBy: null, closedAt: null });
    expect(await api.shop.balance('usd')).toBe(beforeMinor);
    const again = await ask(`/api/esim/${esimId}/replacements`, { body: {} });
    expect(again).toMatchObject({ status: 409, json: { error: { code: 'REPLACEMENT_REFUSED' } } });
    expect(again.text).toContain('IN_PROGRESS');
  });

  it.each([
    [{ reason: '' }, 'reason'],
    [{ reason: 'x'.repeat(501) }, 'reason'],
    [{ reason: 7 }, 'reason'],
  ])('of a wrong body are refused with the field: %o', async (body, field) => {
    const reply = await ask(`/api/esim/${await bought()}/replacements`, { body });
    expect(reply).toMatchObject({ status: 400, json: { error: { code: 'VALIDATION_ERROR' } } });
    expect(reply.text).toContain(field);
  });

  it('that are not there are not found', async () => {
    const nobody = await ask(`/api/esim/replacements/replacement-${'0'.repeat(32)}`);
    expect(nobody).toMatchObject({ status: 404, json: { error: { code: 'REPLACEMENT_NOT_FOUND' } } });
    const noEsim = await ask(`/api/esim/esim-${'0'.repeat(32)}/replacements`, { body: {} });
    expect(noEsim).toMatchObject({ status: 404, json: { error: { code: 'ESIM_NOT_FOUND' } } });
  });
});
