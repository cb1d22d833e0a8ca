/** Simway's API for servers: README.md of this package. */
export { addAmounts, compareAmounts, decimal, fromMinor, toMinor, toNumber, type Amount } from './amounts.ts';
export { isCode, SimwayError, type SimwayErrorCode } from './error.ts';
export type * from './generated/types.gen.ts';
export { intend, type Intent } from './intent.ts';
export { MAGIC_PACKAGES, sandboxEsim, topUpOf, type MagicPackage } from './sandbox.ts';
export { Simway, type SimwayOptions } from './simway.ts';
export { verifyWebhook, WebhookVerificationError, type WebhookEvent } from './webhooks.ts';
