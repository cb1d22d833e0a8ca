// Alerts and dashboard match the service: every metric and label they name exists in a running service, every
// alert has its section in docs/ALERTS.md, and the metrics match the rows.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runWorker, type RunningWorker } from '../../src/app/processes/worker.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { CHECKOUT } from '../support/world/checkout.ts';
import { atGateway, buyThroughGateway, untilStatus } from '../support/money/payments.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const read = (file: string): string => readFileSync(join(CHECKOUT, file), 'utf8');
const alerts = (parse(read('ops/prometheus/alerts.yml')) as { groups: { rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
const panels = (
  JSON.parse(read('ops/grafana/dashboard.json')) as {
    panels: { title: string; type: string; targets?: { expr: string }[] }[];
  }
).panels;
const expressions = [
  ...alerts.map(({ expr }) => expr),
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
];

/** Metrics of Prometheus itself. */
const NOT_OURS = new Set(['up']);
/** Metrics of the SDK that exist once something has failed. */
const ONCE_FAILED = new Set([
  'temporal_workflow_task_execution_failed_total',
  'temporal_request_failure_total',
]);
/** Added by Prometheus when it scrapes, or by a histogram. */
const LABELS_OF_SCRAPES = new Set(['job', 'instance', 'le']);

interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** The metrics that an expression selects, with the labels it uses. */
function selectorsOf(expression: string): Selector[] {
  return Array.from(
    expression.matchAll(/\b((?:simway|http|temporal|nodejs|process)_\w+|up)\b(?:\{([^}]*)\})?/g),
    ([, metric = '', matchers = '']) => ({
      metric,
      labels: Array.from(matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g), ([, label = '']) => label),
    }),
  );
}

/** The names of the samples: for a histogram those of its parts. */
function namesIn(text: string): Set<string> {
  return new Set(
    Array.from(text.matchAll(/^# TYPE (\S+) (\w+)$/gm)).flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

function labelsIn(text: string, metric: string): Set<string> {
  const samples = Array.from(
    text.matchAll(new RegExp(`^${metric}\\{(.*)\\} `, 'gm')),
    ([, labels = '']) => labels,
  );
  return new Set(
    samples.flatMap((labels) => Array.from(labels.matchAll(/(\w+)="/g), ([, label = '']) => label)),
  );
}

function valueOf(text: string, sample: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
}

let stack: Stack;
let buyer: Buyer;
let sweeps: RunningWorker;

beforeAll(async () => {
  stack = await startStack({ timings: { pollFirstMs: 300 } });
  buyer = await newBuyer(stack);
  // One more worker for the sweeps, which reads the rows more often than other tests should.
  sweeps = await runWorker({ ...stack.context, processName: 'worker' }, ['ops'], {
    figuresEveryMs: 100,
    stuckEveryMs: 100,
  });
});
afterAll(async () => {
  await sweeps.stop();
  await stack.close();
});

const metricsAt = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();

describe('the metrics', () => {
  it('count answers to buyers and outcomes of purchases', async () => {
    expect((await buyer.buy('SIM-OK')).body.status).toBe('SUCCESS');
    expect((await buyer.buy('SIM-OUT-OF-STOCK')).status).toBe(400);
    const api = await metricsAt(stack.adminUrl);
    expect(valueOf(api, 'simway_purchase_answers_total{environment="test",answer="SUCCESS"}')).toBe(1);
    expect(valueOf(api, 'simway_purchase_answers_total{environment="test",answer="REFUSED"}')).toBe(1);
    expect(valueOf(api, 'simway_purchase_answer_seconds_count{environment="test"}')).toBe(2);
    const worker = await metricsAt(stack.workerAdminUrl());
    expect(
      valueOf(worker, 'simway_purchases_closed_total{environment="test",status="SUCCESS",reason=""}'),
    ).toBe(1);
    expect(worker).toMatch(
      /simway_purchases_closed_total\{environment="test",status="FAILED",reason="\w+"\} 1/,
    );
    expect(worker).toMatch(
      /simway_vendor_request_seconds_count\{environment="test",vendor="supplier",status="200"\} \d+/,
    );
  });

  it('show purchases awaiting money and open holds as the rows have them', async () => {
    const open = await buyThroughGateway(stack, buyer.account);
    await stack.faults({ neverAllocate: 1 });
    const held = await buyThroughGateway(stack, buyer.account);
    await atGateway(stack, held.reference, 'pay');
    await untilStatus(stack, held.transactionId, 'PROCESSING');
    const { price_minor: priceMinor } = await stack.owner
      .selectFrom('purchases')
      .select('price_minor')
      .where('transaction_id', '=', held.transactionId)
      .executeTakeFirstOrThrow();
    await until(
      () => metricsAt(sweeps.adminUrl),
      (text) =>
        valueOf(text, 'simway_purchases_open{environment="test",status="PENDING"}') === 1 &&
        valueOf(text, 'simway_purchases_open{environment="test",status="PROCESSING"}') === 1 &&
        valueOf(text, 'simway_money_waiting_minor{environment="test",kind="held",currency="USD"}') ===
          Number(priceMinor),
      { what: 'the figures of open purchases' },
    );
    await stack.clearFaults();
    await untilStatus(stack, held.transactionId, 'SUCCESS');
    await until(
      () => metricsAt(sweeps.adminUrl),
      (text) =>
        valueOf(text, 'simway_purchases_open{environment="test",status="PROCESSING"}') === 0 &&
        valueOf(text, 'simway_money_waiting_minor{environment="test",kind="held",currency="USD"}') ===
          undefined,
      { what: 'the figures once it is delivered' },
    );
    expect(open.answer.status).toBe(201);
  });

  it('show stuck items by class, with the age of the oldest', async () => {
    const text = await metricsAt(sweeps.adminUrl);
    expect(valueOf(text, 'simway_stuck_items{environment="test",class="inbox-unapplied"}')).toBe(0);
    await stack.owner
      .insertInto('gateway_events')
      .values({
        gateway: 'paystack',
        event_key: 'a-test',
        type: 'charge.success',
        about: 'charge',
        reference: null,
        email: null,
        // A list that began just before the item existed starts from its own beginning.
        received_at: new Date(Date.now() - 3_605_000),
        applied_at: null,
        note: null,
      })
      .execute();
    const after = await until(
      () => metricsAt(sweeps.adminUrl),
      (found) => (valueOf(found, 'simway_stuck_items{environment="test",class="inbox-unapplied"}') ?? 0) > 0,
      { what: 'the stuck event' },
    );
    const age = valueOf(after, 'simway_stuck_oldest_seconds{environment="test",class="inbox-unapplied"}');
    expect(age).toBeGreaterThanOrEqual(3_600);
    await stack.owner.updateTable('gateway_events').set({ applied_at: new Date() }).execute();
  });

  it('are absent while they cannot be read', async () => {
    await stack.owner.schema.alterTable('holds').renameTo('holds_away').execute();
    try {
      const without = await until(
        () => metricsAt(sweeps.adminUrl),
        (text) => !text.includes('simway_purchases_open{') && !text.includes('simway_stuck_items{'),
        { what: 'missing figures' },
      );
      expect(without).toContain('# TYPE simway_purchases_open');
    } finally {
      await stack.owner.schema.alterTable('holds_away').renameTo('holds').execute();
    }
    await until(
      () => metricsAt(sweeps.adminUrl),
      (text) => text.includes('simway_purchases_open{') && text.includes('simway_stuck_items{'),
      { what: 'figures again' },
    );
  });
});

describe('alerts and dashboard', () => {
  it('name only metrics and labels that a running service has', async () => {
    expect(alerts.length).toBeGreaterThan(15);
    expect(expressions.length).toBeGreaterThan(50);
    const text = [
      await metricsAt(stack.adminUrl),
      await metricsAt(stack.workerAdminUrl()),
      await metricsAt(sweeps.adminUrl),
    ].join('\n');
    const names = namesIn(text);
    const selectors = expressions.flatMap(selectorsOf).filter(({ metric }) => !NOT_OURS.has(metric));
    expect(selectors.length).toBeGreaterThan(60);
    const unknown = selectors
      .map(({ metric }) => metric)
      .filter((metric) => !names.has(metric) && !ONCE_FAILED.has(metric));
    expect([...new Set(unknown)]).toEqual([]);
    const wrong = selectors.flatMap(({ metric, labels }) => {
      const known = labelsIn(text, metric);
      return known.size === 0
        ? []
        : labels
            .filter((label) => !known.has(label) && !LABELS_OF_SCRAPES.has(label))
            .map((label) => `${metric} ${label}`);
    });
    expect(wrong).toEqual([]);
  });

  it('name the SDK metrics that exist only after a failure as the native SDK does', () => {
    const { resolve } = createRequire(import.meta.url);
    const native = readFileSync(
      join(resolve('@temporalio/core-bridge/package.json'), '..', 'releases', platform(), 'index.node'),
    );
    for (const name of ONCE_FAILED)
      expect(native.includes(name.replace(/^temporal_|_total$/g, '')), name).toBe(true);
  });

  it.each(['address', 'total', 'idle', 'pipelined', 'unread'])(
    'an alert fires on connections that are closed for: %s',
    (limit) => {
      const patterns = alerts.map(
        ({ expr }) => /simway_http_connections_closed_total\{limit=~?"([^"]+)"\}/.exec(expr)?.[1],
      );
      expect(patterns.some((pattern) => pattern && new RegExp(`^(?:${pattern})$`).test(limit))).toBe(true);
    },
  );

  it('an alert fires on payments that are refused because too many are unpaid', () => {
    expect(alerts.some(({ expr }) => expr.includes('simway_unpaid_payments_refused_total'))).toBe(true);
  });

  it('use only label values that exist', () => {
    const statuses = expressions.flatMap((expression) =>
      Array.from(expression.matchAll(/\benvironment="(\w+)"/g), ([, world]) => world),
    );
    expect(new Set(statuses)).toEqual(new Set(['live', 'test']));
  });

  it('each alert has a description and a section that explains what to do', () => {
    const sections = Array.from(
      read('docs/ALERTS.md').matchAll(/^## (\w+)\n\n([\s\S]*?)(?=\n## |$(?![\s\S]))/gm),
      ([, name, words = '']) => ({ name, words: words.trim() }),
    );
    expect(sections.map(({ name }) => name)).toEqual(alerts.map(({ alert }) => alert));
    for (const { name, words } of sections) expect(words.length, name).toBeGreaterThan(80);
    for (const { alert, labels, annotations } of alerts) {
      expect(['warning', 'critical'], alert).toContain(labels.severity);
      expect(annotations.summary.length, alert).toBeGreaterThan(10);
      // The address of the document is a setting of Prometheus, the anchor that of the section.
      expect(annotations.runbook_url).toBe(`{{ $externalLabels.runbooks }}#${alert.toLowerCase()}`);
    }
  });

  it('the address before the anchors is set where the rules are read', () => {
    const { global } = parse(read('ops/prometheus/prometheus.yml')) as {
      global: { external_labels: Record<string, string> };
    };
    expect(global.external_labels['runbooks']).toMatch(/docs\/ALERTS\.md$/);
  });

  it('every panel has an expression and a title', () => {
    const empty = panels.filter(
      ({ type, title, targets = [] }) => title === '' || (type !== 'row' && targets.length === 0),
    );
    expect(empty).toEqual([]);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });
});

/** As the SDK names the folders of its native half. */
function platform(): string {
  const [architecture] = { x64: ['x86_64'], arm64: ['aarch64'] }[process.arch as 'x64' | 'arm64'];
  const system = { linux: 'unknown-linux-gnu', darwin: 'apple-darwin' }[
    process.platform as 'linux' | 'darwin'
  ];
  return `${architecture ?? ''}-${system}`;
}
