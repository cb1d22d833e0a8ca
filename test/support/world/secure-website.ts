// A company's website over https at a literal address of this machine, with a certificate that a child
// process can be made to trust.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeCertificate } from '../../platform/outbound.support.ts';
import { makeTestFolder } from './test-folder.ts';

export async function startSecureWebsite() {
  const { key, cert } = makeCertificate('127.0.0.1');
  const certificateFile = join(await makeTestFolder(), 'website.pem');
  await writeFile(certificateFile, cert);
  const server = createServer(
    { key: key.export({ type: 'pkcs8', format: 'pem' }), cert },
    (_request, response) => response.end('hello'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** For NODE_EXTRA_CA_CERTS. */
    certificateFile,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
