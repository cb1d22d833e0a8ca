import { createTransport } from 'nodemailer';
import { inTime } from '../../platform/circuit-breaker.ts';
import type { Mailer, MailOutcome } from '../../accounts/port.ts';

interface SmtpOptions {
  /** `smtps://user:password@host:465`, or `smtp://host:587`, which uses TLS where the server offers it. */
  readonly url: string;
  readonly from: string;
  /** For a whole mail. */
  readonly timeLimitMs?: number;
}

const TIME_LIMIT_MS = 15_000;
const STEP_LIMIT_MS = 5_000;

/**
 * One connection per mail. Never sends a password in clear, and returns only codes of the server, since its
 * texts may contain an address.
 */
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
    send: async ({ id, stopUrl, ...mail }) => {
      const sending = transport.sendMail({
        ...mail,
        from,
        messageId: `<${id}@${domain}>`,
        headers: {
          // Suppresses out-of-office replies.
          'Auto-Submitted': 'auto-generated',
          // RFC 8058: mail programs show a button.
          ...(stopUrl === undefined
            ? {}
            : { 'List-Unsubscribe': `<${stopUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
        },
      });
      const sent = await inTime(
        sending.then((): MailOutcome => ({ outcome: 'done' }), outcomeOf),
        timeLimitMs,
      );
      return sent.late ? { outcome: 'unknown', detail: 'no answer in time' } : sent.value;
    },
  };
}

/** nodemailer's codes for errors in sender, recipient or content. */
const MAIL_ERRORS: readonly string[] = ['EENVELOPE', 'EMESSAGE'];

/** A 5xx code about this mail is final; any other error may pass. `responseCode` is the SMTP server's. */
function outcomeOf(error: unknown): MailOutcome {
  const { code = 'failed', responseCode = 0 } = error as { code?: string; responseCode?: number };
  const isFinal = MAIL_ERRORS.includes(code) && responseCode >= 500;
  return {
    outcome: isFinal ? 'refused' : 'unknown',
    detail: responseCode === 0 ? code : `${code} ${responseCode}`,
  };
}
