/**
 * What will happen by itself, and the domains of Apple Pay, in SQLite. Guarantee: no business rule here.
 */
import { insertStatement, type Database } from '../../support/database.ts';
import type { AgendaKind, AgendaRow } from './rows.ts';

const COLUMNS = ['atMs', 'kind', 'target', 'data'] as const;

export type AgendaStore = ReturnType<typeof createAgendaStore>;
export type DomainStore = ReturnType<typeof createDomainStore>;

/** The statements over the agenda. */
export function createAgendaStore(database: Database) {
  const { sql } = database;
  const insert = insertStatement(database, 'agenda', COLUMNS);
  const firstDue = sql.prepare('SELECT * FROM agenda WHERE atMs <= ? ORDER BY atMs, id LIMIT 1');
  const next = sql.prepare('SELECT min(atMs) AS atMs FROM agenda');
  const drop = sql.prepare('DELETE FROM agenda WHERE id = ?');
  return {
    insert: (kind: AgendaKind, target: number, atMs: number, data: object) =>
      void insert.run(atMs, kind, target, JSON.stringify(data)),
    firstDue: (nowMs: number) => firstDue.get(nowMs) as AgendaRow | undefined,
    nextAtMs: () => (next.get() as { atMs: number | null }).atMs,
    drop: (id: number) => void drop.run(id),
  };
}

/** The statements over registered domains. */
export function createDomainStore({ sql }: Database) {
  const all = sql.prepare('SELECT name FROM domains ORDER BY name');
  const add = sql.prepare('INSERT INTO domains (name) VALUES (?) ON CONFLICT DO NOTHING');
  const remove = sql.prepare('DELETE FROM domains WHERE name = ?');
  return {
    all: () => all.all().map((row) => String(row['name'])),
    add: (name: string) => void add.run(name),
    remove: (name: string) => remove.run(name).changes > 0,
  };
}
