/**
 * Encrypts what Temporal keeps of our workflows: inputs, results, memos, summaries, and the messages of
 * failed steps. Search attributes, ids, types and headers stay readable (docs/OPERATIONS.md lists them). A
 * payload opens only in the namespace that it was made for.
 */
import { fileURLToPath } from 'node:url';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { keyIdOf, createByteBox, SealKeyMissing } from '../secret-box.ts';

export interface CodecKeys {
  /** 64 hexadecimal digits. Undefined: payloads are written in clear. */
  readonly key: string | undefined;
  /** Keys before it, which still decrypt. */
  readonly previousKeys: readonly string[];
}

export interface CodecOptions {
  /** Undefined: no keys, nothing is encrypted. */
  readonly keys: CodecKeys | undefined;
  readonly namespace: string;
  /** Called with each error of `decode`. */
  readonly onUnreadable?: ((error: PayloadUnreadable) => void) | undefined;
}

/** Says which key it was, and nothing of the payload. */
export class PayloadUnreadable extends Error {
  override readonly name = 'PayloadUnreadable';
}

const ENCRYPTED = Buffer.from('binary/encrypted');
const NULL = Buffer.from('binary/null');

const FAILURE_CONVERTER = fileURLToPath(new URL('./failure-converter.ts', import.meta.url));

const message = proto.temporal.api.common.v1.Payload;

/**
 * For the SDK's clients and workers. While we encrypt, messages and stack traces of failed steps become
 * payloads too. Failures that workflow code throws by itself are fixed sentences, and stay readable.
 */
export function dataConverterOf(options: CodecOptions): DataConverter {
  return {
    payloadCodecs: [createPayloadCodec(options)],
    failureConverterPath: options.keys?.key === undefined ? undefined : FAILURE_CONVERTER,
  };
}

/** Reads payloads in clear as they are: histories from before the key have them. */
export function createPayloadCodec({ keys, namespace, onUnreadable }: CodecOptions): PayloadCodec {
  const { key, previousKeys = [] } = keys ?? {};
  const [newest, ...older] = key === undefined ? previousKeys : [key, ...previousKeys];
  const box = newest === undefined ? undefined : createByteBox({ key: newest, previousKeys: older });
  const encrypts = key === undefined ? undefined : box;
  const about = `Temporal payloads of ${namespace}`;
  const decrypt = (payload: Payload): Payload => {
    if (!isEncrypted(payload)) return payload;
    const sealed = Buffer.from(payload.data ?? []);
    try {
      if (!box) throw new SealKeyMissing();
      // A copy: what reaches the workflow's thread must not drag Node's shared buffer with it.
      return message.decode(Uint8Array.from(box.open(sealed, about)));
    } catch (cause) {
      const error = unreadable(cause, keyIdOf(sealed), namespace);
      onUnreadable?.(error);
      throw error;
    }
  };
  return {
    encode: (payloads) =>
      Promise.resolve(
        encrypts ? payloads.map((payload) => sealedAs(encrypts.seal(bytesOf(payload), about))) : payloads,
      ),
    decode: (payloads) => Promise.resolve(payloads).then((all) => all.map(decrypt)),
  };
}

/** For clients that read states only: a memo that cannot be decrypted must not hide its workflow. */
export const UNREAD_PAYLOADS: PayloadCodec = {
  encode: () => Promise.reject(new Error('this client only reads')),
  decode: (payloads) => Promise.resolve(payloads.map(() => ({ metadata: { encoding: NULL } }))),
};

const bytesOf = (payload: Payload): Uint8Array => message.encode(payload).finish();

function sealedAs(data: Buffer): Payload {
  const keyId = Buffer.from(keyIdOf(data));
  return { metadata: { encoding: ENCRYPTED, 'encryption-key-id': keyId }, data };
}

function isEncrypted({ metadata }: Payload): boolean {
  const encoding = metadata?.['encoding'];
  return encoding !== undefined && ENCRYPTED.equals(encoding);
}

function unreadable(cause: unknown, keyId: string, namespace: string): PayloadUnreadable {
  const why =
    cause instanceof SealKeyMissing
      ? 'the key is neither SIMWAY_TEMPORAL_CODEC_KEY nor one of SIMWAY_TEMPORAL_CODEC_PREVIOUS_KEYS'
      : 'it was changed, or made for another namespace';
  return new PayloadUnreadable(
    `A Temporal payload in ${namespace} under key ${keyId} is unreadable: ${why}`,
    {
      cause,
    },
  );
}
