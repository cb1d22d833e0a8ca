// Ends a child process when this process dies without ending it, also by SIGKILL. A small shell in a session
// of its own waits on a pipe that closes with this process.
import { spawn } from 'node:child_process';

/**
 * $1 process id, $2 signal, $3 seconds of grace. A zombie counts as gone: not every first process reaps at
 * once.
 */
const SCRIPT = [
  "trap '' INT HUP TERM",
  'read -r word',
  '[ "$word" = ended ] && exit 0',
  `lives() { kill -0 "$1" 2>/dev/null && ! grep -q ') Z ' "/proc/$1/stat" 2>/dev/null; }`,
  'kill -"$2" "$1" 2>/dev/null',
  'waited=0',
  'while lives "$1" && [ "$waited" -lt "$3" ]; do sleep 1; waited=$((waited + 1)); done',
  'kill -KILL "-$1" 2>/dev/null',
  'kill -KILL "$1" 2>/dev/null',
].join('; ');

export interface Watchdog {
  /** The child has ended. */
  dismiss(): void;
}

/** Sends `signal` when this process dies, and SIGKILL after `graceSeconds`. */
export function setWatchdog(pid: number, signal: NodeJS.Signals, graceSeconds: number): Watchdog {
  const shell = spawn(
    '/bin/sh',
    ['-c', SCRIPT, 'simway-watchdog', String(pid), signal.slice(3), String(graceSeconds)],
    {
      detached: true,
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  );
  // Without a watchdog the child runs just as well; only the safety net is missing.
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return { dismiss: () => void shell.stdin.end('ended\n') };
}
