/**
 * Serves the built dashboard (the folder dashboard/): its assets, and for every other address below
 * /dashboard its one page.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Middleware } from 'koa';

/** Where `npm run build:dashboard` writes it. */
export const DASHBOARD_FOLDER = join(import.meta.dirname, '../../../dashboard/dist');

const NONCE_MARK = 'STYLE_NONCE';
const NONCE_BYTES = 16;

/**
 * Scripts come from files of ours alone. Mantine writes its variables into style elements, which carry the
 * answer's own nonce.
 */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

const HEADERS = {
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/**
 * Made by the build beside each asset that is worth it (dashboard/vite.config.ts). The first that the browser
 * takes is sent.
 */
const FORMS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** A name changes with its content, so browsers keep a file for a year. */
const KEPT = 'public, max-age=31536000, immutable';
/** The icon keeps its name. */
const KEPT_ICON = 'public, max-age=3600';

/**
 * Passes on everything that is not below /dashboard, and all of it while the dashboard is not built. All
 * files are read at the start: 3 MB, and a build that replaces them breaks nothing that runs.
 */
export function serveDashboard(folder: string): Middleware {
  const built = readBuilt(folder);
  return (ctx, next) => {
    if (!built || !isBelow(ctx) || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next();
    ctx.set(HEADERS);
    const file = ctx.path.slice('/dashboard/'.length);
    if (file.startsWith('assets/') || file === 'icon.svg') {
      sendFile(ctx, file, built.files);
      return undefined;
    }
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    ctx.set({ 'Content-Security-Policy': policyWith(nonce), 'Cache-Control': 'no-store' });
    ctx.type = 'html';
    ctx.body = built.page.replace(NONCE_MARK, nonce);
    return undefined;
  };
}

/** Most requests are for other addresses: Koa parses the URL only where it names ours. */
function isBelow(ctx: Parameters<Middleware>[0]): boolean {
  if (!ctx.req.url?.includes('/dashboard')) return false;
  return ctx.path === '/dashboard' || ctx.path.startsWith('/dashboard/');
}

function sendFile(ctx: Parameters<Middleware>[0], name: string, files: ReadonlyMap<string, Buffer>): void {
  const plain = TYPES[extname(name)] === undefined ? undefined : files.get(name);
  if (!plain) {
    ctx.status = 404;
    ctx.body = 'No such file';
    return;
  }
  ctx.set({ 'Cache-Control': name === 'icon.svg' ? KEPT_ICON : KEPT, Vary: 'Accept-Encoding' });
  ctx.set('Content-Type', TYPES[extname(name)] ?? '');
  for (const [encoding, ending] of FORMS) {
    const form = files.get(`${name}${ending}`);
    if (!form || ctx.acceptsEncodings(encoding) !== encoding) continue;
    ctx.set('Content-Encoding', encoding);
    ctx.body = form;
    return;
  }
  ctx.body = plain;
}

/** undefined: the dashboard is not built. */
function readBuilt(folder: string) {
  try {
    const page = readFileSync(join(folder, 'index.html'), 'utf8');
    const names = ['icon.svg', ...readdirSync(join(folder, 'assets')).map((name) => `assets/${name}`)];
    return { page, files: new Map(names.map((name) => [name, readFileSync(join(folder, name))])) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
