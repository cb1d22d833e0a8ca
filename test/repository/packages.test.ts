// package.json and its lock file: exact versions, equal in both. knip finds unused and unlisted packages.
import { describe, expect, it } from 'vitest';
import { projectFiles, textOf } from './source-files.ts';

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
const WORKSPACES = ['dashboard', 'packages/client', 'packages/docs-site', 'packages/sdk'];
const all = Object.assign(
  {},
  ...['.', ...WORKSPACES].flatMap((folder) => {
    const { dependencies, devDependencies } = JSON.parse(
      textOf(`${folder}/package.json`),
    ) as Partial<Manifest>;
    return [dependencies, devDependencies];
  }),
) as Record<string, string>;

describe('package.json', () => {
  it('pins every version exactly', () => {
    const loose = Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version));
    expect(loose).toEqual([]);
  });

  it('decides for every package with an install script, on any platform, whether npm ci runs it', () => {
    const withScripts = Object.entries(lockFile.packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(Object.keys(manifest.allowScripts).toSorted()).toEqual(
      Array.from(new Set(withScripts)).toSorted(),
    );
  });

  it('runs only files that exist', () => {
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
      ([name, version]) =>
        !['', ...WORKSPACES.map((folder) => `${folder}/`)].some((folder) => {
          const found = lockFile.packages[`${folder}node_modules/${name}`];
          return (found?.link ? lockFile.packages[found.resolved ?? ''] : found)?.version === version;
        }),
    );
    expect(different).toEqual([]);
  });

  it('lists the packages of every platform, as npm ci requires', () => {
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

  it('has the hash of every package and no addresses', () => {
    // A workspace is a folder of ours.
    const entries = Object.entries(lockFile.packages).filter(
      ([path, { link }]) => path.includes('node_modules/') && link !== true,
    );
    expect(entries.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
    expect(entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  });
});
