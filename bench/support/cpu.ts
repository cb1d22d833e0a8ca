/**
 * Processor time and memory by program, of this process and everything it started: where a purchase's time
 * goes. Linux only; elsewhere there is nothing to show.
 */
import { readdir, readFile } from 'node:fs/promises';

/** Milliseconds by program since each started. */
type CpuTimes = ReadonlyMap<string, number>;

/** Linux counts processor time in hundredths of a second. */
const MS_PER_TICK = 10;

type ProcessInfo = NonNullable<Awaited<ReturnType<typeof readProcess>>>;

export async function readCpuTimes(): Promise<CpuTimes> {
  return byProgram(({ cpuMs }) => Promise.resolve(cpuMs));
}

/** Bytes that its processes hold alone, and their part of what they share (`Pss`). */
export function memoryByProgram(): Promise<ReadonlyMap<string, number>> {
  return byProgram(async ({ pid }) => {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0) * 1024;
  });
}

async function byProgram(figureOf: (info: ProcessInfo) => Promise<number>): Promise<Map<string, number>> {
  const all = await readProcesses();
  const sums = new Map<string, number>();
  for (const info of all.values()) {
    if (!descends(info, all)) continue;
    sums.set(info.name, (sums.get(info.name) ?? 0) + (await figureOf(info)));
  }
  return sums;
}

/**
 * What each program used between two readings, per unit of work; the largest first, without what used next to
 * nothing.
 */
export function cpuPerUnit(before: CpuTimes, after: CpuTimes, units: number): [string, number][] {
  return [...after]
    .map(([name, ms]): [string, number] => [name, (ms - (before.get(name) ?? 0)) / units])
    .filter(([, ms]) => ms >= 0.01)
    .sort(([, a], [, b]) => b - a);
}

/**
 * Runs and tells how much processor time the programs that count used meanwhile, in milliseconds together; 0
 * where unknown.
 */
export async function cpuDuring<T>(
  run: () => Promise<T>,
  counts: (program: string) => boolean = () => true,
): Promise<{ readonly result: T; readonly cpuMs: number }> {
  const before = await readCpuTimes();
  const result = await run();
  const after = await readCpuTimes();
  let cpuMs = 0;
  for (const [name, ms] of after) if (counts(name)) cpuMs += ms - (before.get(name) ?? 0);
  return { result, cpuMs };
}

/** Resident memory of a process in MiB, or null where it cannot be read. */
export async function residentMiB(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(status);
  return found ? Number(found[1]) / 1024 : null;
}

function descends(info: ProcessInfo, all: ReadonlyMap<number, ProcessInfo>): boolean {
  for (let at: ProcessInfo | undefined = info; at; at = all.get(at.parent))
    if (at.pid === process.pid) return true;
  return false;
}

async function readProcesses(): Promise<Map<number, ProcessInfo>> {
  const entries = await readdir('/proc').catch(() => []);
  const infos = await Promise.all(entries.filter((entry) => /^\d+$/.test(entry)).map(readProcess));
  return new Map(infos.filter((info) => info !== null).map((info) => [info.pid, info]));
}

async function readProcess(pid: string) {
  try {
    const [stat, commandLine] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ]);
    // The name in brackets may hold anything; the numbers stand after the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Its own, and that of children which have ended: Postgres's backends come and go.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    const words = commandLine.split('\0').filter(Boolean);
    return {
      pid: Number(pid),
      parent: Number(fields[1]),
      name: nameOf(Number(pid), words),
      cpuMs: ticks * MS_PER_TICK,
    };
  } catch {
    return null;
  }
}

function nameOf(pid: number, words: readonly string[]): string {
  if (pid === process.pid) return 'bench itself';
  const program = (words[0] ?? '').split('/').at(-1) ?? '';
  if (program.startsWith('postgres')) return 'postgres';
  const script = words.find((word) => word.endsWith('.ts'));
  if (program === 'node' && script !== undefined) {
    const role = words[words.indexOf(script) + 1] ?? '';
    return script.endsWith('src/main.ts') ? `our ${role}` : script;
  }
  return program;
}
