// Network access in production, the limits of each service, and that no command contains a secret. Read from
// the compose files, as Docker reads them: services reach each other only over a network that both are on.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKOUT } from '../support/world/checkout.ts';
import { readCompose, variablesOf, type ComposeService } from '../support/world/compose.ts';

const compose = readCompose('docker-compose.yml');
const watching = readCompose('ops/compose.watching.yml');
const networks = { ...compose.networks, ...watching.networks };
const services: Readonly<Record<string, ComposeService>> = { ...compose.services, ...watching.services };
const names = Object.keys(services);

/** Without networks of its own a service is on Docker's default one, with all other such services. */
const networksOf = (name: string): readonly string[] => services[name]?.networks ?? ['default'];

function reachableFrom(name: string): string[] {
  const own = new Set(networksOf(name));
  return names.filter((other) => other !== name && networksOf(other).some((one) => own.has(one))).toSorted();
}

const hasWayOut = (name: string): boolean =>
  networksOf(name).some((network) => networks[network]?.internal !== true);

describe('the networks of docker-compose.yml', () => {
  it.each(['sandbox-supplier', 'sandbox-gateway'])(
    'keep %s from Postgres, Temporal and Redis',
    (simulator) => {
      const other = simulator === 'sandbox-supplier' ? 'sandbox-gateway' : 'sandbox-supplier';
      expect(reachableFrom(simulator)).toEqual(['api', other, 'worker'].toSorted());
    },
  );

  it.each([
    ['postgres', ['api', 'migrate', 'temporal', 'temporal-schema', 'worker']],
    ['temporal', ['api', 'migrate', 'postgres', 'temporal-schema', 'temporal-ui', 'worker']],
    ['redis', ['api', 'worker']],
  ])('give access to %s only to services that need it', (server, clients) => {
    expect(names.filter((name) => reachableFrom(name).includes(server)).toSorted()).toEqual(clients);
  });

  it('let the Temporal UI reach Temporal and its clients only', () => {
    expect(reachableFrom('temporal-ui')).toEqual(['api', 'migrate', 'temporal', 'worker']);
  });

  it('let monitoring reach the processes that it scrapes, and none of their servers', () => {
    expect(reachableFrom('prometheus')).toEqual(['alertmanager', 'api', 'grafana', 'worker']);
    expect(reachableFrom('grafana')).toEqual(['alertmanager', 'prometheus']);
  });

  it('let every service reach what its environment and its command name', () => {
    const missing = names.flatMap((name) => {
      const { environment = {}, command = [] } = services[name]!;
      const text = [...Object.values(environment), ...command].join('\n');
      const named = Array.from(
        text.matchAll(/(?:@|\/\/|^)([a-z][a-z-]+):\d+/gm),
        ([, host = '']) => host,
      ).filter((host) => host !== name && host in services);
      const reachable = new Set(reachableFrom(name));
      return named.filter((host) => !reachable.has(host)).map((host) => `${name} ${host}`);
    });
    expect(missing).toEqual([]);
    expect(reachableFrom('sandbox-gateway')).toContain('api');
  });

  it('have internet access only for services that call it or publish a port', () => {
    const published = names.filter((name) => services[name]?.ports !== undefined);
    expect(names.filter(hasWayOut).toSorted()).toEqual([...published, 'worker'].toSorted());
    expect(published.toSorted()).toEqual([
      'alertmanager',
      'api',
      'grafana',
      'prometheus',
      'sandbox-gateway',
      'temporal-ui',
    ]);
  });

  it('are each used by a service, and no service bypasses them', () => {
    expect(Array.from(new Set(names.flatMap(networksOf))).toSorted()).toEqual(
      Object.keys(networks).toSorted(),
    );
    expect(names.filter((name) => services[name]?.network_mode !== undefined)).toEqual([]);
  });
});

describe('the Temporal UI', () => {
  it('is read-only', () => {
    const { environment = {} } = services['temporal-ui']!;
    // Its server refuses every request but reads and queries because of this setting; the others hide what
    // would be refused.
    expect(environment['TEMPORAL_DISABLE_WRITE_ACTIONS']).toBe('true');
    const actions = [
      'START_WORKFLOW',
      'WORKFLOW_CANCEL',
      'WORKFLOW_RESET',
      'WORKFLOW_SIGNAL',
      'WORKFLOW_TERMINATE',
      'WORKFLOW_UPDATE',
      'BATCH_ACTIONS',
      'ACTIVITY_COMMANDS',
    ];
    for (const action of actions) expect(environment[`TEMPORAL_${action}_DISABLED`], action).toBe('true');
  });
});

const UNITS: Readonly<Record<string, number>> = { m: 1, g: 1024 };
const mebibytes = (text: string): number => Number.parseInt(text, 10) * (UNITS[text.slice(-1)] ?? Number.NaN);

describe('every service', () => {
  it.each(names)('%s has limits, and cannot gain rights', (name) => {
    const { deploy, security_opt = [] } = services[name]!;
    const { cpus, memory, pids } = deploy?.resources.limits ?? { cpus: '', memory: '', pids: 0 };
    // Docker refuses a limit above the number of processors of the machine.
    expect(Number(cpus)).toBeGreaterThan(0);
    expect(Number(cpus)).toBeLessThanOrEqual(2);
    expect(mebibytes(memory)).toBeGreaterThanOrEqual(128);
    expect(pids).toBeGreaterThanOrEqual(32);
    expect(security_opt).toContain('no-new-privileges:true');
  });

  it.each(['API', 'worker'])('the %s may use three times what an hour under load needs', (title) => {
    const row = new RegExp(`memory of the ${title}.*?\\| (\\d+) MiB`).exec(
      readFileSync(join(CHECKOUT, 'docs', 'BENCHMARKS.md'), 'utf8'),
    );
    const limit = mebibytes(services[title.toLowerCase()]!.deploy!.resources.limits.memory);
    expect(limit).toBeGreaterThanOrEqual(3 * Number(row?.[1]));
  });

  it.each(names)('%s has no secret in its command, which every process of the machine can read', (name) => {
    const { command = [], entrypoint = [], healthcheck } = services[name]!;
    const asked = variablesOf([...command, ...entrypoint, ...(healthcheck?.test ?? [])].join('\n'));
    expect(asked.filter((variable) => /PASSWORD|SECRET|KEY|CODE|TOKEN/.test(variable.name))).toEqual([]);
  });

  it.each(names.filter((name) => name !== 'postgres'))('%s is not the superuser of Postgres', (name) => {
    expect(services[name]?.secrets ?? []).not.toContain('POSTGRES_PASSWORD');
  });

  it('uses Redis with its password', () => {
    for (const name of ['api', 'worker'])
      expect(services[name]?.environment).toMatchObject({
        REDIS_URL: 'redis://redis:6379',
        SIMWAY_REDIS_PASSWORD_FILE: '/run/secrets/REDIS_PASSWORD',
      });
    expect(services['redis']?.environment?.['REDIS_PASSWORD_FILE']).toBe('/run/secrets/REDIS_PASSWORD');
  });
});
