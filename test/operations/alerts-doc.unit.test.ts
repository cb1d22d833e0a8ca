/** docs/ALERTS.md says what to do about each alert of the service. Each rule of Prometheus leads there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { ALERT_KINDS } from '../../src/domain/alerts.ts';
import { CHECKOUT } from '../support/world/checkout.ts';

const read = (file: string): string => readFileSync(join(CHECKOUT, file), 'utf8');

it('docs/ALERTS.md has a section for each alert of the service, and no other', () => {
  const part = read('docs/ALERTS.md').split('\n## Alerts of the service\n')[1] ?? '';
  const sections = Array.from(part.matchAll(/^### (.+)$/gm), ([, name]) => name);
  expect(sections).toEqual(ALERT_KINDS);
});

interface Rules {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}
interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook_url?: string };
}

it('each rule of Prometheus has a severity that a route knows, and the address of its section', () => {
  const rules = (parse(read('ops/prometheus/alerts.yml')) as Rules).groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(20);
  for (const { alert, labels, annotations } of rules) {
    expect(['warning', 'critical'], alert).toContain(labels.severity);
    expect(annotations.runbook_url, alert).toMatch(new RegExp(`#${alert.toLowerCase()}$`));
  }
});

it('Alertmanager sends each severity to a receiver that is there, with secrets from files alone', () => {
  const text = read('ops/alertmanager/alertmanager.yml');
  const { route, receivers } = parse(text) as {
    route: { receiver: string; routes: { receiver: string }[] };
    receivers: { name: string }[];
  };
  const names = receivers.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([route.receiver, ...route.routes.map((one) => one.receiver)]));
  expect(text).not.toMatch(/(password|api_url|token):/);
});
