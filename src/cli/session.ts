/**
 * Where the API is, and the session that a command acts with. Only this user of the machine can read it.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readClientSettings, readDevSettings } from '../app/config/config.ts';
import { OperatorMistake } from '../platform/command.ts';
import type { Cli } from './context.ts';

export interface Installation {
  readonly url: string;
  /** Where the session is kept. */
  readonly file: string;
}

const SESSION_FILE = 'session.json';
const HOW = 'sign in with npm run finance -- login';
const NOWHERE =
  'Nothing is running in this checkout: start it with npm start, or name an installation with SIMWAY_URL or --url';

/** The session of this checkout's `npm start`. */
export const sandboxSessionFile = (dataDir: string): string => join(dataDir, SESSION_FILE);

/** What the option or the environment names, else the `npm start` of this checkout. */
export async function findInstallation(cli: Cli, given: string | undefined): Promise<Installation> {
  const { url, configDir } = readClientSettings(cli.env);
  const named = given ?? url;
  if (named !== undefined) return { url: named.replace(/\/+$/, ''), file: join(configDir, SESSION_FILE) };
  const running = await cli.findRunning();
  if (!running) throw new OperatorMistake(NOWHERE);
  return { url: running.apiUrl, file: sandboxSessionFile(readDevSettings(cli.env).dataDir) };
}

/** Throws OperatorMistake, which says how to sign in. */
export async function readToken({ url, file }: Installation): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const kept = text === undefined ? undefined : (JSON.parse(text) as { url: string; token: string });
  // A session is sent to nobody but the installation that gave it.
  if (kept?.url !== url) throw new OperatorMistake(`You are not signed in at ${url}: ${HOW}`);
  return kept.token;
}

export const sessionEnded = ({ url }: Installation): OperatorMistake =>
  new OperatorMistake(`Your session at ${url} has ended: ${HOW}`);

export async function keepToken({ url, file }: Installation, token: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // Whole or not at all, and never readable by others.
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify({ url, token })}\n`, { mode: 0o600 });
  await rename(fresh, file);
}

export const forgetToken = ({ file }: Installation): Promise<void> => rm(file, { force: true });
