// The order of the browser tests: what takes long in a small file begins first, then the largest files, so
// that all workers end together.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** One test visits many pages, or waits for many purchases. */
const isLong = ({ moduleId }: TestSpecification): boolean => /-(pages|repairs)\.test/.test(moduleId);

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files);
    return bySize.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)));
  }
}
