// The files that production starts from: they are consistent, refer only to existing things, and contain no
// secret.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKOUT } from '../support/world/checkout.ts';
import { fillIn, readCompose, variablesOf, type ComposeService } from '../support/world/compose.ts';
import { DEPLOYED_TEMPORAL } from '../support/world/temporal-server-program.ts';
import { pathExists, projectFiles, textOf } from './source-files.ts';

const read = (file: string): string => readFileSync(join(CHECKOUT, file), 'utf8');
const compose = readCompose('docker-compose.yml');
const watching = readCompose('ops/compose.watching.yml');
const services = Object.entries(compose.services);
const everything = [...services, ...Object.entries(watching.services)];
const ours = services.filter(([, { build }]) => build !== undefined);
const dockerfile = read('Dockerfile');

const SECRET = /PASSWORD|SECRET|KEY|CODE|TOKEN|HEADERS/;
/** Where Docker mounts secrets; nothing else that looks like a secret may be in an environment. */
const MOUNTED = /^(?:\$\{\w+_FILE:\+)?\/run\/secrets\/(\w+)\}?$/;
/** Names that look like secrets and are not. */
const NO_SECRET: ReadonlySet<string> = new Set([
  'TEMPORAL_CODEC_ENDPOINT',
  'SIMWAY_API_KEY_LIFE_DAYS',
  'SIMWAY_SECRETS_GROUP',
]);
const secretFiles = { ...compose.secrets, ...watching.secrets };
/** The files that a service is told in a file of its own. */
const inConfig: Readonly<Record<string, string>> = {
  alertmanager: read('ops/alertmanager/alertmanager.yml'),
};
/** The files of a service that its environment, or its own file, names. */
const namedBy = (name: string, { environment = {} }: ComposeService): string[] => [
  ...Object.values(environment).flatMap((value) => MOUNTED.exec(value)?.[1] ?? []),
  ...(inConfig[name] ?? '').matchAll(/: \/run\/secrets\/(\w+)$/gm).map(([, secret = '']) => secret),
];

/** Services that must write outside of their volumes and tmpfs, with the reason. There is none. */
const WRITING: Readonly<Record<string, string>> = {};

/** Settings that are not in .env, with the reason. */
const DECIDED: Readonly<Record<string, string>> = {
  SIMWAY_HTTP_PORT: 'published by the file',
  SIMWAY_URL: 'read by commands outside of the file',
  SIMWAY_ADMIN_PORT: 'asked by the health check',
  SIMWAY_WORKER_ADMIN_PORT: 'asked by the health check',
  SIMWAY_STOP_DEADLINE_MS: 'fits the grace period that the file gives',
  SIMWAY_WORKER_GRACE_MS: 'fits the grace period that the file gives',
  SIMWAY_NAMESPACE_PREFIX: 'the Temporal server belongs to this installation',
  SIMWAY_DATABASE_TLS: 'Postgres is on a network of its own',
  SIMWAY_DATABASE_CA_FILE: 'Postgres is on a network of its own',
  SIMWAY_TEMPORAL_TLS_CA_FILE: 'Temporal is on a network of its own',
  SIMWAY_TEMPORAL_TLS_CERT_FILE: 'Temporal is on a network of its own',
  SIMWAY_TEMPORAL_TLS_KEY_FILE: 'Temporal is on a network of its own',
  SIMWAY_TEMPORAL_TLS_SERVER_NAME: 'Temporal is on a network of its own',
  SIMWAY_TEMPORAL_API_KEY: 'Temporal is on a network of its own',
  SIMWAY_DEPLOYMENT_NAME: 'the Temporal server belongs to this installation',
  SIMWAY_WORKFLOW_BUNDLE: 'built into the image',
};

/** Every name that the configuration reads. */
const settings = new Set(
  projectFiles()
    .filter((file) => /^src\/app\/config\/\w+\.ts$/.test(file))
    .flatMap((file) => textOf(file).match(/\b(?:SIMWAY|OTEL|TEMPORAL|REDIS|DATABASE)_[A-Z_]+\b/g) ?? []),
);

/** What a variable sets: itself, or what the file that it names holds. */
const settingOf = (name: string): string => (settings.has(name) ? name : name.replace(/_FILE$/, ''));

/** The names that the simulators read. */
const ofSimulators = new Set(
  ['esim-access', 'paystack'].flatMap(
    (name) => textOf(`packages/simulators/${name}/main.ts`).match(/\bSANDBOX_[A-Z_]+\b/g) ?? [],
  ),
);

describe('docker-compose.yml', () => {
  it('has Postgres, Redis, Temporal with its UI, the API, a worker and the migrations as a job', () => {
    expect(Object.keys(compose.services)).toEqual(
      expect.arrayContaining(['postgres', 'redis', 'temporal', 'temporal-ui', 'api', 'worker', 'migrate']),
    );
    expect(compose.services['migrate']?.command).toEqual(['migrate']);
    for (const name of ['api', 'worker'])
      expect(compose.services[name]?.depends_on?.['migrate']).toEqual({
        condition: 'service_completed_successfully',
      });
  });

  it('prepares the databases of Temporal by the tools of its version, the one that is tested', () => {
    const versions = ['temporal', 'temporal-schema'].map((name) => {
      const image = compose.services[name]?.image ?? '';
      return fillIn(image, {}).split(':')[1];
    });
    expect(versions).toEqual([DEPLOYED_TEMPORAL, DEPLOYED_TEMPORAL]);
  });

  it('has no secret in the environment of a service: names of files, and no variable of .env that is one', () => {
    const shown = everything.flatMap(([service, { environment = {} }]) =>
      Object.entries(environment)
        .filter(
          ([name, value]) =>
            (SECRET.test(name) && !NO_SECRET.has(name) && !MOUNTED.test(value)) ||
            /:\/\/[^/]*:[^/]*@/.test(value),
        )
        .map(([name]) => `${service} ${name}`),
    );
    expect(shown).toEqual([]);
    const asked = variablesOf(read('docker-compose.yml') + read('ops/compose.watching.yml'));
    const secrets = asked.filter(({ name }) => SECRET.test(name) && !name.endsWith('_FILE'));
    expect(secrets.map(({ name }) => name).filter((name) => !NO_SECRET.has(name))).toEqual([]);
  });

  it('gives each service the secrets that its environment names, and no others', () => {
    for (const [name, service] of everything) {
      const { secrets = [], group_add } = service;
      expect(secrets.toSorted(), name).toEqual([...new Set(namedBy(name, service))].toSorted());
      expect(group_add ?? ['${SIMWAY_SECRETS_GROUP:?}'], name).toEqual(['${SIMWAY_SECRETS_GROUP:?}']);
      // The group of the files; a service whose start is root's and changes the user would leave it.
      if (secrets.length > 0) expect(group_add, name).toBeDefined();
    }
    const used = new Set(everything.flatMap(([, { secrets = [] }]) => secrets));
    expect([...used].toSorted()).toEqual(Object.keys(secretFiles).toSorted());
  });

  it('takes each secret from its file, optional ones from nothing until .env names theirs', () => {
    for (const [name, { file }] of Object.entries(secretFiles)) {
      const set = fillIn(file, { [`${name}_FILE`]: `./secrets/${name}` });
      expect(set).toBe(`./secrets/${name}`);
      expect([set, '/dev/null']).toContain(fillIn(file, {}));
    }
    const { SIMWAY_SMTP_URL_FILE: mail = '' } = compose.services['api']?.environment ?? {};
    expect(fillIn(mail, {})).toBe('');
    expect(fillIn(mail, { SIMWAY_SMTP_URL_FILE: './x' })).toBe('/run/secrets/SIMWAY_SMTP_URL');
  });

  it('stops with the name of a missing setting', () => {
    const { SIMWAY_PUBLIC_URL = '' } = compose.services['api']?.environment ?? {};
    expect(() => fillIn(SIMWAY_PUBLIC_URL, {})).toThrow('SIMWAY_PUBLIC_URL');
    expect(fillIn(SIMWAY_PUBLIC_URL, { SIMWAY_PUBLIC_URL: 'given' })).toBe('given');
  });

  it('gives our services only existing settings', () => {
    const unknown = ours.flatMap(([service, { environment = {} }]) =>
      Object.keys(environment)
        .filter((name) => !(service.startsWith('sandbox-') ? ofSimulators : settings).has(settingOf(name)))
        .map((name) => `${service} ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it('passes on every setting, except those that the file itself decides', () => {
    const passed = new Set(
      ours.flatMap(([, { environment = {} }]) => Object.keys(environment).map(settingOf)),
    );
    const missing = [...settings].filter(
      (name) => !passed.has(name) && !(name in DECIDED) && !name.startsWith('SIMWAY_TEST_'),
    );
    expect(missing).toEqual([]);
    expect(Object.keys(DECIDED).filter((name) => passed.has(name) || !settings.has(name))).toEqual([]);
  });

  it('has a health check for each service, unless it is a job or no service waits for it', () => {
    const jobs = new Set(
      services.flatMap(([, { depends_on = {} }]) =>
        Object.entries(depends_on)
          .filter(([, { condition }]) => condition === 'service_completed_successfully')
          .map(([name]) => name),
      ),
    );
    const waitedFor = services.flatMap(([, { depends_on = {} }]) =>
      Object.entries(depends_on).filter(([, { condition }]) => condition === 'service_healthy'),
    );
    for (const [name] of waitedFor) expect(compose.services[name]?.healthcheck, name).toBeDefined();
    for (const name of ['api', 'worker']) expect(compose.services[name]?.healthcheck, name).toBeDefined();
    expect([...jobs].toSorted()).toEqual(['migrate', 'temporal-schema']);
    for (const name of jobs) expect(compose.services[name]?.restart).toMatch(/^on-failure/);
  });

  it('refers only to existing services, volumes and files', () => {
    const missing = services.flatMap(([service, { depends_on = {}, volumes = [] }]) => [
      ...Object.keys(depends_on)
        .filter((name) => !(name in compose.services))
        .map((name) => `${service} ${name}`),
      ...mountsOf({ volumes }, compose.volumes).map((mount) => `${service} ${mount}`),
    ]);
    expect(missing).toEqual([]);
    const watched = Object.values(watching.services).flatMap((service) =>
      mountsOf(service, watching.volumes),
    );
    expect(watched).toEqual([]);
  });

  it('gives no container rights that it does not need', () => {
    for (const [name, { cap_drop, security_opt }] of everything) {
      expect(cap_drop, name).toEqual(['ALL']);
      expect(security_opt, name).toEqual(['no-new-privileges:true']);
    }
    // Postgres' image would start as root, with capabilities, and leave the group of the secrets.
    expect(everything.filter(([, service]) => 'cap_add' in service)).toEqual([]);
    for (const name of ['postgres', 'redis']) expect(compose.services[name]?.user).toBe(name);
    const writing = everything.filter(([, service]) => service.read_only !== true).map(([name]) => name);
    expect(writing.toSorted()).toEqual(Object.keys(WRITING));
  });

  it('publishes ports without a password on this machine only', () => {
    const open = everything.flatMap(([service, { ports = [] }]) =>
      ports
        .filter((port) => !/^(127\.0\.0\.1|\$\{SIMWAY_API_BIND:-127\.0\.0\.1\}):/.test(port))
        .map((port) => `${service} ${port}`),
    );
    expect(open).toEqual([]);
    expect(compose.services['postgres']?.ports).toBeUndefined();
    expect(compose.services['redis']?.ports).toBeUndefined();
  });

  it('pins every image to a version', () => {
    const images = everything.flatMap(([, { image }]) => image ?? []);
    expect(images.filter((image) => !/:(\$\{\w+:-)?[\w.]*\d|^simway:/.test(image))).toEqual([]);
    expect(images.filter((image) => image.includes('latest'))).toEqual([]);
  });
});

/** Mounts that are missing: a file that must exist, or a volume that must be declared. */
function mountsOf({ volumes = [] }: Pick<ComposeService, 'volumes'>, named: object): string[] {
  return volumes
    .map((volume) => volume.split(':', 1)[0] ?? '')
    .filter((source) => (source.startsWith('./') ? !pathExists(source) : !(source in named)));
}

describe('.env.example', () => {
  const lines = read('.env.example').split('\n');
  const given = new Map(
    lines.flatMap((line) => {
      const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value ?? ''] as const];
    }),
  );

  it('names everything that the compose file needs, without a value', () => {
    const needed = new Set(
      variablesOf(read('docker-compose.yml'))
        .filter(({ isNeeded }) => isNeeded)
        .map(({ name }) => name),
    );
    expect([...needed].filter((name) => given.get(name) !== '')).toEqual([]);
    const line = lines.findIndex((text) => text.startsWith('# ---'));
    const above = new Set(lines.slice(0, line).map((text) => text.split('=', 1)[0]));
    expect([...needed].filter((name) => !above.has(name))).toEqual([]);
  });

  it('names only what a compose file reads, and contains no secret', () => {
    const files = ['docker-compose.yml', 'ops/compose.watching.yml'];
    const known = new Set(files.flatMap((file) => variablesOf(read(file))).map(({ name }) => name));
    expect([...given.keys()].filter((name) => !known.has(name))).toEqual([]);
    expect([...given].filter(([name, value]) => SECRET.test(name) && value !== '')).toEqual([]);
  });

  it('is copied to .env, which is never committed, as the secrets are not', () => {
    expect(read('.gitignore').split('\n')).toEqual(expect.arrayContaining(['.env', 'secrets/']));
  });
});

describe('Dockerfile', () => {
  const copied = Array.from(dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm), ([, files = '']) =>
    files.split(' '),
  ).flat();

  it('copies only existing files, which .dockerignore lets through', () => {
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((file) => !pathExists(file))).toEqual([]);
    const admitted = read('.dockerignore').split('\n');
    expect(admitted).toContain('*');
    expect(copied.filter((file) => !admitted.includes(`!${file.split('/', 1)[0]}`))).toEqual([]);
  });

  it('uses the Node of the scripts, as an unprivileged user', () => {
    const manifest = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    const base = `node:${manifest.dependencies['node']}-bookworm-slim`;
    expect(dockerfile).toContain(`\nARG NODE_IMAGE=${base}\n`);
    const bases = Array.from(dockerfile.matchAll(/^FROM (\S+)/gm), ([, image = '']) => image);
    expect(bases).toEqual(Array(3).fill('${NODE_IMAGE}'));
    for (const [name, { build }] of ours) {
      const { NODE_IMAGE = '' } = build?.args ?? {};
      expect(fillIn(NODE_IMAGE, {}), name).toBe(base);
      expect(fillIn(NODE_IMAGE, { SIMWAY_NODE_IMAGE: `${base}@sha256:0` }), name).toBe(`${base}@sha256:0`);
    }
    const user = dockerfile.lastIndexOf('\nUSER node\n');
    expect(user).toBeGreaterThan(dockerfile.lastIndexOf('\nFROM '));
    expect(user).toBeLessThan(dockerfile.indexOf('\nENTRYPOINT '));
    expect(dockerfile).toContain('\nHEALTHCHECK ');
  });

  it('installs from the lock file, runs no script of a package, and fetches no other image', () => {
    expect(dockerfile).toContain('\nRUN npm ci --omit=dev --ignore-scripts ');
    expect(dockerfile).not.toMatch(/^# *syntax=/m);
  });

  it('has more than one stage, the last one without build tools', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(last).not.toContain('npm');
    expect(last).toContain('COPY --from=');
  });
});
