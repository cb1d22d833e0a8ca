// docker-compose.yml as Docker reads it: anchors and merges resolved, variables filled in. Must not be more
// lenient than Docker: a missing variable that is required with `:?` is an error.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHECKOUT } from './checkout.ts';

export interface ComposeService {
  readonly build?: { readonly context: string; readonly args: Readonly<Record<string, string>> };
  readonly image?: string;
  readonly read_only?: boolean;
  readonly secrets?: readonly string[];
  readonly group_add?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly restart?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly networks?: readonly string[];
  readonly network_mode?: string;
  readonly user?: string;
  readonly security_opt?: readonly string[];
  readonly deploy?: { readonly resources: { readonly limits: ComposeLimits } };
}

interface ComposeLimits {
  readonly cpus: string;
  /** Such as 512m or 2g. */
  readonly memory: string;
  readonly pids: number;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
}

export function readCompose(file: string): ComposeFile {
  return parse(readFileSync(join(CHECKOUT, file), 'utf8'), { merge: true }) as ComposeFile;
}

/** A variable as a compose file asks for it: `${NAME:?}`, `${NAME:-default}`, `${NAME:+if set}`. */
interface Variable {
  readonly name: string;
  readonly isNeeded: boolean;
  readonly fallback: string;
}

const VARIABLE = /\$\{(\w+):([?+-])([^}]*)\}/g;

export function variablesOf(text: string): Variable[] {
  return Array.from(text.matchAll(VARIABLE), ([, name = '', sign, rest = '']) => ({
    name,
    isNeeded: sign === '?',
    fallback: sign === '-' ? rest : '',
  }));
}

/** The text with its variables filled in from a .env file's values. */
export function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(VARIABLE, (_all, name: string, sign: string, rest: string) => {
    const value = values[name] ?? '';
    if (sign === '+') return value === '' ? '' : rest;
    if (value !== '') return value;
    if (sign === '?') throw new Error(`${name} is needed`);
    return rest;
  });
}
