/** Whether an order can still arrive, where the supplier was not asked, or does not say. */
import { describe, expect, it } from 'vitest';
import type { EsimSupplier } from '../../src/esims/port.ts';
import { judgeOrder } from '../../src/purchases/order-judgement.ts';
import type { SupplierOrder } from '../../src/purchases/store/supplier-orders.ts';

type Asked = Pick<EsimSupplier, 'findOrder' | 'findTopUp' | 'profile'>;
type Silence = { readonly outcome: 'unknown'; readonly detail: string; readonly notSent?: true };

const now = new Date();
const orderOf = (of: Partial<SupplierOrder>) =>
  ({
    id: 'txn-1',
    kind: 'BASE',
    orderNo: null,
    firstSentAt: now,
    lastSentAt: now,
    now,
    ...of,
  }) as SupplierOrder;
const silent = (silence: Silence): Asked => ({
  findOrder: () => Promise.resolve(silence),
  findTopUp: () => Promise.resolve(silence),
  profile: () => Promise.resolve(silence),
});
const judged = (supplier: Asked, of: Partial<SupplierOrder>, supplierConfirmedUndelivered = true) =>
  judgeOrder(supplier, orderOf(of), { supplierConfirmedUndelivered });

describe.each([
  ['an order', {}],
  ['a top-up', { kind: 'TOPUP' }],
  ['an order whose number is known', { orderNo: 'B1' }],
] as const)('%s', (_what, of) => {
  it('is withdrawn on an operator’s evidence where the supplier does not answer', async () => {
    expect(await judged(silent({ outcome: 'unknown', detail: 'lost' }), of)).toEqual({
      outcome: 'withdrawn',
    });
  });

  it('is not where we did not ask: the evidence may be older than the order', async () => {
    const held = silent({ outcome: 'unknown', detail: 'no slot', notSent: true });
    expect(await judged(held, of)).toMatchObject({ outcome: 'uncertain', notSent: true });
  });

  it('is in doubt without evidence', async () => {
    expect(await judged(silent({ outcome: 'unknown', detail: 'lost' }), of, false)).toMatchObject({
      outcome: 'uncertain',
    });
  });
});

it('an order that may stand further on in the supplier’s list is in doubt, whatever the evidence', async () => {
  const value = { state: 'searching', searchedUntil: now } as const;
  const searching = {
    ...silent({ outcome: 'unknown', detail: '' }),
    findOrder: () => Promise.resolve({ outcome: 'done', value } as const),
  };
  expect(await judged(searching, {})).toMatchObject({ outcome: 'uncertain' });
});
