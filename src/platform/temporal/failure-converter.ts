/**
 * Puts messages and stack traces of failures into a payload, which the codec encrypts. Loaded by the SDK, by
 * its path.
 */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
