/**
 * A repeated request without a key of its own is done once. It is done once more where something undid the
 * first.
 */
import { expect, it } from 'vitest';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { databaseActions } from '../support/world/database-engine.ts';
import { basePackage, region } from '../support/money/facts.ts';
import { NOW, usePaymentBooks, type Payer } from '../payments/payments.support.ts';

const books = usePaymentBooks();

const ask = ({ transactionId }: Payer, action: 'deliver-other' | 'cancel') =>
  databaseActions(books.world, NOW).perform({ transactionId, action, by: 'ada', reason: 'a test' });

it('a package is replaced once, and once more when the supplier refuses the replacement', async () => {
  const payer = await books.payer();
  await books.bookCheck(payer);
  const packages = ['ONE', 'TWO'].map((packageCode) => basePackage({ packageCode }));
  const bought = basePackage({ packageCode: payer.input.packageCode });
  const catalogue = { supplier: 'esim-access', regions: [region()], packages: [bought, ...packages] };
  await replaceCatalogue(books.world, catalogue, NOW);
  const ordersOf = async () =>
    (
      await books.world
        .selectFrom('supplier_orders')
        .select('state')
        .where('transaction_id', '=', payer.transactionId)
        .orderBy('id')
        .execute()
    ).map(({ state }) => state);

  const refuse = () =>
    books.owner
      .updateTable('supplier_orders')
      .set({ state: 'refused', refused_reason: 'OUT_OF_STOCK', closed_at: NOW })
      .where('transaction_id', '=', payer.transactionId)
      .where('state', '=', 'planned')
      .execute();

  await refuse();
  const first = await ask(payer, 'deliver-other');
  expect(first).toMatchObject({ outcome: 'done' });
  expect(first).not.toHaveProperty('again');
  expect(await ask(payer, 'deliver-other')).toEqual({ ...first, again: true });
  expect(await ordersOf()).toEqual(['refused', 'planned']);

  await refuse();
  const second = await ask(payer, 'deliver-other');
  expect(second).toMatchObject({ outcome: 'done' });
  expect(second).not.toHaveProperty('again');
  expect(await ask(payer, 'deliver-other')).toEqual({ ...second, again: true });
  expect(await ordersOf()).toEqual(['refused', 'refused', 'planned']);
});

it('a purchase is cancelled once, and again when one of its payments is found open', async () => {
  const payer = await books.payer();
  const cancelled = { outcome: 'done', did: 'cancelled: nothing was paid' };
  expect(await ask(payer, 'cancel')).toMatchObject(cancelled);
  expect(await ask(payer, 'cancel')).toMatchObject({ ...cancelled, again: true });
  const flag = { attention_reason: 'PAYMENT_STILL_OPEN', needs_attention_since: NOW } as const;
  await books.owner
    .updateTable('purchases')
    .set(flag)
    .where('transaction_id', '=', payer.transactionId)
    .execute();
  const closed = await ask(payer, 'cancel');
  expect(closed).toMatchObject({ outcome: 'done', did: 'closed; no further payment expected' });
  expect(closed).not.toHaveProperty('again');
  const { attention_reason: reason } = await books.world
    .selectFrom('purchases')
    .select('attention_reason')
    .where('transaction_id', '=', payer.transactionId)
    .executeTakeFirstOrThrow();
  expect(reason).toBeNull();
});
