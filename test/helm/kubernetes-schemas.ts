// Schemas for kubeconform, without its download: Kubernetes' own OpenAPI documents and the definitions of
// KEDA and the Prometheus operator, from Go's modules at fixed versions.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { go } from '../support/world/go.ts';

const KUBERNETES = 'k8s.io/kubernetes@v1.37.2';
const KEDA = 'github.com/kedacore/keda/v2@v2.21.0';
const PROMETHEUS = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';

/** Of the groups that the chart uses. */
const DOCUMENTS = [
  'api__v1',
  ...['apps__v1', 'autoscaling__v2', 'batch__v1', 'networking.k8s.io__v1', 'policy__v1'].map(
    (name) => `apis__${name}`,
  ),
];

interface Schema {
  readonly properties?: object;
  additionalProperties?: unknown;
  readonly 'x-kubernetes-group-version-kind'?: readonly Readonly<
    Record<'group' | 'version' | 'kind', string>
  >[];
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}
interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { openAPIV3Schema: Schema } }[];
  };
}

/** Where kubeconform finds the file of a kind. The core group is called by its version. */
export const LOCATION = '{{ .Group }}-{{ .ResourceAPIVersion }}-{{ .ResourceKind }}.json';

export async function writeSchemas(folder: string): Promise<void> {
  const [kubernetes, keda, prometheus] = await Promise.all([KUBERNETES, KEDA, PROMETHEUS].map(download));
  const write = (group: string, version: string, kind: string, schema: object) =>
    writeFileSync(
      join(folder, `${group || version}-${version}-${kind.toLowerCase()}.json`),
      JSON.stringify(schema),
    );
  for (const name of DOCUMENTS) {
    const text = readFileSync(join(kubernetes ?? '', `api/openapi-spec/v3/${name}_openapi.json`), 'utf8');
    const { components } = JSON.parse(text) as { components: { schemas: Record<string, Schema> } };
    strict(components);
    for (const [of, schema] of Object.entries(components.schemas))
      for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? [])
        if (!/(List|Options|Event)$/.test(kind))
          write(group, version, kind, { $ref: `#/components/schemas/${of}`, components });
  }
  for (const file of [
    join(keda ?? '', 'config/crd/bases/keda.sh_scaledobjects.yaml'),
    join(keda ?? '', 'config/crd/bases/keda.sh_triggerauthentications.yaml'),
    join(prometheus ?? '', 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml'),
  ]) {
    const { group, names, versions } = (parse(readFileSync(file, 'utf8')) as Definition).spec;
    for (const { name, schema } of versions)
      write(group, name, names.kind, strict({ ...schema.openAPIV3Schema }));
  }
}

/** The folder of a module. */
async function download(module: string): Promise<string> {
  const { Dir } = JSON.parse(await go(['mod', 'download', '-json', module], '/')) as { Dir: string };
  return Dir;
}

/** Refuses fields that it does not know: a server would drop them, and a typing error would go unseen. */
function strict(schema: object): object {
  for (const inner of Object.values(schema))
    if (typeof inner === 'object' && inner !== null) strict(inner as object);
  const object = schema as Schema;
  const isClosed =
    typeof object.properties === 'object' &&
    object.additionalProperties === undefined &&
    object['x-kubernetes-preserve-unknown-fields'] !== true;
  if (isClosed) object.additionalProperties = false;
  return schema;
}
