/**
 * E-mails to owners, as rows: a notice is written together with the disabling it reports, leased by one
 * sender at a time and sent once; and which endpoints the sweep disables, by the same rule as after an
 * attempt.
 */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/index.ts';
import { createNoticeActivities, createWebhookMaintenance } from '../../activities/webhooks/maintenance.ts';
import { DAY_MS } from '../../src/domain/clock.ts';
import { FAILING_LIMIT_MS, WARN_AFTER_MS } from '../../src/webhooks/rules.ts';
import type { Mail, MailOutcome } from '../../src/accounts/port.ts';
import { insertAccount } from '../../src/accounts/store/accounts.ts';
import {
  leaseNotice,
  forgetNotices,
  markNoticeSent,
  postponeNotice,
} from '../../src/webhooks/store/notices.ts';
import {
  disableEndpoint,
  findEndpoint,
  updateEndpoint,
  type Endpoint,
} from '../../src/webhooks/store/endpoints.ts';
import { openBooks } from '../support/world/books.ts';
import { newAccount } from '../support/money/facts.ts';
import {
  newAccountId,
  newEndpoint,
  newMessage,
  setMessage,
  setEndpoint,
  messagesAt,
} from './webhooks.support.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks({ maxConnections: 10 }));
beforeEach(() => books.owner.deleteFrom('notices').execute());

const now = new Date();
const ago = (ms: number): Date => new Date(now.getTime() - ms);

const notices = () =>
  books.owner.selectFrom('notices').selectAll().orderBy('created_at').orderBy('kind').execute();
const gone = (endpoint: Endpoint) => disableEndpoint(books.world, endpoint, { reason: 'GONE', at: now });

/** An account with an address, and an endpoint. */
async function owned(): Promise<{ endpoint: Endpoint; email: string }> {
  const accountId = newAccountId();
  const email = `${randomBytes(6).toString('hex')}@merchant.example`;
  await insertAccount(books.accounts, newAccount({ id: accountId, email }));
  return { endpoint: await newEndpoint(books.world, accountId), email };
}

describe('a notice', () => {
  it('is written with the disabling, once, without any secret, even if no endpoint is subscribed', async () => {
    const { endpoint } = await owned();
    const url = 'https://hooks.merchant.example:443/services/T0/a-path-secret?token=a-query-secret';
    await updateEndpoint(books.world, endpoint.accountId, endpoint.id, { url, now });
    const outcomes = await Promise.all([gone(endpoint), gone(endpoint), gone(endpoint)]);
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    const all = await notices();
    expect(all).toMatchObject([
      {
        account_id: endpoint.accountId,
        kind: 'endpoint-disabled',
        facts: {
          endpointId: endpoint.id,
          host: 'hooks.merchant.example',
          reason: 'GONE',
          failingSince: null,
          disabledAt: now.toISOString(),
        },
        attempts: 0,
        sent_at: null,
      },
    ]);
    expect(JSON.stringify(all)).not.toContain('secret');
  });

  it('is not written if the disabling is rolled back', async () => {
    const { endpoint } = await owned();
    const undone = books.world.transaction().execute(async (trx) => {
      expect(await disableEndpoint(trx, endpoint, { reason: 'GONE', at: now })).toBe(true);
      throw new Error('taken back');
    });
    await expect(undone).rejects.toThrow('taken back');
    expect(await notices()).toEqual([]);
    expect(await findEndpoint(books.world, endpoint.accountId, endpoint.id)).toMatchObject({ enabled: true });
  });

  it('is leased by one sender at a time, goes to the address of its account, and is not leased once sent', async () => {
    const { endpoint, email } = await owned();
    await gone(endpoint);
    const leases = await Promise.all([1, 2, 3].map(() => leaseNotice(books.world, 60_000)));
    const [leased] = leases.filter((lease) => lease !== undefined);
    expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1);
    expect(leased).toMatchObject({ accountId: endpoint.accountId, email, attempts: 1 });
    await postponeNotice(books.world, leased!.id, 0);
    expect(await leaseNotice(books.world, 60_000)).toMatchObject({ id: leased!.id, attempts: 2 });
    await markNoticeSent(books.world, leased!.id);
    await postponeNotice(books.world, leased!.id, 0);
    expect(await leaseNotice(books.world, 60_000)).toBeUndefined();
    expect((await notices())[0]?.sent_at).toBeInstanceOf(Date);
  });

  it('is deleted when it is outdated', async () => {
    await gone((await owned()).endpoint);
    expect(await forgetNotices(books.world, ago(1))).toBe(0);
    expect(await forgetNotices(books.world, new Date(now.getTime() + 1))).toBe(1);
  });
});

describe('sending', () => {
  interface Reported {
    readonly event: string;
    readonly fields: object;
  }

  function sender(outcome?: MailOutcome): { send: () => Promise<string>; mails: Mail[]; logged: Reported[] } {
    const mails: Mail[] = [];
    const logged: Reported[] = [];
    const mailer = outcome && {
      send: (mail: Mail) => {
        mails.push(mail);
        return Promise.resolve(outcome);
      },
    };
    const deps = {
      db: books.world,
      clock: { now: () => new Date() },
      events: {
        noticeSent: (fields: object) => logged.push({ event: 'sent', fields }),
        noticeNotSent: (fields: object) => logged.push({ event: 'not sent', fields }),
      },
      notices: { environment: 'test', mailer },
    };
    return { send: createNoticeActivities(deps as unknown as ActivityDeps).sendNotices, mails, logged };
  }

  const untilDue = () =>
    books.owner
      .updateTable('notices')
      .set({ next_attempt_at: ago(1) })
      .where('sent_at', 'is', null)
      .execute();

  it('sends each notice once, logs no address, and has nothing to do after that', async () => {
    const all = [await owned(), await owned()];
    for (const { endpoint } of all) await gone(endpoint);
    const { send, mails, logged } = sender({ outcome: 'done' });
    expect(await send()).toBe('2 notices sent, 0 not');
    expect(mails.map(({ to }) => to).toSorted()).toEqual(all.map(({ email }) => email).toSorted());
    expect(mails.map(({ id }) => id).toSorted()).toEqual((await notices()).map(({ id }) => id).toSorted());
    expect(logged.map(({ event }) => event)).toEqual(['sent', 'sent']);
    expect(JSON.stringify(logged)).not.toContain('@');
    expect(await send()).toBe('0 notices sent, 0 not');
  });

  it('keeps a notice while there is no mail server, logs that each time it is due, and sends it once there is one', async () => {
    const { endpoint } = await owned();
    await gone(endpoint);
    const without = sender();
    expect(await without.send()).toBe('0 notices sent, 1 not');
    expect(await without.send()).toBe('0 notices sent, 0 not');
    expect(without.logged).toMatchObject([
      {
        event: 'not sent',
        fields: {
          accountId: endpoint.accountId,
          kind: 'endpoint-disabled',
          about: endpoint.id,
          attempts: 1,
          detail: 'no mail server is configured: SIMWAY_SMTP_URL',
        },
      },
    ]);
    await untilDue();
    const there = sender({ outcome: 'done' });
    expect(await there.send()).toBe('1 notices sent, 0 not');
  });

  it('retries a notice of unknown outcome with the same id, at growing intervals', async () => {
    await gone((await owned()).endpoint);
    const { send, mails, logged } = sender({ outcome: 'unknown', detail: 'ECONNREFUSED' });
    const waits: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const startedAtMs = Date.now();
      await send();
      waits.push(Math.round(((await notices())[0]!.next_attempt_at!.getTime() - startedAtMs) / 60_000));
      await untilDue();
    }
    expect(waits).toEqual([1, 5, 15, 60, 60, 60]);
    expect(new Set(mails.map(({ id }) => id)).size).toBe(1);
    expect(logged.at(-1)).toMatchObject({
      fields: { attempts: 6, outcome: 'unknown', detail: 'ECONNREFUSED' },
    });
  });
});

describe('the sweep', () => {
  const disabledEvents: object[] = [];
  const sweep = (): Promise<string> => {
    const deps = {
      db: books.world,
      clock: { now: () => now },
      events: { webhookEndpointDisabled: (fields: object) => disabledEvents.push(fields) },
      webhooks: { failingLimitMs: FAILING_LIMIT_MS },
    };
    return createWebhookMaintenance(deps as unknown as ActivityDeps).disableFailing();
  };

  /**
   * An endpoint that has failed this long, with a message that had so many attempts and ended this long ago.
   */
  async function failing(
    forMs: number,
    message: { readonly attempts: number; readonly endedMsAgo: number; readonly seriesFrom?: number },
  ): Promise<Endpoint> {
    const { endpoint } = await owned();
    const id = await newMessage(books.world, endpoint, ago(forMs));
    const at = ago(message.endedMsAgo);
    const { attempts, seriesFrom: series_from = 0 } = message;
    const ended = { status: 'FAILED', next_attempt_at: null, closed_at: at, updated_at: at } as const;
    await setMessage(books.owner, id, { ...ended, attempts, series_from });
    await setEndpoint(books.owner, endpoint.id, { failing_since: ago(forMs) });
    return endpoint;
  }

  const stateOf = async ({ accountId, id }: Endpoint): Promise<string> => {
    const found = await findEndpoint(books.world, accountId, id);
    return found?.disabledReason ?? 'enabled';
  };

  it('disables an endpoint that has failed for five days and is no longer called, and notifies its owner', async () => {
    const quiet = await failing(FAILING_LIMIT_MS, { attempts: 10, endedMsAgo: 1.5 * DAY_MS });
    const watcher = await newEndpoint(books.world, quiet.accountId, { events: ['endpoint.disabled'] });
    const early = await failing(FAILING_LIMIT_MS - 1, { attempts: 10, endedMsAgo: 1.5 * DAY_MS });
    expect(await sweep()).toBe('1 endpoints disabled, 1 owners warned');
    expect([await stateOf(quiet), await stateOf(early)]).toEqual(['FAILING', 'enabled']);
    expect(await notices()).toMatchObject([
      {
        account_id: quiet.accountId,
        kind: 'endpoint-disabled',
        facts: { reason: 'FAILING', failingSince: ago(FAILING_LIMIT_MS).toISOString() },
      },
      { account_id: early.accountId, kind: 'endpoint-failing' },
    ]);
    expect(disabledEvents).toEqual([{ endpointId: quiet.id, accountId: quiet.accountId, reason: 'FAILING' }]);
    const sent = await messagesAt(books.owner, watcher.id);
    expect(sent.map(({ event }) => event)).toEqual(['endpoint.disabled']);
    expect(await sweep()).toBe('0 endpoints disabled, 0 owners warned');
    expect(await notices()).toHaveLength(2);
  });

  it('tells the owner of an endpoint that fails for an hour, once for each outage, and at most once a day', async () => {
    const message = { attempts: 2, endedMsAgo: 0 };
    const endpoint = await failing(WARN_AFTER_MS, message);
    await failing(WARN_AFTER_MS - 1, message);
    expect([await sweep(), await sweep()]).toEqual([
      '0 endpoints disabled, 1 owners warned',
      '0 endpoints disabled, 0 owners warned',
    ]);
    expect(await notices()).toMatchObject([
      { account_id: endpoint.accountId, facts: { failingSince: ago(WARN_AFTER_MS).toISOString() } },
    ]);
    const told = (hoursAgo: number) =>
      setEndpoint(books.owner, endpoint.id, { owner_warned_at: ago(hoursAgo * WARN_AFTER_MS) });
    await told(23);
    expect(await sweep()).toContain('0 owners warned');
    await told(24);
    expect(await sweep()).toContain('1 owners warned');
    expect(await stateOf(endpoint)).toBe('enabled');
  });

  it('leaves an endpoint with only a short or an earlier failure, or with a message that waits', async () => {
    const hiccup = await failing(6 * DAY_MS, { attempts: 3, endedMsAgo: 1.5 * DAY_MS });
    const reopened = await failing(6 * DAY_MS, { attempts: 13, seriesFrom: 10, endedMsAgo: DAY_MS });
    const before = await failing(6 * DAY_MS, { attempts: 10, endedMsAgo: 7 * DAY_MS });
    const off = await failing(6 * DAY_MS, { attempts: 10, endedMsAgo: DAY_MS });
    await updateEndpoint(books.world, off.accountId, off.id, { enabled: false, now });
    // Its own attempts decide: it may answer again.
    const waiting = await failing(6 * DAY_MS, { attempts: 10, endedMsAgo: DAY_MS });
    await newMessage(books.world, waiting, now);
    expect(await sweep()).toContain('0 endpoints disabled');
    const states = await Promise.all([hiccup, reopened, before, waiting, off].map(stateOf));
    expect(states).toEqual([...Array<string>(4).fill('enabled'), 'BY_OWNER']);
  });

  it('disables all of many, each once, even with two sweeps at once', async () => {
    const many = [];
    for (let n = 0; n < 8; n += 1) many.push(await failing(6 * DAY_MS, { attempts: 4, endedMsAgo: DAY_MS }));
    const lines = await Promise.all([sweep(), sweep()]);
    expect(lines.map((line) => Number.parseInt(line, 10)).reduce((sum, count) => sum + count)).toBe(8);
    expect(new Set(await Promise.all(many.map(stateOf)))).toEqual(new Set(['FAILING']));
    expect(await notices()).toHaveLength(8);
  });
});
