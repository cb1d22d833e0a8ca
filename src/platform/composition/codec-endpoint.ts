import type { CodecEndpoint } from '../http/codec-endpoint.ts';
import { createPayloadCodec } from '../temporal/payload-codec.ts';
import { worldConfigs, type ProcessContext } from './compose.ts';

/** Undefined unless the Temporal UI's origin is set. */
export function composeCodecEndpoint({ config, secrets }: ProcessContext): CodecEndpoint | undefined {
  const { temporalUiOrigin: uiOrigin } = config;
  if (uiOrigin === undefined) return undefined;
  const { codecKeys: keys } = secrets.temporal;
  return {
    uiOrigin,
    codecs: new Map(
      worldConfigs(config).map(({ namespace }) => [namespace, createPayloadCodec({ keys, namespace })]),
    ),
  };
}
