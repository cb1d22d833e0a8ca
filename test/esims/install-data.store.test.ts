/**
 * Install data as rows: encrypted and bound to its eSIM, encrypted again in batches where an earlier key did
 * it. A missing key affects only the eSIMs that need it, is named in the error, and loses nothing.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { resealInstallData } from '../../activities/esims/reseal-install-data.ts';
import { createInstallData, NO_INSTALL_DATA } from '../../src/esims/install-data.ts';
import { completeBody } from '../../src/esims/message-bodies.ts';
import { getEsim, listEsims, type EsimDeps } from '../../src/esims/read-esims.ts';
import { findEsim } from '../../src/esims/store/esims.ts';
import type { Principal } from '../../src/domain/account.ts';
import { createSupplierReadBreaker } from '../../src/platform/circuit-breaker.ts';
import { keyIdOf, createSecretBox } from '../../src/platform/secret-box.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { sealedQrCodeUrl } from '../../src/webhooks/event-rules.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { profileFacts } from '../support/money/facts.ts';
import { plantEsim } from './esims.support.ts';
import { forFile } from '../support/world/for-file.ts';

const books: Books = await forFile(openBooks());
beforeEach(async () => {
  await sql`truncate esims, webhook_messages cascade`.execute(books.owner);
});

const [FIRST, SECOND, THIRD] = [newKey(), newKey(), newKey()] as const;
const FACTS = profileFacts({ pin: '1234', puk: '87654321' });
const IN_CLEAR = {
  ac: FACTS.ac,
  qr_code_url: FACTS.qrCodeUrl,
  short_url: FACTS.shortUrl,
  smdp_address: 'rsp.example.com',
  matching_id: 'MATCH-1',
  pin: '1234',
  puk: '87654321',
};
function newKey(): string {
  return randomBytes(32).toString('hex');
}

/** A process with these keys, the first of which encrypts. */
function processWith(key: string, ...previousKeys: string[]) {
  const secretBox = createSecretBox({ key, previousKeys });
  const reported: string[] = [];
  const clock = { now: () => new Date() };
  const installData = createInstallData({
    secretBox,
    onUnreadable: ({ esimId, detail }) => void reported.push(`${esimId}: ${detail}`),
  });
  const supplier = {
    name: 'esim-access',
    profile: () => Promise.resolve({ outcome: 'done', value: { state: 'ready', profile: FACTS } }),
  };
  const reading = {
    db: books.world,
    clock,
    installData,
    supplier,
    events: { esimCheckFailed: () => undefined, illegalStatusChange: () => undefined },
    supplierReads: createSupplierReadBreaker(),
    settings: { esimFreshMs: 1_000 },
  } as unknown as EsimDeps & { supplierReads: ReturnType<typeof createSupplierReadBreaker> };
  const missingKeys: string[] = [];
  return {
    secretBox,
    installData,
    reported,
    missingKeys,
    read: (id: string) => getEsim(reading, OWNER, id),
    list: () => listEsims(reading, OWNER, { page: 1, limit: 10 }),
    seal: () =>
      resealInstallData({
        db: books.world,
        clock,
        installData,
        events: {
          sealingKeyMissing: ({ keyId }: { keyId: string }) => void missingKeys.push(keyId),
        } as unknown as Parameters<typeof resealInstallData>[0]['events'],
        webhooks: { secretBox },
      }),
  };
}

const OWNER = { account: { id: 'acc-1' }, mayInstall: true } as Principal;

/** A delivered eSIM that is not due for a check, unless `status` is one that may change. */
const plant = (id: string, install: object, status: 'EXPIRED' | 'ACTIVE' = 'EXPIRED') =>
  plantEsim(books, id, { status, iccid: `89${id}`, ...install });

const rowOf = async (id: string) => (await findEsim(books.world, id))!;

describe('encrypted install data', () => {
  it('can be decrypted for itself, and not in the row of another', async () => {
    const { installData, read, reported } = processWith(FIRST);
    await plant('own', installData.columns('own', FACTS));
    expect(await read('own')).toMatchObject(IN_CLEAR);
    const { install_sealed } = await rowOf('own');
    await plant('thief', { install_sealed });
    await expect(read('thief')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(reported).toEqual(['thief: the seal of the secret of thief is broken']);
  });

  it('is written again only when the supplier’s answer changes', async () => {
    const { installData } = processWith(FIRST);
    await plant('e', installData.columns('e', FACTS));
    expect(installData.changes(await rowOf('e'), FACTS)).toEqual({});
    const changed = installData.changes(await rowOf('e'), profileFacts({ ac: 'LPA:1$rsp.example.com$NEW' }));
    await plant('f', { ...changed, install_sealed: installData.columns('f', profileFacts()).install_sealed });
    expect(changed.install_sealed).toBeInstanceOf(Buffer);
  });
});

describe('a new key', () => {
  it('decrypts what the previous keys encrypted, encrypts all of it again, and is then the only key needed', async () => {
    for (const [id, key] of [
      ['a', FIRST],
      ['b', SECOND],
      ['c', THIRD],
    ] as const)
      await plant(id, processWith(key).installData.columns(id, FACTS));
    const { read, seal, missingKeys } = processWith(THIRD, SECOND, FIRST);
    for (const id of ['a', 'b', 'c']) expect(await read(id)).toMatchObject(IN_CLEAR);
    expect(await seal()).toBe('2 eSIMs resealed');
    expect(await seal()).toBe('0 eSIMs resealed');
    expect(missingKeys).toEqual([]);
    const alone = processWith(THIRD);
    for (const id of ['a', 'b', 'c']) expect(await alone.read(id)).toMatchObject(IN_CLEAR);
  });

  it('is not held up by a damaged ciphertext', async () => {
    const { installData } = processWith(FIRST);
    const { install_sealed } = installData.columns('broken', FACTS);
    install_sealed[40] = install_sealed[40]! ^ 1;
    await plant('broken', { install_sealed });
    await plant('whole', installData.columns('whole', FACTS));
    const { seal, reported } = processWith(SECOND, FIRST);
    expect(await seal()).toBe('1 eSIMs resealed');
    expect(reported).toEqual(['broken: the seal of the secret of broken is broken']);
    expect((await rowOf('broken')).install_sealed).toEqual(install_sealed);
  });
});

describe('a missing key', () => {
  const keyId = keyIdOf(createSecretBox({ key: FIRST, previousKeys: [] }).prefixes[0]!);

  it('makes only its own eSIMs unreadable, is named in the error, and makes them readable when it returns', async () => {
    await plant('locked', processWith(FIRST).installData.columns('locked', FACTS));
    const without = processWith(SECOND);
    await plant('open', without.installData.columns('open', FACTS));
    await expect(without.read('locked')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'The activation data of this eSIM cannot be read right now; it is not lost',
    });
    expect(without.reported).toEqual([
      `locked: the secret of locked is sealed with a key that is not here: ${keyId}`,
    ]);
    const { items, total } = await without.list();
    expect(total).toBe(2);
    expect(items.find(({ id }) => id === 'locked')).toMatchObject({ ...NO_INSTALL_DATA, iccid: '89locked' });
    expect(items.find(({ id }) => id === 'open')).toMatchObject(IN_CLEAR);
    expect(await without.seal()).toBe('0 eSIMs resealed');
    expect(without.missingKeys).toEqual([keyId]);
    expect(await processWith(SECOND, FIRST).read('locked')).toMatchObject(IN_CLEAR);
  });

  it('holds a message back: it is not sent without its address', async () => {
    await plant('locked', processWith(FIRST).installData.columns('locked', FACTS));
    const body = `{"data":{"qrCodeUrl":${JSON.stringify(sealedQrCodeUrl('locked'))}}}`;
    const complete = (key: string) =>
      completeBody({ db: books.world, installData: processWith(key).installData }, body);
    await expect(complete(SECOND)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await complete(FIRST)).toBe(`{"data":{"qrCodeUrl":${JSON.stringify(FACTS.qrCodeUrl)}}}`);
  });

  it('does not matter when the supplier is asked again: the new answer is encrypted with the new key', async () => {
    await plant('alive', processWith(FIRST).installData.columns('alive', FACTS), 'ACTIVE');
    expect(await processWith(SECOND).read('alive')).toMatchObject(IN_CLEAR);
    expect(await processWith(SECOND).read('alive')).toMatchObject(IN_CLEAR);
  });
});

it('the hourly run reads only rows that need encryption, however many eSIMs there are', async () => {
  const sealed = processWith(FIRST).installData.columns('any', FACTS).install_sealed;
  await sql`
    insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier, iccid,
                       total_volume_bytes, total_duration, duration_unit, data_type, created_at, install_sealed)
    select 'e' || n, 'acc-1', 't' || n, 'P', 'P', 'EXPIRED', 1, 'USD', '{}', 'esim-access', '89' || n, 1, 30, 'DAY', 1, now(), ${sealed}
      from generate_series(1, 5000) n`.execute(books.owner);
  await sql`analyze esims`.execute(books.owner);
  const { secretBox, installData } = processWith(FIRST);
  const run = (db: WorldDb) =>
    resealInstallData({
      db,
      clock: { now: () => new Date() },
      installData,
      events: { sealingKeyMissing: () => undefined } as never,
      webhooks: { secretBox },
    });
  const { scans, statements } = await explain(books, run);
  expect(statements).toBe(1);
  expect(rowsReadBy(scans)).toBeLessThan(10);
});
