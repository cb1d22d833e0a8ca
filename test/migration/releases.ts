// What each release needs of the database: the migrations it came with, and the statements it sends, one file
// a release under releases/. Evidence: recorded (record.ts), never written by hand.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SentStatement } from './statement-recorder.ts';

export const RELEASES = join(import.meta.dirname, 'releases');

export interface ReleaseRecord {
  readonly accounts: readonly string[];
  readonly world: readonly string[];
  readonly statements: readonly SentStatement[];
}

/** By the release's number. */
export function readReleases(): Map<string, ReleaseRecord> {
  const files = readdirSync(RELEASES).filter((file) => file.endsWith('.json'));
  return new Map(
    files
      .toSorted()
      .map((file) => [
        file.replace(/\.json$/, ''),
        JSON.parse(readFileSync(join(RELEASES, file), 'utf8')) as ReleaseRecord,
      ]),
  );
}

/** Only statements about rows have a plan. */
const HAS_A_PLAN = /^\s*(select|insert|update|delete|with|values)\b/i;
/** Longer lists of values add nothing to the one that is kept. */
const MAX_CHARACTERS = 20_000;

/** One statement for each shape, the shortest, in order: lists of parameters come in every length. */
export function distinct(statements: readonly SentStatement[]): SentStatement[] {
  const kept = new Map<string, SentStatement>();
  for (const statement of statements) {
    const { role, text } = statement;
    if (!HAS_A_PLAN.test(text) || text.length > MAX_CHARACTERS) continue;
    const shape = `${role} ${text
      .replaceAll(/\$\d+/g, '$')
      .replaceAll(/\$(, \$)+/g, '$')
      .replaceAll(/\(\$\)(, \(\$\))+/g, '($)')}`;
    const before = kept.get(shape);
    if (!before || text.length < before.text.length) kept.set(shape, statement);
  }
  return [...kept.values()].toSorted((a, b) => (`${a.role} ${a.text}` < `${b.role} ${b.text}` ? -1 : 1));
}
