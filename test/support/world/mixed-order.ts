// The order of test files in a run. Files with services that mostly wait for timers and servers are spread
// evenly among those that mostly compute, so that the cores always have work. The plain files come last,
// together: vitest ends a process when the next file belongs to another project, and the next process must
// load the Temporal SDK again.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Some of these are long: none of them begins at the very end. */
const WAITING = [/\/system\/|\.e2e\.|\.promise\./, /\.workflow\./];

function levelOf({ moduleId }: TestSpecification): number {
  const level = WAITING.findIndex((pattern) => pattern.test(moduleId));
  return level < 0 ? WAITING.length : level;
}

const isPlain = ({ project }: TestSpecification): boolean => project.name === 'plain';

export default class MixedOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ordered = files.toSorted((a, b) => levelOf(a) - levelOf(b));
    const { plain = [], services = [] } = Object.groupBy(ordered, (file) =>
      isPlain(file) ? 'plain' : 'services',
    );
    const waiting = services.filter((file) => levelOf(file) < WAITING.length);
    const computing = services.filter((file) => levelOf(file) === WAITING.length);
    const until = (nth: number): number => Math.trunc((computing.length * nth) / Math.max(waiting.length, 1));
    const mixed = waiting.flatMap((file, nth) => [file, ...computing.slice(until(nth), until(nth + 1))]);
    return Promise.resolve([...mixed, ...(waiting.length === 0 ? computing : []), ...plain]);
  }
}
