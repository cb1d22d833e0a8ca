// The habits of the code that a machine can check: sizes, names, headers, and what must not be left behind.
// Each rule has a counterpart that shows it biting, so that a rule which matches nothing cannot pass for one that is kept.
import { basename } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parse, projectFiles, sourceFiles, textOf } from './source-files.ts';

const MAX_FILE_LINES = 400;
/** A test is a list of cases, which may be a little longer. */
const MAX_TEST_LINES = 450;
const MAX_FUNCTION_LINES = 70;

const SHIPPED_ROOMS = ['src', 'workflows', 'activities', 'migrations'];
const shipped = sourceFiles(SHIPPED_ROOMS);
const everywhere = sourceFiles();
const code = projectFiles().filter((file) => /\.(ts|js)$/.test(file));
const tests = everywhere.filter((file) => file.startsWith('test/'));

/** `file:line text` of every line that matches. */
function linesWith(pattern: RegExp, files: readonly string[]): string[] {
  return files.flatMap((file) =>
    textOf(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
  );
}

describe('sizes', () => {
  it(`keep files within ${MAX_FILE_LINES} lines, tests within ${MAX_TEST_LINES}`, () => {
    const long = code
      .map((file) => ({ file, lines: textOf(file).trimEnd().split('\n').length }))
      .filter(({ file, lines }) => lines > (file.startsWith('test/') ? MAX_TEST_LINES : MAX_FILE_LINES))
      .map(({ file, lines }) => `${file}: ${lines}`);
    expect(long).toEqual([]);
  });

  it(`keep functions within ${MAX_FUNCTION_LINES} lines, blank lines and comments not counted`, () => {
    const long = shipped.flatMap((file) =>
      functionSizes(parse(file))
        .filter(({ lines }) => lines > MAX_FUNCTION_LINES)
        .map(({ line, lines }) => `${file}:${line}: ${lines}`),
    );
    expect(long).toEqual([]);
  });

  it('counts lines of code only', () => {
    const source = ts.createSourceFile(
      'sample.ts',
      'function sample(): void {\n  // a comment\n\n  /* and\n     another */\n  call();\n}\n',
      ts.ScriptTarget.Latest,
      true,
    );
    expect(functionSizes(source)).toEqual([{ line: 1, lines: 3 }]);
  });
});

describe('names and headers', () => {
  it('are kebab-case', () => {
    const name = /^[a-z0-9]+([.-][a-z0-9]+)*\.(ts|js)$/;
    const wrong = code.filter((file) => !name.test(basename(file)));
    expect(wrong).toEqual([]);
    expect(name.test('purchaseEngine.ts')).toBe(false);
    expect(name.test('Purchase.ts')).toBe(false);
  });

  it('open every file of the service, the tests and the benchmarks with a comment', () => {
    const bare = everywhere.filter((file) => !/^(\/\*\*|\/\/ \S)/.test(textOf(file)));
    expect(bare).toEqual([]);
  });
});

describe('what must not be there', () => {
  it('reads of the environment outside src/platform/config/config.ts', () => {
    const pattern = /\bprocess\.env\b|\bimport\.meta\.env\b/;
    const others = everywhere.filter(
      (file) => file !== 'src/platform/config/config.ts' && !/^test\/(support|tidy)\//.test(file),
    );
    expect(linesWith(pattern, others)).toEqual([]);
    expect(linesWith(pattern, ['src/platform/config/config.ts'])).not.toEqual([]);
  });

  it('time and chance in the domain', () => {
    const pattern =
      /\b(Date\.now|Math\.random|performance\.now|new Date\(\)|crypto\.|setTimeout|setInterval)/;
    expect(
      linesWith(
        pattern,
        sourceFiles(['src']).filter((file) => file.startsWith('src/domain/')),
      ),
    ).toEqual([]);
    expect(pattern.test('const now = Date.now();')).toBe(true);
    expect(pattern.test('const now = new Date();')).toBe(true);
  });

  it('tests that are left out, or that leave others out', () => {
    const pattern =
      /\b(it|test|describe|suite|bench)(\.\w+)*\.(only|skip|skipIf|runIf|todo|fails)\b|\b[xf](it|test|describe)\(/;
    expect(
      linesWith(
        pattern,
        tests.filter((file) => !file.startsWith('test/tidy/')),
      ),
    ).toEqual([]);
    expect(pattern.test("it.concurrent.only('x', () => {})")).toBe(true);
    expect(pattern.test("xit('x', () => {})")).toBe(true);
  });

  it('marks of unfinished work', () => {
    // Put together here so that this file does not find itself.
    const pattern = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'HA' + 'CK', 'X' + 'XX'].join('|')})\\b`);
    expect(linesWith(pattern, projectFiles().filter(isOurText))).toEqual([]);
    expect(pattern.test(`// ${'TO' + 'DO'}: later`)).toBe(true);
  });

  it('addresses of registries and folders of somebody’s machine', () => {
    const folders = ['work', 'root', 'home'].map((name) => `/${name}/`);
    const pattern = new RegExp(
      `(^|[\\s'"\`(=])(${folders.join('|')})[\\w.-]|\\bregistry\\.[a-z0-9-]+\\.|\\bproxy\\.golang\\.`,
    );
    expect(linesWith(pattern, projectFiles().filter(isText))).toEqual([]);
    expect(pattern.test(['see ', 'work', 'main'].join('/'))).toBe(true);
    expect(pattern.test(['https://registry', 'example', 'org/koa'].join('.'))).toBe(true);
  });

  it('secrets: keys in full, private keys, passwords in addresses', () => {
    const pattern = new RegExp(
      `\\b[a-z]+_(live|test)_[0-9A-Za-z]{38}\\b|\\bsk_(live|test)_\\w{16}|\\bwhsec_[\\w+/=]{24}|-----BEGIN [A-Z ]*PRIVATE[ ]KEY`,
    );
    expect(linesWith(pattern, projectFiles().filter(isText))).toEqual([]);
    expect(pattern.test(`simway_test_${'a1'.repeat(19)}`)).toBe(true);
  });
});

/** Recorded histories and images are not read line by line. */
function isText(file: string): boolean {
  return /\.(ts|js|json|md|yml|yaml|sh)$|^\.|^LICENSE$|^\.ci\//.test(file) && !file.includes('/histories/');
}

/** Texts that people of this project write: the lock file and the licence are not. */
function isOurText(file: string): boolean {
  return isText(file) && file !== 'package-lock.json' && file !== 'LICENSE';
}

/** Line and number of code lines of every function with a body. */
function functionSizes(source: ts.SourceFile): { line: number; lines: number }[] {
  const withCode = linesOfCode(source);
  const sizes: { line: number; lines: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = source.getLineAndCharacterOfPosition(node.getStart()).line;
      const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
      let lines = 0;
      for (let line = first; line <= last; line += 1) if (withCode.has(line)) lines += 1;
      sizes.push({ line: first + 1, lines });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return sizes;
}

/** The lines on which a token begins, ends or goes on: not those of blank space and comments. */
function linesOfCode(source: ts.SourceFile): Set<number> {
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(source);
    if (children.length > 0) {
      children.forEach(visit);
      return;
    }
    if (node.getWidth(source) === 0) return;
    const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
    const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
    for (let line = first; line <= last; line += 1) lines.add(line);
  };
  visit(source);
  return lines;
}
