// The text files of the checkout, without built and installed files and those of a run.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

const ROOMS = [
  '.agents',
  '.ci',
  'activities',
  'bench',
  'dashboard',
  'docs',
  'examples',
  'migrations',
  'ops',
  'packages',
  'src',
  'test',
  'workflows',
];
const CODE_ROOMS = ['activities', 'bench', 'migrations', 'packages', 'src', 'test', 'workflows'];
/** At the root only files known to be committed count: editors and people leave files of their own there. */
const ROOT_FILES = [
  '*.md',
  '*.ts',
  '*.js',
  '*.json',
  '*.yml',
  'Dockerfile',
  'LICENSE',
  '.dockerignore',
  '.env.example',
  '.editorconfig',
  '.gitattributes',
  '.gitignore',
  '.npmrc',
  '.nvmrc',
  '.prettierignore',
  '.prettierrc.json',
  '.dependency-cruiser.js',
];

const BUILT =
  /\/(node_modules|dashboard\/dist|packages\/client\/generated|packages\/docs-site\/dist|packages\/sdk\/(dist|src\/generated))(\/|$)/;

/** Every file that belongs to the project, from its root, sorted. */
export function projectFiles(): string[] {
  const patterns = [...ROOT_FILES, ...ROOMS.map((room) => `${room}/**/*`)];
  return globSync(patterns, { cwd: ROOT, withFileTypes: true })
    .filter((entry) => entry.isFile() && !BUILT.test(entry.parentPath))
    .map((entry) => posix.normalize(relativeToRoot(join(entry.parentPath, entry.name))))
    .toSorted();
}

/** The TypeScript files of these rooms, all code rooms by default. */
export function sourceFiles(rooms: readonly string[] = CODE_ROOMS): string[] {
  return projectFiles().filter((file) => file.endsWith('.ts') && rooms.includes(file.split('/', 1)[0] ?? ''));
}

export function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

export function pathExists(path: string): boolean {
  return existsSync(join(ROOT, path));
}

function relativeToRoot(path: string): string {
  return path.slice(ROOT.length + 1);
}
