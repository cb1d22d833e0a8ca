/**
 * What of the API's document would break a program that was written for an earlier one, by oasdiff
 * (https://github.com/oasdiff/oasdiff). Needs Go, and a network for its modules.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../support/world/checkout.ts';
import { go } from '../support/world/go.ts';

const OASDIFF = 'github.com/oasdiff/oasdiff@v1.37.0';
/** What the last release answered: `npm run record:openapi` writes it. */
export const RELEASED = join(CHECKOUT, 'test/openapi/released.json');
/** Prose is no promise to a program. */
const PROSE = new Set(['description', 'summary', 'example', 'examples']);
/** docs/API.md says that answers gain codes, states and events. */
const GROWTH = /^response-.*enum-value-added$/;

export interface Schema {
  properties: Record<string, Schema>;
  required: string[];
  enum: string[];
}

/** What tests change in it. */
export interface Document {
  readonly info: { readonly version: string };
  readonly paths: Record<string, Record<string, { parameters: { name: string; schema: Schema }[] }>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

/** The document of the API, of the code as it stands, without prose. */
export function currentDocument(): Document {
  const folder = mkdtempSync(join(tmpdir(), 'simway-openapi-'));
  try {
    const file = join(folder, 'api.json');
    execFileSync(process.execPath, ['src/main.ts', 'openapi', 'api', file], { cwd: CHECKOUT });
    return withoutProse(JSON.parse(readFileSync(file, 'utf8'))) as Document;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function withoutProse(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutProse(one));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => isNames || !PROSE.has(name));
  return Object.fromEntries(kept.map(([name, one]) => [name, withoutProse(one, name === 'properties')]));
}

interface Found {
  readonly id: string;
  readonly text: string;
  readonly operation?: string;
  readonly path?: string;
}

/** A line for each, such as `GET /api/wallet/balance: removed the required property …`. */
export async function breakingChanges(before: Document, after: Document): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'simway-openapi-'));
  try {
    writeFileSync(join(folder, 'before.json'), JSON.stringify(before));
    writeFileSync(join(folder, 'after.json'), JSON.stringify(after));
    const answer = await go(
      ['run', OASDIFF, 'breaking', 'before.json', 'after.json', '--format', 'json'],
      folder,
    );
    const found = JSON.parse(answer) as readonly Found[];
    const breaks = found.filter(({ id }) => !GROWTH.test(id));
    return breaks.map(({ operation = '', path = '', text }) =>
      `${operation} ${path}: ${text.replaceAll('`', '')}`.trim(),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of these lines, those that stand in no decision. */
export function undecided(lines: readonly string[]): string[] {
  const decisions = globSync('docs/decisions/*.md', { cwd: CHECKOUT });
  const texts = decisions.map((file) => readFileSync(join(CHECKOUT, file), 'utf8')).join('\n');
  return lines.filter((line) => !texts.includes(line));
}
