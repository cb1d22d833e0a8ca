/** autocannon at one address for one slice; anything but 2xx is an error of the run. */
import autocannon from 'autocannon';
import { cpuDuring } from '../support/cpu.ts';

const CONNECTIONS = 10;

export async function shoot(
  url: string,
  headers: Record<string, string>,
  forMs: number,
): Promise<{ rate: number; medianMs: number; p95Ms: number; cpuUs: number }> {
  const latenciesMs: number[] = [];
  const options = { url, headers, connections: CONNECTIONS, duration: forMs / 1000 };
  const { result, cpuMs } = await cpuDuring(() => fire(options, latenciesMs), isServer);
  if (result.errors + result.timeouts + result.non2xx > 0) {
    throw new Error(
      `${url}: ${result.errors} errors, ${result.timeouts} time-outs, ${result.non2xx} not 2xx`,
    );
  }
  const sorted = latenciesMs.sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  const { total } = result.requests;
  return {
    rate: total / result.duration,
    medianMs: at(0.5),
    p95Ms: at(0.95),
    cpuUs: (cpuMs * 1000) / total,
  };
}

/** What answers, and not what asks. */
const isServer = (program: string): boolean =>
  program === 'our api' || program.startsWith('redis') || program.startsWith('bench/l3/');

function fire(options: autocannon.Options, latenciesMs: number[]): Promise<autocannon.Result> {
  return new Promise<autocannon.Result>((resolve, reject) => {
    const running = autocannon(options, (error: unknown, found) => {
      if (error instanceof Error) reject(error);
      else resolve(found);
    });
    running.on('response', (_client, _status, _bytes, ms) => {
      latenciesMs.push(ms);
    });
  });
}
