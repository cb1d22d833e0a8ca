/**
 * The classes of stuck items: their age limits, the meaning of each reason, and the same text in
 * docs/OPERATIONS.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/domain/clock.ts';
import { classOfReason, STUCK_CLASSES, stuckLimits, stuckRule } from '../../src/operations/stuck-rules.ts';
import { ATTENTION_REASONS, type AttentionReason, DISPUTE_REASONS } from '../../src/domain/states.ts';

describe('limits', () => {
  it('follow the pace of the environment', () => {
    const limits = stuckLimits({ attentionAfterMs: 120_000, openChargeForMs: 600_000 });
    expect(limits.deliverMs).toBe(12 * MINUTE_MS);
    expect(limits.openChargeMs).toBe(20 * MINUTE_MS);
    const slower = stuckLimits({ attentionAfterMs: 600_000, openChargeForMs: 900_000 });
    expect(slower.deliverMs).toBe(20 * MINUTE_MS);
    expect(slower.openChargeMs).toBe(25 * MINUTE_MS);
    expect({ ...slower, deliverMs: 0, openChargeMs: 0 }).toEqual({
      ...limits,
      deliverMs: 0,
      openChargeMs: 0,
    });
  });
});

it('each class has its own limit, minutes for our own steps and days for banks', () => {
  const limits = stuckLimits({ attentionAfterMs: 0, openChargeForMs: 0 });
  const inMinutes = Object.fromEntries(Object.entries(limits).map(([name, ms]) => [name, ms / MINUTE_MS]));
  expect(inMinutes).toEqual({
    deliverMs: 10,
    orderMs: 1,
    openChargeMs: 10,
    closeUnpaidMs: 10,
    askRefundMs: 15,
    sendRefundMs: 14 * 24 * 60,
    applyEventMs: 5,
    sendMessageMs: 10,
    recoverMessageMs: 14 * 24 * 60,
    finishActionMs: 10,
    checkLateMs: 3 * 60,
    monitorLateMs: 75 * 60,
    workflowMs: 1,
  });
});

/** Every reason why a person is needed. */
const REASONS: Record<AttentionReason, string> = {
  SUPPLIER_NEVER_ALLOCATED: 'paid-not-delivered',
  SUPPLIER_OUTCOME_UNKNOWN: 'supplier-unknown',
  DELIVERY_STEP_FAILED: 'paid-not-delivered',
  SETTLE_FAILED: 'delivered-not-settled',
  UNDO_FAILED: 'undo-failed',
  GATEWAY_OUTCOME_UNKNOWN: 'charge-unknown',
  PAYMENT_STILL_OPEN: 'charge-left-open',
  PAYMENT_DISPUTED: 'payment-disputed',
  PAYMENT_REVERSED: 'payment-reversed',
  // Listed by their refunds, not by the purchase's status.
  REFUND_NEEDS_ATTENTION: 'needs-attention',
  REFUND_STUCK: 'needs-attention',
  OTHER_PACKAGE_DELIVERED: 'other-package-delivered',
};

describe('reasons', () => {
  it.each(Object.entries(REASONS))('%s is %s', (reason, stuckClass) => {
    expect(classOfReason(reason)).toBe(stuckClass);
  });

  it.each([
    ['NOT_DELIVERED_IN_TIME', 'paid-not-delivered'],
    ['NOT_OPENED_IN_TIME', 'charge-unknown'],
    ['NOT_CLOSED_IN_TIME', 'charge-unknown'],
  ])('%s, a reason that the list adds, is %s', (reason, stuckClass) => {
    expect(classOfReason(reason)).toBe(stuckClass);
  });

  it('include a class for every dispute, and an unknown reason is shown', () => {
    for (const dispute of DISPUTE_REASONS) expect(classOfReason(dispute)).not.toBe('needs-attention');
    expect(classOfReason('SOMETHING_NEW')).toBe('needs-attention');
  });
});

it('docs/OPERATIONS.md lists every class with the command that repairs it', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'OPERATIONS.md'), 'utf8');
  const table = page.slice(page.indexOf('### The stuck list'), page.indexOf('### The command line'));
  const rows = Array.from(table.matchAll(/^\| `([a-z-]+)` .*\| `([a-z-]+)` +\|$/gm), ([, name, command]) => [
    name,
    command,
  ]);
  expect(rows).toEqual(STUCK_CLASSES.map((name) => [name, stuckRule(name).next.split(':')[0]]));
});

it('docs/OPERATIONS.md lists every reason of NeedsAttention with its class', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'OPERATIONS.md'), 'utf8');
  const section = page.slice(
    page.indexOf('### Reasons of NeedsAttention'),
    page.indexOf('### Operator actions'),
  );
  const rows = Array.from(section.matchAll(/^\| `([A-Z_]+)` .*\| `([a-z-]+)` +\|$/gm), ([, ...row]) => row);
  expect(rows).toEqual(ATTENTION_REASONS.map((reason) => [reason, classOfReason(reason)]));
});
