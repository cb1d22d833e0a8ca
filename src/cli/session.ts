/**
 * Where the API is, and the session that a command acts with. Only this user of the machine can read it.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { readClientSettings, readDevSettings } from '../app/config/config.ts';
import { OperatorMistake } from '../platform/command.ts';
import type { Cli } from './context.ts';

export interface Installation {
  readonly url: string;
  /** Where a session may be kept: the user's own first, which `login` writes, then that of `npm start`. */
  readonly files: readonly [string, ...string[]];
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
  const own = join(configDir, SESSION_FILE);
  if (named !== undefined) return { url: named.replace(/\/+$/, ''), files: [own] };
  const running = await cli.findRunning();
  if (!running) throw new OperatorMistake(NOWHERE);
  return { url: running.apiUrl, files: [own, sandboxSessionFile(readDevSettings(cli.env).dataDir)] };
}

/** Throws OperatorMistake, which says how to sign in. */
export async function readToken(installation: Installation): Promise<string> {
  const kept = await findKept(installation);
  if (!kept) throw new OperatorMistake(`You are not signed in at ${installation.url}: ${HOW}`);
  return kept.token;
}

async function findKept({ url, files }: Installation): Promise<{ token: string; file: string } | undefined> {
  for (const file of files) {
    const kept = await readFile(file, 'utf8').then(parseKept, () => undefined);
    // A session is sent to nobody but the installation that gave it.
    if (kept?.url === url) return { token: kept.token, file };
  }
  return undefined;
}

/** Undefined for what is no session. */
const parseKept = (text: string) => KEPT.safeParse(parseJson(text)).data;
const KEPT = z.object({ url: z.string(), token: z.string() });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const sessionEnded = ({ url }: Installation): OperatorMistake =>
  new OperatorMistake(`Your session at ${url} has ended: ${HOW}`);

export const passwordTooOld = ({ url }: Installation): OperatorMistake =>
  new OperatorMistake(`This needs a sign-in from the last 15 minutes at ${url}: ${HOW}`);

export async function keepToken({ url, files: [file] }: Installation, token: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // Whole or not at all, and never readable by others.
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify({ url, token })}\n`, { mode: 0o600 });
  await rename(fresh, file);
}

export async function forgetToken(installation: Installation): Promise<void> {
  const kept = await findKept(installation);
  if (kept) await rm(kept.file, { force: true });
}
