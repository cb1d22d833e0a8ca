/** The stuck list's statement: the rows of each kind of stuck purchase, next to healthy ones. */
import { beforeEach, describe, expect, it } from 'vitest';
import { findStuck, type StuckList } from '../../src/operations/stuck.ts';
import {
  type StuckFilter,
  STUCK_CLASSES,
  stuckLimits,
  type StuckClass,
} from '../../src/operations/stuck-rules.ts';
import { UNMATCHED_EVENT } from '../../src/payments/store/gateway-events.ts';
import { openBooks } from '../support/world/books.ts';
import { ago, DAY, HOUR, NOW, rowsOf } from './stuck.support.ts';
import { EngineUnavailable } from '../../src/domain/outcome.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
const rows = rowsOf(books.owner);

/** Attention after 10 minutes, so 20 minutes to deliver; 10 minutes to open a charge, so 20. */
const limits = stuckLimits({ attentionAfterMs: 600_000, openChargeForMs: 600_000 });
let gone = new Set<string>();
let askedAbout: readonly string[] = [];
const workflows = {
  findUncarried: (ids: readonly string[]) => {
    askedAbout = ids;
    return Promise.resolve(gone);
  },
  ofTransaction: () => Promise.resolve([]),
};
const deps = { db: books.world, workflows, clock: { now: () => NOW }, limits };

const list = (filter?: StuckFilter): Promise<StuckList> => findStuck(deps, filter);

/** The classes that a transaction is listed under, each with its reason. */
async function listed(transactionId: string): Promise<string[]> {
  const { items } = await list({ transactionIds: [transactionId] });
  return items.map((item) => `${item.class}: ${item.reason}`);
}

const flagged = (reason: string, sinceMinutes = 5) => ({
  attention_reason: reason,
  needs_attention_since: ago(sinceMinutes),
});

beforeEach(() => {
  gone = new Set();
});

describe('an open purchase', () => {
  it.each([
    'paid-not-delivered: SUPPLIER_NEVER_ALLOCATED',
    'paid-not-delivered: DELIVERY_STEP_FAILED',
    'supplier-unknown: SUPPLIER_OUTCOME_UNKNOWN',
    'delivered-not-settled: SETTLE_FAILED',
    'undo-failed: UNDO_FAILED',
    'needs-attention: A_REASON_OF_TOMORROW',
  ])('is listed by its reason for attention: %s', async (line) => {
    const id = await rows.purchase(flagged(line.split(': ')[1] ?? ''));
    await rows.hold(id);
    expect(await listed(id)).toEqual([line]);
  });

  it('is listed once its time for delivery is over, even without an alert', async () => {
    const [healthy, late] = [await rows.purchase(), await rows.purchase()];
    await rows.hold(healthy, { created_at: ago(19) });
    await rows.hold(late, { created_at: ago(21) });
    for (const id of [healthy, late]) await rows.order(id, ago(10));
    expect(await listed(healthy)).toEqual([]);
    expect(await listed(late)).toEqual(['paid-not-delivered: NOT_DELIVERED_IN_TIME']);
  });

  it('is listed once, however old its hold is, when it needs attention', async () => {
    const id = await rows.purchase(flagged('SUPPLIER_OUTCOME_UNKNOWN', 60));
    await rows.hold(id, { created_at: ago(80) });
    expect(await listed(id)).toEqual(['supplier-unknown: SUPPLIER_OUTCOME_UNKNOWN']);
  });

  it('is listed twice when its money is disputed and it is not delivered: two causes', async () => {
    const id = await rows.purchase(flagged('PAYMENT_DISPUTED', 10));
    await rows.hold(id, { created_at: ago(60) });
    expect(await listed(id)).toEqual([
      'paid-not-delivered: NOT_DELIVERED_IN_TIME',
      'payment-disputed: PAYMENT_DISPUTED',
    ]);
  });

  it('that waits for money is not listed before its time is over, nor for ten minutes more', async () => {
    const waiting = async (expiresMinutesAgo: number, createdMinutesAgo: number): Promise<string> => {
      const id = await rows.purchase({
        payment_method: 'CARD',
        status: 'PENDING',
        created_at: ago(createdMinutesAgo),
      });
      await rows.payment(id, { expires_at: ago(expiresMinutesAgo) });
      return id;
    };
    expect(await listed(await waiting(-60, 23 * HOUR))).toEqual([]);
    expect(await listed(await waiting(9, DAY))).toEqual([]);
    expect(await listed(await waiting(11, DAY))).toEqual(['charge-unknown: NOT_CLOSED_IN_TIME']);
  });

  it('that could never be paid is listed once the time to open it is over', async () => {
    const open = (minutes: number) =>
      rows.purchase({ payment_method: 'CARD', status: 'PENDING', created_at: ago(minutes) });
    const [without, asked, fresh] = [await open(21), await open(21), await open(19)];
    await rows.payment(asked, { status: 'ASKED', expires_at: ago(-DAY) });
    expect(await listed(without)).toEqual(['charge-unknown: NOT_OPENED_IN_TIME']);
    expect(await listed(asked)).toEqual(['charge-unknown: NOT_OPENED_IN_TIME']);
    expect(await listed(fresh)).toEqual([]);
  });

  it('without an answer by its gateway is listed at once, and only once', async () => {
    const id = await rows.purchase({
      payment_method: 'CARD',
      status: 'PENDING',
      created_at: ago(2 * DAY),
      ...flagged('GATEWAY_OUTCOME_UNKNOWN'),
    });
    await rows.payment(id, { expires_at: ago(DAY) });
    expect(await listed(id)).toEqual(['charge-unknown: GATEWAY_OUTCOME_UNKNOWN']);
  });

  it('without a workflow is listed for that only, apart from disputes on its money', async () => {
    const [one, disputed, closed] = [
      await rows.purchase({ created_at: ago(5), ...flagged('SUPPLIER_OUTCOME_UNKNOWN') }),
      await rows.purchase({ created_at: ago(5), ...flagged('PAYMENT_REVERSED') }),
      await rows.purchase({ status: 'SUCCESS', created_at: ago(5) }),
    ];
    await rows.hold(one, { created_at: ago(60) });
    await rows.hold(disputed, { created_at: ago(60) });
    await rows.hold(closed, { status: 'POSTED' });
    // One that closes during the query of Temporal is in its answer, and in no list.
    gone = new Set([one, disputed, closed]);
    expect(await listed(one)).toEqual(['workflow-gone: SUPPLIER_OUTCOME_UNKNOWN']);
    expect(await listed(disputed)).toEqual([
      'payment-reversed: PAYMENT_REVERSED',
      'workflow-gone: PAYMENT_REVERSED',
    ]);
    expect(await listed(closed)).toEqual([]);
    expect(askedAbout).not.toContain(closed);
  });

  it('is looked up in Temporal once it is a minute old', async () => {
    const [fresh, older] = [
      await rows.purchase({ created_at: ago(0.5) }),
      await rows.purchase({ created_at: ago(1.5) }),
    ];
    await list();
    expect(askedAbout).not.toContain(fresh);
    expect(askedAbout).toContain(older);
  });
});

describe('a closed purchase', () => {
  it.each(['SUCCESS', 'FAILED'] as const)('that is %s and settled is never listed', async (status) => {
    const id = await rows.purchase({
      status,
      ...(status === 'FAILED' ? { reason: 'PAYMENT_EXPIRED' } : {}),
      created_at: ago(10 * DAY),
    });
    await rows.hold(id, { status: status === 'SUCCESS' ? 'POSTED' : 'VOIDED', created_at: ago(10 * DAY) });
    await rows.payment(id, { status: 'CLOSED', expires_at: ago(9 * DAY) });
    await rows.refund(id, { status: 'DONE', created_at: ago(9 * DAY) });
    await rows.refund(id, { status: 'CREDITED', created_at: ago(9 * DAY) });
    expect(await listed(id)).toEqual([]);
  });

  it.each([
    'payment-disputed: PAYMENT_DISPUTED',
    'payment-reversed: PAYMENT_REVERSED',
    'other-package-delivered: OTHER_PACKAGE_DELIVERED',
    'charge-left-open: PAYMENT_STILL_OPEN',
    'return-needs-review: RETURN_NEEDS_REVIEW',
    'replacement-needs-review: REPLACEMENT_NEEDS_REVIEW',
  ])('is listed for what a person must look at: %s', async (line) => {
    const id = await rows.purchase({ status: 'SUCCESS', ...flagged(line.split(': ')[1] ?? '') });
    expect(await listed(id)).toEqual([line]);
  });

  it.each([
    ['returns', 'return-needs-review: RETURN_NEEDS_REVIEW'],
    ['replacements', 'replacement-needs-review: REPLACEMENT_NEEDS_REVIEW'],
  ] as const)('is listed where the step of its %s asks for nobody in time', async (table, line) => {
    expect(await listed(await rows.followed(table, ago(19)))).toEqual([]);
    expect(await listed(await rows.followed(table, ago(21)))).toEqual([line]);
  });

  it('is listed while money is held for it', async () => {
    const held = async (status: 'SUCCESS' | 'FAILED'): Promise<string[]> => {
      const id = await rows.purchase({ status, ...(status === 'FAILED' ? { reason: 'OUT_OF_STOCK' } : {}) });
      await rows.hold(id, { created_at: ago(30) });
      return listed(id);
    };
    expect(await held('SUCCESS')).toEqual(['hold-too-old: PURCHASE_SUCCESS']);
    expect(await held('FAILED')).toEqual(['hold-too-old: PURCHASE_FAILED']);
    await rows.hold('txn-unknown', { created_at: ago(30) });
    expect(await listed('txn-unknown')).toEqual(['hold-too-old: PURCHASE_ABSENT']);
  });

  it('is watched for late money without being listed, and listed when neither the gateway’s list nor the payment is read', async () => {
    const abandoned = async (openedMinutesAgo: number, checkedMinutesAgo: number | null): Promise<string> => {
      const opened = { created_at: ago(openedMinutesAgo) };
      const id = await rows.purchase({
        payment_method: 'CARD',
        status: 'FAILED',
        reason: 'PAYMENT_EXPIRED',
        ...opened,
      });
      await rows.payment(id, {
        ...opened,
        expires_at: ago(openedMinutesAgo - DAY),
        checked_at: checkedMinutesAgo === null ? null : ago(checkedMinutesAgo),
      });
      return id;
    };
    await rows.window(3 * DAY, 181);
    await rows.window(3 * DAY + 60, 70);
    expect(await listed(await abandoned(3 * DAY, 70))).toEqual([]);
    expect(await listed(await abandoned(3 * DAY, 181))).toEqual(['late-money-unbooked: NOT_CHECKED']);
    expect(await listed(await abandoned(3 * DAY, null))).toEqual(['late-money-unbooked: NOT_CHECKED']);
    expect(await listed(await abandoned(3 * DAY + 60, null)), 'its window was read').toEqual([]);
    expect(await listed(await abandoned(2 * DAY, null)), 'nothing is known to be late').toEqual([]);
    expect(await listed(await abandoned(4 * DAY + 4 * 60, null))).toEqual([
      'late-money-unbooked: NOT_CLOSED',
    ]);
    expect(await listed(await abandoned(4 * DAY + 2 * 60, null)), 'the sweep has some hours').toEqual([]);
  });

  it('is listed once with the total when its refund takes longer than usual', async () => {
    type Status = 'DUE' | 'ASKED' | 'PENDING' | 'NEEDS_ATTENTION' | 'STUCK';
    const refunding = async (status: Status, age: number) => {
      const failed = { payment_method: 'CARD', status: 'FAILED', reason: 'OUT_OF_STOCK' } as const;
      const id = await rows.purchase({ ...failed, ...(status === 'STUCK' && flagged('REFUND_STUCK')) });
      await rows.payment(id, { checked_at: ago(1) });
      await rows.refund(id, { status, created_at: ago(age) });
      return id;
    };
    expect(await listed(await refunding('DUE', 14))).toEqual([]);
    expect(await listed(await refunding('DUE', 16))).toEqual(['refund-not-done: REFUND_DUE']);
    expect(await listed(await refunding('ASKED', 16))).toEqual(['refund-not-done: REFUND_ASKED']);
    expect(await listed(await refunding('PENDING', 13 * DAY))).toEqual([]);
    expect(await listed(await refunding('PENDING', 15 * DAY))).toEqual(['refund-not-done: REFUND_PENDING']);
    expect(await listed(await refunding('NEEDS_ATTENTION', 1))).toEqual([
      'refund-needs-attention: REFUND_NEEDS_ATTENTION',
    ]);
    const stuck = await refunding('STUCK', 1);
    expect(await listed(stuck)).toEqual(['refund-stuck: REFUND_STUCK']);
    await rows.refund(stuck, { status: 'STUCK', amount_minor: 100n, created_at: ago(30) });
    expect((await list({ transactionIds: [stuck] })).items).toMatchObject([
      { amountMinor: 368_100n, currency: 'NGN', ageSeconds: 1_800 },
    ]);
  });
});

describe('a funding', () => {
  it('is listed as a funding, and a healthy one is not listed', async () => {
    const unknown = await rows.funding({ created_at: ago(2 * DAY), ...flagged('GATEWAY_OUTCOME_UNKNOWN') });
    const unopened = await rows.funding({ created_at: ago(21) });
    const disputed = await rows.funding({ status: 'SUCCESS', ...flagged('PAYMENT_DISPUTED') });
    const waiting = await rows.funding({ created_at: ago(HOUR) });
    await rows.payment(waiting, { purpose: 'funding', expires_at: ago(-HOUR) });
    expect(await listed(unknown)).toEqual(['funding-stuck: GATEWAY_OUTCOME_UNKNOWN']);
    expect(await listed(unopened)).toEqual(['funding-stuck: NOT_OPENED_IN_TIME']);
    expect(await listed(disputed)).toEqual(['payment-disputed: PAYMENT_DISPUTED']);
    expect(await listed(waiting)).toEqual([]);
    gone = new Set([waiting]);
    expect(await listed(waiting)).toEqual(['workflow-gone: PENDING']);
  });
});

describe('an event of the gateway', () => {
  it('that is not applied is listed under its purchase', async () => {
    const id = await rows.purchase({ payment_method: 'CARD', status: 'PENDING', created_at: ago(10) });
    await rows.payment(id);
    await rows.event({ reference: id, received_at: ago(4) });
    expect(await listed(id)).toEqual([]);
    await rows.event({ reference: id, received_at: ago(6) });
    await rows.event({ reference: id, received_at: ago(7), about: 'dispute' });
    expect((await list({ transactionIds: [id] })).items).toMatchObject([
      {
        class: 'inbox-unapplied',
        reason: 'DISPUTE',
        amountMinor: 368_000n,
        currency: 'NGN',
        ageSeconds: 420,
      },
    ]);
  });

  it('without a payment of ours is listed separately; one without money is not listed', async () => {
    const applied = { applied_at: ago(5), received_at: ago(5), reference: 'of-another-shop' };
    const stranger = await rows.event({ ...applied, note: UNMATCHED_EVENT });
    const other = await rows.event({ ...applied, about: 'other', note: UNMATCHED_EVENT });
    const known = await rows.event({ ...applied, note: 'checked' });
    expect(await listed(stranger)).toEqual([
      expect.stringMatching(/^inbox-without-purchase: charge.success, reference of-another-shop, key \w+$/),
    ]);
    expect(await listed(other)).toEqual([]);
    expect(await listed(known)).toEqual([]);
  });
});

describe('a message', () => {
  it('is listed when delivery was given up, or is long overdue', async () => {
    const endpoint = await rows.endpoint();
    const id = await rows.purchase({ status: 'SUCCESS' });
    await rows.message(endpoint, { subject: id, next_attempt_at: ago(9) });
    expect(await listed(id)).toEqual([]);
    await rows.message(endpoint, { subject: id, next_attempt_at: ago(11) });
    expect(await listed(id)).toEqual(['message-undelivered: MESSAGE_PENDING']);
    const alone = await rows.message(endpoint, { status: 'FAILED', closed_at: ago(DAY) });
    expect(await listed(alone)).toEqual(['message-undelivered: MESSAGE_FAILED']);
    const old = await rows.message(endpoint, { status: 'FAILED', closed_at: ago(15 * DAY) });
    const delivered = await rows.message(endpoint, { status: 'DELIVERED', closed_at: ago(DAY) });
    for (const message of [old, delivered]) expect(await listed(message)).toEqual([]);
  });

  it('is not listed when its endpoint was deleted', async () => {
    const failed = async (endpoint: Parameters<typeof rows.endpoint>[0]): Promise<string[]> =>
      listed(await rows.message(await rows.endpoint(endpoint), { status: 'FAILED' }));
    expect(await failed({ disabled_reason: 'FAILING' })).toEqual(['message-undelivered: MESSAGE_FAILED']);
    expect(await failed({ disabled_reason: 'GONE' })).toEqual([]);
    expect(await failed({ disabled_reason: 'BY_OWNER' })).toEqual([]);
    expect(await failed({ deleted_at: ago(1) })).toEqual([]);
  });
});

describe('an operator action', () => {
  it('that waits for a second person is listed in place of its subject', async () => {
    const id = await rows.purchase(flagged('SUPPLIER_OUTCOME_UNKNOWN'));
    await rows.hold(id);
    const waiting = { action: 'refund-to-source', status: 'WAITS_FOR_APPROVAL', created_at: ago(10) };
    await rows.action(id, { ...waiting, expires_at: ago(-DAY) });
    expect(await listed(id)).toEqual(['approval-waiting: refund-to-source']);
    const expired = await rows.purchase({ status: 'SUCCESS' });
    await rows.action(expired, { ...waiting, expires_at: ago(1) });
    expect(await listed(expired)).toEqual([]);
  });

  it('is listed when it has begun and not ended', async () => {
    const id = await rows.purchase({ status: 'SUCCESS' });
    await rows.action(id, { action: 'credit-wallet', status: 'BEGUN', created_at: ago(9) });
    await rows.action(id, { action: 'cancel', status: 'DONE', created_at: ago(DAY), closed_at: ago(DAY) });
    expect(await listed(id)).toEqual([]);
    await rows.action(id, { action: 'mark-paid', status: 'BEGUN', created_at: ago(11) });
    expect(await listed(id)).toEqual(['action-unfinished: mark-paid']);
  });

  it('that marked as paid what the gateway does not report is listed', async () => {
    const id = await rows.purchase({ status: 'SUCCESS' });
    await rows.payment(id, { vouched_minor: 500n });
    await rows.action(id, { action: 'mark-paid', status: 'DONE', created_at: ago(DAY), closed_at: ago(DAY) });
    expect(await listed(id)).toEqual(['marked-paid-unconfirmed: NOT_REPORTED']);
  });
});

describe('the list', () => {
  it('is sorted by age, the oldest first, with one item per transaction and class', async () => {
    const { items, isCut, temporalAsked } = await list();
    expect({ isCut, temporalAsked }).toEqual({ isCut: false, temporalAsked: true });
    const ages = items.map((item) => item.ageSeconds);
    expect(ages).toEqual(ages.toSorted((a, b) => b - a));
    const keys = items.map((item) => `${item.transactionId} ${item.class}`);
    expect(new Set(keys).size).toBe(keys.length);
    for (const item of items)
      expect(item.nextAction).toMatch(/^(replay|credit|cancel|settle|return|replace|approve|dismiss|show): /);
  });

  it('has rows for every class', async () => {
    gone = new Set([await rows.purchase({ created_at: ago(5) })]);
    const seen = new Set((await list()).items.map((item) => item.class));
    expect([...seen].toSorted()).toEqual([...STUCK_CLASSES].toSorted());
  });

  it('can be filtered by class, age and currency', async () => {
    const classes: StuckClass[] = ['refund-stuck', 'payment-disputed'];
    const { items } = await list({ classes });
    expect(new Set(items.map((item) => item.class))).toEqual(new Set(classes));
    const old = await list({ olderThanSeconds: 3_600 });
    expect(old.items.length).toBeGreaterThan(0);
    for (const item of old.items) expect(item.ageSeconds).toBeGreaterThanOrEqual(3_600);
    const naira = await list({ currency: 'NGN' });
    expect(naira.items.length).toBeGreaterThan(0);
    for (const item of naira.items) expect(item.currency).toBe('NGN');
  });

  it('works without Temporal, and says so', async () => {
    const id = await rows.purchase({ created_at: ago(5) });
    const before = (await list()).items;
    const away = {
      ...workflows,
      findUncarried: () => Promise.reject(new EngineUnavailable('Temporal could not be asked')),
    };
    const without = await findStuck({ ...deps, workflows: away });
    expect(without.temporalAsked).toBe(false);
    expect(without.items).toEqual(before.filter((item) => item.class !== 'workflow-gone'));
    expect(without.items.some((item) => item.transactionId === id)).toBe(false);
  });
});
