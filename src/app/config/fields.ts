/** The shapes that settings come in. Each turns a text of the environment into what it means. */
import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { LOG_LEVELS } from '../../platform/telemetry/logger.ts';

/** Names every wrong variable, never its value. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`The environment is not right:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Any setting may stand in a file that `NAME_FILE` names, as Docker and Kubernetes hand out secrets. Throws
 * ConfigError with the names of variable and file, never what it holds. Warns of a file that all may read.
 */
export function withFiles(
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const values = { ...env };
  for (const name of names) {
    const file = env[`${name}_FILE`];
    if (file === undefined || names.includes(`${name}_FILE`)) continue;
    if (env[name] !== undefined) throw new ConfigError([`${name}: set it or ${name}_FILE, not both`]);
    values[name] = readLine(`${name}_FILE`, file);
    if (isForAll(file))
      process.emitWarning(`${name}_FILE: every user of this machine can read ${file}: chmod 600 it`);
  }
  return values;
}

/** Whether users besides its owner and its group may read it. */
const isForAll = (file: string): boolean => (statSync(file).mode & 0o004) !== 0;

function readLine(name: string, file: string): string {
  const value = readNamed(name, file).toString('utf8').trim();
  if (!/^[\x20-\x7e]+$/.test(value))
    throw new ConfigError([`${name}: ${file} does not hold one line of text`]);
  return value;
}

export function readNamed(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new ConfigError([`${name}: ${file} cannot be read (${code})`]);
  }
}

/**
 * The address with the password of a setting of its own, which a file can hold alone. Throws ConfigError
 * where the address has another one. `url` may be no address: then its own check says so.
 */
export function withPassword(url: string, setting: string, password: string | undefined): string {
  const filled = password === undefined ? null : URL.parse(url);
  if (filled === null) return url;
  const encoded = encodeURIComponent(password ?? '');
  if (filled.password !== '' && filled.password !== encoded)
    throw new ConfigError([`${setting}: the address has another password`]);
  filled.password = encoded;
  return filled.href;
}

export const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
export const positive = (fallback: number) => z.coerce.number().int().positive().default(fallback);
export const text = z.string().min(1).optional();
export const encryptionKey = z.string().regex(/^[0-9a-fA-F]{64}$/, 'takes 64 hexadecimal digits');
export const logLevel = z.enum(LOG_LEVELS).default('info');

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/;

/** A host name, without a port. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK.test(host);

/** https, or http on this machine: nobody on the way reads or changes what is sent. */
export const secureUrl = z.string().refine((value) => {
  const { protocol = '', hostname = '' } = URL.parse(value) ?? {};
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}, 'takes https://…');

const partsOf = (line: string): string[] =>
  line
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

/** By commas. */
export const list = z.string().default('').transform(partsOf);

/** `name=value` pairs by commas. `read` returns undefined for a value that is wrong. */
export function pairs<T>(example: string, read: (value: string, name: string) => T | undefined) {
  return z.string().transform((line, context): Readonly<Record<string, T>> => {
    const found = partsOf(line).map((part) => {
      const [, name = '', value = ''] = /^([\w-]+)\s*=\s*(\S+)$/.exec(part) ?? [];
      return [name, name === '' ? undefined : read(value, name)] as const;
    });
    // Commas alone are a mistake, not an empty list.
    if (found.some(([, value]) => value === undefined) || (line !== '' && found.length === 0))
      context.addIssue({ code: 'custom', message: `takes pairs such as ${example}` });
    return Object.fromEntries(found) as Record<string, T>;
  });
}

/** JSON that `schema` reads. */
export function json<Schema extends z.ZodType>(fallback: string, example: string, schema: Schema) {
  return z
    .string()
    .default(fallback)
    .transform((line, context): z.output<Schema> => {
      try {
        return schema.parse(JSON.parse(line));
      } catch {
        context.addIssue({ code: 'custom', message: `takes JSON such as ${example}` });
        return z.NEVER;
      }
    });
}
