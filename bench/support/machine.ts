/**
 * What the figures were taken on. Read once before and once after, since a busy machine is part of the
 * result.
 */
import { cpus, loadavg, release, totalmem, type } from 'node:os';

type Machine = ReturnType<typeof readMachine>;

export function readMachine() {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    startedAt: new Date().toISOString(),
    /** 1, 5 and 15 minutes. */
    loadBefore: loadavg().map((value) => Number(value.toFixed(2))),
  };
}

export function describeMachine(machine: Machine): string {
  const { processor, cores, memoryGiB, system, node, startedAt, loadBefore } = machine;
  return [
    startedAt,
    `${processor}, ${cores} cores, ${memoryGiB} GiB, ${system}, Node ${node}`,
    `load average before: ${loadBefore.join(', ')}`,
  ].join('\n');
}
