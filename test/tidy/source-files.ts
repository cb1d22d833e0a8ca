// The checkout as the tidy tests see it: its text files, and what each source file imports.
// Walks the rooms and the files at the root, never what is built, installed or kept by a run.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';

export const ROOT = join(import.meta.dirname, '..', '..');

const ROOMS = ['.ci', 'activities', 'bench', 'docs', 'migrations', 'ops', 'src', 'test', 'workflows'];
const CODE_ROOMS = ['activities', 'bench', 'migrations', 'src', 'test', 'workflows'];
/** At the root only what is known to be committed counts: editors and people leave files of their own there. */
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
];

/** Every file that belongs to the project, from its root, sorted. */
export function projectFiles(): string[] {
  const patterns = [...ROOT_FILES, ...ROOMS.map((room) => `${room}/**/*`)];
  return globSync(patterns, { cwd: ROOT, withFileTypes: true })
    .filter((entry) => entry.isFile())
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

const parsed = new Map<string, ts.SourceFile>();

export function parse(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known) return known;
  const made = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true);
  parsed.set(file, made);
  return made;
}

export interface Import {
  readonly file: string;
  readonly line: number;
  /** A file of ours, from the root; or a package; or `node:…`. */
  readonly target: string;
  readonly isOurs: boolean;
  readonly typesOnly: boolean;
}

/** Everything a file imports: statements, re-exports, `import()` in code and in types, and `require` in all its forms. */
export function importsOf(file: string): Import[] {
  const source = parse(file);
  const found: Import[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push({ file, line: line + 1, typesOnly: isTypesOnly(node), ...resolve(file, specifier.text) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function specifierOf(node: ts.Node): ts.StringLiteralLike | undefined {
  let specifier: ts.Node | undefined;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) specifier = node.moduleSpecifier;
  else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    specifier = node.argument.literal;
  else if (ts.isCallExpression(node) && loadsModules(node.expression)) specifier = node.arguments[0];
  return specifier && ts.isStringLiteralLike(specifier) ? specifier : undefined;
}

function loadsModules(callee: ts.Expression): boolean {
  return callee.kind === ts.SyntaxKind.ImportKeyword || /^require\b|\bcreateRequire\b/.test(callee.getText());
}

function isTypesOnly(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  if (!ts.isImportDeclaration(node) || !node.importClause) return false;
  const { phaseModifier, name, namedBindings } = node.importClause;
  if (phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  if (name || !namedBindings || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly);
}

function resolve(file: string, specifier: string): { target: string; isOurs: boolean } {
  if (specifier.startsWith('.')) return { target: posix.join(dirname(file), specifier), isOurs: true };
  if (specifier.startsWith('node:')) return { target: specifier, isOurs: false };
  const parts = specifier.split('/');
  return { target: parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/'), isOurs: false };
}
