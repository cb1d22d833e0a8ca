/**
 * Serves the built documentation (packages/docs-site): its pages below /docs, as HTML and as Markdown, the
 * files that they need, and /llms.txt. The reference below it is a route (routes.ts).
 */
import { join } from 'node:path';
import type { Context, Middleware } from 'koa';
import { hashOf } from '../html.ts';
import { ASKED_AGAIN, isReadBelow, KEPT, readBuilt, sendFile, type StaticFiles } from '../static-files.ts';
import { linksPage } from './links-page.ts';

/** Where `npm run build:docs` writes it. */
export const DOCS_FOLDER = join(import.meta.dirname, '../../../../packages/docs-site/dist/site');

const BASE = '/docs';
const REFERENCE = '/docs/reference';
const LIST = '/llms.txt';

/** With this VitePress keeps colours from fading while it changes between light and dark. */
const NO_FADING =
  '*,*::before,*::after{-webkit-transition:none!important;-moz-transition:none!important;-o-transition:none!important;-ms-transition:none!important;transition:none!important}';

/** What VitePress writes into the page itself: scripts and attributes of style, by hash. */
const policyOf = (page: string): string => {
  const hashes = (inline: RegExp): string[] =>
    Array.from(new Set(Array.from(page.matchAll(inline), ([, text]) => hashOf(text ?? ''))));
  const scripts = hashes(/<script(?: id="[^"]*")?>([^]*?)<\/script>/g);
  const styles = hashes(/ style="([^"]*)"/g);
  return [
    "default-src 'none'",
    `script-src ${["'self'", ...scripts].join(' ')}`,
    `style-src ${["'self'", hashOf(NO_FADING), ...(styles.length > 0 ? ["'unsafe-hashes'", ...styles] : [])].join(' ')}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
};

/**
 * Passes on what is not below /docs, the reference, and what does not exist, unless a browser asks: that
 * gets a page with links.
 */
export function serveDocs(folder: string): Middleware {
  const files = readBuilt(folder, 'index.html');
  const policies = new Map(
    Array.from(files ?? [], ([name, bytes]) => [
      name,
      name.endsWith('.html') ? policyOf(bytes.toString()) : '',
    ]),
  );
  return (ctx, next) => {
    if (!isReadBelow(ctx, BASE) && !isReadBelow(ctx, LIST)) return next();
    if (ctx.path === REFERENCE || ctx.path.startsWith(`${REFERENCE}/`)) return next();
    const name = ctx.path === LIST ? 'llms.txt' : ctx.path.slice(BASE.length + 1) || 'index';
    if (files && (sendPage(ctx, files, policies, name) || sendOther(ctx, files, name))) return undefined;
    if (ctx.accepts('json', 'html') !== 'html') return next();
    const { body, headers } = files ? MISSING : NOT_BUILT;
    ctx.set(headers);
    ctx.status = 404;
    ctx.body = body;
    return undefined;
  };
}

function sendPage(
  ctx: Context,
  files: StaticFiles,
  policies: ReadonlyMap<string, string>,
  name: string,
): boolean {
  const page = `${name}.html`;
  if (!files.has(page)) return false;
  ctx.vary('Accept');
  if (ctx.accepts('text/html', 'text/markdown') === 'text/markdown')
    return sendFile(ctx, files, `${name}.md`, ASKED_AGAIN);
  ctx.set('Content-Security-Policy', policies.get(page) ?? '');
  return sendFile(ctx, files, page, ASKED_AGAIN);
}

/** A file, or the page that is meant by another address: that of the document, or with an ending. */
function sendOther(ctx: Context, files: StaticFiles, name: string): boolean {
  if (!name.endsWith('.html') && sendFile(ctx, files, name, name.startsWith('assets/') ? KEPT : ASKED_AGAIN))
    return true;
  const meant = name.toLowerCase().replace(/\/?(?:(?:^|\/)(?:index|readme))?(?:\.html|\.md)?\/?$/, '');
  if (!files.has(`${meant}.html`) && meant !== '') return false;
  ctx.status = 301;
  ctx.redirect(meant === '' ? BASE : `${BASE}/${meant}`);
  return true;
}

const LINKS = [
  [BASE, 'Documentation'],
  [REFERENCE, 'API reference'],
  ['/dashboard', 'Dashboard'],
] as const;

const MISSING = linksPage('No such page', 'The documentation has no page at this address.', LINKS);
const NOT_BUILT = linksPage(
  'The documentation is not built',
  'npm start builds it, and so does npm run build:docs. The reference of the API is here without it.',
  LINKS.slice(1),
);
