// Loaded before a test run (`--import=…/statement-recorder.ts?folder=…`): writes down every statement that
// the service sends to Postgres under one of its roles, once each, a file for each process. Must not change
// what is sent.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

export interface SentStatement {
  readonly role: string;
  readonly text: string;
}

const folder = new URL(import.meta.url).searchParams.get('folder');
const seen = new Set<string>();

interface Asker {
  readonly connectionParameters?: { readonly options?: string };
}

function note(client: Asker, asked: unknown): void {
  const role = /-c role=(\w+)/.exec(client.connectionParameters?.options ?? '')?.[1];
  const text = typeof asked === 'string' ? asked : (asked as { text?: unknown } | undefined)?.text;
  if (role === undefined || typeof text !== 'string' || folder === null) return;
  const line = JSON.stringify({ role, text } satisfies SentStatement);
  if (seen.has(line)) return;
  seen.add(line);
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${line}\n`);
}

if (folder !== null) {
  const client = pg.Client.prototype as { query: (this: Asker, ...asked: unknown[]) => unknown };
  const { query } = client;
  client.query = function (...asked) {
    note(this, asked[0]);
    return query.apply(this, asked);
  };
}
