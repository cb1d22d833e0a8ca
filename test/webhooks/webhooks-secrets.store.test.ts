/**
 * The secrets of an endpoint as rows: each replaced one signs until its own end, a limited number at a time,
 * and is wiped after that; an old encryption is replaced wherever it is.
 */
import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../src/domain/clock.ts';
import { createSecretBox } from '../../src/platform/secret-box.ts';
import { createWebhookMaintenance } from '../../activities/webhooks/maintenance.ts';
import type { ActivityDeps } from '../../activities/index.ts';
import { leaseDelivery } from '../../src/webhooks/store/deliveries.ts';
import {
  deleteEndpoint,
  type Endpoint,
  findSigningSecrets,
  forgetSecrets,
  listSealed,
  reseal,
  rotateSecret,
} from '../../src/webhooks/store/endpoints.ts';
import { openBooks } from '../support/world/books.ts';
import { installDataWith } from '../support/vendors/install-data.ts';
import { newAccountId, newEndpoint, newMessage, rowOfEndpoint } from './webhooks.support.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks({ maxConnections: 20 }));

const inMs = (ms: number): Date => new Date(Date.now() + ms);

const made = (text = 'a'): Promise<Endpoint> =>
  newEndpoint(books.world, newAccountId(), { secretSealed: Buffer.from(text) });

const rotate = ({ accountId, id }: Endpoint, text: string, previousUntil = inMs(DAY_MS)) =>
  rotateSecret(books.world, accountId, id, {
    secretSealed: Buffer.from(text),
    previousUntil,
    now: new Date(),
  });

/** The secrets that sign now, which are those that a repeated answer may show. */
async function signing(endpoint: Endpoint): Promise<string> {
  const messageId = await newMessage(books.world, endpoint);
  const delivery = await leaseDelivery(books.world, messageId);
  const texts = (sealed: readonly Buffer[] = []): string => sealed.map(String).join(' ');
  const shown = await findSigningSecrets(books.world, endpoint.accountId, endpoint.id);
  expect(texts(shown)).toBe(texts(delivery?.endpoint.secretsSealed));
  return texts(shown);
}

/** All stored secrets, signing or not. */
const kept = async ({ id }: Endpoint): Promise<string[]> =>
  (await listSealed(books.world, { after: '', limit: 10_000 }))
    .find((one) => one.id === id)!
    .sealed.map(String)
    .toSorted();

describe('a replaced secret', () => {
  it('signs until its own end, whatever is replaced after it', async () => {
    const endpoint = await made();
    expect(await rotate(endpoint, 'b')).toMatchObject({ id: endpoint.id });
    expect(await signing(endpoint)).toBe('b a');
    await rotate(endpoint, 'c', inMs(2 * DAY_MS));
    expect(await signing(endpoint)).toBe('c b a');
    await rotate(endpoint, 'd', inMs(-1));
    expect(await signing(endpoint)).toBe('d b a');
  });

  it('is one of four at most: a further one is refused, changes nothing, and the refusal says when it will be accepted', async () => {
    const endpoint = await made();
    const firstEndsAt = inMs(60_000);
    await rotate(endpoint, 'b', firstEndsAt);
    for (const text of ['c', 'd', 'e']) await rotate(endpoint, text);
    expect(await rotate(endpoint, 'f')).toEqual({ firstEndsAt });
    expect(await signing(endpoint)).toMatch(/^e( [abcd]){4}$/);
    await books.owner
      .updateTable('webhook_older_secrets')
      .set({ until: inMs(-1) })
      .where('endpoint_id', '=', endpoint.id)
      .where('secret_sealed', '=', Buffer.from('a'))
      .execute();
    expect(await rotate(endpoint, 'f')).toMatchObject({ id: endpoint.id });
    expect(await signing(endpoint)).toMatch(/^f( [bcde]){4}$/);
  });

  it('is never lost when many replace at once', async () => {
    const endpoint = await made();
    const outcomes = await Promise.all(['b', 'c', 'd', 'e', 'f', 'g'].map((text) => rotate(endpoint, text)));
    expect(outcomes.filter((outcome) => outcome !== undefined && 'firstEndsAt' in outcome)).toHaveLength(2);
    const texts = (await signing(endpoint)).split(' ');
    expect(new Set(texts).size).toBe(5);
    expect(texts).toContain('a');
  });

  it('by the previous version, which knows only the last one, leaves those that this version has stored', async () => {
    const endpoint = await made();
    await rotate(endpoint, 'b');
    await rotate(endpoint, 'c');
    // What that version sends.
    await books.world
      .updateTable('webhook_endpoints')
      .set((eb) => ({
        previous_secret_sealed: eb.ref('secret_sealed'),
        previous_until: inMs(DAY_MS),
        secret_sealed: Buffer.from('d'),
      }))
      .where('id', '=', endpoint.id)
      .execute();
    expect((await signing(endpoint)).split(' ')).toEqual(['d', 'c', 'a']);
    const row = await rowOfEndpoint(books.owner, endpoint.id);
    expect([row.secret_sealed, row.previous_secret_sealed].map(String)).toEqual(['d', 'c']);
  });

  it('is replaced by its owner only, and not on a deleted endpoint', async () => {
    const endpoint = await made();
    expect(await rotate({ ...endpoint, accountId: newAccountId() }, 'b')).toBeUndefined();
    await deleteEndpoint(books.world, endpoint.accountId, endpoint.id, new Date());
    expect(await rotate(endpoint, 'b')).toBeUndefined();
    expect(await findSigningSecrets(books.world, endpoint.accountId, endpoint.id)).toEqual([]);
  });
});

describe('an expired secret', () => {
  it('is wiped, and a signing one is not', async () => {
    await forgetSecrets(books.world);
    const [endpoint, deleted] = [await made(), await made('x')];
    await rotate(endpoint, 'b', inMs(-1));
    await rotate(endpoint, 'c', inMs(-1));
    await rotate(endpoint, 'd');
    await rotate(endpoint, 'e', inMs(-1));
    await rotate(deleted, 'y');
    await rotate(deleted, 'z');
    await deleteEndpoint(books.world, deleted.accountId, deleted.id, new Date());
    expect(await signing(endpoint)).toBe('e c');
    expect(await forgetSecrets(books.world)).toBe(3);
    expect(await kept(endpoint)).toEqual(['c', 'e']);
    expect(await kept(deleted)).toEqual(['z']);
    expect(await signing(endpoint)).toBe('e c');
    expect(await forgetSecrets(books.world)).toBe(0);
  });

  it('is wiped by the hourly maintenance, which encrypts the others again', async () => {
    const [yesterday, today] = [
      createSecretBox({ key: 'ab'.repeat(32), previousKeys: [] }),
      createSecretBox({ key: 'cd'.repeat(32), previousKeys: ['ab'.repeat(32)] }),
    ];
    const endpoint = await made();
    const seal = (text: string): Buffer => yesterday.seal(`whsec_${text}`, endpoint.id);
    for (const [text, until] of [
      ['b', inMs(-1)],
      ['c', inMs(DAY_MS)],
      ['d', inMs(DAY_MS)],
    ] as const) {
      await rotateSecret(books.world, endpoint.accountId, endpoint.id, {
        secretSealed: seal(text),
        previousUntil: until,
        now: new Date(),
      });
    }
    const deps = {
      db: books.world,
      clock: { now: () => new Date() },
      installData: installDataWith(),
      webhooks: { secretBox: today },
    };
    const { tidyWebhooks } = createWebhookMaintenance(deps as unknown as ActivityDeps);
    expect(await tidyWebhooks()).toMatch(/, [0-9]+ secrets deleted, 1 endpoints resealed, 0 eSIMs resealed$/);
    const sealed = await findSigningSecrets(books.world, endpoint.accountId, endpoint.id);
    expect(sealed.every((one) => today.isCurrent(one))).toBe(true);
    expect(sealed.map((one) => today.open(one, endpoint.id))).toEqual(['whsec_d', 'whsec_c', 'whsec_b']);
    expect(await tidyWebhooks()).toMatch(/, 0 secrets deleted, 0 endpoints resealed, 0 eSIMs resealed$/);
  });
});

describe('a new encryption', () => {
  it('replaces the one it was made from, wherever that is by now', async () => {
    const endpoint = await made();
    await reseal(books.world, endpoint.id, Buffer.from('another'), Buffer.from('new'));
    expect(await signing(endpoint)).toBe('a');
    await reseal(books.world, endpoint.id, Buffer.from('a'), Buffer.from('A'));
    await rotate(endpoint, 'b');
    await reseal(books.world, endpoint.id, Buffer.from('A'), Buffer.from('AA'));
    await rotate(endpoint, 'c');
    await reseal(books.world, endpoint.id, Buffer.from('AA'), Buffer.from('AAA'));
    expect((await signing(endpoint)).split(' ').toSorted()).toEqual(['AAA', 'b', 'c']);
  });
});
