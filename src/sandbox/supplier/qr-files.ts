/** QR pictures for `--public-host self`: the picture behind qrCodeUrl, to see in a browser. */
import type { ServerResponse } from 'node:http';
import { toBuffer } from 'qrcode';
import { qrNameOf } from './numbers.ts';
import type { OrderStore } from './storage/store.ts';

const RECENT_ESIMS = 5000;

/** Answers `GET /qr/<name>` and `/qr/<name>.png`; false when the path is not the QR picture of one of its eSIMs. */
export function createQrFiles(
  activationCode: (esimTranNo: string) => string,
  orders: OrderStore,
): (path: string, response: ServerResponse) => Promise<boolean> {
  return async (path, response) => {
    const name = /^\/qr\/([0-9a-f]{32})(?:\.png)?$/.exec(path)?.[1];
    if (name === undefined) return false;
    const esim = orders.recentEsims(RECENT_ESIMS).find(({ esimTranNo }) => qrNameOf(esimTranNo) === name);
    if (esim === undefined) return false;
    const png = await toBuffer(activationCode(esim.esimTranNo), { type: 'png', margin: 2, scale: 6 });
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': png.length });
    response.end(png);
    return true;
  };
}
