/**
 * The vendor's request headers: the access code alone, or with an HMAC-SHA256 over exactly the bytes that are sent.
 * Pure but for what is handed in. Must not keep or log the key.
 */
import { createHmac } from 'node:crypto';

export interface Credentials {
  readonly accessCode: string;
  /** The signing key. Newer accounts sign with the access code itself, so it is the default. */
  readonly secretKey?: string | undefined;
  /** Off: only the access code is sent, which the vendor takes too. */
  readonly sign: boolean;
}

/**
 * The authentication headers of one request. `timestamp` and `requestId` must be fresh for every attempt, since the vendor refuses
 * old timestamps (101001).
 */
export function authenticationHeaders(
  credentials: Credentials,
  request: { readonly timestamp: string; readonly requestId: string; readonly body: string },
): Record<string, string> {
  const { accessCode, secretKey, sign } = credentials;
  if (!sign) return { 'RT-AccessCode': accessCode };
  const signature = createHmac('sha256', secretKey ?? accessCode)
    .update(request.timestamp + request.requestId + accessCode + request.body, 'utf8')
    .digest('hex');
  return {
    'RT-AccessCode': accessCode,
    'RT-RequestID': request.requestId,
    'RT-Timestamp': request.timestamp,
    'RT-Signature': signature,
  };
}
