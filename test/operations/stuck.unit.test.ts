/**
 * The classes of stuck items: their age limits, the meaning of each reason, and the same text in
 * docs/OPERATIONS.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/domain/clock.ts';
import { classOfReason, STUCK_CLASSES, stuckLimits, stuckRule } from '../../src/operations/stuck-rules.ts';
import { ATTENTION_REASONS, DISPUTE_REASONS } from '../../src/domain/states.ts';

it('limits follow the pace of the environment', () => {
  const limits = stuckLimits({ attentionAfterMs: 120_000, openChargeForMs: 600_000 });
  expect([limits.deliverMs, limits.openChargeMs]).toEqual([12 * MINUTE_MS, 20 * MINUTE_MS]);
  const slower = stuckLimits({ attentionAfterMs: 600_000, openChargeForMs: 900_000 });
  const changed = { deliverMs: 20 * MINUTE_MS, openChargeMs: 25 * MINUTE_MS };
  expect(slower).toEqual({ ...limits, ...changed });
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
    confirmMs: 3 * 60,
    checkLateMs: 3 * 60,
    monitorLateMs: 75 * 60,
    workflowMs: 1,
  });
});

it('every dispute has a class, and an unknown reason is shown', () => {
  for (const dispute of DISPUTE_REASONS) expect(classOfReason(dispute)).not.toBe('needs-attention');
  expect(classOfReason('SOMETHING_NEW')).toBe('needs-attention');
});

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'OPERATIONS.md'), 'utf8');
const linesOf = (from: string, to: string, cell: RegExp) =>
  Array.from(page.slice(page.indexOf(from), page.indexOf(to)).matchAll(cell), ([, ...row]) => row);

it('docs/OPERATIONS.md lists every class with the command that repairs it', () => {
  const rows = linesOf(
    '### The stuck list',
    '### The command line',
    /^\| `([a-z-]+)` .*\| `([a-z-]+)` +\|$/gm,
  );
  expect(rows).toEqual(STUCK_CLASSES.map((name) => [name, stuckRule(name).next.split(':')[0]]));
});

it('docs/OPERATIONS.md lists every reason of NeedsAttention with its class', () => {
  const section = ['### Reasons of NeedsAttention', '### Operator actions'] as const;
  const rows = linesOf(...section, /^\| `([A-Z_]+)` .*\| `([a-z-]+)` +\|$/gm);
  expect(rows).toEqual(ATTENTION_REASONS.map((reason) => [reason, classOfReason(reason)]));
});
