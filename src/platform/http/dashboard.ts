/**
 * Serves the built dashboard (the folder dashboard/): its assets, and for every other address below
 * /dashboard its one page.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Middleware } from 'koa';
import { isReadBelow, KEPT, PAGE_HEADERS, readBuilt, sendFile } from './static-files.ts';

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

/** The icon keeps its name. */
const KEPT_ICON = 'public, max-age=3600';

/** Passes on everything that is not below /dashboard, and all of it while the dashboard is not built. */
export function serveDashboard(folder: string): Middleware {
  const files = readBuilt(folder, 'index.html');
  const page = files?.get('index.html')?.toString() ?? '';
  return (ctx, next) => {
    if (!files || !isReadBelow(ctx, '/dashboard')) return next();
    const file = ctx.path.slice('/dashboard/'.length);
    if (file.startsWith('assets/') || file === 'icon.svg') {
      if (sendFile(ctx, files, file, file === 'icon.svg' ? KEPT_ICON : KEPT)) return undefined;
      ctx.status = 404;
      ctx.body = 'No such file';
      return undefined;
    }
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    ctx.set({
      ...PAGE_HEADERS,
      'Content-Security-Policy': policyWith(nonce),
      'Cache-Control': 'no-store',
    });
    ctx.type = 'html';
    ctx.body = page.replace(NONCE_MARK, nonce);
    return undefined;
  };
}
