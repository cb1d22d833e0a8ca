// A mail server in a test: accepts mail over SMTP on a real socket, keeps it unchanged, and refuses when the
// test says so.
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { until } from '../time/until.ts';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** By lower-case name, unfolded. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** Starts the server on a free port of the loopback address, without TLS. */
export async function startMailServer() {
  const mails: ReceivedMail[] = [];
  const logins: string[] = [];
  let refusal: number | undefined;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth: ({ username }, _session, done) => {
      logins.push(username ?? '');
      done(null, { user: username });
    },
    onRcptTo: ({ address }, _session, done) => {
      if (refusal === undefined) done();
      else done(Object.assign(new Error(`no mail for <${address}>`), { responseCode: refusal }));
    },
    onData: (stream, { envelope }, done) => {
      text(stream).then(
        (raw) => {
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
          mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), ...parse(raw) });
          done();
        },
        (error: unknown) => done(error as Error),
      );
    },
  });
  // A client may disconnect at any time.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    mails,
    /** User names and passwords that clients sent. */
    logins,
    /** From now on: a code such as 550 for every recipient, or undefined to accept all. */
    refuseWith: (code: number | undefined) => void (refusal = code),
    /** All received mails, once there are this many. */
    untilReceived: (count: number) =>
      until(
        () => mails,
        (all) => all.length >= count,
        { what: `${count} mails` },
      ),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function parse(raw: string): Pick<ReceivedMail, 'headers' | 'body'> {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  const headers = lines.map((line) => /^([^:]+):\s*(.*)$/.exec(line) ?? []);
  const body = rest.join('\r\n\r\n').replaceAll('\r\n', '\n');
  const byName = Object.fromEntries(headers.map(([, name = '', value = '']) => [name.toLowerCase(), value]));
  const isQuoted = byName['content-transfer-encoding'] === 'quoted-printable';
  return { headers: byName, body: isQuoted ? unquoted(body) : body };
}

function unquoted(body: string): string {
  const bytes = body
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
