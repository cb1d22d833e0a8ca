// ops/secrets.sh, which makes the secrets of docker-compose.yml: files that nobody else on the machine reads.
import { execFile } from 'node:child_process';
import { chmod, cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHECKOUT } from '../support/world/checkout.ts';
import { readCompose } from '../support/world/compose.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

const run = promisify(execFile);
const secrets = {
  ...readCompose('docker-compose.yml').secrets,
  ...readCompose('ops/compose.watching.yml').secrets,
};
const required = Object.keys(secrets).filter((name) => secrets[name]!.file.startsWith('./'));

let folder: string;
beforeEach(async () => {
  folder = await makeTestFolder();
  for (const name of [
    'docker-compose.yml',
    '.env.example',
    'ops/secrets.sh',
    'ops/setting.sh',
    'ops/compose.watching.yml',
  ])
    await cp(join(CHECKOUT, name), join(folder, name));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const script = async (): Promise<string> => (await run('sh', [join(folder, 'ops', 'secrets.sh')])).stderr;
const text = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
const modeOf = async (name: string): Promise<string> =>
  ((await stat(join(folder, name))).mode & 0o777).toString(8);
const settingIn = async (name: string): Promise<string | undefined> =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(await text('.env'))?.[1];

describe('ops/secrets.sh', () => {
  it('makes every required secret, a different one each, for its owner and the group of the containers', async () => {
    expect(await script()).toBe('');
    expect((await readdir(join(folder, 'secrets'))).toSorted()).toEqual(required.toSorted());
    const values = await Promise.all(required.map((name) => text(`secrets/${name}`)));
    expect(new Set(values).size).toBe(required.length);
    for (const value of values) expect(value).toMatch(/^[0-9a-f]{64}\n$/);
    expect([await modeOf('.env'), await modeOf('secrets')]).toEqual(['600', '700']);
    for (const name of required) expect(await modeOf(`secrets/${name}`), name).toBe('640');
    const { gid } = await stat(join(folder, 'secrets', required[0]!));
    expect(await settingIn('SIMWAY_SECRETS_GROUP')).toBe(String(gid));
  });

  it('keeps what exists, and writes nothing twice', async () => {
    await script();
    const before = [await text('.env'), await text('secrets/SIMWAY_ID_SECRET')];
    expect(await script()).toBe('');
    expect([await text('.env'), await text('secrets/SIMWAY_ID_SECRET')]).toEqual(before);
  });

  it('names in .env the optional secrets that have a file, and no others', async () => {
    await script();
    await writeFile(join(folder, 'secrets', 'SIMWAY_SMTP_URL'), 'smtps://mail.example\n');
    await script();
    expect(await settingIn('SIMWAY_SMTP_URL_FILE')).toBe('./secrets/SIMWAY_SMTP_URL');
    expect(await settingIn('SIMWAY_LIVE_GATEWAY_SECRET_KEY_FILE')).toBe('');
    await rm(join(folder, 'secrets', 'SIMWAY_SMTP_URL'));
    await script();
    expect(await settingIn('SIMWAY_SMTP_URL_FILE')).toBe('');
  });

  it('moves the secrets of an older .env into files', async () => {
    const old = `SIMWAY_ID_SECRET=kept-as-it-is\nSIMWAY_SMTP_URL='smtps://u:a=b&c@mail.example'\nSIMWAY_API_PORT=3000\n`;
    await writeFile(join(folder, '.env'), old, { mode: 0o600 });
    const said = await script();
    expect(said).toContain('SIMWAY_ID_SECRET: moved from .env');
    expect(said).not.toContain('kept-as-it-is');
    expect(await text('secrets/SIMWAY_ID_SECRET')).toBe('kept-as-it-is\n');
    expect(await text('secrets/SIMWAY_SMTP_URL')).toBe('smtps://u:a=b&c@mail.example\n');
    expect(await text('.env')).not.toMatch(/kept|a=b/);
    expect(await settingIn('SIMWAY_API_PORT')).toBe('3000');
  });

  it('says what others could read, and ends it', async () => {
    await script();
    await chmod(join(folder, '.env'), 0o644);
    await chmod(join(folder, 'secrets', 'REDIS_PASSWORD'), 0o644);
    const said = await script();
    expect(said).toMatch(/^\.env: every user of this machine could read it/m);
    expect(said).toMatch(/^secrets\/REDIS_PASSWORD: every user/m);
    expect([await modeOf('.env'), await modeOf('secrets/REDIS_PASSWORD')]).toEqual(['600', '640']);
  });
});
