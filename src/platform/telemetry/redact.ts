/**
 * What may not be read in any log: fields with secret names are blanked at any depth, texts that look like a key, an activation code or
 * a password in a finished line. Pure, apart from remembering which names it has judged.
 */
const CENSORED = '[redacted]';

/** Lower case, without separators. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'ac',
  'accesscode',
  'activationcode',
  'apikey',
  'authorization',
  'key',
  'matchingid',
  'password',
  'pin',
  'puk',
  'qrcodeurl',
  'rawkey',
  'secret',
  'secretkey',
  'shorturl',
  'token',
  'webhooksecret',
  'xapikey',
]);

/** Without any of these there is nothing to look for: almost every line is done after this quick test. */
const SECRET_MARKS = ['_live_', '_test_', 'LPA:1$', 'whsec_', '://'] as const;

/** API keys of any brand, LPA activation strings, webhook secrets, and passwords inside connection URLs. */
const SECRET_TEXTS =
  /\b[A-Za-z0-9]+_(?:live|test)_[0-9A-Za-z]{16,}|LPA:1\$[^"\s\\]+|whsec_[A-Za-z0-9+/=]+|(?<=:\/\/[^:@/\s"]{0,64}:)[^@/\s"]+(?=@)/g;

/** Deeper than anything worth reading in a log line, and the end of anything that refers to itself. */
const MAX_DEPTH = 6;
/** Names come from our own code and are few; past this something is odd, and they are judged anew each time. */
const MAX_JUDGED_NAMES = 1_000;

export interface Redactor {
  /** Fields as they may be logged; the same object where nothing has to change. */
  readonly fields: (fields: object) => Record<string, unknown>;
  /** A finished line as it may be written. */
  readonly line: (line: string) => string;
}

export function createRedactor(): Redactor {
  const judged = new Map<string, boolean>();
  const isSecretName = (name: string): boolean => {
    const known = judged.get(name);
    if (known !== undefined) return known;
    const isSecret = SECRET_NAMES.has(name.replace(/[-_]/g, '').toLowerCase());
    if (judged.size < MAX_JUDGED_NAMES) judged.set(name, isSecret);
    return isSecret;
  };
  return {
    fields: (fields) =>
      isPlain(fields, isSecretName)
        ? (fields as Record<string, unknown>)
        : blank(fields, MAX_DEPTH, isSecretName),
    line: (line) =>
      SECRET_MARKS.some((mark) => line.includes(mark)) ? line.replace(SECRET_TEXTS, CENSORED) : line,
  };
}

type IsSecretName = (name: string) => boolean;

/** Whether nothing has to be changed: the common case, answered without copying. */
function isPlain(fields: object, isSecretName: IsSecretName): boolean {
  for (const name in fields) {
    const kind = typeof (fields as Record<string, unknown>)[name];
    if (kind === 'object' || kind === 'bigint' || isSecretName(name)) return false;
  }
  return true;
}

function blank(fields: object, depth: number, isSecretName: IsSecretName): Record<string, unknown> {
  const safe: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    safe[name] = isSecretName(name) ? CENSORED : blankValue(value, depth - 1, isSecretName);
  }
  return safe;
}

function blankValue(value: unknown, depth: number, isSecretName: IsSecretName): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (value instanceof Error) return describeError(value, depth, isSecretName);
  if (depth <= 0) return '[deep]';
  if (Array.isArray(value)) return value.map((item) => blankValue(item, depth - 1, isSecretName));
  return blank(value, depth, isSecretName);
}

function describeError(error: Error, depth: number, isSecretName: IsSecretName): Record<string, unknown> {
  const described: Record<string, unknown> = { type: error.name, message: error.message, stack: error.stack };
  if ('code' in error) described['code'] = error.code;
  if (error.cause !== undefined && depth > 0)
    described['cause'] = blankValue(error.cause, depth - 1, isSecretName);
  return described;
}
