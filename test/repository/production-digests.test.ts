// ops/digests.sh, with a program of ours in Docker's place: it writes the digest of every image into .env.
import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHECKOUT } from '../support/world/checkout.ts';
import { fillIn, readCompose } from '../support/world/compose.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

const run = promisify(execFile);
const services = {
  ...readCompose('docker-compose.yml').services,
  ...readCompose('ops/compose.watching.yml').services,
};
const images = Object.values(services).flatMap(({ build, image }) =>
  build === undefined ? (image ?? []) : [],
);
const BASE = /^ARG NODE_IMAGE=(.+)$/m.exec(await readFile(join(CHECKOUT, 'Dockerfile'), 'utf8'))?.[1] ?? '';

/** Any text becomes a digest; an image that was not pulled has none. */
const DOCKER = `#!/bin/sh
case "$1 $2" in
  'compose -f') cat "$HERE/images"; env | grep '_DIGEST=.' >&2; exit 0 ;;
  'pull --quiet') [ "$3" != "$BROKEN" ] || exit 1; echo "$3" >>"$HERE/pulled" ;;
  'image inspect')
    grep -qxF "$5" "$HERE/pulled" || exit 1
    echo "mirror.example/other@sha256:$(echo other | sha256sum | cut -c1-64)"
    echo "\${5%%:*}@sha256:$(echo "$5" | sha256sum | cut -c1-64)" ;;
esac
`;

let folder: string;
beforeEach(async () => {
  folder = await makeTestFolder();
  const copied = [
    'docker-compose.yml',
    'Dockerfile',
    'ops/digests.sh',
    'ops/setting.sh',
    'ops/compose.watching.yml',
  ];
  for (const name of copied) await cp(join(CHECKOUT, name), join(folder, name));
  await writeFile(join(folder, 'docker'), DOCKER, { mode: 0o755 });
  await writeFile(join(folder, 'images'), [...new Set(images.map((image) => fillIn(image, {})))].join('\n'));
  await writeFile(join(folder, '.env'), 'SIMWAY_API_PORT=3000\nPOSTGRES_DIGEST=@sha256:old\n');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const script = (env: Record<string, string> = {}) =>
  run('sh', [join(folder, 'ops', 'digests.sh')], {
    env: {
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
      HERE: folder,
      POSTGRES_DIGEST: '@sha256:old',
      ...env,
    },
  });
const values = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await readFile(join(folder, '.env'), 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

describe('ops/digests.sh', () => {
  it('pins every image that is not built here, and the base of the one that is', async () => {
    // Asked for by their tags: no earlier digest is in the environment of Docker.
    expect((await script()).stderr).toBe('');
    const given = await values();
    expect(images.length).toBeGreaterThan(6);
    const pinned = images.map((image) => fillIn(image, given));
    for (const [index, image] of pinned.entries()) {
      expect(image).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
      expect(image.startsWith(`${fillIn(images[index]!, {})}@`)).toBe(true);
    }
    expect(new Set(pinned).size).toBe(new Set(images).size);
    expect(given['SIMWAY_NODE_IMAGE']).toMatch(new RegExp(`^${BASE}@sha256:[0-9a-f]{64}$`));
    expect(given['SIMWAY_API_PORT']).toBe('3000');
  });

  it('changes nothing where an image cannot be pulled', async () => {
    const before = await values();
    await expect(script({ BROKEN: BASE })).rejects.toThrow();
    await expect(script({ BROKEN: fillIn(images.at(-1)!, {}) })).rejects.toThrow();
    expect(await values()).toEqual(before);
  });
});
