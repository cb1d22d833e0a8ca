// Builds the site into dist/site: its pages as HTML and as Markdown, its files, and each of them compressed
// in two formats.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'vitepress';
import { compressFiles } from '../compress-files.ts';
import { BASE, llmsText, readSite, ROOT } from './pages.ts';

const DIST = join(import.meta.dirname, 'dist');
const BUILT = join(DIST, 'site');

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const { pages, copies } = readSite();
rmSync(DIST, { recursive: true, force: true });
for (const { name, markdown, inNavigation, summary } of pages) {
  const front = { description: summary, ...(inNavigation ? {} : { search: false }) };
  write(join(DIST, 'pages', `${name}.md`), `---\n${JSON.stringify(front)}\n---\n\n${markdown}`);
}
for (const [file, copy] of copies) cpSync(join(ROOT, file), join(DIST, 'pages/public', copy));
await build(import.meta.dirname);
for (const { name, markdown } of pages) write(join(BUILT, `${name}.md`), markdown);
write(join(BUILT, 'llms.txt'), llmsText(pages));
compressFiles(BUILT);
process.stdout.write(`${pages.length} pages under ${BASE}\n`);
