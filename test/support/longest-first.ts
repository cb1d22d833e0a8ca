// The order of test files in a run: those that mostly wait come first, so that none of them begins when everything else is done.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LEVELS = [/\/system\/|\.e2e\.|\.promise\./, /\.workflow\./, /\.(store|http|contract)\./];

function levelOf({ moduleId }: TestSpecification): number {
  const level = LEVELS.findIndex((pattern) => pattern.test(moduleId));
  return level < 0 ? LEVELS.length : level;
}

export default class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => levelOf(a) - levelOf(b)));
  }
}
