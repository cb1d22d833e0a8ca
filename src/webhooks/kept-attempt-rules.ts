/** What is kept of a delivery attempt for its merchant: the start of the answer and headers, without secrets. */
const QR_CODE_URL = /(?<="qrCodeUrl":)"(?:[^"\\]|\\.)+"/;

const LEFT_OUT = '(left out: it repeats the address of the QR code)';

/** The start of an answer as it is kept. A receiver that sends a message back must not put the address of a QR code into our rows. */
export function keptAnswer(answerStart: string, body: string): string {
  const [address = '""'] = QR_CODE_URL.exec(body) ?? [];
  const host = URL.parse(JSON.parse(address) as string)?.host;
  return host && answerStart.includes(host) ? LEFT_OUT : answerStart;
}

/** Of a request or an answer; the name is in lower case. */
export interface Header {
  readonly name: string;
  readonly value: string;
}

/** Of an answer so much is kept: its merchant wants to recognise the server that answered. */
export const MAX_KEPT_HEADERS = 20;

const MAX_HEADER_NAME = 64;

const MAX_HEADER_VALUE = 200;

/** Of all of them together, in characters. */
const MAX_KEPT_CHARACTERS = 2_048;

/** These let anyone who has them act as another person. */
const SECRET_HEADERS =
  /^(set-cookie2?|cookie|(proxy-)?authorization|www-authenticate|authentication-info)$|token|secret|api-?key/;

/** The headers of an answer as they are kept: without secrets, cut, and without the address of a QR code that a receiver sends back. */
export function keptAnswerHeaders(headers: readonly Header[], body: string): Header[] {
  const kept: Header[] = [];
  let characters = 0;
  for (const { name, value } of headers) {
    const header = {
      name: cut(name, MAX_HEADER_NAME),
      value: SECRET_HEADERS.test(name) ? HIDDEN : cut(keptAnswer(storable(value), body), MAX_HEADER_VALUE),
    };
    characters += header.name.length + header.value.length;
    if (kept.length === MAX_KEPT_HEADERS || characters > MAX_KEPT_CHARACTERS) break;
    kept.push(header);
  }
  return kept;
}

const HIDDEN = '(hidden)';

/** The headers of an attempt as they are kept. A whole signature is not needed to see that there was one. */
export function keptRequestHeaders(headers: readonly Header[]): Header[] {
  return headers.map(({ name, value }) => ({
    name,
    value: name === 'webhook-signature' ? value.split(' ').map(startOfSignature).join(' ') : value,
  }));
}

const startOfSignature = (signature: string): string => signature.replace(/^(v\d+a?,.{8}).*$/, '$1…');

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** Postgres refuses NUL and half a surrogate pair in JSON. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed();
