// package.json and its lock file: exact versions, nothing unused, nothing used without being named, and the two say the same.
import { describe, expect, it } from 'vitest';
import { importsOf, projectFiles, sourceFiles, textOf } from './source-files.ts';

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version?: string;
        readonly optionalDependencies?: Readonly<Record<string, string>>;
        readonly resolved?: string;
        readonly integrity?: string;
        readonly link?: boolean;
        readonly hasInstallScript?: boolean;
      }
    >
  >;
}

const manifest = JSON.parse(textOf('package.json')) as Manifest;
const lockFile = JSON.parse(textOf('package-lock.json')) as LockFile;
const all = { ...manifest.dependencies, ...manifest.devDependencies };

/** Packages that no source file names, each with what it is there for. */
const USED_WITHOUT_IMPORT: Readonly<Record<string, string>> = {
  node: 'puts Node 24 into node_modules/.bin, so that npm scripts run on it whatever the machine has',
  prettier: 'npm run check, npm run format',
  'typescript-eslint': 'eslint.config.js',
  eslint: 'npm run check',
  '@stryker-mutator/core': 'npm run mutate',
  '@stryker-mutator/vitest-runner': 'stryker.config.js',
};

/** Packages that belong to another package and must be the copy that it uses, never one of ours beside it. */
const BORROWED: Readonly<Record<string, string>> = {
  protobufjs: 'resolved from @temporalio/proto, whose types only that copy can read',
};

/** Every package that a source file imports, or names as a text to find its files. */
const named = new Set([
  ...sourceFiles().flatMap((file) =>
    importsOf(file)
      .filter(({ isOurs }) => !isOurs)
      .map(({ target }) => target),
  ),
  ...sourceFiles().flatMap((file) =>
    Object.keys(all).filter((name) => new RegExp(`['"\`]${name}['"\`/]`).test(textOf(file))),
  ),
]);

describe('package.json', () => {
  it('pins every version exactly', () => {
    const loose = Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version));
    expect(loose).toEqual([]);
  });

  it('names every package that is imported', () => {
    const missing = [...named].filter(
      (name) => !name.startsWith('node:') && !name.startsWith('#') && !(name in all) && !(name in BORROWED),
    );
    expect(missing).toEqual([]);
  });

  it('names what the service itself imports as a dependency, not for development only', () => {
    const shipped = sourceFiles(['src', 'workflows', 'activities', 'migrations']).flatMap((file) =>
      importsOf(file).filter(({ isOurs, typesOnly }) => !isOurs && !typesOnly),
    );
    const wrong = shipped.filter(({ target }) => target in manifest.devDependencies);
    expect(wrong.map(({ file, target }) => `${file} ${target}`)).toEqual([]);
  });

  it('names nothing that is not used', () => {
    const unused = Object.keys(all).filter((name) => {
      if (name in USED_WITHOUT_IMPORT || named.has(name)) return false;
      const typesOf = /^@types\/(.+)$/.exec(name)?.[1];
      return typesOf === undefined || !(named.has(typesOf) || typesOf === 'node');
    });
    expect(unused).toEqual([]);
  });

  it('decides for every package with a script of its own, of any platform, whether npm ci runs it', () => {
    const withScripts = Object.entries(lockFile.packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(Object.keys(manifest.allowScripts).toSorted()).toEqual(
      Array.from(new Set(withScripts)).toSorted(),
    );
  });

  it('runs only files that are there', () => {
    const files = new Set(projectFiles());
    const missing = Object.entries(manifest.scripts).flatMap(([script, line]) =>
      Array.from(line.matchAll(/[\w./-]+\.(?:ts|js)\b/g), ([path]) => path)
        .filter((path) => !files.has(path))
        .map((path) => `${script}: ${path}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('package-lock.json', () => {
  it('holds the versions of package.json', () => {
    const different = Object.entries(all).filter(
      ([name, version]) => lockFile.packages[`node_modules/${name}`]?.version !== version,
    );
    expect(different).toEqual([]);
  });

  it('knows the packages of every platform, without which npm ci refuses', () => {
    const names = new Set(
      Object.keys(lockFile.packages).map((path) => path.replace(/^.*node_modules\//, '')),
    );
    const missing = Object.entries(lockFile.packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !names.has(name))
        .map((name) => `${path} ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('knows the content of every package and the address of none', () => {
    const entries = Object.entries(lockFile.packages).filter(([path]) => path !== '');
    expect(entries.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
    expect(entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  });
});
