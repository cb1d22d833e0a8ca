import { join } from 'node:path';
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

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [react(), compressed()],
  // The content policy allows no data: addresses for scripts and styles.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
});
