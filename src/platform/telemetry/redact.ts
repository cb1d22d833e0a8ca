/**
 * Blanks secrets in the log: fields with secret names at any depth, and texts in a finished line that look
 * like a key, an activation code or a password. Pino's own redaction needs the path of each field, so it
 * cannot do either.
 */
const CENSORED = '[redacted]';

/** Lower case, without separators. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'ac',
  'accesscode',
  'activationcode',
  'androidinstallurl',
  'apikey',
  'authorization',
  'cookie',
  'currentpassword',
  'idsecret',
  'installurl',
  'iosinstallurl',
  'key',
  'matchingid',
  'newpassword',
  'onetimepassword',
  'password',
  'passwordhash',
  'paystacksignature',
  'pin',
  'previouskeys',
  'previoussecretkey',
  'privatekey',
  'proxyauthorization',
  'puk',
  'qrcodeurl',
  'rawkey',
  'rtaccesscode',
  'rtsignature',
  'secret',
  'secretkey',
  'secretkeys',
  'secrets',
  'sessiontoken',
  'setcookie',
  'shorturl',
  'signature',
  'signingsecret',
  'token',
  'webhooksecret',
  'webhooksignature',
  'xapikey',
  'xpaystacksignature',
]);

/** Each kind of secret that has a recognisable form, with a mark that is in every text of the kind. */
const SECRET_KINDS: readonly (readonly [mark: string, text: RegExp])[] = [
  // API keys of any brand, and the gateway's.
  ['_live_', /\b[A-Za-z0-9]+_live_[0-9A-Za-z]{16,}/],
  ['_test_', /\b[A-Za-z0-9]+_test_[0-9A-Za-z]{16,}/],
  // Tokens of people's sessions.
  ['ops_', /\bops_[\w-]{40,}/],
  // What an Authorization header holds.
  ['earer ', /(?<=\b[Bb]earer )[\w.~+/-]{8,}=*/],
  ['asic ', /(?<=\b[Bb]asic )[\w+/-]{12,}=*/],
  // Activation codes, also as a part of an address.
  ['LPA:1$', /LPA:1\$[^"\s\\]+/],
  ['LPA%3A1%24', /LPA%3A1%24[^"\s\\&]+/],
  // Tokens of public install links.
  ['/i/', /(?<=\/i\/)[\w-]{32}/],
  ['whsec_', /whsec_[A-Za-z0-9+/=]+/],
  // Hashes of passwords, which can be guessed at.
  ['scrypt$', /scrypt\$[^"\s\\]+/],
  // Passwords in connection URLs.
  ['://', /(?<=:\/\/[^:@/\s"]{0,64}:)[^@/\s"]+(?=@)/],
];
const SECRET_TEXTS = new RegExp(SECRET_KINDS.map(([, { source }]) => source).join('|'), 'g');
/** A quick test: almost no line contains any of these. */
const SECRET_MARKS = new RegExp(SECRET_KINDS.map(([mark]) => RegExp.escape(mark)).join('|'));

/** Also ends objects that refer to themselves. */
const MAX_DEPTH = 6;

/** A finished line as it may be written. */
export function redactText(line: string): string {
  return SECRET_MARKS.test(line) ? line.replace(SECRET_TEXTS, CENSORED) : line;
}

/**
 * Adds fields to a line as they may be logged. A field without a value is left out, so it does not hide an
 * earlier one of that name.
 */
export function addRedacted(line: Record<string, unknown>, fields: object, depth = MAX_DEPTH): void {
  for (const name of Object.keys(fields)) {
    const value = (fields as Record<string, unknown>)[name];
    if (value === undefined) continue;
    line[name] = isSecretName(name) ? CENSORED : redactValue(value, depth - 1);
  }
}

/** Field names come from our code and are few; past this many, names are checked each time. */
const MAX_KNOWN_NAMES = 1_000;
const knownNames = new Map<string, boolean>();

function isSecretName(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const isSecret = SECRET_NAMES.has(name.replace(/[-_]/g, '').toLowerCase());
  if (knownNames.size < MAX_KNOWN_NAMES) knownNames.set(name, isSecret);
  return isSecret;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (value instanceof Error) return describeError(value, depth);
  if (depth <= 0) return '[deep]';
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth - 1));
  const safe: Record<string, unknown> = {};
  addRedacted(safe, value, depth);
  return safe;
}

function describeError(error: Error, depth: number): Record<string, unknown> {
  const described: Record<string, unknown> = { type: error.name, message: error.message, stack: error.stack };
  if ('code' in error) described['code'] = error.code;
  if (error.cause !== undefined && depth > 0) described['cause'] = redactValue(error.cause, depth - 1);
  return described;
}
