// What lint cannot check: file names, and texts that must not be committed. Each pattern is also tested on a
// line that it must find.
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFiles, sourceFiles, textOf } from './source-files.ts';

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

describe('file names', () => {
  it('are kebab-case', () => {
    const name = /^\.?[a-z0-9]+([.-][a-z0-9]+)*\.(ts|js)$/;
    const wrong = code.filter((file) => !name.test(basename(file)));
    expect(wrong).toEqual([]);
    expect(name.test('purchaseEngine.ts')).toBe(false);
    expect(name.test('Purchase.ts')).toBe(false);
  });
});

describe('these are not committed', () => {
  it('reads of the environment outside one file of each program', () => {
    const pattern = /\bprocess\.env\b|\bimport\.meta\.env\b/;
    // The simulators and the shop are programs of their own, which import nothing of ours.
    const readers = [
      'src/app/config/config.ts',
      'packages/simulators/kit/simulator.ts',
      'examples/shop/shop.ts',
    ];
    const others = everywhere.filter(
      (file) => !readers.includes(file) && !/^test\/(support|repository)\//.test(file),
    );
    expect(linesWith(pattern, others)).toEqual([]);
    for (const reader of readers) expect(linesWith(pattern, [reader])).not.toEqual([]);
  });

  it('the clock and random numbers in rules', () => {
    const pattern =
      /\b(Date\.now|Math\.random|performance\.now|new Date\(\)|crypto\.|setTimeout|setInterval)/;
    expect(
      linesWith(
        pattern,
        sourceFiles(['src']).filter((file) => /^src\/(domain\/|\w+\/[\w-]*rules\.ts$)/.test(file)),
      ),
    ).toEqual([]);
    expect(pattern.test('const now = Date.now();')).toBe(true);
    expect(pattern.test('const now = new Date();')).toBe(true);
  });

  it('skipped tests, and tests that exclude others', () => {
    const pattern =
      /\b(it|test|describe|suite|bench)(\.\w+)*\.(only|skip|skipIf|runIf|todo|fails)\b|\b[xf](it|test|describe)\(/;
    expect(
      linesWith(
        pattern,
        tests.filter((file) => !file.startsWith('test/repository/')),
      ),
    ).toEqual([]);
    expect(pattern.test("it.concurrent.only('x', () => {})")).toBe(true);
    expect(pattern.test("xit('x', () => {})")).toBe(true);
  });

  it('marks of unfinished work', () => {
    // Joined here so that this file does not find itself.
    const pattern = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'HA' + 'CK', 'X' + 'XX'].join('|')})\\b`);
    expect(linesWith(pattern, projectFiles().filter(isOurText))).toEqual([]);
    expect(pattern.test(`// ${'TO' + 'DO'}: later`)).toBe(true);
  });

  it('addresses of registries and paths of a developer’s machine', () => {
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

/** Texts that the project wrote: the lock file and the licence are not. */
function isOurText(file: string): boolean {
  return isText(file) && file !== 'package-lock.json' && file !== 'LICENSE';
}
