/**
 * The workflows as one script, which is what a worker loads. Made when a worker starts, which takes webpack and seconds of a processor; or
 * beforehand, as an image is built, and then refused by every checkout whose workflows are others.
 */
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import { createHash } from 'node:crypto';
import { glob, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));
/** Whatever a workflow may import of ours. */
const SOURCES = ['workflows/**/*.ts', 'src/**/*.ts'];

/** Bundles the workflows once for all workers of a process; of another file than ours for tests of changed ones. */
export function bundleWorkflows(
  workflowsPath = `${CHECKOUT}workflows/index.ts`,
): Promise<{ readonly code: string }> {
  return bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [
      `${CHECKOUT}workflows/uncancellable.ts`,
      `${CHECKOUT}workflows/context-propagation.ts`,
    ],
    logger: { trace: noop, debug: noop, info: noop, warn: noop, error: noop, log: noop },
  });
}

const noop = (): void => undefined;

/** Bundles into a file, for `readBundle`. */
export async function writeBundle(file: string): Promise<void> {
  const { code } = await bundleWorkflows();
  await writeFile(file, `// ${await fingerprint()}\n${code}`);
}

/** What `writeBundle` wrote; throws where it was made of other workflows than those here. */
export async function readBundle(file: string): Promise<WorkflowBundleOption> {
  const text = await readFile(file, 'utf8');
  const end = text.indexOf('\n');
  if (text.slice(0, end) !== `// ${await fingerprint()}`)
    throw new Error(`${file} was bundled from other workflows than those here: bundle them again`);
  return { code: text.slice(end + 1) };
}

/** Of everything that goes into a bundle. */
async function fingerprint(): Promise<string> {
  const files: string[] = [];
  for await (const file of glob(SOURCES, { cwd: CHECKOUT })) files.push(file);
  const hash = createHash('sha256');
  for (const file of [...files, 'package-lock.json'].toSorted()) {
    hash.update(`${file}\0`);
    hash.update(await readFile(CHECKOUT + file));
  }
  return hash.digest('hex');
}
