// Enforces the import law (law.ts) on every file, keeps its table in docs/ARCHITECTURE.md equal to it, and allows no cycle.
import { describe, expect, it } from 'vitest';
import { LAW, OBSERVERS, type RoomLaw } from './law.ts';
import { importsOf, pathExists, sourceFiles, textOf, type Import } from './source-files.ts';

/** The room whose path matches longest, so that a file can have a law of its own inside a room. */
function roomOf(file: string): RoomLaw | undefined {
  const matches = LAW.flatMap((law) =>
    law.paths
      .filter((path) => (path.endsWith('/') ? file.startsWith(path) : file === path))
      .map((path) => ({ law, length: path.length })),
  );
  return matches.toSorted((a, b) => b.length - a.length)[0]?.law;
}

const wordsOf = (law: RoomLaw): string[] => [...law.may, ...(law.extended ?? []).flatMap(({ may }) => may)];

function allows(words: readonly string[], target: string, typesOnly: boolean): boolean {
  return words.some(
    (word) =>
      word === '*' ||
      word === target ||
      (typesOnly && word === `${target} (types)`) ||
      (word.endsWith('/*') && target.startsWith(word.slice(0, -1))) ||
      (word.endsWith(':*') && target.startsWith(word.slice(0, -1))),
  );
}

/** Why an import breaks the law, or undefined. */
function verdict({ file, line, target, isOurs, typesOnly }: Import): string | undefined {
  const where = `${file}:${line}`;
  const from = roomOf(file);
  if (!from) return `${file} belongs to no room: give it one in test/tidy/law.ts`;
  if (!isOurs || target === 'package.json')
    return allows(wordsOf(from), target, typesOnly)
      ? undefined
      : `${where} ${from.room} may not import ${target}`;
  const to = roomOf(target);
  if (!to) return `${where} ${target} belongs to no room`;
  if (to.room === from.room || OBSERVERS.includes(from.room)) return undefined;
  const kind = typesOnly ? 'types of' : 'values of';
  if (!allows(wordsOf(from), to.room, typesOnly))
    return `${where} ${from.room} may not import ${kind} ${to.room}`;
  if (to.importedBy && !to.importedBy.includes(from.room))
    return `${where} ${to.room} is imported by ${to.importedBy.join(', ') || 'nobody'} only`;
  return undefined;
}

const imports = sourceFiles().flatMap(importsOf);

describe('the import law', () => {
  it('sees the imports it is about', () => {
    const seen = (file: string, target: string): boolean =>
      imports.some((one) => one.file === file && one.target === target);
    expect(seen('src/platform/http/app.ts', 'koa')).toBe(true);
    expect(seen('src/main.ts', 'src/cli/processes/api.ts')).toBe(true);
    expect(seen('src/platform/database/migrate-database.ts', 'migrations/migrate.ts')).toBe(true);
    expect(seen('src/sandbox/supplier/catalogue/countries.ts', 'mcc-mnc-list')).toBe(true);
  });

  it('holds for every import', () => {
    expect(imports.map(verdict).filter((problem) => problem !== undefined)).toEqual([]);
  });

  it.each([
    ['src/domain/money.ts', 'node:crypto', false],
    ['src/domain/money.ts', 'zod', false],
    ['src/purchases/buy.ts', 'src/platform/redis/pacer.ts', true],
    ['src/purchases/buy.ts', 'src/platform/config/config.ts', true],
    ['src/platform/http/app.ts', 'src/ledger/store/ledger.ts', true],
    ['src/platform/redis/pacer.ts', 'src/vendors/exchange-rates/fixed.ts', true],
    ['src/sandbox/supplier/wire.ts', 'src/vendors/esim-access/wire.ts', true],
    ['workflows/purchases/purchase.ts', 'activities/purchases/orders.ts', true],
    ['src/ledger/store/ledger.ts', 'migrations/migrate.ts', true],
    ['src/purchases/buy.ts', 'src/platform/composition/compose.ts', true],
    ['src/main.ts', 'test/support/stack.ts', true],
  ])('refuses %s importing %s', (file, target, isOurs) => {
    expect(verdict({ file, line: 1, target, isOurs, typesOnly: false })).toBeDefined();
  });

  it('names only rooms and files that are there', () => {
    const missing = LAW.flatMap(({ paths }) => paths).filter((path) => !pathExists(path));
    expect(missing).toEqual([]);
    const rooms = new Set(LAW.map(({ room }) => room));
    const unknown = LAW.flatMap((law) => [...wordsOf(law), ...(law.importedBy ?? [])])
      .map((word) => word.replace(' (types)', ''))
      .filter((word) => word.startsWith('adapters/') || word.startsWith('workflows') || word === 'store')
      .filter((word) => !rooms.has(word));
    expect(unknown).toEqual([]);
  });

  it('stands in docs/ARCHITECTURE.md, row by row', () => {
    const rows = tableRows(textOf('docs/ARCHITECTURE.md'));
    const missing = LAW.map((law) => singleSpaced(lawRow(law))).filter((row) => !rows.includes(row));
    expect(missing).toEqual([]);
  });
});

describe('cycles', () => {
  it('are not there between files, types included', () => {
    const edges = new Map<string, Set<string>>();
    for (const { file, target, isOurs } of imports) if (isOurs) connect(edges, file, target);
    expect(findCycle(edges)).toBeUndefined();
  });

  it('are not there between rooms', () => {
    const edges = new Map<string, Set<string>>();
    for (const { file, target, isOurs } of imports) {
      const [from, to] = [roomOf(file)?.room, isOurs ? roomOf(target)?.room : undefined];
      if (from && to && from !== to && !OBSERVERS.includes(from)) connect(edges, from, to);
    }
    expect(findCycle(edges)).toBeUndefined();
  });

  it('would be found', () => {
    const edges = new Map([
      ['a', new Set(['b'])],
      ['b', new Set(['c'])],
      ['c', new Set(['a'])],
    ]);
    expect(findCycle(edges)).toEqual(['a', 'b', 'c', 'a']);
  });
});

/** How a room stands in the table: room, what it may import, who imports it where that is limited, why it goes further. */
function lawRow(law: RoomLaw): string {
  const extended = (law.extended ?? []).map(({ may, why }) => `${may.map(code).join(', ')}: ${why}`);
  const reasons = [...(law.why === undefined ? [] : [law.why]), ...extended].join('; ');
  const importedBy = law.importedBy ? law.importedBy.map(code).join(', ') || 'nobody' : '';
  return `| ${code(law.room)} | ${law.may.map(code).join(', ') || 'nothing'} | ${importedBy} | ${reasons} |`;
}

function code(word: string): string {
  return word === '*' ? 'anything' : `\`${word}\``;
}

function tableRows(markdown: string): string[] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(singleSpaced);
}

function singleSpaced(line: string): string {
  return line.replaceAll(/\s+/g, ' ').trim();
}

function connect(edges: Map<string, Set<string>>, from: string, to: string): void {
  const known = edges.get(from);
  if (known) known.add(to);
  else edges.set(from, new Set([to]));
}

/** The nodes of one cycle, first and last the same; undefined without one. */
function findCycle(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>();
  const walk = (node: string, path: readonly string[]): string[] | undefined => {
    const at = path.indexOf(node);
    if (at >= 0) return [...path.slice(at), node];
    if (done.has(node)) return undefined;
    for (const next of edges.get(node) ?? []) {
      const cycle = walk(next, [...path, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of edges.keys()) {
    const cycle = walk(node, []);
    if (cycle) return cycle;
  }
  return undefined;
}
