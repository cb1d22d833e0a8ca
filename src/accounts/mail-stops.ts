/** The link in a mail to a stranger that ends such mail to the address, of which it holds a hash alone. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { hashOfAddress } from './store/mail-turns.ts';

export const MAIL_STOP_PATH = '/mails/stop';

const TOKEN = /^[\w-]{86}$/;
const HASH_BYTES = 32;

export type MailStops = ReturnType<typeof createMailStops>;

/** `publicUrl`: of the API, without a trailing slash. */
export function createMailStops({
  idSecret,
  publicUrl,
}: {
  readonly idSecret: Buffer;
  readonly publicUrl: string;
}) {
  const key = Buffer.from(hkdfSync('sha256', idSecret, '', 'simway mail stops 1', HASH_BYTES));
  const sign = (address: Buffer): Buffer => createHmac('sha256', key).update(address).digest();
  return {
    urlFor: (address: string): string => {
      const sha256 = hashOfAddress(address);
      return `${publicUrl}${MAIL_STOP_PATH}/${Buffer.concat([sha256, sign(sha256)]).toString('base64url')}`;
    },
    /** The hash of the address; undefined for a token that we have not made. */
    read: (token: string): Buffer | undefined => {
      if (!TOKEN.test(token)) return undefined;
      const bytes = Buffer.from(token, 'base64url');
      const [sha256, signature] = [bytes.subarray(0, HASH_BYTES), bytes.subarray(HASH_BYTES)];
      return timingSafeEqual(signature, sign(sha256)) ? sha256 : undefined;
    },
  };
}
