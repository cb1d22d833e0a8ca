// Every process of a service killed or paused at random moments: API, worker, Postgres and one of its
// backends, Temporal, Redis. All of them belong to the test. Guarantee: once `healed` resolves, each of them
// runs and none is paused.
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunningServer } from '../../../src/dev/restartable.ts';
import type { Random } from '../time/size.ts';
import type { Stack } from './stack.ts';
import { until } from '../time/until.ts';

export interface Victims {
  readonly stack: Stack;
  readonly postgres: RunningServer;
  readonly temporal: RunningServer;
  readonly redis: RunningServer;
}

const FAULTS = [
  'kill api',
  'kill worker',
  'kill worker',
  'kill postgres',
  'kill backend',
  'kill temporal',
  'kill redis',
  'pause api',
  'pause worker',
  'pause postgres',
  'pause temporal',
  'pause redis',
] as const;
type Fault = (typeof FAULTS)[number];

const MAX_DOWN_MS = 1_500;
const MAX_PAUSE_MS = 6_000;
const MAX_BETWEEN_MS = 1_200;
const HEALED_WITHIN_MS = 90_000;

/**
 * Inflicts so many faults, at most two at a time, and heals each after a random time. Returns what was done.
 */
export async function inflict(victims: Victims, random: Random, count: number): Promise<Fault[]> {
  const done: Fault[] = [];
  const underWay = new Map<string, Promise<void>>();
  for (let nth = 0; nth < count; nth += 1) {
    await pause(random.below(MAX_BETWEEN_MS));
    const fault = random.pick(FAULTS);
    const lasts = random.below(fault.startsWith('pause') ? MAX_PAUSE_MS : MAX_DOWN_MS);
    const [, victim = ''] = fault.split(' ');
    const name = victim === 'backend' ? 'postgres' : victim;
    // One fault of a process at a time, and two at most.
    await underWay.get(name);
    while (underWay.size >= 2) await Promise.race(underWay.values());
    done.push(fault);
    underWay.set(
      name,
      suffer(victims, fault, lasts).finally(() => underWay.delete(name)),
    );
  }
  await Promise.all(underWay.values());
  return done;
}

async function suffer({ stack, ...servers }: Victims, fault: Fault, lastsMs: number): Promise<void> {
  const [kind, victim] = fault.split(' ') as [
    'kill' | 'pause',
    'api' | 'worker' | keyof typeof servers | 'backend',
  ];
  if (victim === 'backend') {
    signal((await childrenOf(servers.postgres.pid)).at(-1), 'SIGKILL');
    return;
  }
  const process = victim === 'api' || victim === 'worker' ? stack.children[victim]! : servers[victim];
  if (kind === 'pause')
    return held([process.pid, ...(victim === 'postgres' ? await childrenOf(process.pid) : [])], lastsMs);
  await process.kill();
  await pause(lastsMs);
  const starts = { api: () => stack.startApi(), worker: () => stack.startWorker() };
  const start = victim === 'api' || victim === 'worker' ? starts[victim] : () => servers[victim].start();
  await started(start, fault);
}

/** A process that needs another one, which is down as well, is started again. */
async function started(start: () => Promise<unknown>, what: string): Promise<void> {
  await until(
    async () => {
      await start();
      return true;
    },
    Boolean,
    { what: `${what} started again`, withinMs: HEALED_WITHIN_MS, everyMs: 300 },
  );
}

async function held(pids: readonly number[], lastsMs: number): Promise<void> {
  for (const pid of pids) signal(pid, 'SIGSTOP');
  await pause(lastsMs);
  for (const pid of pids) signal(pid, 'SIGCONT');
}

/** One that has ended meanwhile needs none. */
function signal(pid: number | undefined, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  try {
    if (pid !== undefined) process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return children.split(' ').filter(Boolean).map(Number);
}
