// The list of planted faults (`npm run plant`) keeps up with the code.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FAULTS } from '../plant/faults.ts';
import { ROOT } from './source-files.ts';

it('each planted fault has a name of its own, fits the code, and its tests exist', () => {
  expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
  const misfits = FAULTS.filter(
    ({ file, find }) => readFileSync(join(ROOT, file), 'utf8').split(find).length !== 2,
  );
  expect(misfits.map(({ name }) => name)).toEqual([]);
  expect(FAULTS.filter(({ test }) => !existsSync(join(ROOT, test)))).toEqual([]);
});
