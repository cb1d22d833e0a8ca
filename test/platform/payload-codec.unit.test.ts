// Payloads stored by Temporal: unreadable, unchangeable, of one environment; keys can be replaced, and
// payloads in clear stay readable.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import {
  decodeOptionalFailureToOptionalError,
  encodeErrorToFailure,
  loadDataConverter,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import {
  createPayloadCodec,
  dataConverterOf,
  PayloadUnreadable,
} from '../../src/platform/temporal/payload-codec.ts';
import { temporalFailure } from '../../src/platform/temporal/errors.ts';

const [OLD, NEW] = ['0123456789abcdef'.repeat(4), randomBytes(32).toString('hex')];
const INPUT = { packageCode: 'NG-5GB-30D', priceMinor: '1234', accountId: 'acc-secret' };
const clear = defaultPayloadConverter.toPayload(INPUT);

const codec = (
  key: string | undefined,
  previousKeys: string[] = [],
  namespace = 'simway-live',
  onUnreadable?: (error: Error) => void,
) => createPayloadCodec({ keys: { key, previousKeys }, namespace, onUnreadable });

async function sealed(by = codec(NEW)): Promise<Payload> {
  const [payload] = await by.encode([clear]);
  return payload!;
}

const textOf = ({ metadata = {}, data }: Payload): string =>
  [...Object.values(metadata ?? {}), data ?? new Uint8Array()]
    .map((bytes) => Buffer.from(bytes).toString('latin1'))
    .join('\n');

const valueOf = ([payload]: Payload[]): unknown => defaultPayloadConverter.fromPayload(payload!);

describe('an encrypted payload', () => {
  it('decrypts to the original, metadata included', async () => {
    const [opened] = await codec(NEW).decode([await sealed()]);
    expect(valueOf([opened!])).toEqual(INPUT);
    expect(textOf(opened!)).toBe(textOf(clear));
  });

  it('shows nothing but the key’s id, and differs each time', async () => {
    const [first, second] = [await sealed(), await sealed()];
    for (const word of Object.values(INPUT)) expect(textOf(first)).not.toContain(word);
    expect(Object.keys(first.metadata ?? {})).toEqual(['encoding', 'encryption-key-id']);
    expect(textOf(first)).toMatch(/^binary\/encrypted\n[0-9a-f]{16}\n/);
    expect(textOf(first)).not.toContain(NEW.slice(0, 16));
    expect(textOf(first)).not.toBe(textOf(second));
  });

  it('of one environment cannot be decrypted in another', async () => {
    const errors: Error[] = [];
    const live = codec(NEW, [], 'simway-live', (error) => errors.push(error));
    const copied = await sealed(codec(NEW, [], 'simway-test'));
    await expect(live.decode([copied])).rejects.toThrow(
      /simway-live under key [0-9a-f]{16} is unreadable: it was changed, or made for another namespace/,
    );
    expect(errors).toHaveLength(1);
  });
});

describe('a key', () => {
  it('that was replaced decrypts what it encrypted, and encrypts no more', async () => {
    const after = codec(NEW, [OLD]);
    const old = await sealed(codec(OLD));
    expect(valueOf(await after.decode([old]))).toEqual(INPUT);
    await expect(codec(OLD).decode(await after.encode([clear]))).rejects.toBeInstanceOf(PayloadUnreadable);
  });

  it('that is missing is named by its id, with its settings, and not shown', async () => {
    const old = await sealed(codec(OLD));
    const keyId = Buffer.from(old.metadata!['encryption-key-id']!).toString();
    for (const without of [codec(NEW), codec(undefined)]) {
      const error: unknown = await without.decode([old]).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(PayloadUnreadable);
      const { message } = error as Error;
      for (const part of [keyId, 'SIMWAY_TEMPORAL_CODEC_KEY', 'SIMWAY_TEMPORAL_CODEC_PREVIOUS_KEYS'])
        expect(message).toContain(part);
      for (const key of [OLD, NEW]) expect(message).not.toContain(key.slice(0, 12));
      // The call may have taken effect all the same.
      expect(temporalFailure(error)).toBe('no-answer');
    }
  });

  it('that was removed still decrypts as a previous one: encryption can be switched off', async () => {
    const off = codec(undefined, [NEW]);
    expect(valueOf(await off.decode([await sealed()]))).toEqual(INPUT);
    expect(await off.encode([clear])).toEqual([clear]);
  });
});

it('payloads in clear are read with and without a key, also mixed with encrypted ones', async () => {
  for (const any of [codec(NEW), codec(undefined)]) expect(await any.decode([clear])).toEqual([clear]);
  const [first, second] = await codec(NEW).decode([clear, await sealed()]);
  expect([valueOf([first!]), valueOf([second!])]).toEqual([INPUT, INPUT]);
});

describe('the failure of a step', () => {
  const converterWith = (key: string | undefined) =>
    loadDataConverter(dataConverterOf({ keys: { key, previousKeys: [] }, namespace: 'simway-live' }));

  it('has its message and stack only for readers with the key', async () => {
    const converter = converterWith(NEW);
    const failure = await encodeErrorToFailure(converter, new Error('NG-5GB-30D is refused'));
    expect([failure.message, failure.stackTrace]).toEqual(['Encoded failure', '']);
    expect(textOf(failure.encodedAttributes!)).toMatch(/^binary\/encrypted/);
    const error = await decodeOptionalFailureToOptionalError(converter, failure);
    expect(error?.message).toBe('NG-5GB-30D is refused');
  });

  it('is readable while encryption is off', async () => {
    const failure = await encodeErrorToFailure(converterWith(undefined), new Error('NG-5GB-30D is refused'));
    expect(failure.message).toBe('NG-5GB-30D is refused');
    expect(failure.encodedAttributes).toBeFalsy();
  });
});
