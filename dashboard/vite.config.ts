import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { compressFiles } from '../packages/compress-files.ts';

/**
 * Writes each asset in the two forms that browsers ask for, so that the server compresses nothing while it
 * runs.
 */
function compressed(): Plugin {
  return {
    name: 'compressed',
    writeBundle: ({ dir = '' }) => compressFiles(join(dir, 'assets'), constants.BROTLI_MAX_QUALITY),
  };
}

/** Flags of countries as files of ours, in a folder named by their version: browsers keep them for good. */
function flags(): Plugin {
  const folder = dirname(fileURLToPath(import.meta.resolve('country-flag-icons/package.json')));
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  const codes = readdirSync(join(folder, '3x2')).flatMap((file) => /^([A-Z]{2})\.svg$/.exec(file)?.[1] ?? []);
  const place = `assets/flags-${version}`;
  return {
    name: 'flags',
    config: () => ({
      define: { FLAGS: JSON.stringify(`/dashboard/${place}`), FLAG_CODES: JSON.stringify(codes.join('')) },
    }),
    generateBundle() {
      for (const code of codes)
        this.emitFile({
          type: 'asset',
          fileName: `${place}/${code}.svg`,
          source: readFileSync(join(folder, '3x2', `${code}.svg`)),
        });
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [react(), flags(), compressed()],
  // The content policy allows no data: addresses for scripts and styles.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
});
