/** autocannon at one address for one slice; anything but 2xx is an error of the run. */
import autocannon from 'autocannon';
import { cpuDuring } from '../support/cpu.ts';
import { quantile } from '../support/rounds.ts';

const CONNECTIONS = 10;

export async function shoot(url: string, headers: Record<string, string>, forMs: number) {
  const latenciesMs: number[] = [];
  const options = { url, headers, connections: CONNECTIONS, duration: forMs / 1000 };
  const { result, cpuMs } = await cpuDuring(() => fire(options, latenciesMs), isServer);
  if (result.errors + result.timeouts + result.non2xx > 0) {
    throw new Error(
      `${url}: ${result.errors} errors, ${result.timeouts} time-outs, ${result.non2xx} not 2xx`,
    );
  }
  const { total } = result.requests;
  return {
    rate: total / result.duration,
    medianMs: quantile(latenciesMs, 0.5),
    p95Ms: quantile(latenciesMs, 0.95),
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
