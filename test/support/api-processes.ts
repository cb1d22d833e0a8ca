// More API processes beside a stack's own: same database, Temporal and Redis, each a process with its own ports and memory, for what
// must hold across processes. Guarantees that stop() leaves none running.
import { join } from 'node:path';
import { startChild, type Child } from '../../src/dev/child.ts';
import { freePort } from '../../src/dev/ports.ts';
import { quietLog } from './services.ts';

const CHECKOUT = join(import.meta.dirname, '..', '..');
const READY_DEADLINE_MS = 60_000;

export interface ApiProcesses {
  /** http://127.0.0.1:…, one each. */
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

/** Starts `count` of them with the environment of a stack, and waits until they serve. */
export async function startApiProcesses(
  env: Readonly<Record<string, string>>,
  count: number,
): Promise<ApiProcesses> {
  const children: Child[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.splice(0).map((child) => child.stop()));
  };
  const start = async ({ httpPort, adminPort }: Ports): Promise<string> => {
    const child = await startChild({
      name: 'api',
      command: process.execPath,
      args: ['src/main.ts', 'api'],
      cwd: CHECKOUT,
      env: {
        ...env,
        SIMWAY_HTTP_PORT: String(httpPort),
        SIMWAY_ADMIN_PORT: String(adminPort),
        PATH: '/usr/bin:/bin',
      },
      log: quietLog,
      stopDeadlineMs: 15_000,
    });
    children.push(child);
    await child.untilReady({ line: /^\{"ready":true/, deadlineMs: READY_DEADLINE_MS });
    return `http://127.0.0.1:${httpPort}`;
  };
  try {
    const ports = await choosePorts(count);
    return { urls: await Promise.all(ports.map(start)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Ports {
  readonly httpPort: number;
  readonly adminPort: number;
}

async function choosePorts(count: number): Promise<Ports[]> {
  const ports: Ports[] = [];
  for (let i = 0; i < count; i += 1) ports.push({ httpPort: await freePort(), adminPort: await freePort() });
  return ports;
}
