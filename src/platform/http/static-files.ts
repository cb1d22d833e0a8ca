/** Files of a build, as browsers get them. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import type { Context } from 'koa';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/**
 * Made by the build beside each file that is worth it (packages/compress-files.ts). The first that the
 * browser takes is sent.
 */
const FORMS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** The name changes with the content, so browsers keep the file for a year. */
export const KEPT = 'public, max-age=31536000, immutable';
/** The name stays: browsers ask again, and get 304 while nothing has changed. */
export const ASKED_AGAIN = 'no-cache';

export const PAGE_HEADERS = {
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** Most requests are for other addresses: Koa parses the URL only where it names ours. */
export function isReadBelow(ctx: Context, path: string): boolean {
  if (ctx.req.url?.includes(path) !== true || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return false;
  return ctx.path === path || ctx.path.startsWith(`${path}/`);
}

/** By name below the folder, compressed forms included. */
export type StaticFiles = ReadonlyMap<string, Buffer>;

/**
 * All files are read at the start: some MB, and a build that replaces them breaks nothing that runs.
 * undefined: `first` does not exist, so nothing is built.
 */
export function readBuilt(folder: string, first: string): StaticFiles | undefined {
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  const built = new Map(paths.map((path) => [relative(folder, path), readFileSync(path)]));
  return built.has(first) ? built : undefined;
}

/** False: there is no such file, or none that browsers take. */
export function sendFile(ctx: Context, files: StaticFiles, name: string, cacheControl: string): boolean {
  const type = TYPES[extname(name)];
  const plain = files.get(name);
  if (type === undefined || !plain) return false;
  ctx.set({ ...PAGE_HEADERS, 'Content-Type': type, 'Cache-Control': cacheControl, ETag: etagOf(plain) });
  ctx.vary('Accept-Encoding');
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return true;
  }
  ctx.body = plain;
  for (const [encoding, ending] of FORMS) {
    const form = files.get(`${name}${ending}`);
    if (!form || ctx.acceptsEncodings(encoding) !== encoding) continue;
    ctx.set('Content-Encoding', encoding);
    ctx.body = form;
    break;
  }
  // Koa takes the type of bytes away from one that it was given before.
  ctx.set('Content-Type', type);
  return true;
}

const etags = new WeakMap<Buffer, string>();

/** Weak: it is the same for all forms of a file. */
function etagOf(bytes: Buffer): string {
  const known = etags.get(bytes) ?? `W/"${createHash('sha256').update(bytes).digest('base64url')}"`;
  etags.set(bytes, known);
  return known;
}
