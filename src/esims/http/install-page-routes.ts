/**
 * The public page that installs an eSIM. Its address is the secret: no key, and every environment that is on
 * is searched. Neither the log nor traces have more of the path than its template.
 */
import { z } from 'zod';
import { LOGO_PATH } from '../../domain/brand.ts';
import { DomainError } from '../../domain/errors.ts';
import { routesFor, type BytesBody, type ReceivedBytes, type Route } from '../../platform/http/route.ts';
import { canBeInstallToken, INSTALL_PAGE_PATH } from '../install-tokens.ts';
import { TRAVELLER_DAYS } from '../mandates/rules.ts';
import { installRefusalPage, pageHeaders, renderInstallPage, SCRIPT_PATH } from './install-page.ts';
import { SCRIPT } from './install-page-assets.ts';
import { topUpsOf } from './install-page-top-ups.ts';
import { languageOf } from './language.ts';
import type { EsimCases } from '../use-cases.ts';

const defineRoute = routesFor<EsimCases>();

const PUBLIC = {
  method: 'GET',
  key: 'public',
  scope: undefined,
  errors: ['NOT_FOUND'],
  docs: undefined,
} as const;

const NOT_FOUND = { code: 'NOT_FOUND', message: 'No such route' } as const;

const PAGE = `${INSTALL_PAGE_PATH}/{token}`;
const params = {
  token: {
    description: 'From `installUrl`',
    example: 'Zk3t8xq1Vw0yLr5cNs7aPd2hGe9jUb4m',
    isPossible: canBeInstallToken,
    notFound: NOT_FOUND,
  },
};
const topUpsPath = (token: string): string => `${INSTALL_PAGE_PATH}/${token}/top-ups`;

const pageRoute = defineRoute({
  ...PUBLIC,
  path: PAGE,
  environment: 'any',
  params,
  refusalPage: installRefusalPage,
  responses: { 200: { description: 'The page', contentType: 'text/html', schema: z.string() } },
  async handle({ allCases, params: { token = '' }, visitor }) {
    const language = languageOf(visitor);
    for (const cases of allCases) {
      const found = await cases.findInstallPage(token);
      if (!found) continue;
      const { view, brand, topUps } = found;
      const parts = { brand, topUps: topUps && topUpsOf(topUps, language, topUpsPath(token)) };
      const body = renderInstallPage(view, language, new Date(), parts);
      return { status: 200, body, headers: pageHeaders(language, brand) };
    }
    throw new DomainError(NOT_FOUND.code, NOT_FOUND.message);
  },
});

/** Some short fields of a form. */
const MAX_FORM_BYTES = 512;
const FORM: BytesBody<EsimCases> = {
  kind: 'bytes',
  maxBytes: MAX_FORM_BYTES,
  admit: () => Promise.resolve(),
};

/**
 * The token is the secret that a forged form lacks. Beside that, a browser says where a form came from, and
 * another site's is refused. Our page sends no referrer, so its origin may be `null`.
 */
function requireOwnForm({ headers }: ReceivedBytes): void {
  const { 'sec-fetch-site': site, origin, host } = headers;
  const isOurs =
    site === undefined
      ? origin === undefined || origin === 'null' || URL.parse(origin)?.host === host
      : site === 'same-origin';
  if (!isOurs) throw new DomainError('FORBIDDEN', 'This form was sent from another site');
  if (headers['content-type']?.split(';')[0]?.trim() !== 'application/x-www-form-urlencoded')
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: 'must be a form' });
}

type FormChoice =
  { readonly kind: 'end' } | { readonly kind: 'agree'; readonly topUps: number; readonly days: number };

function choiceOf({ bytes }: ReceivedBytes): FormChoice {
  const form = new URLSearchParams(Buffer.from(bytes).toString('utf8'));
  const [topUps, days] = [Number(form.get('topUps')), Number(form.get('days'))];
  if (form.get('do') === 'end') return { kind: 'end' };
  const isChoice = Number.isInteger(topUps) && topUps > 0 && TRAVELLER_DAYS.some((one) => one === days);
  if (form.get('do') === 'agree' && isChoice) return { kind: 'agree', topUps, days };
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: 'the form has another choice' });
}

const topUpsRoute = defineRoute({
  ...PUBLIC,
  method: 'POST',
  path: `${PAGE}/top-ups`,
  environment: 'any',
  params,
  errors: ['NOT_FOUND', 'FORBIDDEN', 'INVALID_TOPUP'],
  body: FORM,
  refusalPage: installRefusalPage,
  responses: { 303: { description: 'Back to the page', contentType: 'text/html', schema: z.string() } },
  async handle({ allCases, params: { token = '' }, visitor, body }) {
    requireOwnForm(body);
    const choice = choiceOf(body);
    const language = languageOf(visitor);
    for (const cases of allCases) {
      if (!(await cases.chooseOnPage(token, choice))) continue;
      const headers = {
        ...pageHeaders(language),
        Location: `${INSTALL_PAGE_PATH}/${token}?lang=${language}#top-ups`,
      };
      return { status: 303, body: '', headers };
    }
    throw new DomainError(NOT_FOUND.code, NOT_FOUND.message);
  },
});

/** It changes with a release only, and holds no personal data. */
const SCRIPT_HEADERS = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'Cache-Control': 'public, max-age=3600',
} as const;

const scriptRoute = defineRoute({
  ...PUBLIC,
  path: SCRIPT_PATH,
  responses: { 200: { description: 'The script', contentType: 'text/javascript', schema: z.string() } },
  handle: () => Promise.resolve({ status: 200, body: SCRIPT, headers: SCRIPT_HEADERS }),
});

/** A picture is only a picture, also where it is opened alone; its address changes with its bytes. */
const LOGO_HEADERS = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Content-Disposition': 'inline',
  'Cross-Origin-Resource-Policy': 'cross-origin',
} as const;

const logoRoute = defineRoute({
  ...PUBLIC,
  path: `${LOGO_PATH}/{hash}`,
  environment: 'any',
  params: {
    hash: {
      description: 'From `logoPath`',
      example: '7c'.repeat(32),
      isPossible: (text) => /^[0-9a-f]{64}$/.test(text),
      notFound: NOT_FOUND,
    },
  },
  responses: { 200: { description: 'The logo', contentType: 'image/*', schema: z.string() } },
  async handle({ allCases, params: { hash = '' } }) {
    for (const cases of allCases) {
      const logo = await cases.findShopLogo(hash);
      if (logo)
        return { status: 200, body: logo.bytes, headers: { ...LOGO_HEADERS, 'Content-Type': logo.type } };
    }
    throw new DomainError(NOT_FOUND.code, NOT_FOUND.message);
  },
});

export const installPageRoutes: readonly Route<EsimCases>[] = [
  pageRoute,
  topUpsRoute,
  scriptRoute,
  logoRoute,
];
