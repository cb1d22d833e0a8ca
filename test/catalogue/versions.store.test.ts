/**
 * The versions of packages: what changed, in the order of commits, what was on sale at a moment, and which
 * webhooks are sent.
 */
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { readOnSaleAt } from '../../src/catalogue/changes.ts';
import type { CataloguePackage } from '../../src/catalogue/rules.ts';
import { replaceCatalogue, replaceTopUps, type Announce } from '../../src/catalogue/store/catalogue.ts';
import { findChangesAfter, findLastVersionId } from '../../src/catalogue/store/versions.ts';
import { findListCosts } from '../../src/reconciliation/store/orders.ts';
import { enqueueCatalogueEvents, MAX_PACKAGE_EVENTS } from '../../src/webhooks/catalogue-events.ts';
import { openBooks, untilStatementWaits, type Books } from '../support/world/books.ts';
import { basePackage, region } from '../support/money/facts.ts';
import { forFile } from '../support/world/for-file.ts';

const books: Books = await forFile(openBooks());
beforeEach(() =>
  sql`truncate held_costs, package_top_up_checks, package_top_ups, package_versions, checkout_sessions, quotes, packages, regions,
    webhook_endpoints, webhook_older_secrets, webhook_messages, webhook_attempts`.execute(books.owner),
);

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute));
const sync = (packages: CataloguePackage[], minute: number, announce?: Announce) =>
  replaceCatalogue(
    books.world,
    { supplier: 'esim-access', regions: [region()], packages },
    at(minute),
    announce,
  );
const changes = async (after = 0n, limit = 1_000) =>
  (await findChangesAfter(books.world, after, limit)).map(({ packageCode, kind, changedFields }) =>
    [packageCode, kind, ...changedFields].join(' '),
  );

const a = basePackage({ packageCode: 'A' });
const b = basePackage({ packageCode: 'B', cost: 7n });
const hidden = basePackage({ packageCode: 'SIM-OK', regionCode: 'ZZ' });

it('the list has what was added, changed, withdrawn and restored, in order and once', async () => {
  await sync([a, b], 1);
  const start = await findLastVersionId(books.world);
  await sync([{ ...a, cost: 5n, speed: '5G', networks: [] }, b], 2);
  await sync([b], 3);
  await sync([b], 4);
  await sync([{ ...a, duration: 7 }, b], 5);
  expect(await changes()).toEqual([
    'A ADDED',
    'B ADDED',
    'A CHANGED coverage price speed',
    'A WITHDRAWN availability',
    'A ADDED availability coverage price speed validity',
  ]);
  expect(await changes(start, 1)).toEqual(['A CHANGED coverage price speed']);
  expect(await changes(await findLastVersionId(books.world))).toEqual([]);
});

it('the list leaves out top-ups, packages that no list shows, and fields that no buyer sees', async () => {
  await sync([a, hidden], 1);
  await replaceTopUps(
    books.world,
    'A',
    [basePackage({ packageCode: 'TOPUP_A', packageType: 'TOPUP' })],
    at(2),
  );
  await sync(
    [
      { ...a, slug: 'another' },
      { ...hidden, cost: 1n },
    ],
    3,
  );
  expect(await changes()).toEqual(['A ADDED']);
});

it('no id becomes visible before an earlier change: a reader between two syncs misses nothing', async () => {
  await sync([a, b], 1);
  const held = Promise.withResolvers<undefined>();
  const written = Promise.withResolvers<undefined>();
  const first = sync([{ ...a, cost: 1n }, b], 2, async () => {
    written.resolve(undefined);
    await held.promise;
  });
  await written.promise;
  const second = sync(
    [
      { ...a, cost: 1n },
      { ...b, cost: 1n },
    ],
    3,
  );
  await untilStatementWaits(books.owner);
  // Ids of the first sync are assigned and not committed; none of the second may be visible.
  expect(await changes()).toEqual(['A ADDED', 'B ADDED']);
  held.resolve(undefined);
  await Promise.all([first, second]);
  expect(await changes()).toEqual(['A ADDED', 'B ADDED', 'A CHANGED price', 'B CHANGED price']);
});

it('a reader of the end misses nothing while four syncs write at once', async () => {
  await sync([a, b], 0);
  const read: bigint[] = [];
  const writing = { isOver: false };
  const reading = (async () => {
    for (let last = 0n; ;) {
      const wasOver = writing.isOver;
      const found = await findChangesAfter(books.world, last, 3);
      read.push(...found.map((change) => change.id));
      last = found.at(-1)?.id ?? last;
      if (wasOver && found.length === 0) return;
    }
  })();
  const writers = Array.from({ length: 4 }, async (_none, writer) => {
    for (let round = 0; round < 8; round += 1)
      await sync(
        [
          { ...a, cost: BigInt(writer * 100 + round) },
          { ...b, cost: BigInt(round) },
        ],
        round,
      );
  });
  await Promise.all(writers);
  writing.isOver = true;
  await reading;
  const all = await findChangesAfter(books.world, 0n, 10_000);
  expect(read).toEqual(all.map((change) => change.id));
  expect(read.length).toBeGreaterThan(30);
});

it('a version shows what was on sale at any moment, at which cost and prices', async () => {
  await sync([a, b], 1);
  await sync([{ ...a, cost: 5n, name: 'New name' }], 3);
  const seen = async (minute: number) =>
    (await readOnSaleAt(books.world, { at: at(minute) })).packages.map((item) => [
      item.packageCode,
      item.name,
      item.cost,
    ]);
  expect(await seen(0)).toEqual([]);
  expect(await seen(1)).toEqual([
    ['A', a.name, 100_000n],
    ['B', b.name, 7n],
  ]);
  expect(await seen(2)).toEqual(await seen(1));
  expect(await seen(3)).toEqual([['A', 'New name', 5n]]);
  const view = await readOnSaleAt(books.world, { at: new Date(), packageCode: 'A', regionCode: 'NG' });
  expect(view).toMatchObject({
    knownSince: at(1),
    packages: [{ packageCode: 'A', networks: a.networks, volumeBytes: a.volumeBytes, validFrom: at(3) }],
  });
  const costOf = await findListCosts(books.world, ['A', 'B', 'C']);
  expect([costOf('A', at(2)), costOf('A', at(9)), costOf('B', at(9)), costOf('C', at(9))]).toEqual([
    100_000n,
    5n,
    7n,
    null,
  ]);
});

const endpoint = (id: string, events: string[], given: { accountId?: string; deleted?: boolean } = {}) =>
  sql`insert into webhook_endpoints (id, account_id, url, events, secret_sealed, created_at, updated_at, deleted_at)
      values (${`ep-${id.slice(3).padStart(32, '0')}`}, ${given.accountId ?? 'acc-1'}, 'https://example.com', ${events}, '\\x00', now(), now(),
              ${given.deleted === true ? new Date() : null})`.execute(books.owner);
const messages = async () =>
  (
    await books.world
      .selectFrom('webhook_messages')
      .select(['endpoint_id', 'account_id', 'event', 'body'])
      .orderBy('endpoint_id')
      .orderBy('event')
      .execute()
  ).map(({ endpoint_id, account_id, event, body }) => ({
    endpoint_id: endpoint_id.replace(/-0+/, '-'),
    account_id,
    event,
    data: (JSON.parse(body) as { data: unknown }).data,
  }));

it('a change is sent to every subscribed endpoint of every account, without a price', async () => {
  await endpoint('ep-1', ['package.changed', 'package.withdrawn']);
  await endpoint('ep-2', ['package.changed'], { accountId: 'acc-2' });
  await endpoint('ep-3', ['esim.purchased'], { accountId: 'acc-3' });
  await endpoint('ep-4', ['package.changed'], { deleted: true });
  await sync([a, b, hidden], 1, enqueueCatalogueEvents);
  expect(await messages()).toEqual([]);
  await sync(
    [
      { ...a, cost: 12_345n },
      { ...hidden, cost: 1n },
    ],
    2,
    enqueueCatalogueEvents,
  );
  const changed = {
    packageCode: 'A',
    packageName: a.name,
    regionCode: 'NG',
    changedFields: 'price',
    packages: 1,
  };
  const withdrawn = { packageCode: 'B', packageName: b.name, regionCode: 'NG', packages: 1 };
  expect(await messages()).toEqual([
    { endpoint_id: 'ep-1', account_id: 'acc-1', event: 'package.changed', data: changed },
    { endpoint_id: 'ep-1', account_id: 'acc-1', event: 'package.withdrawn', data: withdrawn },
    { endpoint_id: 'ep-2', account_id: 'acc-2', event: 'package.changed', data: changed },
  ]);
  await sync([{ ...a, cost: 12_345n }, b, { ...hidden, cost: 1n }], 3, enqueueCatalogueEvents);
  expect((await messages()).filter(({ endpoint_id }) => endpoint_id === 'ep-2')).toMatchObject([
    { data: changed },
    { data: { packageCode: 'B', changedFields: 'availability' } },
  ]);
});

it(`more than ${MAX_PACKAGE_EVENTS} changed packages are sent as one message`, async () => {
  await endpoint('ep-1', ['package.changed', 'package.withdrawn']);
  const many = (count: number, cost: bigint) =>
    Array.from({ length: count }, (_none, i) => basePackage({ packageCode: `P${i}`, cost }));
  await sync(many(250, 1n), 1, enqueueCatalogueEvents);
  await sync(many(149, 2n), 2, enqueueCatalogueEvents);
  const none = { packageCode: '', packageName: '', regionCode: '' };
  expect((await messages()).map(({ data }) => data)).toEqual([
    { ...none, changedFields: '', packages: 149 },
    { ...none, packages: 101 },
  ]);
  await sync(
    many(149, 2n).map((item, i) => (i < MAX_PACKAGE_EVENTS ? { ...item, cost: 3n } : item)),
    3,
    enqueueCatalogueEvents,
  );
  expect(await messages()).toHaveLength(2 + MAX_PACKAGE_EVENTS);
});

it('a rolled-back sync sends no messages', async () => {
  await endpoint('ep-1', ['package.changed']);
  await sync([a], 1);
  const failing: Announce = async (trx, news) => {
    await enqueueCatalogueEvents(trx, news);
    throw new Error('the sync broke');
  };
  await expect(sync([{ ...a, cost: 1n }], 2, failing)).rejects.toThrow('the sync broke');
  expect(await messages()).toEqual([]);
  expect(await changes()).toEqual(['A ADDED']);
});
