/** What every simulator does as a process: its ready line, signals, flags, and secrets out of sight. */
import { afterEach, describe, expect, it } from 'vitest';
import { commandLineOf } from '../../src/dev/process-identity.ts';
import { launch, launchReady, stopAll, tempFolder, until, type Control } from './simulator.support.ts';

interface Program<Client> {
  main: string;
  secrets: Record<string, string>;
  /** Flags that must not exist, since arguments are not secret. */
  secretFlags: readonly string[];
  clientOf: (url: string, controlUrl: string) => Client;
  /** A request that changes something. */
  work: (client: Client) => Promise<unknown>;
  /** What it says on stderr when it starts with `--seed 77`. */
  greeting: string;
  mistakes: readonly [secrets: Record<string, string>, args: readonly string[], message: RegExp][];
}

/** Shows it, and answers how to start one. */
export function describeProcess<Client extends { control: Control }>(name: string, program: Program<Client>) {
  const { main, secrets } = program;
  const start = async (dataDir: string, args: readonly string[] = [], more: Record<string, string> = {}) => {
    const launched = await launchReady(main, ['--data', dataDir, ...args], { ...secrets, ...more });
    return { ...launched, ...program.clientOf(launched.url, launched.controlUrl) };
  };
  const fails = async (args: readonly string[], env = secrets) => {
    const launched = launch(main, [...args], env);
    expect(await launched.exit).toBe(1);
    expect(launched.stdout()).toBe('');
    return launched.stderr();
  };
  afterEach(stopAll);

  describe(`${name} as a process`, () => {
    it('prints one JSON line and listens on loopback; on SIGTERM it finishes running requests and exits with 0', async () => {
      const simulator = await start(await tempFolder(), ['--seed', '77']);
      const loopback = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as unknown;
      const ready = { ready: true, url: loopback, controlUrl: loopback };
      expect(JSON.parse(simulator.stdout())).toEqual(ready);
      await simulator.control('PUT', '/faults', { latencyMs: 400 });
      const running = program.work(simulator);
      await until(
        async () => ((await simulator.control('GET', '/stats')).body as { inFlight: number }).inFlight === 1,
      );
      const startedAt = performance.now();
      simulator.child.kill('SIGTERM');
      await running;
      expect(await simulator.exit).toBe(0);
      expect(performance.now() - startedAt).toBeLessThan(3000);
      expect(simulator.stdout().trim().split('\n')).toHaveLength(1);
      expect(simulator.stderr().trim()).toBe(program.greeting);
    });

    it('ends when its stdin closes, but only with --exit-with-parent', async () => {
      const tied = await start(await tempFolder(), ['--exit-with-parent']);
      const free = await start(await tempFolder());
      for (const { child } of [tied, free]) child.stdin?.end();
      expect(await tied.exit).toBe(0);
      await program.work(free);
    });

    it('has no secrets on its command line, and refuses them there', async () => {
      const simulator = await start(await tempFolder());
      const commandLine = await commandLineOf(simulator.child.pid ?? 0);
      expect(commandLine).toContain('/main.ts');
      for (const secret of Object.values(secrets)) expect(commandLine).not.toContain(secret);
      for (const flag of program.secretFlags)
        expect(await fails(['--data', await tempFolder(), flag, 'x'])).toContain(`'${flag}'`);
    });

    it.each([
      [secrets, [], /--data/] as const,
      [secrets, ['--data', '/nonexistent', '--port', 'many'], /--port/] as const,
      [secrets, ['--data', '/nonexistent', '--nonsense'], /nonsense/] as const,
      ...program.mistakes,
    ])('with %j %j does not start, and names the mistake', async (env, args, message) => {
      expect(await fails(args, env)).toMatch(message);
    });

    it('does not start when its port is taken', async () => {
      const { port } = new URL((await start(await tempFolder())).url);
      expect(await fails(['--data', await tempFolder(), '--port', port])).toMatch(/EADDRINUSE/);
    });
  });
  return start;
}
