import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { OperatorMistake } from './platform/command.ts';
import { requireNode } from './app/processes/node-version.ts';

// Stripping types takes longer than most commands. Where the cache cannot be written, everything works
// without it.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled'));

async function main(words: readonly string[]): Promise<number> {
  requireNode(process.versions.node);
  const { runCli } = await import('./cli/program.ts');
  return runCli(words);
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    const isMistake = error instanceof OperatorMistake || !(error instanceof Error);
    process.stderr.write(
      `${isMistake ? String(error).replace(/^\w+: /, '') : (error.stack ?? error.message)}\n`,
    );
    process.exit(1);
  },
);
