/** Alerts reach people: opened by rows, sent to each channel that wants them, told again, and resolved. */
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { planAlerts, wants, type OpenAlert } from '../../src/operations/alerts/alert-rules.ts';
import { raiseAlerts } from '../../src/operations/alerts/raise.ts';
import { sendAlerts } from '../../src/operations/alerts/send.ts';
import { forgetAlerts, insertChannel, listAlerts, listChannels } from '../../src/operations/store/alerts.ts';
import { createSecretBox } from '../../src/platform/secret-box.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { openShop } from './supplier-shop.support.ts';

const shop = await openShop({ small: 10_000n });
afterAll(() => shop.close());

const KEY = { key: 'a'.repeat(64), previousKeys: [] };
const secretBox = createSecretBox(KEY);
const HOOK = 'https://hooks.example.com/services/secret';
const events = createEvents(createLogger({ level: 'silent' }));
const alertLimits = {
  balance: { lowHours: 72, criticalHours: 24, minimumUsdE4: 0n },
  differenceMinor: { USD: 30_000n },
};
const [mails, posts]: [{ to: string; subject: string; text: string }[], { url: string; body: unknown }[]] = [
  [],
  [],
];
let answers: 'yes' | 'no' = 'yes';
const no = { outcome: 'unknown', detail: 'no answer in time' } as const;

const raise = () => raiseAlerts({ db: shop.world, alertLimits, clock: { now: () => new Date() }, events });
const send = () =>
  sendAlerts({
    db: shop.world,
    events,
    alerts: {
      environment: 'test',
      publicUrl: 'https://esim.example.com',
      secretBox,
      mailer: {
        send: (mail) => {
          if (answers === 'no') return Promise.resolve(no);
          mails.push(mail);
          return Promise.resolve({ outcome: 'done' });
        },
      },
      poster: {
        post: (url, body) => {
          posts.push({ url, body });
          return Promise.resolve({
            outcome: 'answered',
            status: answers === 'yes' ? 200 : 404,
            ms: 1,
            bodyStart: '',
          });
        },
      },
    },
  });

const later = (interval: string) =>
  sql`
    with alerts as (
      update operator_alerts set told_at = told_at - ${interval}::interval, ending_since = ending_since - ${interval}::interval)
    update alert_messages set next_attempt_at = next_attempt_at - ${interval}::interval`.execute(shop.owner);

const ada = 'ada@operator.example';
await sql`
  with person as (insert into accounts.users (id, email, name) values (${`user-${'a'.repeat(32)}`}, ${ada}, 'Ada') returning id)
  insert into accounts.operators (user_id, role) select id, 'FINANCE' from person`.execute(shop.owner);
const leave = (at: Date | null) => sql`update accounts.operators set disabled_at = ${at}`.execute(shop.owner);

const ids = { mail: `channel-${'1'.repeat(32)}`, chat: `channel-${'2'.repeat(32)}` };

/** As if nothing had been sold before. */
async function balanceIs(usdE4: bigint): Promise<void> {
  await sql`delete from supplier_balances`.execute(shop.owner);
  shop.atSupplier.balance = usdE4;
  await shop.check();
}

const emptyAtSupplier = () => balanceIs(0n);
const paidIn = () => balanceIs(10_000_000_000n);

beforeEach(async () => {
  await sql`truncate operator_alerts, alert_channels, alert_messages cascade`.execute(shop.owner);
  const common = { minSeverity: 'warning', kinds: [], createdBy: 'ada@operator.example' } as const;
  const mail = { id: ids.mail, kind: 'MAIL', shown: ada, urlSealed: null } as const;
  const urlSealed = secretBox.seal(HOOK, ids.chat);
  const chat = { id: ids.chat, kind: 'WEBHOOK', shown: 'hooks.example.com', urlSealed } as const;
  await insertChannel(shop.world, { ...common, ...mail });
  await insertChannel(shop.world, { ...common, ...chat, minSeverity: 'critical' });
  [mails.length, posts.length, answers] = [0, 0, 'yes'];
  await paidIn();
});

describe('an alert', () => {
  it('is opened once, and sent to each channel that wants its severity', async () => {
    await emptyAtSupplier();
    expect(await raise()).toEqual({ opened: 2, closed: 0 });
    expect(await raise()).toEqual({ opened: 0, closed: 0 });
    await send();
    expect(mails.map(({ subject }) => subject).toSorted()).toEqual([
      '[test, critical] The balance at the supplier runs out',
      '[test, warning] The balance at the supplier is low',
    ]);
    expect(mails[0]?.text).toContain('USD 0.00 is left at esim-access');
    expect(posts).toHaveLength(1);
    expect(posts[0]).toMatchObject({
      url: HOOK,
      body: {
        text: '[test, critical] The balance at the supplier runs out',
        blocks: [{ type: 'section' }, {}],
      },
    });
  });

  it('is sent by one of several senders, once', async () => {
    await emptyAtSupplier();
    await raise();
    await Promise.all([send(), send(), send()]);
    expect(mails).toHaveLength(2);
  });

  it('is told again while it is open, the critical one sooner', async () => {
    await emptyAtSupplier();
    await raise();
    await send();
    mails.length = 0;
    await later('5 hours');
    await raise();
    await send();
    expect(mails.map(({ subject }) => subject)).toEqual([
      '[test, critical] Still open: The balance at the supplier runs out',
    ]);
  });

  it('ends ten minutes after its cause, with a message, and one that comes back is the same', async () => {
    await emptyAtSupplier();
    await raise();
    await paidIn();
    await raise();
    await emptyAtSupplier();
    await later('11 minutes');
    expect(await raise()).toEqual({ opened: 0, closed: 0 });
    await paidIn();
    await raise();
    await later('11 minutes');
    expect(await raise()).toEqual({ opened: 0, closed: 2 });
    await send();
    expect(mails.map(({ subject }) => subject)).toContain(
      '[test, warning] Resolved: The balance at the supplier is low',
    );
    expect(await listAlerts(shop.world, { page: 1, limit: 5, isOpen: true })).toMatchObject({ total: 0 });
  });

  it('that is not sent waits, its channel says why, and it is sent later', async () => {
    answers = 'no';
    await emptyAtSupplier();
    await raise();
    await send();
    const failures = (await listChannels(shop.world)).map(({ failure }) => failure);
    expect(failures).toEqual(['no answer in time', 'answered 404']);
    answers = 'yes';
    expect(await send()).toEqual({ sent: 0, left: 0 });
    await later('2 minutes');
    expect(await send()).toEqual({ sent: 3, left: 0 });
    expect((await listChannels(shop.world)).map(({ failure }) => failure)).toEqual([null, null]);
  });

  it('is kept for a while after it is closed, and then forgotten with its messages', async () => {
    await emptyAtSupplier();
    await raise();
    await sql`update operator_alerts set closed_at = now() - interval '91 days'`.execute(shop.owner);
    const before = new Date(Date.now() - 90 * 86_400_000);
    expect(await forgetAlerts(shop.world, before, () => false)).toBe(2);
    expect(await shop.owner.selectFrom('alert_messages').selectAll().execute()).toEqual([]);
  });
});

describe('an alert to an operator who has left', () => {
  it('is not sent, and its channel says why', async () => {
    await leave(new Date());
    await emptyAtSupplier();
    await raise();
    await send();
    expect(mails).toEqual([]);
    const failures = (await listChannels(shop.world)).map(({ failure }) => failure);
    expect(failures).toContain('the person is no operator any more: remove the channel');
    await leave(null);
  });
});

describe('what the rows say', () => {
  it('opens an alert for packages that the supplier refuses', async () => {
    shop.atSupplier.soldOut.add('small');
    await shop.deliver(await shop.open('small', 'WALLET'));
    await raise();
    const { items } = await listAlerts(shop.world, { page: 1, limit: 5 });
    expect(items).toMatchObject([{ kind: 'packages-unavailable', detail: '1 package is not sold: small.' }]);
    shop.atSupplier.soldOut.clear();
    await sql`delete from package_shortages`.execute(shop.owner);
  });

  it('opens an alert for a balance that was not read for half an hour', async () => {
    await sql`update supplier_balances set read_at = now() - interval '31 minutes'`.execute(shop.owner);
    await raise();
    const { items } = await listAlerts(shop.world, { page: 1, limit: 5 });
    expect(items).toMatchObject([{ kind: 'supplier-balance-unread', subject: 'esim-access' }]);
  });
});

describe('the rules of alerts', () => {
  const open: OpenAlert = {
    id: 1n,
    kind: 'rates-old',
    subject: '',
    detail: 'then',
    toldAt: new Date(0),
    endingSince: null,
  };

  it('keep one alert for a kind and a subject, with the words of now', () => {
    const plan = planAlerts([open], [{ kind: 'rates-old', subject: '', detail: 'now' }], new Date(1_000));
    expect(plan).toMatchObject({ opens: [], goesOn: [{ id: 1n, detail: 'now' }], reminds: [], closes: [] });
  });

  it('send a kind only where it is wanted', () => {
    expect(wants({ minSeverity: 'critical', kinds: [] }, 'rates-quarantined')).toBe(false);
    expect(wants({ minSeverity: 'warning', kinds: ['rates-old'] }, 'rates-quarantined')).toBe(false);
    expect(wants({ minSeverity: 'warning', kinds: ['rates-old'] }, 'rates-old')).toBe(true);
  });
});
