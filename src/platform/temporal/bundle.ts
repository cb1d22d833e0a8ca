/**
 * The workflows as one script, which a worker loads. Built when a worker starts, which takes webpack some
 * seconds; or beforehand, with an image, and then refused by a checkout with other workflows.
 */
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import { createHash } from 'node:crypto';
import { glob, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));
/** All source files that a workflow may import. */
const SOURCES = ['workflows/**/*.ts', 'src/**/*.ts'];

/** Bundles the workflows once for all workers of a process; tests give another file. */
export function bundleWorkflows(
  workflowsPath = `${CHECKOUT}workflows/index.ts`,
): Promise<{ readonly code: string }> {
  return bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [`${CHECKOUT}workflows/interceptors.ts`],
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
  if (text.slice(0, end) !== `// ${await fingerprintOnce()}`)
    throw new Error(`${file} was bundled from other workflows than those here: bundle them again`);
  return { code: text.slice(end + 1) };
}

let fingerprinted: Promise<string> | undefined;

/** A process runs the code that it was started with, however many workers it starts. */
const fingerprintOnce = (): Promise<string> => (fingerprinted ??= fingerprint());

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
