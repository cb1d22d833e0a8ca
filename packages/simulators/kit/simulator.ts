/** Starts and stops a simulator: two servers over one storage. A start that fails leaves nothing open. */
import type Koa from 'koa';
import { listen, type RunningServer } from './server.ts';

export interface Simulator {
  /** Listens on both ports; rejects when one is taken. */
  start(): Promise<{ url: string; controlUrl: string }>;
  /** Drains for at most `drainMs` and closes everything; safe to call twice. */
  stop(drainMs?: number): Promise<void>;
}

/** Options that every simulator has. */
export interface SimulatorOptions {
  /** Folder of the simulator's own storage; made when missing. */
  dataDir: string;
  host?: string;
  port?: number;
  controlPort?: number;
  /** Seed of the fault dice. */
  seed?: number;
  now?: () => number;
  /** One line about a bug of the simulator itself. */
  log?: (line: string) => void;
}

/** What runs between start and stop. */
interface SimulatorParts {
  api: Koa;
  control: Koa;
  /** Both ports listen. */
  onListening: (api: RunningServer) => void | Promise<void>;
  /** The servers have drained: ends timers and closes the storage. */
  close: () => void;
}

export interface SimulatorFrame {
  /** The API's address; empty until it listens. */
  url: () => string;
  /** Reports a bug of the simulator itself; gets no request data. */
  onBug: (error: unknown) => void;
}

const DEFAULT_DRAIN_MS = 2000;

/** A simulator that has not been started; `build` opens its storage at every start. */
export function createSimulator(options: SimulatorOptions, build: (frame: SimulatorFrame) => SimulatorParts) {
  const host = options.host ?? '127.0.0.1';
  let isClosed = false;
  const onBug = (error: unknown) => {
    // A request that outlived the drain finds the storage closed.
    if (isClosed) return;
    const what = error instanceof Error ? error.stack : 'not an error';
    options.log?.(JSON.stringify({ level: 'error', msg: 'simulator bug', error: what }));
  };
  let stop: ((drainMs: number) => Promise<void>) | undefined;

  const start = async () => {
    if (stop !== undefined) throw new Error('the simulator is running');
    isClosed = false;
    let api: RunningServer | undefined;
    let control: RunningServer | undefined;
    const parts = build({ url: () => api?.url ?? '', onBug });
    const end = async (drainMs: number) => {
      await Promise.all([api?.close(drainMs), control?.close(drainMs)]);
      isClosed = true;
      parts.close();
    };
    try {
      api = await listen(parts.api, { host, port: options.port ?? 0 });
      control = await listen(parts.control, { host, port: options.controlPort ?? 0 });
      await parts.onListening(api);
      stop = end;
      return { url: api.url, controlUrl: control.url };
    } catch (error) {
      await end(0);
      throw error;
    }
  };
  return {
    start,
    stop: async (drainMs = DEFAULT_DRAIN_MS) => {
      const stopping = stop;
      stop = undefined;
      await stopping?.(drainMs);
    },
  };
}
