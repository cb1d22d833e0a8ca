import { afterAll, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { syncCatalogue } from '../../activities/catalogue/sync-catalogue.ts';
import { findChangesAfter, findLastVersionId } from '../../src/catalogue/store/versions.ts';
import { createEsimAccessSupplier } from '../../src/vendors/esim-access/supplier.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { FEW_LOCATIONS, ownSupplier } from '../support/vendors/own-simulators.ts';

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

it('a sync lists a new price, a withdrawal and a return at the supplier as changes', async () => {
  const books: Books = await openBooks();
  closers.push(() => books.close());
  const { url, controlUrl } = await ownSupplier({ locations: FEW_LOCATIONS }, closers);
  const clock = { now: () => new Date() };
  const supplier = createEsimAccessSupplier({
    baseUrl: url,
    accessCode: 'test-access',
    secretKey: undefined,
    sign: false,
    pacer: { takeSlot: () => Promise.resolve(true) },
    clock,
    timeLimitMs: 10_000,
  });
  closers.push(() => {
    supplier.close();
    return Promise.resolve();
  });
  const events = { catalogueSynced: () => undefined, catalogueSyncRefused: () => undefined };
  const sync = () => syncCatalogue({ db: books.world, supplier, clock, events } as unknown as ActivityDeps);
  const change = async (code: string, body: object) => {
    const reply = await fetch(`${controlUrl}/packages/${code}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(reply.status, await reply.text()).toBe(200);
  };
  const newsOf = async (after: bigint) =>
    (await findChangesAfter(books.world, after, 100)).map((one) => [
      one.packageCode,
      one.kind,
      one.currentCost,
    ]);

  await sync();
  const start = await findLastVersionId(books.world);
  const [one, other] = await findChangesAfter(books.world, 0n, 2);
  await sync();
  expect(await newsOf(start)).toEqual([]);

  await change(one!.packageCode, { price: 4_321 });
  await change(other!.packageCode, { withdrawn: true });
  await sync();
  const news = await newsOf(start);
  expect(news).toHaveLength(2);
  expect(news).toContainEqual([one!.packageCode, 'CHANGED', 4_321n]);
  expect(news).toContainEqual([other!.packageCode, 'WITHDRAWN', null]);

  const then = await findLastVersionId(books.world);
  await change(other!.packageCode, { withdrawn: false });
  await sync();
  expect(await newsOf(then)).toEqual([[other!.packageCode, 'ADDED', other!.currentCost]]);
});
