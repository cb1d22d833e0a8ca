// The lists of ops/helm/simway that must follow the code; test/helm renders the chart, where Go is there.
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { QUEUE_NAMES } from '../../src/app/temporal/workers.ts';
import { VERSION } from '../../src/platform/version.ts';
import { projectFiles, textOf } from './source-files.ts';

const CHART = 'ops/helm/simway';
const { properties } = JSON.parse(textOf(`${CHART}/values.schema.json`)) as {
  properties: {
    settings: { propertyNames: { enum: string[] }; required: string[] };
    secrets: { properties: { keys: { items: { enum: string[] } } } };
    workers: { items: { properties: { queues: { items: { enum: string[] } } } } };
  };
};
const plain = properties.settings.propertyNames.enum;
const secret = properties.secrets.properties.keys.items.enum;

/** Settings that nobody sets, with the reason. Others are given by the templates. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  SIMWAY_HTTP_PORT: 'the port that the templates name',
  SIMWAY_ADMIN_PORT: 'the port that the templates name',
  SIMWAY_WORKER_ADMIN_PORT: 'the port that the templates name',
  SIMWAY_WORKFLOW_BUNDLE: 'built into the image',
  SIMWAY_URL: 'read by commands outside of the cluster',
  SIMWAY_DEPLOYMENT_BUILD_ID: 'an upgrade replaces workers, and this needs the old ones beside the new',
  SIMWAY_DEPLOYMENT_NAME: 'the same',
};

const settings = new Set(
  projectFiles()
    .filter((file) => /^src\/app\/config\/\w+\.ts$/.test(file))
    .flatMap((file) => textOf(file).match(/\b(?:SIMWAY|OTEL|TEMPORAL|REDIS|DATABASE)_[A-Z_]+\b/g) ?? []),
);

describe('the Helm chart', () => {
  it('knows each setting once: as plain, as secret, by a template, or left out', () => {
    const templates = projectFiles().filter((file) => file.startsWith(`${CHART}/templates/`));
    const given = templates.flatMap((file) =>
      Array.from(textOf(file).matchAll(/- \{ name: ([A-Z_]+), value/g), ([, name = '']) => name),
    );
    const byTemplates = new Set(given.filter((name) => !plain.includes(name)));
    const known = [...plain, ...secret, ...byTemplates, ...Object.keys(LEFT_OUT)];
    expect(known.toSorted()).toEqual([...settings].toSorted());
  });

  it('takes as a secret what docs/SETTINGS.md calls one', () => {
    const said = Array.from(
      textOf('docs/SETTINGS.md').matchAll(/^\| `(\w+)` +\|[^|]*\| secret\b/gm),
      ([, name = '']) => name,
    );
    // Its password is a setting of its own.
    expect(secret.toSorted()).toEqual(said.filter((name) => name !== 'REDIS_URL').toSorted());
  });

  it('requires what docker-compose.yml requires', () => {
    const asked = Array.from(
      textOf('docker-compose.yml').matchAll(/\$\{(\w+):\?\}/g),
      ([, name = '']) => name,
    );
    expect(properties.settings.required).toEqual(
      expect.arrayContaining(asked.filter((name) => settings.has(name))),
    );
  });

  it('has the queues and the version of the code', () => {
    expect(properties.workers.items.properties.queues.items.enum).toEqual(QUEUE_NAMES);
    const { version, appVersion } = parse(textOf(`${CHART}/Chart.yaml`)) as Record<string, string>;
    expect({ version, appVersion }).toEqual({ version: VERSION, appVersion: VERSION });
  });
});
