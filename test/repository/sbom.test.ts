// `npm run sbom`: the bill of materials names every package that the lock file pins, by its hash, and
// separates production from development.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { CHECKOUT } from '../support/world/checkout.ts';
import { textOf } from './source-files.ts';

interface Component {
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly properties: readonly { readonly name: string; readonly value: string }[];
}

interface Bill {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly components: readonly Component[];
}

const manifest = JSON.parse(textOf('package.json')) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
};
const lockFile = JSON.parse(textOf('package-lock.json')) as {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly name?: string;
        readonly version: string;
        readonly integrity: string;
        readonly link?: boolean;
      }
    >
  >;
};

/** As npm writes it in the lock file, `sha512-…` in base64. */
const sha512Of = ({ hashes = [] }: Component): string | undefined => {
  const hash = hashes.find(({ alg }) => alg === 'SHA-512');
  return hash && `sha512-${Buffer.from(hash.content, 'hex').toString('base64')}`;
};

it('lists every package with the hash of the lock file, and marks those of development', async () => {
  const options = { cwd: CHECKOUT, maxBuffer: 64 * 2 ** 20 };
  // The script itself, without `npm run`, which would start a second npm.
  const [npm = '', ...args] = manifest.scripts['sbom']?.split(' ') ?? [];
  const { stdout } = await promisify(execFile)(npm, args, options);
  const bill = JSON.parse(stdout) as Bill;
  expect([bill.bomFormat, bill.specVersion]).toEqual(['CycloneDX', expect.stringMatching(/^1\.\d$/)]);
  const listed = new Map(
    bill.components.map((component) => [`${component.name}@${component.version}`, component]),
  );
  const pinned = Object.entries(lockFile.packages).filter(
    ([path, { link }]) => path.includes('node_modules/') && link !== true,
  );
  const unlike = pinned.filter(
    ([path, { name = path.replace(/^.*node_modules\//, ''), version, integrity }]) => {
      const component = listed.get(`${name}@${version}`);
      return component === undefined || sha512Of(component) !== integrity;
    },
  );
  expect(unlike.map(([path]) => path)).toEqual([]);
  const ofDevelopment = bill.components.filter(({ properties }) =>
    properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true'),
  );
  expect(ofDevelopment.map(({ name }) => name)).toEqual(expect.arrayContaining(['oxlint', 'typescript']));
  expect(ofDevelopment.filter(({ name, version }) => manifest.dependencies[name] === version)).toEqual([]);
});
