// The mailer at a real SMTP server: what arrives, what is refused, and what is unknown.
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createSmtpMailer } from '../../src/vendors/mail/mailer.ts';
import { startMailServer } from '../support/people/mail-server.ts';
import { forFile } from '../support/world/for-file.ts';

const server = await forFile(startMailServer());
afterEach(() => server.refuseWith(undefined));

const FROM = 'notices@simway.example';
const MAIL = {
  id: `notice-${'1'.repeat(32)}`,
  to: 'owner@merchant.example',
  subject: 'Webhook endpoint disabled: shop.example.com (test)',
  text: 'Every message has failed — since yesterday.\n\n.\nA line that is a dot alone ends nothing.\n',
};
const mailerAt = (url: string, timeLimitMs = 10_000) => createSmtpMailer({ url, from: FROM, timeLimitMs });

/** A server that never answers. */
async function startMute(): Promise<{ url: string; close: () => Promise<void> }> {
  const sockets = new Set<{ destroy(): void }>();
  const mute = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(mute.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => mute.close(resolve));
    },
  };
}

describe('the mailer', () => {
  it('sends a mail as it was written, under the same id when it is repeated', async () => {
    const mailer = mailerAt(server.url);
    expect(await mailer.send(MAIL)).toEqual({ outcome: 'done' });
    expect(await mailer.send(MAIL)).toEqual({ outcome: 'done' });
    const [mail, again] = await server.untilReceived(2);
    expect(mail).toMatchObject({ from: FROM, to: [MAIL.to], body: MAIL.text });
    expect(mail!.headers).toMatchObject({
      from: FROM,
      to: MAIL.to,
      subject: MAIL.subject,
      'message-id': `<${MAIL.id}@simway.example>`,
      'auto-submitted': 'auto-generated',
    });
    expect(again!.headers['message-id']).toBe(mail!.headers['message-id']);
  });

  it('is refused by a permanent error and unknown after a temporary one, without an address in its detail', async () => {
    const mailer = mailerAt(server.url);
    server.refuseWith(550);
    const refused = await mailer.send(MAIL);
    expect(refused).toMatchObject({ outcome: 'refused' });
    server.refuseWith(451);
    const later = await mailer.send(MAIL);
    expect(later).toMatchObject({ outcome: 'unknown' });
    expect(JSON.stringify([refused, later])).toMatch(/550.*451/);
    expect(JSON.stringify([refused, later])).not.toContain('@');
  });

  it('is unknown at a closed port, and within the time limit at a server that never answers', async () => {
    expect(await mailerAt('smtp://127.0.0.1:1').send(MAIL)).toMatchObject({ outcome: 'unknown' });
    const mute = await startMute();
    const startedAtMs = performance.now();
    expect(await mailerAt(mute.url, 300).send(MAIL)).toEqual({
      outcome: 'unknown',
      detail: 'no answer in time',
    });
    expect(performance.now() - startedAtMs).toBeLessThan(3_000);
    await mute.close();
  });
});

it('the mailer sends neither password nor mail to a server without TLS', async () => {
  const count = server.mails.length;
  const url = `smtp://user:a-password@127.0.0.1:${server.port}`;
  expect(await mailerAt(url).send(MAIL)).toMatchObject({ outcome: 'unknown' });
  expect([server.logins, server.mails.length]).toEqual([[], count]);
});
