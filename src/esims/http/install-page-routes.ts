/**
 * The public page that installs an eSIM. Its address is the secret: no key, and every environment that is on
 * is searched. Neither the log nor traces have more of the path than its template.
 */
import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { routesFor, type Route } from '../../platform/http/route.ts';
import { canBeInstallToken, INSTALL_PAGE_PATH } from '../install-tokens.ts';
import { installRefusalPage, pageHeaders, renderInstallPage, SCRIPT_PATH } from './install-page.ts';
import { SCRIPT } from './install-page-assets.ts';
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

const pageRoute = defineRoute({
  ...PUBLIC,
  path: `${INSTALL_PAGE_PATH}/{token}`,
  environment: 'any',
  params: {
    token: {
      description: 'From `installUrl`',
      example: 'Zk3t8xq1Vw0yLr5cNs7aPd2hGe9jUb4m',
      isPossible: canBeInstallToken,
      notFound: NOT_FOUND,
    },
  },
  refusalPage: installRefusalPage,
  responses: { 200: { description: 'The page', contentType: 'text/html', schema: z.string() } },
  async handle({ allCases, params, visitor }) {
    const language = languageOf(visitor);
    for (const cases of allCases) {
      const view = await cases.findInstallPage(params['token'] ?? '');
      if (!view) continue;
      const body = renderInstallPage(view, language, new Date());
      return { status: 200, body, headers: pageHeaders(language) };
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

export const installPageRoutes: readonly Route<EsimCases>[] = [pageRoute, scriptRoute];
