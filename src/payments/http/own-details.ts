/** What callers say for themselves: the fields of requests that open something, and of answers about it. */
import { z } from 'zod';
import { emailField } from '../../accounts/http/shared.ts';
import type { Metadata, OwnDetails } from '../../domain/own-details.ts';
import { METADATA_EXAMPLE } from '../../platform/http/answer-fields.ts';
import { isCleanText, nameTextField, textField } from '../../platform/http/fields.ts';
import {
  MAX_METADATA_KEY_CHARACTERS,
  MAX_METADATA_KEYS,
  MAX_METADATA_VALUE_CHARACTERS,
  MAX_REFERENCE_CHARACTERS,
  MAX_URL_CHARACTERS,
} from '../../platform/http/limits.ts';

/** What naming them may be refused with. */
export const OWN_DETAILS_ERRORS = ['REFERENCE_ALREADY_USED', 'RETURN_URL_NOT_ALLOWED'] as const;

const KEY = new RegExp(`^[A-Za-z0-9_.-]{1,${MAX_METADATA_KEY_CHARACTERS}}$`);

/** A key as a refusal names it: it may be anything. */
const shownKey = (key: string): string =>
  key.slice(0, MAX_METADATA_KEY_CHARACTERS).replaceAll(/[^A-Za-z0-9_.-]/g, '?') || '?';

function problemOf(key: string, value: unknown): string | undefined {
  if (!KEY.test(key) || key === '__proto__')
    return `must be a key of 1 to ${MAX_METADATA_KEY_CHARACTERS} letters, digits and _.-`;
  if (typeof value !== 'string') return 'must be a text';
  if (value.length > MAX_METADATA_VALUE_CHARACTERS)
    return `must be at most ${MAX_METADATA_VALUE_CHARACTERS} characters long`;
  return isCleanText(value) ? undefined : 'must not contain control characters or broken Unicode';
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);

const metadata = z
  .custom<object>(isObject, 'must be an object of texts')
  .transform((given, check): Metadata => {
    const entries = Object.entries<unknown>(given as Record<string, unknown>);
    if (entries.length > MAX_METADATA_KEYS)
      check.addIssue({ code: 'custom', message: `must have at most ${MAX_METADATA_KEYS} keys` });
    for (const [key, value] of entries) {
      const message = problemOf(key, value);
      if (message !== undefined) check.addIssue({ code: 'custom', message, path: [shownKey(key)] });
    }
    return Object.fromEntries(entries) as Metadata;
  })
  .meta({
    type: 'object',
    maxProperties: MAX_METADATA_KEYS,
    additionalProperties: { type: 'string', maxLength: MAX_METADATA_VALUE_CHARACTERS },
    description: `At most ${MAX_METADATA_KEYS} texts of your own: keys of up to ${MAX_METADATA_KEY_CHARACTERS} letters, digits and \`_.-\`, values of up to ${MAX_METADATA_VALUE_CHARACTERS} characters. Given back in answers, lists and webhooks. Put no secrets in it`,
    example: METADATA_EXAMPLE,
  });

function isWebAddress(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

const returnUrl = (description: string) =>
  textField({
    max: MAX_URL_CHARACTERS,
    description: `${description} \`{transactionId}\` in it is replaced. Its host must be among the return hosts of the account`,
    example: 'https://shop.example/orders/{transactionId}',
  })
    .refine(isWebAddress, 'must be an https address without a user in it')
    .optional();

const fields = {
  reference: nameTextField({
    max: MAX_REFERENCE_CHARACTERS,
    description:
      'Your own name for it, such as an order number. Given back in answers, lists and webhooks, and found by the search',
    example: 'order-1001',
  }).optional(),
  uniqueReference: z
    .boolean('must be true or false')
    .optional()
    .describe(
      'true: refused with `REFERENCE_ALREADY_USED` where another purchase or funding of yours in this environment has this `reference` and did not fail',
    ),
  metadata: metadata.optional(),
  customerEmail: emailField(
    'Of the buyer who pays at the gateway: its receipt goes there instead of to the account. Kept for 30 days. Not used for WALLET',
    'buyer@example.com',
  ).optional(),
  successUrl: returnUrl('Where the page after a checkout sends the buyer once it is paid.'),
  cancelUrl: returnUrl('Where it sends the buyer if the payment failed or was given up.'),
};

/** Part of the body of a request. Needs `hasItsReference` too. */
export const ownDetailsFields = fields;

type Given = { readonly [Name in keyof typeof fields]?: z.output<(typeof fields)[Name]> };

/** For `refine`. */
export const hasItsReference: [(body: Given) => boolean, { path: string[]; error: string }] = [
  ({ reference, uniqueReference }) => uniqueReference !== true || reference !== undefined,
  { path: ['reference'], error: 'is required with uniqueReference' },
];

export function ownDetailsIn(body: Given): OwnDetails {
  const { reference, uniqueReference, metadata: own, customerEmail, successUrl, cancelUrl } = body;
  return { reference, uniqueReference, metadata: own, customerEmail, successUrl, cancelUrl };
}
