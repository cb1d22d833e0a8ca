/** For builds: the two forms that browsers ask for, so that the server compresses nothing while it runs. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** The two above it take ten times as long and save a twentieth: for many pages that is too long. */
const QUICK = 9;
const SMALL_BYTES = 1_024;
/** Compressed as they are. */
const PICTURES = /\.png$/;

/** Writes `<name>.br` and `<name>.gz` beside each file of the folder that is worth it. */
export function compressFiles(folder: string, quality: number = QUICK): void {
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: quality } };
  for (const entry of globSync('**/*', { cwd: folder, withFileTypes: true })) {
    if (!entry.isFile() || PICTURES.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    if (bytes.length < SMALL_BYTES) continue;
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, brotli));
    writeFileSync(`${path}.gz`, gzipSync(bytes));
  }
}
