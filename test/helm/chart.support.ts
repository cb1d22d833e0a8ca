// The chart as Helm renders it, and whether a Kubernetes server would take each object. Both programs are
// built by Go at fixed versions.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { CHECKOUT } from '../support/world/checkout.ts';
import { go } from '../support/world/go.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { LOCATION, writeSchemas } from './kubernetes-schemas.ts';

const HELM = 'helm.sh/helm/v3/cmd/helm@v3.22.0';
const KUBECONFORM = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0';

export const CHART = join(CHECKOUT, 'ops/helm/simway');

export interface EnvVariable {
  readonly name: string;
  readonly value?: string;
}

export interface Volume {
  readonly name: string;
  readonly secret?: { readonly items?: readonly { readonly path: string }[] };
  readonly projected?: { readonly sources: readonly { readonly secret: NonNullable<Volume['secret']> }[] };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

export interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: readonly EnvVariable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: { readonly readOnlyRootFilesystem?: boolean };
  readonly resources: { readonly requests: object; readonly limits: object };
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
}

export interface Pod {
  readonly securityContext: { readonly runAsNonRoot: boolean };
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}

export type Labels = Readonly<Record<string, string>>;

/** Of every kind in the chart; each kind has some of these. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Labels };
  readonly spec: {
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod };
    /** A Service's is the labels themselves. */
    readonly selector?: { readonly matchLabels?: Labels };
    readonly podSelector?: { readonly matchLabels: Labels };
    readonly scaleTargetRef?: { readonly name: string };
    readonly triggers?: readonly {
      readonly metadata: Labels;
      readonly authenticationRef?: { readonly name: string };
    }[];
  };
}

export interface Chart {
  /** Rejects with what Helm says. */
  render(values: object, chart?: string): Promise<readonly KubernetesObject[]>;
  /** What kubeconform says is wrong. */
  validate(objects: readonly KubernetesObject[]): Promise<readonly string[]>;
}

export async function openChart(): Promise<Chart> {
  const folder = await makeTestFolder();
  const schemas = join(folder, 'schemas');
  mkdirSync(schemas);
  await go(['install', HELM], folder, { GOBIN: folder });
  await go(['install', KUBECONFORM], folder, { GOBIN: folder });
  await writeSchemas(schemas);
  const run = (program: string, args: readonly string[]) =>
    promisify(execFile)(join(folder, program), args, { env: { HOME: folder }, maxBuffer: 1 << 26 });
  let count = 0;
  /** JSON is YAML, too. */
  const write = (text: string): string => {
    count += 1;
    const file = join(folder, `${count}.yaml`);
    writeFileSync(file, text);
    return file;
  };
  return {
    render: async (values, chart = CHART) => {
      const { stdout } = await run('helm', [
        'template',
        'shop',
        chart,
        '--kube-version',
        '1.37.2',
        '-f',
        write(JSON.stringify(values)),
      ]);
      return parseAllDocuments(stdout)
        .map((document) => document.toJS() as KubernetesObject | null)
        .filter((object) => object !== null);
    },
    validate: async (objects) => {
      const file = write(objects.map((object) => JSON.stringify(object)).join('\n---\n'));
      const args = ['-output', 'json', '-schema-location', join(schemas, LOCATION), file];
      const { stdout } = await run('kubeconform', args).catch(
        (error: unknown) => error as { stdout: string },
      );
      const { resources } = JSON.parse(stdout) as {
        resources: { kind: string; name: string; msg: string }[] | null;
      };
      return (resources ?? []).map(({ kind, name, msg }) => `${kind} ${name}: ${msg}`);
    },
  };
}
