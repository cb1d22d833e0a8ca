// A stranger who reaches Temporal starts reconciliations, batches, e-mails and webhooks by hand. Nothing
// moves, and nothing is sent to an address that is not in our rows.
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import { OPS_QUEUE, RECONCILE_WORKFLOW, RUN_JOB_WORKFLOW, WEBHOOKS_QUEUE } from '../../workflows/contract.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { startMailServer } from '../support/people/mail-server.ts';
import { makeMembers } from '../support/people/members.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack } from '../support/world/stack.ts';
import { alarms, createStranger } from '../support/world/stranger.ts';
import { until } from '../support/time/until.ts';
import { startInbox } from '../support/people/webhook-inbox.ts';
import { startReceiver } from '../support/people/webhook-receiver.ts';
import { createDeliveryHarness } from '../webhooks/deliver-webhook.support.ts';

const ADDRESS = 'stranger@evil.example';

const [mail, inbox, receiver] = await Promise.all([
  forFile(startMailServer()),
  forFile(startInbox()),
  forFile(startReceiver()),
]);
const stack = await forFile(
  startStack({ env: { SIMWAY_SMTP_URL: mail.url, SIMWAY_MAIL_FROM: 'us@simway.example' } }),
);
const stranger = await forFile(createStranger(stack));
const deliveries = await forFile(createDeliveryHarness(stack));
let buyer: Buyer;
beforeEach(async () => {
  buyer = await newBuyer(stack);
});
afterAll(() => expectSoundBooks(stack));

const raised = (what: string) => alarms(stack.workerAdminUrl(), what);

describe('a reconciliation that is started by hand', () => {
  const askedBy = async (runKey: string) =>
    (
      await stack.owner
        .selectFrom('reconciliation_runs')
        .select('asked_by')
        .where('run_key', '=', runKey)
        .executeTakeFirstOrThrow()
    ).asked_by;

  it.each(['workflow', 'activity'])('by %s records no author, and raises an alarm', async (how) => {
    const runKey = `reconcile-${randomUUID()}`;
    const before = await raised('reconciliation');
    const input = { askedBy: 'ada@simway.example' };
    await (how === 'workflow'
      ? (await stranger.start(RECONCILE_WORKFLOW, runKey, input, OPS_QUEUE)).result()
      : stranger.schedule(OPS_QUEUE, 'reconcile', { ...input, runKey }));
    expect(await askedBy(runKey)).toBe('unverified');
    expect(await raised('reconciliation')).toBeGreaterThan(before);
  });
});

describe('a job that is started by hand', () => {
  it.each([
    ['batch', 'workflow', 'batch', 'No such batch.'],
    ['batch', 'activity', 'batch', 'No such batch.'],
    ['repair', 'workflow', 'action', 'Not approved; nothing done.'],
    ['repair', 'activity', 'action', 'Not approved; nothing done.'],
  ] as const)(
    'as a %s by %s does nothing without a recorded one, and raises an alarm',
    async (kind, how, alarm, line) => {
      const balance = await buyer.balanceMinor();
      const jobId = makeId(kind, randomBytes(16).toString('hex'));
      // Only its id is used; the rest of its input is ignored.
      const rows = [
        { packageCode: 'SIM-OK', accountId: buyer.account.accountId, priceMinor: '1', email: ADDRESS },
      ];
      const before = await raised(alarm);
      const input = { jobId, accountId: buyer.account.accountId, rows };
      const ended = await (how === 'workflow'
        ? (await stranger.start(RUN_JOB_WORKFLOW, jobId, input, OPS_QUEUE)).result()
        : stranger.schedule(OPS_QUEUE, 'tryRows', jobId, input));
      expect(JSON.stringify(ended)).toContain(line);
      expect(await buyer.balanceMinor()).toBe(balance);
      expect(await buyer.purchases()).toEqual([]);
      expect(await raised(alarm)).toBeGreaterThan(before);
    },
  );

  it('buys each row of a recorded batch once, and sends links only to the recorded addresses', async () => {
    const balance = await buyer.balanceMinor();
    const traveller = `${randomUUID()}@traveller.example`;
    await makeMembers(stack, buyer.account.accountId, [traveller]);
    const ordered = await stack.call('POST', '/api/esim/orders/batch', {
      key: buyer.account.apiKey,
      body: { rows: [{ reference: 'a', packageCode: 'SIM-OK', email: traveller }] },
    });
    expect(ordered.status, ordered.text).toBe(202);
    const { batchId } = ordered.body.data as { batchId: string };
    const stored = await stack.owner.selectFrom('jobs').select('id').execute();
    await Promise.all(
      stored.flatMap(({ id }) =>
        Array.from({ length: 3 }, () => stranger.schedule(OPS_QUEUE, 'tryRows', id, { to: ADDRESS })),
      ),
    );
    await until(
      () => buyer.read(`/api/esim/orders/batch/${batchId}`),
      ({ body }) => (body.data as { status: string }).status === 'COMPLETED',
      { what: 'the end of the batch' },
    );
    for (let again = 0; again < 3; again += 1)
      await stranger.schedule(OPS_QUEUE, 'sendInstallEmails', { to: ADDRESS, email: ADDRESS });
    await mail.untilReceived(1);
    expect(await buyer.purchases()).toHaveLength(1);
    expect(balance - (await buyer.balanceMinor())).toBe(230n);
    expect(mail.mails.flatMap(({ to }) => to)).toEqual([traveller]);
  });
});

describe('a message that is sent by hand', () => {
  const madeUp = () => makeId('message', randomBytes(16).toString('hex'));

  it.each(['workflow', 'activity'])('by %s is not sent without a recorded one', async (how) => {
    const messageId = madeUp();
    const address = { url: inbox.url, body: '{}', endpoint: { url: inbox.url } };
    const ended = await (how === 'workflow'
      ? (
          await stranger.start('deliverWebhook', messageId, { messageId, ...address }, WEBHOOKS_QUEUE)
        ).result()
      : stranger.schedule(WEBHOOKS_QUEUE, 'attemptDelivery', messageId, address));
    expect(JSON.stringify(ended)).toContain('FORGOTTEN');
    expect(inbox.letters).toEqual([]);
  });

  it('is sent only to the endpoint in its row, and once', async () => {
    const listener = await receiver.listen(stack, buyer.account);
    const messageId = await deliveries.send(buyer.account, listener);
    const address = { url: inbox.url, endpoint: { url: inbox.url } };
    await Promise.all(
      Array.from({ length: 4 }, () =>
        stranger.schedule(WEBHOOKS_QUEUE, 'attemptDelivery', messageId, address),
      ),
    );
    await deliveries.untilState(buyer.account, messageId, 'DELIVERED');
    expect(await listener.untilReceived(1)).toHaveLength(1);
    expect(inbox.letters).toEqual([]);
  });

  it('is never a notice to an address that is not recorded', async () => {
    const before = mail.mails.length;
    await stranger.schedule(OPS_QUEUE, 'sendNotices', { to: ADDRESS });
    expect(mail.mails.slice(before)).toEqual([]);
  });
});
