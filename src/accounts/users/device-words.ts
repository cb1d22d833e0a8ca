/** What people call a browser. The first that fits: most name others whose pages they can show, too. */
const BROWSERS = [
  ['Edge', /\bEdg(?:A|iOS)?\//],
  ['Opera', /\b(?:OPR|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
] as const;

const SYSTEMS = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const;

const MAX_READ_CHARACTERS = 500;

/** As in `Firefox on Windows`, and nothing of the header's own text. undefined: it names neither. */
export function deviceWords(userAgent: string | undefined): string | undefined {
  const text = (userAgent ?? '').slice(0, MAX_READ_CHARACTERS);
  const browser = BROWSERS.find(([, pattern]) => pattern.test(text))?.[0];
  const system = SYSTEMS.find(([, pattern]) => pattern.test(text))?.[0];
  if (browser === undefined && system === undefined) return undefined;
  return `${browser ?? 'A browser'} on ${system ?? 'an unknown system'}`;
}
