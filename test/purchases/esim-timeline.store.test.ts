/**
 * The timeline of an eSIM from the real store: its purchase, a top-up, its life, its link and its webhooks;
 * and that reading it reads only that eSIM.
 */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { replaceCatalogue, replaceTopUps } from '../../src/catalogue/store/catalogue.ts';
import type { Principal } from '../../src/domain/account.ts';
import { keepUsage, refreshEsim } from '../../src/esims/store/esims.ts';
import { insertInstallLink, revokeInstallLink } from '../../src/esims/store/install-links.ts';
import { ensureWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { getEsimTimeline } from '../../src/purchases/esim-timeline.ts';
import { readEsimTimeline } from '../../src/purchases/store/esim-timeline.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import {
  flagAttention,
  profileItem,
  settlePurchase,
  topUpItem,
} from '../../src/purchases/store/purchases.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { explain } from '../support/world/explain.ts';
import { basePackage, profileFacts, purchaseInput, region } from '../support/money/facts.ts';
import { UNBOUNDED } from '../support/money/unpaid.ts';
import { forFile } from '../support/world/for-file.ts';

const books: Books = await forFile(openBooks({ statementTimeoutMs: 30_000 }));

const ACCOUNT = 'acc-timeline';
const principal = { account: { id: ACCOUNT, currency: 'USD' } } as Principal;
const BASE = purchaseInput({ transactionId: 'txn-base', accountId: ACCOUNT });
const TOP_UP = purchaseInput({
  transactionId: 'txn-topup',
  accountId: ACCOUNT,
  packageType: 'TOPUP',
  packageCode: 'TOPUP_NG',
  esimId: BASE.esimId,
});
const TOTAL = profileFacts().totalVolumeBytes;
const START_MS = Date.now() - 48 * 3_600_000;
const hour = (hours: number): Date => new Date(START_MS + hours * 3_600_000);

const timelineAt = (now: Date) =>
  getEsimTimeline({ db: books.world, clock: { now: () => now } }, principal, BASE.esimId);

const catalogue = { supplier: 'esim-access', regions: [region()], packages: [basePackage()] };
await replaceCatalogue(books.world, catalogue, hour(0));
const topUp = basePackage({ packageCode: 'TOPUP_NG', packageType: 'TOPUP' });
await replaceTopUps(books.world, 'NG-5GB-30D', [topUp], hour(0));
await ensureWallet(books.world, ACCOUNT, 'USD');
const amount = { amountMinor: 100_000n, currency: 'USD' };
await fundWallet(books.world, { operationKey: 'f', accountId: ACCOUNT, amount, reason: 'Ada' });
const options = { now: hour(1), gateway: 'paystack', keepRefusal: () => false, unpaidLimits: UNBOUNDED };
await openPurchase(books.world, BASE, options);
await flagAttention(books.world, BASE.transactionId, 'SUPPLIER_OUTCOME_UNKNOWN');
const facts = profileFacts({
  esimTranNo: 'tran-1',
  iccid: '89440001',
  smdpStatus: 'RELEASED',
  orderUsageBytes: 0,
});
await settlePurchase(books.world, BASE.transactionId, profileItem(facts, hour(2), {}));
await insertInstallLink(books.world, BASE.esimId, {
  nonce: Buffer.alloc(16),
  token_hash: Buffer.alloc(32),
});
await revokeInstallLink(books.world, BASE.esimId);
await refreshEsim(books.world, BASE.esimId, { ...facts, smdpStatus: 'ENABLED' }, hour(3));
const inUse = {
  ...facts,
  smdpStatus: 'ENABLED',
  status: 'ACTIVE' as const,
  activateTime: hour(4).toISOString(),
};
await refreshEsim(books.world, BASE.esimId, inUse, hour(4));
await keepUsage(
  books.world,
  'esim-access',
  [{ esimTranNo: 'tran-1', usedBytes: Math.ceil(TOTAL * 0.85), observedAt: null }],
  hour(5),
);
await openPurchase(books.world, TOP_UP, { ...options, now: hour(6) });
const totals = {
  iccid: '89440001',
  totalVolumeBytes: 2 * TOTAL,
  orderUsageBytes: 0,
  totalDuration: 60,
  expiredTime: null,
};
await settlePurchase(books.world, TOP_UP.transactionId, topUpItem(totals, hour(6)));

describe('the timeline', () => {
  it('has the purchase, the top-up, the link and the life of the eSIM', async () => {
    const { lines, isComplete } = await timelineAt(new Date());
    const said = lines.map((line) => `${line.source} ${line.what}`);
    expect(said).toEqual(
      expect.arrayContaining([
        'purchase wallet-held',
        'purchase delivered',
        'install install-link-revoked',
        'install installed',
        'esim in-use',
        'esim usage-threshold',
      ]),
    );
    expect(lines.filter((line) => line.transactionId === TOP_UP.transactionId)).toMatchObject([
      { what: 'wallet-held', description: expect.stringMatching(/^Top-up /) as unknown },
      { what: 'delivered' },
    ]);
    expect(lines.filter((line) => line.what === 'usage-threshold').map((line) => line.description)).toEqual([
      '50% of the data is used',
      '80% of the data is used',
    ]);
    expect(lines.filter((line) => line.what === 'in-use')).toHaveLength(1);
    const times = lines.map((line) => line.at.getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(isComplete).toBe(true);
  });

  it('shows nothing about operators, suppliers and costs', async () => {
    const shown = JSON.stringify((await timelineAt(new Date())).lines);
    expect(shown).not.toMatch(/attention|supplier|SUPPLIER|cost|Ada|"s"/);
  });

  it('without its events still has the eSIM’s own facts, and says that it is not complete', async () => {
    const events = await books.owner.deleteFrom('events').returningAll().execute();
    const { lines, isComplete } = await timelineAt(new Date(Date.now() + 40 * 86_400_000));
    expect(isComplete).toBe(false);
    expect(lines.filter((line) => line.source === 'esim')).toMatchObject([{ what: 'in-use', at: hour(4) }]);
    expect(events.length).toBeGreaterThan(2);
  });

  it('reads by indexes, however much other accounts have', async () => {
    await sql`
      insert into events (id, account_id, event, event_key, subject, body)
      select 'evt-' || md5('e' || i), ${ACCOUNT}, 'esim.usage_threshold', 'k' || i, 'txn-' || md5('s' || i), '{}' from generate_series(1, 20000) i`.execute(
      books.owner,
    );
    await sql`
      insert into purchase_events (transaction_id, what) select ${BASE.transactionId}, 'ordered-at-supplier' from generate_series(1, 3)`.execute(
      books.owner,
    );
    await sql`analyze events, purchase_events, purchases`.execute(books.owner);
    const esim = { id: BASE.esimId, transaction_id: BASE.transactionId, account_id: ACCOUNT };
    const { statements, scans } = await explain(books, (db) => readEsimTimeline(db, esim));
    expect(statements).toBe(4);
    const events = scans.filter((node) => node['Relation Name'] === 'events');
    expect(events.map((node) => node['Node Type'])).not.toContain('Seq Scan');
  });
});
