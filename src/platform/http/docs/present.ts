/**
 * The reference page: Swagger UI from its npm package, served from here, so that reading the docs needs no third party and runs
 * under a content policy that allows nothing from elsewhere.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const PACKAGE = 'swagger-ui-dist';

const START_SCRIPT = `window.addEventListener('load', () => {
  window.ui = SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null });
});
`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>eSIM Reseller API</title>
  <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
  <link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
  <div id="swagger-ui"></div>
  <script src="/docs/swagger-ui-bundle.js"></script>
  <script src="/docs/start.js"></script>
</body>
</html>
`;

/** Swagger UI sets style attributes and inlines its icons as data: images; scripts come from here alone. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface DocsFile {
  readonly contentType: string;
  readonly body: Buffer;
}

const FILES_OF_PACKAGE: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const ONE_HOUR_SECONDS = 3_600;

/** Headers of the page and of its files. */
export function docsHeaders(contentType: string): Record<string, string> {
  return {
    'Content-Type': contentType,
    'Content-Security-Policy': CONTENT_POLICY,
    'Cache-Control': `public, max-age=${ONE_HOUR_SECONDS}`,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  };
}

export function docsPage(): DocsFile {
  return { contentType: 'text/html; charset=utf-8', body: Buffer.from(PAGE) };
}

/** Reads the page's files on first use and keeps them; `undefined` for any other name. */
export function createDocsFiles(): (name: string) => Promise<DocsFile> | undefined {
  const folder = dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`));
  const loaded = new Map<string, Promise<DocsFile>>();
  loaded.set(
    'start.js',
    Promise.resolve({ contentType: 'text/javascript; charset=utf-8', body: Buffer.from(START_SCRIPT) }),
  );
  return (name) => {
    const known = loaded.get(name);
    if (known) return known;
    const contentType = Object.hasOwn(FILES_OF_PACKAGE, name) ? FILES_OF_PACKAGE[name] : undefined;
    if (contentType === undefined) return undefined;
    const reading = readFile(join(folder, name)).then((body) => ({ contentType, body }));
    // A file that could not be read is tried again by the next request.
    reading.catch(() => loaded.delete(name));
    loaded.set(name, reading);
    return reading;
  };
}
