/**
 * Webhooks to merchants, as rows: each change writes its messages in its own transaction, once, for
 * subscribed endpoints.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { replaceCatalogue, replaceTopUps } from '../../src/catalogue/store/catalogue.ts';
import { HoldConflict, voidHold } from '../../src/ledger/store/holds.ts';
import { ensureWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { setLowBalance } from '../../src/ledger/store/low-balance.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import type { WorldDatabase, WorldDb } from '../../src/platform/database/tables.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import {
  enqueueStatus,
  closeUnpaid,
  settlePurchase,
  profileItem,
} from '../../src/purchases/store/purchases.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { sealedQrCodeUrl } from '../../src/webhooks/event-rules.ts';
import type { WebhookEvent } from '../../src/webhooks/events.ts';
import { deleteEndpoint, updateEndpoint } from '../../src/webhooks/store/endpoints.ts';
import { openBooks } from '../support/world/books.ts';
import { basePackage, profileFacts, purchaseInput, region } from '../support/money/facts.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { placeHold } from '../support/money/holds.ts';
import { messagesOf, newAccountId, newEndpoint, NOW, setEndpoint } from './webhooks.support.ts';
import { forFile } from '../support/world/for-file.ts';

/** Of a purchase to which its shop gave neither. */
const NO_OWN = { reference: '', metadata: {} };
const OPEN = { now: NOW, keepRefusal: () => false };
const PROFILE = profileItem(profileFacts(), NOW, {});
const OUT_OF_STOCK = { reason: 'OUT_OF_STOCK', detail: 'code 200007' } as const;
const ALL: readonly WebhookEvent[] = ['esim.purchased', 'payment.received', 'wallet.low_balance'];

const books = await forFile(openBooks());
await replaceCatalogue(
  books.world,
  { supplier: 'esim-access', regions: [region()], packages: [basePackage()] },
  NOW,
);
const topUp = basePackage({ packageCode: 'TOPUP_NG', packageType: 'TOPUP' });
await replaceTopUps(books.world, 'NG-5GB-30D', [topUp], NOW);
afterEach(() => vi.restoreAllMocks());

async function buyer(fundsMinor = 10_000n): Promise<string> {
  const accountId = newAccountId();
  await ensureWallet(books.world, accountId, 'USD');
  await fund(accountId, fundsMinor);
  return accountId;
}

async function fund(accountId: string, amountMinor: bigint): Promise<void> {
  const operationKey = `fund:${randomUUID()}`;
  const amount = { amountMinor, currency: 'USD' };
  if (amountMinor > 0n) await fundWallet(books.world, { operationKey, accountId, amount, reason: 'a test' });
}

/** The same, with an endpoint. */
async function listening(fundsMinor?: bigint): Promise<string> {
  const accountId = await buyer(fundsMinor);
  await newEndpoint(books.world, accountId);
  return accountId;
}

/** A purchase of $12.50 from the wallet. */
function wanted(accountId: string, given: Partial<PurchaseInput> = {}): PurchaseInput {
  return purchaseInput({ transactionId: `txn-${randomUUID()}`, ...given, accountId });
}

/** The same, opened. */
async function opened(accountId: string, given: Partial<PurchaseInput> = {}): Promise<PurchaseInput> {
  const input = wanted(accountId, given);
  expect((await openPurchase(books.world, input, OPEN)).stage).not.toBe('failed');
  return input;
}

async function delivered(accountId: string): Promise<PurchaseInput> {
  const input = await opened(accountId);
  await settlePurchase(books.world, input.transactionId, PROFILE);
  return input;
}

const bodiesOf = async (accountId: string) =>
  (await messagesOf(books.owner, accountId)).map(({ body }) => (body as { data: object }).data);

describe('a purchase from the wallet', () => {
  it('sends SUCCESS with the eSIM, to every subscribed endpoint and no other', async () => {
    const accountId = await buyer();
    const [first, second] = [
      await newEndpoint(books.world, accountId),
      await newEndpoint(books.world, accountId),
    ];
    await newEndpoint(books.world, accountId, { events: ['payment.received'] });
    await newEndpoint(books.world, newAccountId());
    const { transactionId, esimId } = await opened(accountId);
    await settlePurchase(books.world, transactionId, PROFILE);
    const messages = await messagesOf(books.owner, accountId);
    expect(messages.map(({ endpoint }) => endpoint).toSorted()).toEqual([first.id, second.id].toSorted());
    expect(messages[0]).toMatchObject({
      event: 'esim.purchased',
      key: `esim.purchased:${transactionId}:SUCCESS`,
      subject: transactionId,
      status: 'PENDING',
      body: {
        event: 'esim.purchased',
        data: {
          transactionId,
          status: 'SUCCESS',
          esimId,
          iccid: '8901000000000000001',
          qrCodeUrl: sealedQrCodeUrl(esimId),
        },
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      },
    });
  });

  it('sends FAILED without an eSIM, and nothing when it is opened', async () => {
    const accountId = await listening();
    const { transactionId } = await opened(accountId);
    expect(await bodiesOf(accountId)).toEqual([]);
    await failPurchase(books.world, transactionId, OUT_OF_STOCK);
    expect(await bodiesOf(accountId)).toEqual([
      { transactionId, status: 'FAILED', esimId: '', iccid: '', qrCodeUrl: '', ...NO_OWN },
    ]);
  });

  it('sends PROCESSING when its buyer is about to get that answer, once, and not after it is closed', async () => {
    const accountId = await listening();
    const { transactionId } = await opened(accountId);
    await enqueueStatus(books.world, transactionId, 'PROCESSING');
    await enqueueStatus(books.world, transactionId, 'PROCESSING');
    await settlePurchase(books.world, transactionId);
    await enqueueStatus(books.world, transactionId, 'PROCESSING');
    expect(await bodiesOf(accountId)).toMatchObject([
      { status: 'PROCESSING', esimId: '' },
      { status: 'SUCCESS' },
    ]);
  });

  it('of a top-up sends the eSIM that is topped up, however it ends', async () => {
    const accountId = await buyer();
    const { esimId } = await delivered(accountId);
    await books.owner.updateTable('esims').set({ status: 'ACTIVE' }).where('id', '=', esimId).execute();
    await newEndpoint(books.world, accountId);
    const topUp = { packageType: 'TOPUP', packageCode: 'TOPUP_NG', esimId } as const;
    const { transactionId } = await opened(accountId, topUp);
    await enqueueStatus(books.world, transactionId, 'PROCESSING');
    await failPurchase(books.world, transactionId, OUT_OF_STOCK);
    const esim = { esimId, iccid: '8901000000000000001', qrCodeUrl: sealedQrCodeUrl(esimId), ...NO_OWN };
    expect(await bodiesOf(accountId)).toEqual([
      { transactionId, status: 'PROCESSING', ...esim },
      { transactionId, status: 'FAILED', ...esim },
    ]);
  });

  it('sends a refusal only if it is stored', async () => {
    const accountId = await listening(100n);
    const input = purchaseInput({ transactionId: `txn-${randomUUID()}`, accountId });
    await openPurchase(books.world, input, OPEN);
    expect(await bodiesOf(accountId)).toEqual([]);
    const kept = { ...input, transactionId: `txn-${randomUUID()}` };
    await openPurchase(books.world, kept, { ...OPEN, keepRefusal: () => true });
    expect(await bodiesOf(accountId)).toMatchObject([
      { transactionId: kept.transactionId, status: 'FAILED' },
    ]);
  });

  it('sends once however often a step runs', async () => {
    const accountId = await listening();
    const { transactionId } = await opened(accountId);
    for (let run = 0; run < 3; run += 1) await settlePurchase(books.world, transactionId);
    expect(await bodiesOf(accountId)).toHaveLength(1);
  });

  it('writes nothing if its transaction fails', async () => {
    const accountId = await listening();
    const { transactionId } = await opened(accountId);
    await voidHold(books.world, transactionId);
    await expect(settlePurchase(books.world, transactionId)).rejects.toThrow(HoldConflict);
    expect(await bodiesOf(accountId)).toEqual([]);
  });
});

describe('recipients', () => {
  it('do not include disabled and deleted endpoints', async () => {
    const accountId = await buyer();
    const [off, gone] = [
      await newEndpoint(books.world, accountId),
      await newEndpoint(books.world, accountId),
    ];
    await updateEndpoint(books.world, accountId, off.id, { enabled: false, now: NOW });
    await deleteEndpoint(books.world, accountId, gone.id, NOW);
    await delivered(accountId);
    expect(await messagesOf(books.owner, accountId)).toEqual([]);
  });

  it('include an endpoint that we disabled for failing, whose messages can be recovered', async () => {
    const accountId = await buyer();
    const failing = await newEndpoint(books.world, accountId);
    const disabled = { enabled: false, disabled_reason: 'FAILING', disabled_at: NOW } as const;
    await setEndpoint(books.owner, failing.id, disabled);
    const { transactionId } = await opened(accountId);
    await settlePurchase(books.world, transactionId);
    expect(await messagesOf(books.owner, accountId)).toMatchObject([
      { status: 'FAILED', subject: transactionId },
    ]);
  });
});

describe('the cost of messages', () => {
  /** Runs a step on its own connection; answers how many statements went to Postgres. */
  async function statementsOf(step: (world: WorldDb) => Promise<unknown>): Promise<number> {
    // Connections read the driver's function when they are made.
    const sent = vi.spyOn(pg.Client.prototype, 'query');
    const world = openDatabase<WorldDatabase>({
      url: books.url,
      schema: 'test',
      role: 'simway_test',
      maxConnections: 1,
      statementTimeoutMs: 5_000,
      applicationName: 'simway-counted',
    });
    try {
      await sql`select 1`.execute(world);
      const before = sent.mock.calls.length;
      await step(world);
      return sent.mock.calls.length - before;
    } finally {
      await world.destroy();
    }
  }

  it.each([0, 1, 3])('is no additional statement, with %i endpoints: settling is one', async (endpoints) => {
    const accountId = await buyer();
    for (let made = 0; made < endpoints; made += 1) await newEndpoint(books.world, accountId);
    const { transactionId } = await opened(accountId);
    expect(await statementsOf((world) => settlePurchase(world, transactionId, PROFILE))).toBe(1);
    expect(await bodiesOf(accountId)).toHaveLength(endpoints);
  });

  it('is one statement for PROCESSING', async () => {
    const { transactionId } = await opened(await buyer());
    expect(await statementsOf((world) => enqueueStatus(world, transactionId, 'PROCESSING'))).toBe(1);
  });

  it('is, for opening, a read and one statement that writes all of it, with or without a key', async () => {
    const accountId = await listening();
    const idempotency = { key: randomUUID(), path: '/api/esim/buy', fingerprint: 'f' };
    for (const given of [{}, { idempotency }, { paymentMethod: 'CARD' as const }]) {
      const input = wanted(accountId, given);
      expect(await statementsOf((world) => openPurchase(world, input, OPEN))).toBe(2);
    }
  });

  it('is a transaction for opening only if the balance falls below the threshold', async () => {
    const accountId = await buyer(4_000n);
    await setLowBalance(books.world, { accountId, currency: 'USD' }, 2_000n, NOW);
    const counts = [];
    for (let bought = 0; bought < 3; bought += 1) {
      const input = wanted(accountId);
      counts.push(await statementsOf((world) => openPurchase(world, input, OPEN)));
    }
    // A read and an attempt that finds it; begin, the same again, the event, commit.
    expect(counts).toEqual([2, 6, 2]);
  });
});

describe('an unpaid purchase', () => {
  it('sends FAILED, once, in the transaction that closes it', async () => {
    const accountId = newAccountId();
    await newEndpoint(books.world, accountId);
    const { transactionId } = await opened(accountId, { paymentMethod: 'CARD' });
    expect(await closeUnpaid(books.world, transactionId, 'PAYMENT_EXPIRED')).toBe('closed');
    expect(await closeUnpaid(books.world, transactionId, 'PAYMENT_EXPIRED')).toBe('closed');
    expect(await bodiesOf(accountId)).toMatchObject([{ transactionId, status: 'FAILED', esimId: '' }]);
  });
});

describe('a low balance', () => {
  const take = async (accountId: string): Promise<string> => (await opened(accountId)).transactionId;
  /** A buyer with an endpoint for every event, who is to be told below the threshold. */
  async function watched(fundsMinor: bigint, thresholdMinor?: bigint): Promise<string> {
    const accountId = await buyer(fundsMinor);
    await newEndpoint(books.world, accountId, { events: ALL });
    if (thresholdMinor !== undefined) await setThreshold(accountId, thresholdMinor);
    return accountId;
  }
  const setThreshold = (accountId: string, thresholdMinor: bigint | null) =>
    setLowBalance(books.world, { accountId, currency: 'USD' }, thresholdMinor, NOW);

  it('is sent when a hold takes the wallet below the threshold, with the remaining balance', async () => {
    const accountId = await watched(3_000n, 1_000n);
    await take(accountId);
    expect(await bodiesOf(accountId)).toEqual([]);
    const transactionId = await take(accountId);
    expect(await messagesOf(books.owner, accountId)).toMatchObject([
      {
        event: 'wallet.low_balance',
        key: `wallet.low_balance:${transactionId}`,
        subject: transactionId,
        body: { data: { balance: 5, threshold: 10, currency: 'USD' } },
      },
    ]);
  });

  it('is sent once until the wallet has been at the threshold again', async () => {
    const accountId = await watched(3_000n, 2_000n);
    await take(accountId);
    await take(accountId);
    expect(await bodiesOf(accountId)).toHaveLength(1);
    await fund(accountId, 1_499n);
    await take(accountId);
    expect(await bodiesOf(accountId)).toHaveLength(1);
    await fund(accountId, 1_251n);
    await take(accountId);
    expect(await bodiesOf(accountId)).toMatchObject([{ balance: 17.5 }, { balance: 7.5 }]);
  });

  it('is sent once for many buyers at once', async () => {
    const accountId = await watched(1_250n * 8n, 5_000n);
    await Promise.all(Array.from({ length: 8 }, () => take(accountId)));
    expect(await bodiesOf(accountId)).toMatchObject([{ balance: 37.5, threshold: 50 }]);
  });

  it('is sent at once when the threshold is set above the balance, and not again while it stays low', async () => {
    const accountId = await watched(3_000n);
    const wallet = { accountId, currency: 'USD' } as const;
    /** How many were sent by then. */
    const set = async (thresholdMinor: bigint, at: number) => {
      await setLowBalance(books.world, wallet, thresholdMinor, new Date(NOW.getTime() + at));
      return (await bodiesOf(accountId)).length;
    };
    expect(await set(3_000n, 1)).toBe(0);
    expect(await set(3_001n, 2)).toBe(1);
    expect(await bodiesOf(accountId)).toEqual([{ balance: 30, threshold: 30.01, currency: 'USD' }]);
    expect([await set(3_001n, 3), await set(9_000n, 4)]).toEqual([1, 1]);
    await take(accountId);
    expect(await bodiesOf(accountId)).toHaveLength(1);
    // Not low by a smaller threshold, and low again by a greater one.
    expect([await set(1_000n, 5), await set(2_000n, 6)]).toEqual([1, 2]);
  });

  it('is sent at once to an account without a wallet, whose balance is zero', async () => {
    const accountId = newAccountId();
    await newEndpoint(books.world, accountId, { events: ALL });
    await setLowBalance(books.world, { accountId, currency: 'NGN' }, 1n, NOW);
    expect(await bodiesOf(accountId)).toEqual([{ balance: 0, threshold: 0.01, currency: 'NGN' }]);
  });

  it('is sent once when the same threshold is set many times at once', async () => {
    const accountId = await watched(3_000n);
    await Promise.all(
      Array.from({ length: 6 }, (_, ms) =>
        setLowBalance(books.world, { accountId, currency: 'USD' }, 5_000n, new Date(NOW.getTime() + ms)),
      ),
    );
    expect(await bodiesOf(accountId)).toHaveLength(1);
  });

  it('is not sent after it is switched off', async () => {
    const accountId = await watched(3_000n, 2_000n);
    await setThreshold(accountId, null);
    await take(accountId);
    expect(await bodiesOf(accountId)).toEqual([]);
  });

  it('belongs to the hold: none if the hold is refused or repeated', async () => {
    const accountId = await watched(1_500n, 1_000n);
    const hold = { id: `txn-${randomUUID()}`, accountId, amount: { amountMinor: 1_600n, currency: 'USD' } };
    expect(await placeHold(books.world, hold)).toBe('insufficient');
    expect(await bodiesOf(accountId)).toEqual([]);
    const fits = { ...hold, amount: { amountMinor: 600n, currency: 'USD' } };
    expect(await placeHold(books.world, fits)).toBe('held');
    await fund(accountId, 600n);
    expect(await placeHold(books.world, fits)).toBe('already');
    expect(await bodiesOf(accountId)).toHaveLength(1);
  });
});
