import { z } from 'zod';
import { ENVIRONMENTS, PLANS, SCOPES } from '../../domain/account.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { isoTime } from '../../platform/http/answer-fields.ts';
import { cursorField } from '../../platform/http/cursor.ts';
import { choiceField, textField, timeField, wholeNumberField } from '../../platform/http/fields.ts';
import { parseRange } from '../../platform/http/addresses.ts';
import {
  DEFAULT_FEED_LIMIT,
  MAX_ACCOUNT_NAME_CHARACTERS,
  MAX_ALLOWED_ADDRESSES,
  MAX_PAGE_LIMIT,
  MAX_REQUEST_ID_CHARACTERS,
  MAX_WEBHOOK_URL_CHARACTERS,
} from '../../platform/http/limits.ts';
import { dataSchema, listSchema } from '../../platform/http/answer-fields.ts';
import { MEMBER_ROLES } from '../../domain/member-roles.ts';
import { companyNameField, emailField, mailSentSchema } from './auth-schema.ts';

const roleField = choiceField(MEMBER_ROLES, { description: 'What the member may do', example: 'DEVELOPER' });

const websiteField = textField({
  max: MAX_WEBHOOK_URL_CHARACTERS,
  description: 'The website of the company; a web server must answer there',
  example: 'https://merchant.example',
});

const accountFields = {
  accountId: z.string().meta({ example: 'acc-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  name: z.string(),
  email: z.string().meta({ description: 'Where mail about the account goes' }),
  websiteUrl: z.string().nullable(),
  currency: z.enum(ACCOUNT_CURRENCIES),
  plan: z.enum(PLANS),
  requestsPerMinute: z.number().int(),
  createdAt: isoTime('ISO 8601'),
};

export const accountSchema = dataSchema(z.object(accountFields), 'OwnAccount');

export const changeAccountBody = z
  .object({
    name: textField({
      max: MAX_ACCOUNT_NAME_CHARACTERS,
      description: 'The name of the account',
      example: 'Merchant Travel Ltd',
    }).optional(),
    websiteUrl: websiteField.optional(),
  })
  .refine((body) => Object.values<unknown>(body).some((value) => value !== undefined), {
    message: 'must hold name or websiteUrl',
  })
  .meta({ id: 'ChangeAccountRequest' });

export const memberItem = z
  .object({
    userId: z.string().meta({ example: 'user-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
    email: z.string(),
    name: z.string(),
    role: z.enum(MEMBER_ROLES),
    hasSecondFactor: z.boolean(),
    joinedAt: isoTime('ISO 8601'),
  })
  .meta({ id: 'Member' });

export const membersSchema = listSchema(memberItem, 'MemberList');
export const memberSchema = dataSchema(memberItem, 'MemberAnswer');
export const changeMemberBody = z.object({ role: roleField }).meta({ id: 'ChangeMemberRequest' });

const invitation = z
  .object({
    invitationId: z.string().meta({ example: 'inv-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
    email: z.string(),
    role: z.enum(MEMBER_ROLES),
    invitedBy: z.string(),
    createdAt: isoTime('ISO 8601'),
    expiresAt: isoTime('The link in the mail works until then'),
  })
  .meta({ id: 'Invitation' });

export const invitationsSchema = listSchema(invitation, 'InvitationList');
export const invitationSchema = dataSchema(
  z.object({ invitation, sandboxMail: mailSentSchema.shape.data.shape.sandboxMail }),
  'NewInvitation',
);
export const inviteBody = z
  .object({ email: emailField('Gets a mail with a link'), role: roleField })
  .meta({ id: 'InviteRequest' });

const allowedAddress = z
  .string('must be an address or a range')
  .refine(
    (text) => parseRange(text) !== undefined,
    'must be an address such as 203.0.113.7, or a range such as 203.0.113.0/24',
  );

export const createKeyBody = z
  .object({
    companyName: companyNameField,
    websiteUrl: websiteField,
    allowedAddresses: z
      .array(allowedAddress, {
        error: (issue) => (issue.input === undefined ? 'is required' : 'must be a list'),
      })
      .min(1, 'must have at least one')
      .max(MAX_ALLOWED_ADDRESSES, `must have at most ${MAX_ALLOWED_ADDRESSES}`)
      .meta({
        description: 'IPv4 or IPv6 addresses or CIDR ranges that the key may be used from',
        example: ['203.0.113.7', '198.51.100.0/24'],
      }),
    webhookUrl: textField({
      max: MAX_WEBHOOK_URL_CHARACTERS,
      description: 'Makes a webhook endpoint there too; one that exists already is used',
      example: 'https://merchant.example/webhooks',
    }).optional(),
    scopes: z
      .array(z.enum(SCOPES, `must be among ${SCOPES.join(', ')}`), {
        error: (issue) => (issue.input === undefined ? 'is required' : 'must be a list'),
      })
      .min(1, 'must have at least one')
      .refine((scopes) => new Set(scopes).size === scopes.length, 'must not repeat a scope')
      .meta({ description: 'What the key may do', example: ['read', 'purchase'] }),
    expiresAt: timeField({
      description: 'The key works until then. Absent: as long as this service lets keys work',
    }).optional(),
  })
  .meta({ id: 'CreateKeyRequest' });

const maskedKey = z
  .string()
  .meta({ description: 'Its beginning and its last four characters', example: 'simway_test_…x9Qa' });

export const keyItem = z
  .object({
    keyId: z.string().meta({ example: 'key-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
    key: maskedKey,
    environment: z.enum(ENVIRONMENTS),
    scopes: z.array(z.enum(SCOPES)),
    allowedAddresses: z.array(z.string()),
    companyName: z.string(),
    websiteUrl: z.string(),
    createdAt: isoTime('ISO 8601'),
    expiresAt: isoTime('Null: it does not expire').nullable(),
    revokedAt: isoTime('Null: it is not revoked').nullable(),
    lastUsedAt: isoTime('To about five minutes; null: never').nullable(),
  })
  .meta({ id: 'ApiKey' });

export const keysSchema = listSchema(keyItem, 'ApiKeyList');

export const newKeySchema = dataSchema(
  z.object({
    keyId: z.string(),
    apiKey: z.string().meta({ description: 'The key. Shown in this answer only' }),
    expiresAt: isoTime('ISO 8601').nullable(),
    webhook: z
      .object({
        endpointId: z.string(),
        url: z.string(),
        secret: z.string().optional().meta({
          description:
            'Verifies messages. Shown in this answer only; absent where the endpoint existed already',
        }),
      })
      .nullable(),
  }),
  'NewApiKey',
);

export const REQUESTS_LIST = 'requests';

export const requestsQuery = z.object({
  cursor: cursorField(REQUESTS_LIST, { description: 'The `nextCursor` of an earlier answer' }).optional(),
  limit: wholeNumberField({
    min: 1,
    max: MAX_PAGE_LIMIT,
    fallback: DEFAULT_FEED_LIMIT,
    description: 'Requests per page',
  }),
  requestId: textField({
    max: MAX_REQUEST_ID_CHARACTERS,
    description: 'Only requests with this `X-Request-Id`',
    example: '0f8fad5b-d9cb-469f-a165-70867728950e',
  }).optional(),
});

const request = z
  .object({
    requestId: z.string(),
    at: isoTime('ISO 8601'),
    method: z.string(),
    path: z.string().meta({ description: 'The route, without ids', example: '/api/esim/{esimId}' }),
    status: z.number().int(),
    errorCode: z.string().nullable(),
    durationMs: z.number(),
    keyId: z.string(),
    key: maskedKey,
  })
  .meta({ id: 'LoggedRequest' });

export const requestsSchema = dataSchema(
  z.object({
    items: z.array(request),
    nextCursor: z.string().nullable().meta({ description: 'For the next page; null on the last' }),
  }),
  'RequestLog',
);
