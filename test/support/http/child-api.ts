// The API in a child process (api-process.ts), for what can only be measured from outside.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Memory, ToParent } from './api-process.ts';

/** Runs `use` against it and ends it. `measure` says how much memory it holds now, without garbage. */
export async function withChildApi(
  use: (api: { readonly port: number; readonly measure: () => Promise<Memory> }) => Promise<void>,
): Promise<void> {
  const child = fork(fileURLToPath(new URL('api-process.ts', import.meta.url)), {
    stdio: 'inherit',
    execArgv: [...process.execArgv, '--expose-gc'],
  });
  const hear = async <Said extends ToParent>(): Promise<Said> =>
    ((await once(child, 'message')) as [Said])[0];
  try {
    const { port } = await hear<{ port: number }>();
    const measure = (): Promise<Memory> => {
      child.send('memory');
      return hear<Memory>();
    };
    await use({ port, measure });
  } finally {
    if (child.connected) child.send('stop');
    await once(child, 'exit');
  }
}
