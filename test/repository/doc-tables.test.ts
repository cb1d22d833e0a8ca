import { expect, it } from 'vitest';
import { DOCUMENTED_OPERATIONS, examplesIn } from './doc-examples.ts';
import { DOCUMENTS, TABLES, tablesIn, written } from './doc-tables.ts';
import { textOf } from './source-files.ts';

it.each(DOCUMENTS)('%s has the tables and examples that `npm run record:docs` writes', async (file) => {
  expect(textOf(file)).toBe(await written(file));
});

it('every table is in one document', () => {
  expect(DOCUMENTS.flatMap(tablesIn).toSorted()).toEqual(Object.keys(TABLES).toSorted());
});

it('docs/API.md shows a success answer of every route', () => {
  const shown = examplesIn(textOf('docs/API.md')).filter(({ of }) => of.startsWith('2'));
  expect(DOCUMENTED_OPERATIONS.length).toBeGreaterThan(40);
  expect(new Set(shown.map(({ operation }) => operation))).toEqual(new Set(DOCUMENTED_OPERATIONS));
});
