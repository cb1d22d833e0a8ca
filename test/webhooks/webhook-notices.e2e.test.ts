// A merchant whose single endpoint is disabled gets no webhook about it, so its owner gets an e-mail, over a
// real mail server.
import { describe, expect, it } from 'vitest';
import { newBuyer } from '../support/people/buyer.ts';
import { startMailServer, type ReceivedMail } from '../support/people/mail-server.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { answerStatus, startReceiver, type Listener } from '../support/people/webhook-receiver.ts';
import { rowOfEndpoint, setEndpoint } from './webhooks.support.ts';

/** The first four attempts at a message take 4 s, five days of failure 14 minutes. */
const SPEED = 500;
const FIVE_DAYS_MS = (5 * 86_400_000) / SPEED;
const FROM = 'notices@simway.example';

const [mail, receiver] = [await forFile(startMailServer()), await forFile(startReceiver())];
const times = { SIMWAY_TEST_WEBHOOK_SPEED: String(SPEED), SIMWAY_SWEEP_WEBHOOKS_MS: '1000' };
const stack = await forFile(
  startStack({ env: { SIMWAY_SMTP_URL: mail.url, SIMWAY_MAIL_FROM: FROM, ...times } }),
);

/** A purchase whose webhook goes to a single endpoint that answers so. */
async function boughtBeside(status: number): Promise<{ listener: Listener; email: string }> {
  const buyer = await newBuyer(stack);
  const listener = await receiver.listen(stack, buyer.account, { answer: answerStatus(status) });
  const { email } = await stack.accounts
    .selectFrom('accounts')
    .select('email')
    .where('id', '=', buyer.account.accountId)
    .executeTakeFirstOrThrow();
  await buyer.buy('SIM-OK');
  return { listener, email };
}

async function mailTo(email: string): Promise<ReceivedMail> {
  const [letter] = await until(
    () => mail.mails.filter(({ to }) => to.includes(email)),
    (mails) => mails.length > 0,
    { what: `a mail to ${email}` },
  );
  return letter!;
}

/**
 * The state after the schedule of its message ended and nothing else was sent: it failed long ago, and no
 * attempt is left.
 */
async function goQuiet({ endpointId }: Listener): Promise<void> {
  const message = () =>
    stack.owner
      .updateTable('webhook_messages')
      .set({ status: 'FAILED', next_attempt_at: null, closed_at: new Date() })
      .where('endpoint_id', '=', endpointId)
      .where('attempts', '>=', 4)
      .returning('id')
      .execute();
  await until(message, (closed) => closed.length === 1, { what: 'a message that was tried four times' });
  await setEndpoint(stack.owner, endpointId, { failing_since: new Date(Date.now() - FIVE_DAYS_MS) });
}

describe('the owner of a single endpoint gets an e-mail', () => {
  it('when it is disabled after five days of failure, even if nothing was sent there by then', async () => {
    const { listener, email } = await boughtBeside(500);
    await goQuiet(listener);
    const letter = await mailTo(email);
    const row = await rowOfEndpoint(stack.owner, listener.endpointId);
    expect(row).toMatchObject({ enabled: false, disabled_reason: 'FAILING' });

    const { host } = new URL(listener.url);
    const [notice] = await stack.owner
      .selectFrom('notices')
      .selectAll()
      .where('account_id', '=', row.account_id)
      .execute();
    expect(letter).toMatchObject({ from: FROM, to: [email] });
    expect(letter.headers).toMatchObject({
      subject: `Webhook endpoint disabled: ${host} (test)`,
      'message-id': `<${notice!.id}@simway.example>`,
    });
    for (const words of [listener.endpointId, 'FAILING', row.failing_since!.toISOString()])
      expect(letter.body).toContain(words);
    // A path may be a merchant's secret, as the signing secret certainly is.
    expect(letter.body).not.toContain(new URL(listener.url).pathname);
    expect(letter.body).not.toContain(listener.secret.slice(6));
  });

  it('once, when it is disabled by its own answer', async () => {
    const { listener, email } = await boughtBeside(410);
    const letter = await mailTo(email);
    expect(await rowOfEndpoint(stack.owner, listener.endpointId)).toMatchObject({
      enabled: false,
      disabled_reason: 'GONE',
    });
    expect(letter.body).toContain('410 Gone');
    await until(
      () => stack.owner.selectFrom('notices').select('id').where('sent_at', 'is', null).execute(),
      (unsent) => unsent.length === 0,
      { what: 'every notice sent' },
    );
    expect(mail.mails.filter(({ to }) => to.includes(email))).toHaveLength(1);
  });
});
