/** The supplier of a purchase's package and the gateway of its payment, by its rows. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { findVendors } from '../../src/purchases/store/reads.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { NOW, usePaymentBooks } from '../payments/payments.support.ts';
import { basePackage, purchaseInput, region } from '../support/money/facts.ts';

const books = usePaymentBooks();
const vendorsOf = ({ transactionId }: { readonly transactionId: string }) =>
  findVendors(books.world, transactionId);

it('a purchase is opened with the supplier of its package and the gateway of its payment', async () => {
  const { input } = await books.payer();
  expect(await vendorsOf(input)).toEqual({ supplier: 'esim-access', gateway: 'paystack' });
  const others = {
    supplier: 'another',
    regions: [region()],
    packages: [basePackage({ packageCode: 'OTHER' })],
  };
  await replaceCatalogue(books.world, others, NOW);
  const charge = { gateway: 'another', amountMinor: '230', currency: 'USD', rateIds: [] };
  const other = { ...input, ...ofAnother(), packageCode: 'OTHER', charge };
  const options = { now: NOW, keepRefusal: () => true };
  expect(await openPurchase(books.world, other, options)).toMatchObject({ stage: 'awaiting-payment' });
  expect(await vendorsOf(other)).toEqual({ supplier: 'another', gateway: 'another' });
});

it('an action that replaces the package by one of another supplier changes the supplier', async () => {
  const { transactionId } = await books.payer();
  await books.owner
    .updateTable('purchases')
    .set({ supplier: 'another' })
    .where('transaction_id', '=', transactionId)
    .execute();
  expect(await vendorsOf({ transactionId })).toEqual({ supplier: 'another', gateway: 'paystack' });
});

it('a funding has a gateway only, and what was refused before a package was found has neither', async () => {
  expect(await vendorsOf(await books.payer({ purpose: 'funding' }))).toEqual({
    supplier: null,
    gateway: 'paystack',
  });
  const unknown = purchaseInput({ ...ofAnother(), packageCode: 'NONE' });
  const options = { now: NOW, keepRefusal: () => true };
  expect(await openPurchase(books.world, unknown, options)).toMatchObject({ stage: 'failed' });
  expect(await vendorsOf(unknown)).toEqual({ supplier: null, gateway: null });
  expect(await vendorsOf({ transactionId: 'txn-never-opened' })).toEqual({ supplier: null, gateway: null });
});

function ofAnother() {
  const transactionId = `txn-${randomUUID()}`;
  return { transactionId, esimId: `esim-of-${transactionId}` };
}
