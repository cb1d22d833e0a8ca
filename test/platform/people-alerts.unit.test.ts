// Each event about sign-ins, mail to strangers and removed access is counted under the labels that its alert
// selects: an alert on a name or label that nothing counts never fires.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createMetrics } from '../../src/platform/telemetry/metrics.ts';
import { CHECKOUT } from '../support/world/checkout.ts';

const file = parse(readFileSync(join(CHECKOUT, 'ops/prometheus/alerts.yml'), 'utf8')) as {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
};
const expressionOf = (name: string): string =>
  file.groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === name)?.expr ?? '';

/** One part of an expression with `or`: what it counts, and above how many it fires. */
interface Part {
  readonly metric: string;
  readonly selects: (labels: Partial<Record<string, string | number>>) => boolean;
  readonly above: number;
}

function partsOf(expression: string): Part[] {
  const part = /sum\(increase\((\w+)(?:\{(\w+)=~?"([^"]+)"\})?\[\w+\]\)\) > (\d+)/g;
  return Array.from(expression.matchAll(part), ([, metric = '', label, pattern, above]) => ({
    metric,
    selects: (labels) =>
      label === undefined || new RegExp(`^(?:${pattern})$`).test(String(labels[label] ?? '')),
    above: Number(above),
  }));
}

const quiet = () => undefined;

/** Whether the alert fires after this happened so often within its time. */
async function fires(alert: string, times: number, happen: (api: ReturnType<typeof running>) => void) {
  const api = running();
  for (let nth = 0; nth < times; nth += 1) happen(api);
  const counted = await Promise.all(
    partsOf(expressionOf(alert)).map(async ({ metric, selects, above }) => {
      const { values = [] } = (await api.metrics.registry.getSingleMetric(metric)?.get()) ?? {};
      const found = values.filter(({ labels }) => selects(labels));
      return found.reduce((sum, { value }) => sum + value, 0) > above;
    }),
  );
  expect(counted.length, alert).toBeGreaterThan(0);
  return counted.includes(true);
}

function running() {
  const metrics = createMetrics({ processMetrics: false, build: { version: '1.0.0', buildId: 'test' } });
  const events = createEvents({ info: quiet, warn: quiet, error: quiet }, undefined, metrics.people);
  return { metrics, events };
}

test.each<[alert: string, what: string, times: number, happen: (api: ReturnType<typeof running>) => void]>([
  ['SimwaySignInQueueFull', 'a full queue', 0, ({ events }) => events.signInQueueFull({ lane: 'usual' })],
  [
    'SimwayPasswordGuessing',
    'lock-outs',
    5,
    ({ events }) => events.personLockedOut({ personId: 'user-1', address: '203.0.113.1' }),
  ],
  ['SimwayPasswordGuessing', 'wrong codes', 20, ({ events }) => events.signInRefused('wrong-code')],
  ['SimwayPasswordGuessing', 'wrong passwords', 300, ({ events }) => events.signInRefused('wrong-password')],
  [
    'SimwayStrangerMails',
    'sent mails',
    15_000,
    ({ events }) => events.strangerMailSent({ kind: 'traveller' }),
  ],
  [
    'SimwayStrangerMails',
    'mails above a limit',
    20,
    ({ events }) => events.strangerMailHeld({ kind: 'invitation', why: 'limited' }),
  ],
  ['SimwayMailsStopped', 'stopped mails', 20, ({ events }) => events.mailsStopped({ requestId: 'req-1' })],
  ['SimwayAccessRemoved', 'removals', 5, ({ metrics }) => metrics.accessRemoved({ outcome: 'done' })],
  ['SimwayAccessRemoved', 'requests', 5, ({ metrics }) => metrics.accessRemoved({ outcome: 'waits' })],
  [
    'SimwayAccessRemoved',
    'refused removals',
    0,
    ({ metrics }) => metrics.accessRemoved({ outcome: 'refused' }),
  ],
])('%s fires on %s, above %i', async (alert, _what, times, happen) => {
  expect(await fires(alert, times, happen)).toBe(false);
  expect(await fires(alert, times + 1, happen)).toBe(true);
});

test('mails to those who stopped them, or who are no members, raise no alert', async () => {
  for (const why of ['stopped', 'not-a-member'])
    expect(
      await fires('SimwayStrangerMails', 100, ({ events }) =>
        events.strangerMailHeld({ kind: 'traveller', why }),
      ),
    ).toBe(false);
});
