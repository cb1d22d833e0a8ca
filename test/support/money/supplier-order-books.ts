/** The books of tests of orders at suppliers: a catalogue, a funded wallet, and purchases that are paid. */
import { expect } from 'vitest';
import { replaceCatalogue, replaceTopUps } from '../../../src/catalogue/store/catalogue.ts';
import { refreshEsim } from '../../../src/esims/store/esims.ts';
import { ensureWallet, fundWallet } from '../../../src/ledger/store/ledger.ts';
import type { PurchaseInput } from '../../../src/purchases/purchase.ts';
import { openPurchase } from '../../../src/purchases/store/opening.ts';
import { profileItem, settlePurchase } from '../../../src/purchases/store/purchases.ts';
import {
  beginAttempt,
  SEND_WITHIN_MS,
  type AttemptRules,
} from '../../../src/purchases/store/supplier-orders.ts';
import { openBooks } from '../world/books.ts';
import { basePackage, profileFacts, purchaseInput, region } from './facts.ts';

export const NOW = new Date('2026-03-01T10:00:00.000Z');
const ACCOUNT = 'acc-1';

export const TIME_LIMIT_MS = 5_000;
/** In flight for 10 s after its answer did not come: `purchaseInput`. */
const GRACE_MS = 10_000;
export const SETTLES_MS = SEND_WITHIN_MS + TIME_LIMIT_MS + GRACE_MS;

/** As for a supplier that promises that a repeated order is the same request. */
const RULES: AttemptRules = {
  supplier: 'esim-access',
  timeLimitMs: TIME_LIMIT_MS,
  mayRepeat: { BASE: true, TOPUP: false },
  isSearched: false,
};

export async function openOrderBooks() {
  const books = await openBooks();
  const { world } = books;
  await replaceCatalogue(
    world,
    { supplier: 'esim-access', regions: [region()], packages: [basePackage()] },
    NOW,
  );
  const topUp = basePackage({ packageCode: 'TOPUP_NG', packageType: 'TOPUP' });
  await replaceTopUps(world, 'NG-5GB-30D', [topUp], NOW);
  await ensureWallet(world, ACCOUNT, 'USD');
  const amount = { amountMinor: 1_000_000n, currency: 'USD' };
  await fundWallet(world, { operationKey: 'fund', accountId: ACCOUNT, amount, reason: 'a test' });

  let opened = 0;
  async function open(given: Partial<PurchaseInput> = {}): Promise<PurchaseInput> {
    const input = purchaseInput({ transactionId: `txn-${(opened += 1)}`, accountId: ACCOUNT, ...given });
    expect(await openPurchase(world, input, { now: NOW, keepRefusal: () => false })).toMatchObject({
      stage: 'paid',
    });
    return input;
  }

  async function openTopUp(): Promise<PurchaseInput> {
    const base = await open();
    const facts = profileFacts({ esimTranNo: `tran-${base.transactionId}` });
    await settlePurchase(world, base.transactionId, profileItem(facts, NOW, {}));
    await refreshEsim(world, base.esimId, profileFacts({ status: 'ACTIVE' }), NOW);
    return open({ packageCode: 'TOPUP_NG', packageType: 'TOPUP', esimId: base.esimId });
  }

  const attempt = (transactionId: string, rules: Partial<AttemptRules> = {}) =>
    beginAttempt(world, transactionId, { ...RULES, ...rules });

  return { books, open, openTopUp, attempt };
}
