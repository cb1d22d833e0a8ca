// The parts of the install page: languages, figures, the QR code, links of phones, tokens.
import { create } from 'qrcode';
import { describe, expect, test } from 'vitest';
import { DIAGNOSIS_CODES } from '../../src/esims/diagnosis.ts';
import { androidInstallLink, iosInstallLink, qrDataUrl, qrSvg } from '../../src/esims/activation.ts';
import { ageText, bytesText, dateText, unitsText } from '../../src/esims/install-figures.ts';
import { renderInstallPage } from '../../src/esims/http/install-page.ts';
import { languageOf } from '../../src/esims/http/language.ts';
import { LANGUAGES, TEXTS } from '../../src/esims/install-texts/languages.ts';
import { canBeInstallToken, createInstallTokens, hashOfToken } from '../../src/esims/install-tokens.ts';
import { createPageRefreshes, type InstallView } from '../../src/esims/installing.ts';
import { redactText } from '../../src/platform/telemetry/redact.ts';

const AC = 'LPA:1$rsp.example.com$K2-1A2B3C-4D5E6F';

/** Every text with its place; functions by what they return. */
function textsOf(value: unknown, place: string): [string, string][] {
  if (typeof value === 'string') return [[place, value]];
  if (typeof value === 'function')
    return [[place, (value as (...given: string[]) => string)('\u0001', '\u0002')]];
  return Object.entries(value as object).flatMap(([name, inner]) => textsOf(inner, `${place}.${name}`));
}
/** Names, which are the same in every language. */
const NAMES = /^\.(direction|locale|steps\.(iphone|samsung)\.title)$/;

describe('languages', () => {
  const english = new Map(textsOf(TEXTS.en, ''));

  test.each(LANGUAGES)('%s translates every text', (language) => {
    const texts = textsOf(TEXTS[language], '');
    expect(texts.map(([place]) => place)).toEqual([...english.keys()]);
    for (const [place, text] of texts) {
      expect(text.trim(), place).toBe(text);
      expect(text, place).not.toBe('');
      if (language !== 'en' && !NAMES.test(place)) expect(text, place).not.toBe(english.get(place));
    }
    // Used in an attribute of the QR code without escaping.
    expect(TEXTS[language].qr.label).not.toMatch(/[<>&"]/);
    expect(TEXTS[language].plan.of('\u0001', '\u0002')).toMatch(/\u0001.*\u0002/);
    expect(TEXTS[language].plan.asOf('\u0001')).toContain('\u0001');
    expect(Object.keys(TEXTS[language].diagnosis).sort()).toEqual([...DIAGNOSIS_CODES].sort());
  });

  test('only Arabic is right to left, in Arabic letters', () => {
    expect(LANGUAGES.filter((one) => TEXTS[one].direction === 'rtl')).toEqual(['ar']);
    expect(TEXTS.ar.ready.text).toMatch(/\p{Script=Arabic}/u);
  });

  test.each([
    ['fr', 'ar', 'fr'],
    [undefined, 'ar', 'ar'],
    [undefined, undefined, 'en'],
    ['xx', 'pt', 'pt'],
    ['FR', undefined, 'en'],
    ['<script>', 'es', 'es'],
  ] as const)('?lang=%s, browser %s: %s', (chosen, preferred, language) => {
    expect(languageOf({ queryValue: () => chosen, preferredLanguage: () => preferred })).toBe(language);
  });
});

describe('figures', () => {
  test.each([
    [0n, '0 MB'],
    [524_288_000n, '500 MB'],
    [1_073_741_824n, '1 GB'],
    [1_610_612_736n, '1.5 GB'],
    [5_368_709_119n, '5 GB'],
  ])('%i bytes: %s', (bytes, text) => {
    expect(bytesText(bytes, 'en')).toBe(text);
  });

  test.each([
    [1, 'DAY', '1 day'],
    [7, 'DAY', '7 days'],
    [3, 'HOUR', '3 hours'],
    [2, 'MONTH', '2 months'],
    [2, 'FORTNIGHT', '2 days'],
  ])('%i %s: %s', (count, unit, text) => {
    expect(unitsText(count, unit, 'en-GB')).toBe(text);
  });

  test('show the end in UTC', () => {
    expect(dateText(new Date('2027-05-01T12:00:00Z'), 'en-GB')).toMatch(/^1 May 2027.*12:00.*UTC$/);
  });

  test.each([
    [0, 'now'],
    [59_999, 'now'],
    [60_000, '1 minute ago'],
    [3_599_999, '59 minutes ago'],
    [7_200_000, '2 hours ago'],
    [86_400_000, 'yesterday'],
    [-5_000, 'now'],
  ])('%i ms old: %s', (ms, text) => {
    expect(ageText(new Date(1e12 - ms), new Date(1e12), 'en')).toBe(text);
  });
});

describe('the time of the plan', () => {
  const view: InstallView = {
    ...{ esimId: 'esim-1', packageName: 'Morocco 5GB 30Days', status: 'CREATED', smdpStatus: 'RELEASED' },
    ...{ code: 'NOT_SCANNED', installState: 'READY', usedBytes: 0n, totalBytes: 5_368_709_120n },
    ...{ activateTime: null, remainingUnits: 30, durationUnit: 'DAY', apn: '', asOf: null },
    expiredTime: new Date('2027-05-01T12:00:00Z'),
    ...{ ac: AC, smdpAddress: 'rsp.example.com', matchingId: 'K2-1A2B3C-4D5E6F', qrCodeUrl: '' },
  };
  const installed = { code: 'NOT_CONNECTED', installState: 'INSTALLED' } as const;
  const until = '1 May 2027, 12:00 UTC';
  const rowsOf = (changes: Partial<InstallView>): [string, string][] => {
    const page = renderInstallPage({ ...view, ...changes }, 'en', new Date('2027-01-01T00:00:00Z'));
    const [plan = ''] = /<dl class="plan">[^]*?<\/dl>/.exec(page) ?? [];
    return [...plan.matchAll(/<dt>(.*?)<\/dt>\s*<dd><bdi>(.*?)<\/bdi>/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]);
  };

  test.each([
    ['before it is installed', {}, 'Install by', 'Valid from first use for'],
    ['installed, not yet used', installed, 'Use for the first time by', 'Valid from first use for'],
    [
      'in use',
      { ...installed, code: 'WORKING', activateTime: new Date('2026-12-01T00:00:00Z') },
      'Valid until',
      'Time left',
    ],
  ] as const)('%s', (_what, changes, untilName, timeName) => {
    expect(Object.fromEntries(rowsOf(changes))).toEqual({
      ...{ 'Data left': '5 GB of 5 GB', [untilName]: until, [timeName]: '30 days' },
    });
  });

  test('without an end that is known', () => {
    expect(rowsOf({ expiredTime: null }).map(([name]) => name)).toEqual([
      'Data left',
      'Valid from first use for',
    ]);
  });
});

describe('the activation code in installable forms', () => {
  test('has a link that installs with one tap', () => {
    const data = 'LPA%3A1%24rsp.example.com%24K2-1A2B3C-4D5E6F';
    expect(iosInstallLink(AC)).toBe(`https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=${data}`);
    expect(androidInstallLink(AC)).toBe(
      `https://esimsetup.android.com/esim_qrcode_provisioning?carddata=${data}`,
    );
    expect(new URL(iosInstallLink('LPA:1$a$b&c=d#e')).searchParams.get('carddata')).toBe('LPA:1$a$b&c=d#e');
  });

  test('has a QR code with every module, and white around it', () => {
    const svg = qrSvg(AC, 'label');
    const { modules } = create(AC, { errorCorrectionLevel: 'M' });
    const drawn = new Set<string>();
    for (const [, x, y, length] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1/g))
      for (let i = 0; i < Number(length); i += 1) drawn.add(`${Number(x) + i},${Number(y)}`);
    const wanted = new Set<string>();
    for (let y = 0; y < modules.size; y += 1)
      for (let x = 0; x < modules.size; x += 1) if (modules.get(y, x) !== 0) wanted.add(`${x + 4},${y + 4}`);
    expect(drawn).toEqual(wanted);
    expect(svg).toContain(`viewBox="0 0 ${modules.size + 8} ${modules.size + 8}"`);
    expect(svg).not.toMatch(/href|style=|<text|rsp\.example/);
  });

  test('can be the address of an image', () => {
    const [, data = ''] = /^data:image\/svg\+xml;base64,([\w+/]+=*)$/.exec(qrDataUrl(AC)) ?? [];
    expect(Buffer.from(data, 'base64').toString()).toBe(qrSvg(AC, 'QR code'));
  });
});

describe('tokens', () => {
  const [idSecret, nonce] = [Buffer.alloc(32, 7), Buffer.alloc(16, 1)];
  const given = { idSecret, environment: 'test', publicUrl: 'https://api.example.com' } as const;
  const token = createInstallTokens(given).tokenOf('esim-1', nonce);

  test('have 192 bits, the same for the same eSIM, nonce, secret and environment, and for nothing else', () => {
    expect(Buffer.from(token, 'base64url')).toHaveLength(24);
    expect(canBeInstallToken(token)).toBe(true);
    expect(createInstallTokens(given).tokenOf('esim-1', nonce)).toBe(token);
    const others = [
      createInstallTokens(given).tokenOf('esim-2', nonce),
      createInstallTokens(given).tokenOf('esim-1', Buffer.alloc(16, 2)),
      createInstallTokens({ ...given, environment: 'live' }).tokenOf('esim-1', nonce),
      createInstallTokens({ ...given, idSecret: Buffer.alloc(32, 8) }).tokenOf('esim-1', nonce),
    ];
    expect(new Set([token, ...others]).size).toBe(5);
    expect(hashOfToken(token)).toHaveLength(32);
  });

  test.each([
    '',
    'x',
    `${token}x`,
    token.slice(1),
    `${token.slice(1)}%`,
    `${token.slice(1)}\n`,
    `${token.slice(1)}=`,
  ])('are not recognised in garbage: %j', (text) => expect(canBeInstallToken(text)).toBe(false));

  test('are removed from links in the log', () => {
    const url = createInstallTokens(given).urlOf(token);
    expect(redactText(`{"detail":"GET ${url}?lang=ar"}`)).toBe(
      '{"detail":"GET https://api.example.com/i/[redacted]?lang=ar"}',
    );
    expect(redactText('{"path":"/i/copy.js"}')).toBe('{"path":"/i/copy.js"}');
  });
});

test('of the views of one page, one per interval refreshes from the supplier', () => {
  const refreshes = createPageRefreshes(60_000);
  expect(['a', 'a', 'b', 'a', 'b'].map((id) => refreshes.lease(id))).toEqual([
    true,
    false,
    true,
    false,
    false,
  ]);
});
