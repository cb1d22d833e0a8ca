// What every rendering of the chart must keep: the settings, queues, probes and times are those of the code.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, readMigrateSettings, type Config } from '../../src/app/config/config.ts';
import { parseQueues, workerStopMs } from '../../src/app/processes/worker.ts';
import { workerOptions } from '../../src/app/temporal/workers.ts';
import { buildAdminApp } from '../../src/platform/http/admin.ts';
import { startServer } from '../../src/platform/http/server.ts';
import { NAME as SUPPLIER } from '../../src/vendors/esim-access/codes.ts';
import { NAME as GATEWAY } from '../../src/vendors/paystack/codes.ts';
import { makeCertificate } from '../platform/outbound.support.ts';
import { projectFiles, textOf } from '../repository/source-files.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import type { Container, KubernetesObject, Labels, Pod, Volume } from './chart.support.ts';

/** Every name that the configuration reads. */
const SETTINGS = new Set(
  projectFiles()
    .filter((file) => /^src\/app\/config\/\w+\.ts$/.test(file))
    .flatMap((file) => textOf(file).match(/\b(?:SIMWAY|OTEL|TEMPORAL|REDIS|DATABASE)_[A-Z_]+\b/g) ?? []),
);
const MOUNTED = '/run/secrets/';
/** What a value of each kind of secret may look like; most are keys. */
const SAMPLES: Readonly<Record<string, string>> = {
  SIMWAY_SMTP_URL: 'smtps://user:word@mail.example',
  OTEL_EXPORTER_OTLP_HEADERS: 'name=value',
};

interface Workload {
  readonly name: string;
  readonly labels: Labels;
  readonly pod: Pod;
  readonly container: Container;
}

/** Sentences that begin with the object's name; none where all is well. */
export async function problemsOf(objects: readonly KubernetesObject[]): Promise<string[]> {
  const workloads = objects.flatMap(workloadOf);
  const files = await sampleFiles();
  const paths = await adminPaths(workloads);
  const problems = workloads.flatMap((workload) => {
    const { name, container } = workload;
    const { env, wrong } = environmentOf(workload, files);
    return [
      ...wrong,
      ...hardening(workload),
      ...(container.args[0] === 'migrate' ? migrateProblems(env) : serviceProblems(workload, env, objects)),
      ...probesOf(container).flatMap(({ path, port }) => [
        ...(paths.has(path) ? [] : [`no admin port answers ${path}`]),
        ...(port === 'admin' ? [] : [`a probe asks the port ${port}`]),
      ]),
    ].map((problem) => `${name}: ${problem}`);
  });
  return [
    ...problems,
    ...objects
      .filter(({ kind }) => kind === 'Secret')
      .map(({ metadata }) => `${metadata.name}: the chart holds a Secret`),
    ...selections(objects, workloads),
    ...unserved(workloads),
  ];
}

function workloadOf({ metadata, spec }: KubernetesObject): Workload[] {
  const { template } = spec;
  if (!template) return [];
  const [container] = template.spec.containers;
  if (!container) throw new Error(`${metadata.name} has no container`);
  return [{ name: metadata.name, labels: template.metadata.labels, pod: template.spec, container }];
}

/** Files as Kubernetes would mount them, by the name of their key. */
async function sampleFiles(): Promise<(path: string, key: string) => string> {
  const folder = await makeTestFolder();
  const certificate = makeCertificate('simway.example');
  const pem = certificate.key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return (path, key) => {
    const text =
      key === 'tls.key' ? pem : key.endsWith('.crt') ? certificate.cert : (SAMPLES[key] ?? 'a1'.repeat(32));
    mkdirSync(join(folder, path), { recursive: true });
    const file = join(folder, path, key);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
}

/** What the process would read, with the files where they are on this machine. */
function environmentOf({ container, pod }: Workload, sample: (path: string, key: string) => string) {
  const wrong: string[] = [];
  const env: Record<string, string> = {};
  for (const { name, value = '' } of container.env) {
    const setting = SETTINGS.has(name) ? name : name.replace(/_FILE$/, '');
    if (!SETTINGS.has(setting)) wrong.push(`${name} is no setting`);
    env[name] = value;
    if (!value.startsWith(MOUNTED)) continue;
    const at = value.lastIndexOf('/');
    const [path, key] = [value.slice(0, at), value.slice(at + 1)];
    const mount = container.volumeMounts.find(({ mountPath }) => mountPath === path);
    const volume = pod.volumes.find((one) => one.name === mount?.name);
    if (volume && keysOf(volume).includes(key)) env[name] = sample(path, key);
    else wrong.push(`${name} names ${value}, which is not mounted`);
  }
  return { env, wrong };
}

/** A Secret without a list is mounted with all its keys: those of a certificate. */
function keysOf({ secret, projected }: Volume): string[] {
  const sources = secret ? [secret] : (projected?.sources ?? []).map((source) => source.secret);
  return sources.flatMap(({ items }) => items?.map(({ path }) => path) ?? ['ca.crt', 'tls.crt', 'tls.key']);
}

function hardening({ container, pod }: Workload): string[] {
  const { requests, limits } = container.resources;
  return [
    ...(container.securityContext.readOnlyRootFilesystem ? [] : ['its file system can be written']),
    ...(pod.securityContext.runAsNonRoot ? [] : ['it may run as root']),
    ...('cpu' in requests && 'memory' in requests && 'memory' in limits ? [] : ['it lacks resources']),
  ];
}

function attempt(read: () => readonly string[]): readonly string[] {
  try {
    return read();
  } catch (error) {
    return [String(error)];
  }
}

const migrateProblems = (env: Record<string, string>): readonly string[] =>
  attempt(() => (readMigrateSettings(env).temporal ? [] : ['it leaves Temporal alone']));

function serviceProblems(
  { name, container, pod }: Workload,
  env: Record<string, string>,
  objects: readonly KubernetesObject[],
): readonly string[] {
  return attempt(() => {
    const { config } = readConfig(env);
    const isApi = container.args[0] === 'api';
    const ports = isApi
      ? { http: config.http.port, admin: config.admin.apiPort }
      : { admin: config.admin.workerPort };
    const given = Object.fromEntries((container.ports ?? []).map((port) => [port.name, port.containerPort]));
    const pauseMs = (container.lifecycle?.preStop.sleep.seconds ?? 0) * 1_000;
    const stopMs = isApi ? config.http.stopDeadlineMs : workerStopMs(config.worker.shutdownGraceMs);
    return [
      ...(JSON.stringify(given) === JSON.stringify(ports) ? [] : [`its ports are ${JSON.stringify(ports)}`]),
      ...((pod.terminationGracePeriodSeconds ?? 30) * 1_000 > pauseMs + stopMs
        ? []
        : ['it is killed before it has stopped']),
      ...([config.http.host, config.admin.host].every((host) => host === '0.0.0.0')
        ? []
        : ['nobody reaches its ports']),
      ...(isApi ? [] : queueProblems(config, queuesOf(container), scalerOf(name, objects))),
    ];
  });
}

const probesOf = ({ startupProbe, readinessProbe, livenessProbe }: Container) =>
  [startupProbe, readinessProbe, livenessProbe].flatMap((probe) => (probe ? [probe.httpGet] : []));

/** The paths of probes that the admin port answers. */
async function adminPaths(workloads: readonly Workload[]): Promise<ReadonlySet<string>> {
  const app = buildAdminApp({
    checks: () => Promise.resolve([]),
    metrics: { contentType: 'text/plain', metrics: () => Promise.resolve('') },
    version: '1',
  });
  const server = await startServer({ app, host: '127.0.0.1', port: 0 });
  try {
    const asked = new Set(workloads.flatMap(({ container }) => probesOf(container).map(({ path }) => path)));
    const answered = await Promise.all(
      [...asked].map(async (path) => ((await fetch(`${server.url}${path}`)).ok ? [path] : [])),
    );
    return new Set(answered.flat());
  } finally {
    await server.stop(1_000);
  }
}

/** Throws for a queue that there is not. */
const queuesOf = ({ args }: Container) => parseQueues(/^--queues=(.+)$/.exec(args[1] ?? '')?.[1] ?? '');

function unserved(workloads: readonly Workload[]): string[] {
  const workers = workloads.filter(({ container }) => container.args[0] === 'worker');
  const served = workers.flatMap(({ container }) => attempt(() => queuesOf(container)));
  return parseQueues(undefined)
    .filter((queue) => !served.includes(queue))
    .map((queue) => `no worker serves ${queue}`);
}

const scalerOf = (name: string, objects: readonly KubernetesObject[]) =>
  objects.find(({ kind, spec }) => kind === 'ScaledObject' && spec.scaleTargetRef?.name === name);

/** A scaler asks for each queue of its workers, in each environment that is on, and for no other. */
function queueProblems(
  config: Config,
  queues: ReturnType<typeof parseQueues>,
  scaler: KubernetesObject | undefined,
): string[] {
  if (!scaler) return [];
  const options = { activities: {}, vendors: { supplier: SUPPLIER, gateway: GATEWAY } } as Parameters<
    typeof workerOptions
  >[0];
  const wanted = Object.values(config.worlds).flatMap((world) =>
    world ? queues.map((queue) => `${world.namespace} ${workerOptions(options, queue).taskQueue}`) : [],
  );
  const asked = (scaler.spec.triggers ?? []).map(
    ({ metadata }) => `${metadata['namespace'] ?? ''} ${metadata['taskQueue'] ?? ''}`,
  );
  return asked.toSorted().join() === wanted.toSorted().join()
    ? []
    : [`its scaler asks for ${asked.join(', ')}`];
}

/** Budgets, scalers and Services find what they are for, and budgets and scalers one Deployment each. */
function selections(objects: readonly KubernetesObject[], workloads: readonly Workload[]): string[] {
  const has = (labels: Labels, wanted: Labels): boolean =>
    Object.entries(wanted).every(([key, value]) => labels[key] === value);
  const deployments = objects
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ metadata }) => metadata.name);
  const found = ({ kind, spec }: KubernetesObject): readonly string[] => {
    if (spec.scaleTargetRef) return deployments.filter((name) => name === spec.scaleTargetRef?.name);
    const wanted = spec.podSelector?.matchLabels ?? spec.selector?.matchLabels ?? (spec.selector as Labels);
    const among =
      kind === 'ServiceMonitor'
        ? objects.filter((one) => one.kind === 'Service').map(({ metadata }) => metadata)
        : workloads.filter(({ name }) => deployments.includes(name));
    return among.filter(({ labels }) => has(labels, wanted)).map(({ name }) => name);
  };
  const one = [
    'PodDisruptionBudget',
    'HorizontalPodAutoscaler',
    'ScaledObject',
    'ServiceMonitor',
    'Deployment',
  ];
  const some = ['Service', 'NetworkPolicy'];
  return objects
    .filter(({ kind }) => one.includes(kind) || some.includes(kind))
    .filter((object) => !(one.includes(object.kind) ? [1] : [1, 2, 3, 4, 5]).includes(found(object).length))
    .map((object) => `${object.kind} ${object.metadata.name} finds ${found(object).join(', ') || 'nothing'}`);
}
