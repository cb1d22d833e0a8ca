/**
 * E-mail over SMTP, by nodemailer: one connection a mail, within a time limit. A password is never sent in clear. Must not log, nor hand on what
 * a server says beyond its code, since that may hold an address.
 */
import { createTransport } from 'nodemailer';
import type { Mailer, MailOutcome } from '../../webhooks/mailer-port.ts';

export interface SmtpOptions {
  /** `smtps://user:password@host:465`, or `smtp://host:587`, which uses TLS where the server offers it. */
  readonly url: string;
  readonly from: string;
  /** For a whole mail. */
  readonly timeLimitMs?: number;
}

/** A mail server answers in a second or two, or not at all. */
const TIME_LIMIT_MS = 15_000;
const STEP_LIMIT_MS = 5_000;

/** Connects when there is something to send. */
export function createSmtpMailer({ url, from, timeLimitMs = TIME_LIMIT_MS }: SmtpOptions): Mailer {
  const { username, protocol } = new URL(url);
  const transport = createTransport({
    url,
    requireTLS: protocol === 'smtp:' && username !== '',
    connectionTimeout: STEP_LIMIT_MS,
    greetingTimeout: STEP_LIMIT_MS,
    socketTimeout: STEP_LIMIT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.slice(from.lastIndexOf('@') + 1);
  return {
    send: ({ id, ...mail }) =>
      within(
        timeLimitMs,
        transport.sendMail({
          ...mail,
          from,
          messageId: `<${id}@${domain}>`,
          // Nobody's out-of-office answers it.
          headers: { 'Auto-Submitted': 'auto-generated' },
        }),
      ),
  };
}

async function within(limitMs: number, sending: Promise<unknown>): Promise<MailOutcome> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<MailOutcome>((resolve) => {
    timer = setTimeout(() => resolve({ outcome: 'unknown', detail: 'no answer in time' }), limitMs);
  });
  const sent = sending.then((): MailOutcome => ({ outcome: 'done' }), failed);
  try {
    return await Promise.race([sent, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** As nodemailer throws it: its own word, and the code that the server answered, if it did. */
interface SmtpError {
  readonly code?: string;
  readonly responseCode?: number;
}

/** What is about the mail itself, by nodemailer: who sends it, who gets it, what it says. */
const ABOUT_THE_MAIL: readonly string[] = ['EENVELOPE', 'EMESSAGE'];

/** A word of SMTP about this mail that begins with 5 is for good, whatever else went wrong may pass. */
function failed(error: unknown): MailOutcome {
  const { code = 'failed', responseCode = 0 } = error as SmtpError;
  const isForGood = ABOUT_THE_MAIL.includes(code) && responseCode >= 500;
  return {
    outcome: isForGood ? 'refused' : 'unknown',
    detail: responseCode === 0 ? code : `${code} ${responseCode}`,
  };
}
