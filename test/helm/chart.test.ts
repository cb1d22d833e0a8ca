// The Helm chart: what it renders is what a Kubernetes server takes and what our processes need. Each rule
// is seen to find its fault, planted in a copy of the chart.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { problemsOf } from './chart-rules.ts';
import { CHART, openChart, type Chart } from './chart.support.ts';

/** What the chart cannot know, and nothing else. */
const NEEDED = {
  image: { repository: 'images.example/simway' },
  secrets: { existingSecret: 'simway' },
  database: {
    url: 'postgres://simway_app@postgres.example:5432/simway',
    ownerUrl: 'postgres://simway_owner@postgres.example:5432/simway',
    ownerSecret: 'simway-owner',
  },
  redis: { url: 'rediss://redis.example:6379' },
  temporal: { address: 'temporal.example:7233' },
  settings: {
    SIMWAY_PUBLIC_URL: 'https://esim.example',
    SIMWAY_FIXED_RATES: 'NGN=1600.00',
    SIMWAY_TEST_SUPPLIER_URL: 'https://sandbox.example',
  },
};
const peer = (namespace: string) => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
});
/** Everything on, with times and names other than the defaults. */
const FULL = {
  image: { ...NEEDED.image, tag: '1.2.3', pullSecrets: ['images'] },
  secrets: {
    ...NEEDED.secrets,
    keys: [
      ...['SIMWAY_DATABASE_PASSWORD', 'SIMWAY_REDIS_PASSWORD', 'SIMWAY_ID_SECRET', 'SIMWAY_SECRETS_KEY'],
      ...[
        'SIMWAY_TEMPORAL_CODEC_KEY',
        'SIMWAY_TEMPORAL_API_KEY',
        'SIMWAY_SMTP_URL',
        'OTEL_EXPORTER_OTLP_HEADERS',
      ],
      ...[
        'SIMWAY_TEST_SUPPLIER_ACCESS_CODE',
        'SIMWAY_LIVE_SUPPLIER_ACCESS_CODE',
        'SIMWAY_LIVE_GATEWAY_SECRET_KEY',
      ],
    ],
  },
  database: { ...NEEDED.database, tls: 'verify', caSecret: 'postgres-ca' },
  redis: NEEDED.redis,
  temporal: {
    ...NEEDED.temporal,
    serverName: 'temporal.internal',
    caSecret: 'temporal-ca',
    certSecret: 'temporal-cert',
  },
  settings: {
    ...NEEDED.settings,
    SIMWAY_NAMESPACE_PREFIX: 'travel',
    SIMWAY_MAIL_FROM: 'esims@esim.example',
    // Quotes within quotes.
    SIMWAY_TEST_TIMINGS: '{"attentionAfterMs":5000}',
    SIMWAY_STOP_DEADLINE_MS: '60000',
    SIMWAY_WORKER_GRACE_MS: '30000',
  },
  api: { ingress: { enabled: true, className: 'nginx', host: 'esim.example', tlsSecret: 'esim-tls' } },
  keda: { enabled: true },
  networkPolicy: { enabled: true, httpFrom: [peer('ingress')], adminFrom: [peer('monitoring')] },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
};

let chart: Chart;
beforeAll(async () => {
  chart = await openChart();
}, 900_000);

const EVERY_TIME = ['Deployment', 'HorizontalPodAutoscaler', 'Job', 'PodDisruptionBudget', 'Service'];
const IF_WANTED = ['Ingress', 'NetworkPolicy', 'ScaledObject', 'ServiceMonitor', 'TriggerAuthentication'];

describe.each([
  ['what is needed', NEEDED, EVERY_TIME],
  ['everything', FULL, [...EVERY_TIME, ...IF_WANTED]],
])('with %s', (_, values, kinds) => {
  it('a Kubernetes server takes each object', async () => {
    const objects = await chart.render(values);
    expect([...new Set(objects.map(({ kind }) => kind))].toSorted()).toEqual(kinds.toSorted());
    expect(await chart.validate(objects)).toEqual([]);
  });

  it('it keeps our rules', async () => {
    expect(await problemsOf(await chart.render(values))).toEqual([]);
  });
});

describe('Helm refuses', () => {
  const { settings, database, temporal } = NEEDED;
  const keys = FULL.secrets.keys.filter((key) => key !== 'SIMWAY_ID_SECRET');
  it.each([
    ['nothing given', {}, /SIMWAY_PUBLIC_URL/],
    ['a setting that there is not', { ...NEEDED, settings: { ...settings, SIMWAY_X: 'on' } }, /SIMWAY_X/],
    [
      'a secret in clear',
      { ...NEEDED, settings: { ...settings, SIMWAY_ID_SECRET: 'x' } },
      /SIMWAY_ID_SECRET/,
    ],
    [
      'a needed secret left out',
      { ...NEEDED, secrets: { ...FULL.secrets, keys } },
      /SIMWAY_ID_SECRET|contains/,
    ],
    [
      'a password in an address',
      { ...NEEDED, database: { ...database, url: 'postgres://a:b@postgres.example/simway' } },
      /database\/url/,
    ],
    ['a queue that nobody serves', { ...NEEDED, workers: [worker('orders', 'ops')] }, /queue gateway/],
    ['a queue that there is not', { ...NEEDED, workers: [worker('mails')] }, /workers\/0\/queues/],
    [
      'KEDA that would speak plain text',
      { ...NEEDED, temporal: { ...temporal, tls: true }, keda: { enabled: true } },
      /keda: with TLS/,
    ],
  ])('%s', async (_, values, says) => {
    await expect(chart.render(values)).rejects.toThrow(says);
  });
});

function worker(...queues: string[]) {
  return { name: 'some', queues, replicas: 1, resources: {} };
}

const [HELPERS, API, WORKERS] = ['_helpers.tpl', 'api.yaml', 'workers.yaml'] as const;
/** What is written wrongly, and what says so. */
const FAULTS: readonly (readonly [file: string, from: string, to: string, says: RegExp])[] = [
  [HELPERS, 'name: SIMWAY_TEMPORAL_TLS_SERVER_NAME', 'name: SIMWAY_TEMPORAL_NAME', /_NAME is no setting/],
  [HELPERS, '- { name: REDIS_URL, ', '- { name: REDIS, ', /REDIS is no setting/],
  [HELPERS, '- { name: DATABASE_URL, ', '- { name: SIMWAY_URL, ', /api: .*DATABASE_URL/s],
  ['migrate.yaml', '- { name: DATABASE_URL, ', '- { name: SIMWAY_URL, ', /migrate: .*DATABASE_URL/s],
  [HELPERS, 'name: TEMPORAL_ADDRESS', 'name: SIMWAY_URL', /migrate: it leaves Temporal alone/],
  [HELPERS, 'temporal-cert/tls.key', 'temporal-cert/key', /TLS_KEY_FILE names .*not mounted/],
  [
    HELPERS,
    'mountPath: /run/secrets/database-ca',
    'mountPath: /run/ca',
    /DATABASE_CA_FILE names .*not mounted/,
  ],
  [
    HELPERS,
    'SIMWAY_ADMIN_HOST, value: 0.0.0.0',
    'SIMWAY_ADMIN_HOST, value: 127.0.0.1',
    /nobody reaches its ports/,
  ],
  [HELPERS, 'runAsNonRoot: true', 'runAsNonRoot: false', /may run as root/],
  [HELPERS, 'readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false', /can be written/],
  [HELPERS, 'path: /readyz', 'path: /ready', /no admin port answers \/ready$/m],
  [HELPERS, 'path: /healthz, port: admin', 'path: /healthz, port: http', /a probe asks the port http/],
  [API, 'name: admin, containerPort: 3001', 'name: admin, containerPort: 3002', /api: its ports are/],
  [API, '{{ add 10 (div', '{{ add 5 (div', /api: it is killed before/],
  [
    API,
    'resources: {{- toYaml .Values.api.resources',
    'resources: {{- toYaml (dict "limits" dict "requests" dict)',
    /lacks/,
  ],
  [WORKERS, '{{ add 15 (div', '{{ add 5 (div', /orders: it is killed before/],
  [WORKERS, '--queues={{ join "," .queues }}', '--queues=order', /orders: .*must be some of/s],
  [WORKERS, '--queues={{ join "," .queues }}', '--queues=orders', /no worker serves ops/],
  [WORKERS, '"supplier-esim-access"', '"supplier"', /calls: its scaler asks for/],
  [WORKERS, 'namespace: {{ $prefix }}', 'namespace: simway', /orders: its scaler asks for/],
  [
    HELPERS,
    'selector:\n  matchLabels: {{-',
    'selector:\n  matchLabels:\n    some: thing\n    {{-',
    /PodDisruptionBudget shop-api finds nothing/,
  ],
  [
    API,
    'kind: Deployment, name: {{ $name }}',
    'kind: Deployment, name: api',
    /Autoscaler shop-api finds nothing/,
  ],
  [
    WORKERS,
    'kind: Deployment, name: {{ $name }}',
    'kind: Deployment, name: some',
    /ScaledObject .* finds nothing/,
  ],
  [API, 'kind: Service\n', 'kind: Secret\n', /the chart holds a Secret/],
];

describe('a fault in the chart is found', () => {
  it.each(FAULTS)('%s: %j as %j', async (file, from, to, says) => {
    expect((await problemsOf(await chart.render(FULL, await faulty(file, from, to)))).join('\n')).toMatch(
      says,
    );
  });

  it('by the schemas of Kubernetes, KEDA and the Prometheus operator', async () => {
    const wrong = async (file: string, from: string, to: string) =>
      (await chart.validate(await chart.render(FULL, await faulty(file, from, to)))).join('\n');
    expect(await wrong(API, 'preStop: { sleep', 'preStop: { sleeps')).toMatch(
      /Deployment shop-api: .*sleeps/s,
    );
    expect(await wrong(WORKERS, 'minReplicaCount:', 'minReplicas:')).toMatch(/ScaledObject .*minReplicas/s);
    expect(await wrong('watching.yaml', 'interval: 15s', 'interval: often')).toMatch(/ServiceMonitor shop: /);
  });
});

/** A copy of the chart with other words; the words are there. */
async function faulty(file: string, from: string, to: string): Promise<string> {
  const copy = join(await makeTestFolder(), 'simway');
  cpSync(CHART, copy, { recursive: true });
  const path = join(copy, 'templates', file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replaceAll(from, to));
  return copy;
}
