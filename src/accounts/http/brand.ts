/** How a shop looks to its travellers and buyers. */
import { deceivingCharacter } from 'simway-client/search-text.ts';
import { z } from 'zod';
import { COLOR, textOn } from '../../domain/brand.ts';
import { dataObject, namedObject, text } from '../../platform/http/answer-fields.ts';
import { routesWith } from '../../platform/http/define-routes.ts';
import { countField, missingOr, nameTextField, textField } from '../../platform/http/fields.ts';
import { MAX_URL_CHARACTERS } from '../../platform/http/limits.ts';
import type { Route } from '../../platform/http/route.ts';
import type { MemberCases } from '../members.ts';
import { MAX_LOGO_BYTES, MAX_LOGO_PIXELS } from '../logo-rules.ts';
import type { StoredBrand } from '../store/brands.ts';
import { emailField } from './shared.ts';

const MAX_SHOP_NAME_CHARACTERS = 60;
const MAX_PRICE_TEXT_CHARACTERS = 120;
const MAX_PHONE_CHARACTERS = 20;
/** One after another on one journey. */
const MAX_TOP_UPS = 20;

/** It stands as written in the page: what a browser may read in another way than we do is refused. */
function isHttpsAddress(address: string): boolean {
  const url = URL.parse(address);
  const isPlain = /^https:\/\/[^/]/.test(address) && !/[\s\\]/.test(address);
  return url?.username === '' && url.password === '' && isPlain && deceivingCharacter(address) === undefined;
}

const brandBody = namedObject('BrandRequest', {
  shopName: nameTextField({
    max: MAX_SHOP_NAME_CHARACTERS,
    description: 'The name that travellers read',
    example: 'Atlas Travel',
  }).optional(),
  accentColor: z
    .string('must be a colour')
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as #0b57d0')
    .transform((color) => color.toLowerCase())
    .meta({
      description: 'Six hexadecimal digits. The text on it is black or white, whichever is easier to read',
      example: '#0b57d0',
      pattern: '^#[0-9a-fA-F]{6}$',
      type: 'string',
    })
    .optional(),
  supportEmail: emailField('Where travellers write to', 'help@merchant.example').optional(),
  supportUrl: textField({
    max: MAX_URL_CHARACTERS,
    description: 'Where travellers find help',
    example: 'https://merchant.example/help',
  })
    .refine(
      isHttpsAddress,
      'must be an address such as https://shop.example.com/help, without a user name in it',
    )
    .optional(),
  supportPhone: z
    .string('must be a phone number')
    .max(MAX_PHONE_CHARACTERS, `must be at most ${MAX_PHONE_CHARACTERS} characters long`)
    .regex(
      /^\+[1-9](?:[ -]?\d){6,14}$/,
      'must be a phone number with its country code, such as +44 20 7946 0018',
    )
    .meta({ description: 'With its country code', example: '+44 20 7946 0018' })
    .optional(),
  autoTopUp: z
    .object({
      priceText: nameTextField({
        max: MAX_PRICE_TEXT_CHARACTERS,
        description:
          'What a traveller pays you for a top-up, in your words. What your wallet pays is never shown to a traveller',
        example: '€4.50 for each top-up, charged to the card that you paid with',
      }),
      maxTopUps: countField({
        min: 1,
        max: MAX_TOP_UPS,
        description: 'The most that one eSIM gets through its install page',
        example: 5,
      }),
    })
    .optional()
    .describe('Offers automatic top-ups on install pages, which your wallet pays. Absent: no offer'),
});

/** Base64 is a third longer than what it writes. */
const MAX_LOGO_CHARACTERS = Math.ceil(MAX_LOGO_BYTES / 3) * 4 + 4;

const logoBody = namedObject('LogoRequest', {
  image: z
    .base64({ error: missingOr('must be a picture in base64') })
    .min(1, 'must not be empty')
    .meta({
      description: `A PNG, JPEG or WebP picture in base64, at most ${MAX_LOGO_BYTES / 1024} KB and ${MAX_LOGO_PIXELS} pixels wide and high. No SVG`,
      example:
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    }),
});

const brandSchema = dataObject('Brand', {
  shopName: z.string().nullable(),
  accentColor: text('Six hexadecimal digits', '#0b57d0').nullable(),
  textOnAccent: text('The colour of texts on it: black or white', '#ffffff').nullable(),
  logoPath: text(
    'Where the logo is, under the address of the API; another one for each picture',
    `/i/logos/${'7c'.repeat(32)}`,
  ).nullable(),
  supportEmail: z.string().nullable(),
  supportUrl: z.string().nullable(),
  supportPhone: z.string().nullable(),
  autoTopUp: z.object({ priceText: z.string(), maxTopUps: z.number().int() }).nullable(),
});

const present = (brand: StoredBrand) => ({
  ...brand,
  textOnAccent:
    brand.accentColor !== null && COLOR.test(brand.accentColor) ? textOn(brand.accentColor) : null,
});

const BRAND = '/account/brand';
const LOGO = `${BRAND}/logo` as const;

const forMember = routesWith<MemberCases, 'member'>('member', 'Account');

export const brandRoutes: readonly Route<MemberCases>[] = [
  forMember.get(BRAND, {
    memberPermission: 'read',
    answer: [200, 'The brand', brandSchema],
    operationId: 'getBrand',
    summary: 'Read the brand',
    description:
      'On the install page and on the page after a checkout, in the environment that `Simway-Environment` names.',
    handle: async ({ cases, member, environment }) => present(await cases.readBrand(member, environment)),
  }),
  forMember.put(BRAND, {
    // With `autoTopUp` travellers spend the wallet.
    confirmed: 'live',
    memberPermission: 'webhooks',
    body: brandBody,
    answer: [200, 'The brand as it now is', brandSchema],
    operationId: 'setBrand',
    summary: 'Set the brand',
    description:
      'Replaces the earlier brand of this environment: a field that you leave out is not set any more. The logo stays. With `autoTopUp`, ' +
      'install pages offer automatic top-ups.',
    handle: async ({ cases, member, environment, body }) => {
      const { shopName = null, accentColor = null, autoTopUp = null } = body;
      const { supportEmail = null, supportUrl = null, supportPhone = null } = body;
      const brand = { shopName, accentColor, autoTopUp, supportEmail, supportUrl, supportPhone };
      return present(await cases.changeBrand(member, environment, brand));
    },
  }),
  forMember.put(LOGO, {
    memberPermission: 'webhooks',
    body: logoBody,
    bodyLimits: { maxBytes: MAX_LOGO_CHARACTERS + 1_024, maxMembers: 10 },
    answer: [200, 'The brand with the logo', brandSchema],
    operationId: 'setBrandLogo',
    summary: 'Set the logo of the shop',
    description:
      'In place of the earlier one. Its kind and size are read from its bytes. Anything but a PNG, JPEG or WebP picture is refused and changes nothing.',
    handle: async ({ cases, member, environment, body }) =>
      present(await cases.changeLogo(member, environment, Buffer.from(body.image, 'base64'))),
  }),
  forMember.delete(LOGO, {
    memberPermission: 'webhooks',
    answer: [200, 'The brand without a logo', brandSchema],
    operationId: 'removeBrandLogo',
    summary: 'Remove the logo of the shop',
    description: 'Pages show the name alone. Repeating it changes nothing.',
    handle: async ({ cases, member, environment }) => present(await cases.removeLogo(member, environment)),
  }),
];
