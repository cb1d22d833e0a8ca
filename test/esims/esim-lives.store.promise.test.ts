/**
 * Every change of simulated eSIMs ends in the supplier's true state, merchants are notified of each threshold
 * and each expiry exactly once, and a timeline shows an installation or deletion of a profile at most once:
 * with events that are lost, doubled, late and out of order, answers that lag, and answers that do not come.
 * Real rows, real inbox, the real schedules; the clock is moved.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { notifyExpiring, refreshEsims } from '../../activities/esims/refresh-esims.ts';
import type { ActivityDeps } from '../../activities/index.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/clock.ts';
import type { EsimStatus } from '../../src/domain/states.ts';
import type { EsimSupplier } from '../../src/esims/port.ts';
import { applySupplierEvents, createSupplierInbox } from '../../src/esims/supplier-events.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { readEvent } from '../../src/vendors/esim-access/webhook.ts';
import { createEndpoint } from '../../src/webhooks/store/endpoints.ts';
import { openBooks } from '../support/world/books.ts';
import { profileFacts } from '../support/money/facts.ts';
import { installDataWith } from '../support/vendors/install-data.ts';
import { createRandom, size, withSeed, type Random } from '../support/time/size.ts';
import { forFile } from '../support/world/for-file.ts';

const ESIMS = size({ ci: 200, prove: 10_000 });
const STEP_MS = size({ ci: 12, prove: 6 }) * HOUR_MS;
/** All changes are over by then. eSIMs that were never used are checked every three days. */
const LIVES_DAYS = 8;
const DAYS = 12;
const START_MS = Date.UTC(2026, 2, 1);
const TOTAL = 1_000_000;
const LAG_MS = 3 * HOUR_MS;
const ACCOUNT = 'acc-lives';
const THRESHOLDS = [50, 80, 90];

const books = await forFile(openBooks({ maxConnections: 12 }));
beforeAll(async () => {
  await createEndpoint(books.world, {
    id: `ep-${'1'.repeat(32)}`,
    accountId: ACCOUNT,
    url: 'https://merchant.example/hooks',
    maxPerAccount: 1,
    events: ['esim.status_changed', 'esim.usage_threshold', 'esim.expiring', 'esim.expired'],
    secretSealed: Buffer.alloc(40),
    now: new Date(START_MS),
  });
});

/** What is true of one eSIM from a time on. */
interface Phase {
  readonly atMs: number;
  readonly status: EsimStatus;
  readonly word: string;
  /** Of the profile. */
  readonly smdpStatus: string;
  readonly activatedAtMs: number | null;
  readonly used: number;
  readonly total: number;
  readonly expiresAtMs: number;
}

interface Life {
  readonly id: string;
  readonly kind: string;
  readonly phases: readonly Phase[];
}

type Change = Partial<Omit<Phase, 'atMs' | 'activatedAtMs'>>;

/**
 * The kinds of lives, each as changes at days after the purchase. Validity ends five days after the first
 * use, or after the purchase.
 */
const KINDS: Readonly<Record<string, (random: Random) => readonly (readonly [number, Change])[]>> = {
  'never used': () => [[5, { status: 'EXPIRED', word: 'UNUSED_EXPIRED' }]],
  'installed, never used': () => [
    [0.2, { smdpStatus: 'INSTALLATION' }],
    [0.3, { smdpStatus: 'ENABLED' }],
    [1, { smdpStatus: 'DISABLED' }],
    [5, { status: 'EXPIRED', word: 'UNUSED_EXPIRED' }],
  ],
  'deleted from the phone': (random) => [
    [0.3, IN_USE],
    ...steps(random, 0.4, 1.5, 0.6),
    [2, { smdpStatus: 'DISABLED' }],
    [2.1, { smdpStatus: 'DELETED' }],
    [5.3, EXPIRED],
  ],
  'used a little': (random) => [
    [0.3, { ...IN_USE, used: 1 }],
    ...steps(random, 0.4, 4.5, random.below(49) / 100),
    [5.3, EXPIRED],
  ],
  'used steadily': (random) => [
    [0.3, IN_USE],
    ...steps(random, 0.4, 4.5, 0.5 + random.below(50) / 100),
    [5.3, EXPIRED],
  ],
  'used in one night': () => [
    [0.3, IN_USE],
    [1, { used: TOTAL / 10 }],
    [2, { used: (TOTAL * 95) / 100 }],
    [5.3, EXPIRED],
  ],
  'used up': (random) => [
    [0.3, IN_USE],
    ...steps(random, 0.4, 2, 0.99),
    [2.5, { used: TOTAL, word: 'USED_UP' }],
    [5.3, EXPIRED],
  ],
  'suspended twice': () => [
    [0.3, IN_USE],
    [0.8, SUSPENDED],
    [1.4, IN_USE],
    [2, SUSPENDED],
    [3, IN_USE],
    [5.3, EXPIRED],
  ],
  cancelled: () => [[0.5, { status: 'CANCELLED', word: 'CANCEL' }]],
  revoked: () => [
    [0.3, IN_USE],
    [1, { status: 'CANCELLED', word: 'REVOKE' }],
  ],
  'topped up': (random) => [
    [0.3, IN_USE],
    ...steps(random, 0.4, 1.5, 0.85),
    [2, { total: 2 * TOTAL, expiresAtMs: 7.3 }],
    ...steps(random, 2.5, 6, 1.7),
    [7.3, EXPIRED],
  ],
  'in use for long': (random) => [
    [0.3, { ...IN_USE, expiresAtMs: 90 }],
    [3, { smdpStatus: 'DISABLED' }],
    [6, { smdpStatus: 'ENABLED' }],
    ...steps(random, 0.4, 7, random.below(100) / 100),
  ],
  'suspended for good': () => [
    [0.3, { ...IN_USE, expiresAtMs: 90 }],
    [2, SUSPENDED],
  ],
};
const IN_USE: Change = { status: 'ACTIVE', word: 'IN_USE', smdpStatus: 'ENABLED', expiresAtMs: 5.3 };
const EXPIRED: Change = { status: 'EXPIRED', word: 'USED_EXPIRED' };
const SUSPENDED: Change = { status: 'SUSPENDED', word: 'SUSPENDED' };

/** Usage that grows to `share` of the first allowance between two days. */
function steps(random: Random, from: number, to: number, share: number): [number, Change][] {
  const count = 3 + random.below(4);
  const start = share > 1 ? 0.85 : 0;
  return Array.from({ length: count }, (_, nth) => {
    const part = (nth + 1) / count;
    return [from + (to - from) * part, { used: Math.trunc(TOTAL * (start + (share - start) * part)) }];
  });
}

function lifeOf(nth: number, random: Random): Life {
  const kind = random.pick(Object.keys(KINDS));
  const boughtAtMs = START_MS + random.below(12) * HOUR_MS - 12 * HOUR_MS;
  const endsAfter = kind.endsWith('never used') ? 5 : 180;
  let last: Phase = {
    atMs: boughtAtMs,
    status: 'CREATED',
    word: 'GOT_RESOURCE',
    smdpStatus: 'RELEASED',
    activatedAtMs: null,
    used: 0,
    total: TOTAL,
    expiresAtMs: boughtAtMs + endsAfter * DAY_MS,
  };
  const phases = [last];
  const changes = KINDS[kind]!(random).toSorted(([a], [b]) => a - b);
  for (const [day, { expiresAtMs: endDay, ...change }] of changes) {
    // Resuming after a suspension moves no end.
    const isEnd = endDay !== undefined && (last.status === 'CREATED' || change.total !== undefined);
    const expiresAtMs = isEnd ? boughtAtMs + endDay * DAY_MS : last.expiresAtMs;
    const atMs = boughtAtMs + day * DAY_MS;
    const activatedAtMs = last.activatedAtMs ?? (change.status === 'ACTIVE' ? atMs : null);
    last = { ...last, ...change, activatedAtMs, expiresAtMs, atMs };
    phases.push(last);
  }
  return { id: String(nth), kind, phases };
}

const truthAt = ({ phases }: Life, atMs: number): Phase =>
  phases.findLast((phase) => phase.atMs <= atMs) ?? phases[0]!;

const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** Answers with the state of up to three hours ago, or not at all. */
function laggingSupplier(lives: ReadonlyMap<string, Life>, random: Random, now: () => number) {
  const lagged = (esimTranNo: string) => truthAt(lives.get(esimTranNo)!, now() - random.below(LAG_MS));
  const supplier: Pick<EsimSupplier, 'name' | 'profile' | 'usage'> = {
    name: 'esim-access',
    profile: (query) => {
      const esimTranNo = 'esimTranNo' in query ? query.esimTranNo : '';
      if (random.below(20) === 0)
        return Promise.resolve({ outcome: 'unknown', detail: 'lost', notSent: true });
      const { status, word, smdpStatus, activatedAtMs, used, total, expiresAtMs } = lagged(esimTranNo);
      const profile = profileFacts({
        esimTranNo,
        status,
        smdpStatus,
        activateTime: isoOf(activatedAtMs),
        orderUsageBytes: used,
        totalVolumeBytes: total,
        expiredTime: new Date(expiresAtMs).toISOString(),
      });
      return Promise.resolve({
        outcome: 'done',
        value: {
          state: 'ready',
          profile: { ...profile, transactionId: '', packageCode: '', supplierStatus: word },
        },
      });
    },
    usage: (esimTranNos) =>
      Promise.resolve(
        esimTranNos
          .filter(() => random.below(20) > 0)
          .map((esimTranNo) => {
            const lagMs = random.below(LAG_MS);
            const { used, total } = truthAt(lives.get(esimTranNo)!, now() - lagMs);
            const observedAt = new Date(now() - lagMs).toISOString();
            return { esimTranNo, usedBytes: used, totalBytes: total, observedAt };
          }),
      ),
  };
  return supplier;
}

/** The events of all changes, each lost, doubled or late by up to half a day; by their arrival time. */
function disorderlyEvents(lives: Iterable<Life>, random: Random): { atMs: number; body: string }[] {
  const sent: { atMs: number; body: string }[] = [];
  for (const { id, phases } of lives)
    for (const { atMs, word } of phases.slice(1)) {
      if (random.below(10) < 3) continue;
      const body = JSON.stringify({
        notifyType: random.pick(['ESIM_STATUS', 'SMDP_EVENT', 'DATA_USAGE', 'VALIDITY_USAGE']),
        notifyId: randomUUID(),
        eventGenerateTime: new Date(atMs).toISOString(),
        content: {
          iccid: '8901000000000000001',
          esimTranNo: `n${id}`,
          orderNo: 'B1',
          transactionId: `t${id}`,
          esimStatus: word,
        },
      });
      const copies = random.below(10) < 3 ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) sent.push({ atMs: atMs + random.below(DAY_MS / 2), body });
    }
  return sent.toSorted((a, b) => b.atMs - a.atMs);
}

async function plant(lives: readonly Life[]): Promise<void> {
  for (let from = 0; from < lives.length; from += 1_000) {
    const some = lives.slice(from, from + 1_000);
    await sql`
      insert into purchases (transaction_id, account_id, package_type, payment_method, status, package_code, package_name, volume_bytes, duration,
                             esim_id, price_minor, currency, price_usd_minor, cost_usd_e4, settings_id, request_id, created_at, closed_at)
      select 't' || id, ${ACCOUNT}, 'BASE', 'CARD', 'SUCCESS', 'P', 'P', ${TOTAL}, 5, 'e' || id, 100, 'USD', 100, 1, 'initial', 'r', bought, bought
        from unnest(${some.map(({ id }) => id)}::text[], ${some.map(({ phases }) => new Date(phases[0]!.atMs))}::timestamptz[])
             life (id, bought)`.execute(books.owner);
    await sql`
      insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
                         esim_tran_no, iccid, total_volume_bytes, total_duration, duration_unit, data_type, created_at, checked_at,
                         smdp_status, expired_time, next_check_at, next_usage_at)
      select 'e' || id, ${ACCOUNT}, 't' || id, 'P', 'P', 'CREATED', 100, 'USD', '{}', 'esim-access', 'n' || id, '8901000000000000001', ${TOTAL}, 5,
             'DAY', 1, bought, bought, 'RELEASED', ends, bought + interval '3 days', bought + interval '12 hours'
        from unnest(${some.map(({ id }) => id)}::text[], ${some.map(({ phases }) => new Date(phases[0]!.atMs))}::timestamptz[],
                    ${some.map(({ phases }) => new Date(phases[0]!.expiresAtMs))}::timestamptz[]) life (id, bought, ends)`.execute(
      books.owner,
    );
  }
}

interface Notice {
  readonly event: string;
  readonly data: Readonly<Record<string, string | number>>;
}

/**
 * All events in the feed, by eSIM, oldest first. Each event is one row, and one message to the only endpoint.
 */
async function eventsByEsim(): Promise<Map<string, Notice[]>> {
  const { rows } = await sql<{ id: string; body: string; sent: string[] }>`
    select events.id, events.body, array(select body from webhook_messages where event_id = events.id) as sent
      from events where account_id = ${ACCOUNT} order by position, seq`.execute(books.owner);
  const seen = new Set<string>();
  const notices = rows.map(({ id, body, sent }) => {
    expect(sent, id).toEqual([body]);
    const one = JSON.parse(body) as Notice;
    const notice = noticeOf(one);
    if (notice !== undefined) {
      if (seen.has(notice)) expect.fail(`${notice} has two rows`);
      seen.add(notice);
    }
    return one;
  });
  const messages = await books.owner.selectFrom('webhook_messages').select('id').execute();
  expect(messages).toHaveLength(rows.length);
  return Map.groupBy(notices, ({ data }) => String(data['esimId']));
}

/**
 * A key for events that must not come twice: a threshold of one allowance, an end of validity. Undefined for
 * a change of status, which may.
 */
function noticeOf({ event, data }: Notice): string | undefined {
  const about = {
    'esim.usage_threshold': ['totalVolume', 'thresholdPercent'],
    'esim.expiring': ['expiredTime', 'daysBefore'],
    'esim.expired': [],
  }[event];
  return about && [event, data['esimId'], ...about.map((field) => data[field])].join(' ');
}

const of = (notices: readonly Notice[], event: string, field: string) =>
  notices.filter((one) => one.event === event).map(({ data }) => data[field]);

/** The events of the profile by purchase, oldest first. */
async function installEvents(): Promise<Map<string, string[]>> {
  const rows = await books.owner
    .selectFrom('purchase_events')
    .select(['transaction_id', 'what'])
    .orderBy('id')
    .execute();
  const byPurchase = Map.groupBy(rows, (row) => row.transaction_id);
  return new Map([...byPurchase].map(([id, events]) => [id, events.map(({ what }) => what)]));
}

/**
 * Each at most once, even if an old answer took the profile back. The supplier may not have reported the
 * installation before the deletion.
 */
function expectInstallEvents({ phases }: Life, events: readonly string[]): void {
  const expected =
    { RELEASED: '', DELETED: 'installed profile-deleted' }[phases.at(-1)!.smdpStatus] ?? 'installed';
  if (events.join(' ') !== 'profile-deleted') expect(events.join(' ')).toBe(expected);
  else expect(expected).toContain('profile-deleted');
}

function expectNotices(life: Life, notices: readonly Notice[]): void {
  const last = life.phases.at(-1)!;
  const changes = notices.filter(({ event }) => event === 'esim.status_changed').map(({ data }) => data);
  // Without a gap, from the delivery to the end.
  expect([changes[0]?.['from'] ?? 'CREATED', changes.at(-1)?.['to'] ?? 'CREATED']).toEqual([
    'CREATED',
    last.status,
  ]);
  for (const [nth, { from }] of changes.slice(1).entries()) expect(from).toBe(changes[nth]?.['to']);
  const percents = of(notices, 'esim.usage_threshold', 'thresholdPercent');
  if (life.kind === 'topped up') {
    const each = notices
      .filter(({ event }) => event === 'esim.usage_threshold')
      .map(({ data }) => `${data['totalVolume']} ${data['thresholdPercent']}`);
    expect(new Set(each).size).toBe(each.length);
    expect(each).toContain(`${2 * TOTAL} 80`);
  } else {
    expect(percents).toEqual(THRESHOLDS.filter((percent) => last.used * 100 >= last.total * percent));
  }
  const isEnding = last.status === 'EXPIRED';
  const expiring = notices
    .filter(({ event }) => event === 'esim.expiring')
    .filter(({ data }) => data['expiredTime'] === new Date(last.expiresAtMs).toISOString());
  const lastOf = (wanted: string) => notices.findLastIndex(({ event }) => event === wanted);
  const days = expiring.map(({ data }) => data['daysBefore']);
  if (isEnding) expect(days).toEqual([3, 1]);
  // While the supplier does not answer, nobody knows of the cancellation; once it is known, nothing is due.
  else expect(lastOf('esim.expiring')).toBeLessThan(lastOf('esim.status_changed'));
  expect(of(notices, 'esim.expired', 'esimId')).toHaveLength(isEnding ? 1 : 0);
}

it('every change ends in the supplier’s true state, every threshold and expiry in one message', async () => {
  await withSeed(async (seed) => {
    const random = createRandom(seed);
    const lives = Array.from({ length: ESIMS }, (_, nth) => lifeOf(nth, random));
    await plant(lives);
    let nowMs = START_MS;
    const clock = { now: () => new Date(nowMs) };
    const byTranNo = new Map(lives.map((life) => [`n${life.id}`, life]));
    const quiet = (): undefined => undefined;
    const deps = {
      db: books.world,
      clock,
      supplier: laggingSupplier(byTranNo, random, () => nowMs),
      events: createEvents({ info: quiet, warn: quiet, error: quiet }),
      installData: installDataWith(),
    } as unknown as ActivityDeps;
    const inbox = createSupplierInbox({
      ...deps,
      supplierEvents: { source: { name: 'esim-access', readEvent }, isSender: () => true },
    });
    const coming = disorderlyEvents(lives, random);
    const startedAtMs = performance.now();
    let received = 0;
    const loop = async (): Promise<void> => {
      while (!(await refreshEsims(deps)).startsWith('usage of 0 eSIMs, state of 0'));
    };
    // Once nothing changes any more, the remaining time passes in days.
    const stepMs = () => (nowMs < START_MS + LIVES_DAYS * DAY_MS ? STEP_MS : DAY_MS);
    for (; nowMs < START_MS + DAYS * DAY_MS; nowMs += stepMs()) {
      const due: string[] = [];
      while ((coming.at(-1)?.atMs ?? Infinity) <= nowMs) due.push(coming.pop()!.body);
      received += due.length;
      for (let from = 0; from < due.length; from += 10)
        await Promise.all(
          due.slice(from, from + 10).map((body) => inbox.takeSupplierEvent(Buffer.from(body), '127.0.0.1')),
        );
      await Promise.all([applySupplierEvents(deps), applySupplierEvents(deps)]);
      await Promise.all([loop(), loop(), loop(), notifyExpiring(deps), notifyExpiring(deps)]);
    }
    const rows = await books.owner.selectFrom('esims').selectAll().execute();
    const notices = await eventsByEsim();
    const installed = await installEvents();
    let changes = 0;
    for (const row of rows) {
      const life = byTranNo.get(row.esim_tran_no)!;
      const truth = life.phases.at(-1)!;
      const ours = {
        status: row.status,
        smdpStatus: row.smdp_status,
        activatedAtMs: row.activate_time?.getTime() ?? null,
        used: Number(row.order_usage_bytes),
        total: Number(row.total_volume_bytes),
        expiresAtMs: row.expired_time?.getTime(),
      };
      const { status, smdpStatus, activatedAtMs, used, total, expiresAtMs } = truth;
      expect(ours, `${row.id}, ${life.kind}`).toEqual({
        status,
        smdpStatus,
        activatedAtMs,
        used,
        total,
        expiresAtMs,
      });
      expectNotices(life, notices.get(row.id) ?? []);
      expectInstallEvents(life, installed.get(row.transaction_id) ?? []);
      changes += life.phases.length - 1;
    }
    expect(rows).toHaveLength(ESIMS);
    const messages = [...notices.values()].reduce((sum, each) => sum + each.length, 0);
    const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
    console.info(
      `${ESIMS} eSIMs, ${changes} changes, ${received} events received, ${messages} messages, ${seconds} s`,
    );
  });
});
