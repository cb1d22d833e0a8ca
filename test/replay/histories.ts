// The recorded histories: one file per path and release, under histories/<version>/, in the JSON that all
// Temporal tools read. Guarantee: the files contain no name or path of a machine. Must not be edited by hand:
// a history is evidence.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HistoryJson } from '../support/world/history.ts';

const FOLDER = join(import.meta.dirname, 'histories');

export interface RecordedHistory {
  /** `<version>/<path>`, such as `1.0.0/base-success`. */
  readonly name: string;
  readonly history: HistoryJson;
}

/** All recorded histories of all releases. */
export async function readHistories(): Promise<RecordedHistory[]> {
  const files = await readdir(FOLDER, { recursive: true });
  const names = files.filter((file) => file.endsWith('.json')).toSorted();
  return Promise.all(
    names.map(async (file) => ({
      name: file.replace(/\.json$/, ''),
      history: JSON.parse(await readFile(join(FOLDER, file), 'utf8')) as HistoryJson,
    })),
  );
}

export async function writeHistory(version: string, path: string, history: HistoryJson): Promise<void> {
  const folder = join(FOLDER, version);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${path}.json`), `${JSON.stringify(scrub(history))}\n`);
}

/** Removes the process and machine that ran a task, and the file paths in stack traces. */
function scrub<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => scrub(item)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]: [string, unknown]) => {
    if (name === 'identity') return [name, 'recorded'];
    if (name === 'stackTrace') return [name, ''];
    if (name === 'taskQueue' && isSticky(inner)) return [name, { ...inner, name: 'recorded-sticky' }];
    return [name, scrub(inner)];
  });
  return Object.fromEntries(entries) as T;
}

function isSticky(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'TASK_QUEUE_KIND_STICKY'
  );
}
