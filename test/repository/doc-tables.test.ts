import { expect, it } from 'vitest';
import { DOCUMENTS, TABLES, tablesIn, written } from './doc-tables.ts';
import { textOf } from './source-files.ts';

it.each(DOCUMENTS)('%s has the tables that `npm run record:docs` writes', async (file) => {
  expect(textOf(file)).toBe(await written(file));
});

it('every table is in one document', () => {
  expect(DOCUMENTS.flatMap(tablesIn).toSorted()).toEqual(Object.keys(TABLES).toSorted());
});
