import { z } from 'zod';
import { PLANS, SCOPES, type Environment } from '../../domain/account.ts';
import type { Member } from '../../domain/callers.ts';
import { DomainError } from '../../domain/errors.ts';
import { MEMBER_ROLES } from '../../domain/member-roles.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { isTooWide, MIN_KEY_RANGE_BITS, parseRange } from '../../platform/client-addresses.ts';
import {
  dataSchema,
  type Data,
  isoTime,
  listSchema,
  text,
  yesNo,
  namedObject,
  dataObject,
} from '../../platform/http/answer-fields.ts';
import { cursorField, encodeCursor } from '../../platform/http/cursor.ts';
import { routesWith } from '../../platform/http/define-routes.ts';
import {
  changesBody,
  choiceField,
  idParameter,
  missingOr,
  nameTextField,
  textField,
  timeField,
} from '../../platform/http/fields.ts';
import {
  MAX_ALLOWED_ADDRESSES,
  MAX_KEY_NAME_CHARACTERS,
  MAX_REQUEST_ID_CHARACTERS,
  MAX_RETURN_HOST_CHARACTERS,
  MAX_RETURN_HOSTS,
  MAX_URL_CHARACTERS,
} from '../../platform/http/limits.ts';
import { limitField } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import type { KeyBudget } from '../keys/budget-rules.ts';
import { returnHostOf } from '../return-urls.ts';
import type { MemberCases } from '../members.ts';
import {
  budgetBody,
  budgetOf,
  budgetSchema,
  companyNameField,
  emailField,
  keyItem,
  mailSentSchema,
  maskedKey,
  memberItem,
  ownKeyItem,
  recoveryOutcome,
} from './shared.ts';

const roleField = choiceField(MEMBER_ROLES, { description: 'What the member may do', example: 'DEVELOPER' });

const websiteField = (description: string) =>
  textField({ max: MAX_URL_CHARACTERS, description, example: 'https://merchant.example' });

const accountSchema = dataObject('OwnAccount', {
  accountId: z.string().meta({ example: 'acc-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  name: z.string(),
  email: text('Where mail about the account goes'),
  websiteUrl: z.string().nullable(),
  currency: z.enum(ACCOUNT_CURRENCIES),
  plan: z.enum(PLANS),
  requestsPerMinute: z.number().int(),
  sendsTravellerEmails: yesNo('false: a batch with `email` is refused with `EMAIL_UNAVAILABLE`'),
  createdAt: isoTime('ISO 8601'),
});

const changeAccountBody = changesBody('ChangeAccountRequest', {
  name: companyNameField('The name of the account').optional(),
  websiteUrl: websiteField('The website of the company; a web server must answer there').optional(),
});

const invitation = namedObject('Invitation', {
  invitationId: z.string().meta({ example: 'inv-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  email: z.string(),
  role: z.enum(MEMBER_ROLES),
  invitedBy: z.string(),
  createdAt: isoTime('ISO 8601'),
  expiresAt: isoTime('The link in the mail works until then'),
});

const invitationSchema = dataObject('NewInvitation', {
  invitation,
  sandboxMail: mailSentSchema.shape.data.shape.sandboxMail,
});
const inviteBody = namedObject('InviteRequest', {
  email: emailField('Gets a mail with a link'),
  role: roleField,
});

const allowedAddress = z
  .string('must be an address or a range')
  .refine(
    (text) => parseRange(text) !== undefined,
    'must be an address such as 203.0.113.7, or a range such as 203.0.113.0/24',
  )
  .refine(
    (text) => !isTooWide(text),
    `must not be wider than /${MIN_KEY_RANGE_BITS.ipv4} for IPv4 and /${MIN_KEY_RANGE_BITS.ipv6} for IPv6: it would let almost everybody in`,
  );

const createKeyBody = namedObject('CreateKeyRequest', {
  name: nameTextField({
    max: MAX_KEY_NAME_CHARACTERS,
    description: 'What you call the key, to tell it from others',
    example: 'Booking server',
  }).optional(),
  companyName: companyNameField(
    'The name of the company. Required for a live key; default for a test key: that of the account',
  ).optional(),
  websiteUrl: websiteField(
    'The website of the company. Required for a live key: a web server must answer there. Not checked for a test key',
  ).optional(),
  allowedAddresses: z
    .array(allowedAddress, { error: missingOr('must be a list') })
    .min(1, 'must have at least one')
    .max(MAX_ALLOWED_ADDRESSES, `must have at most ${MAX_ALLOWED_ADDRESSES}`)
    .meta({
      description: `IPv4 or IPv6 addresses or CIDR ranges that the key may be used from; at least /${MIN_KEY_RANGE_BITS.ipv4} and /${MIN_KEY_RANGE_BITS.ipv6}`,
      example: ['203.0.113.7', '198.51.100.0/24'],
    }),
  webhookUrl: textField({
    max: MAX_URL_CHARACTERS,
    description: 'Makes a webhook endpoint there too; one that exists already is used',
    example: 'https://merchant.example/webhooks',
  }).optional(),
  scopes: z
    .array(z.enum(SCOPES, `must be among ${SCOPES.join(', ')}`), { error: missingOr('must be a list') })
    .min(1, 'must have at least one')
    .refine((scopes) => new Set(scopes).size === scopes.length, 'must not repeat a scope')
    .meta({ description: 'What the key may do', example: ['read', 'purchase'] }),
  expiresAt: timeField({
    description: 'The key works until then. Absent: as long as this service lets keys work',
  }).optional(),
  budget: budgetBody
    .optional()
    .describe('Limits of what the key may spend. Absent: it may spend what the wallet has'),
});

const newKeySchema = dataObject('NewApiKey', {
  keyId: z.string(),
  apiKey: text('The key. Shown in this answer only'),
  expiresAt: isoTime('ISO 8601').nullable(),
  webhook: z
    .object({
      endpointId: z.string(),
      url: z.string(),
      secret: text(
        'Verifies messages. Shown in this answer only; absent where the endpoint existed already',
      ).optional(),
      reused: z.literal(true).optional().describe('This endpoint existed already, and is as it was'),
      enabled: yesNo('Of an endpoint that existed already: false, nothing is sent to it').optional(),
      events: z.array(z.string()).optional().describe('What it asks for, if it existed already'),
    })
    .nullable(),
});

const REQUESTS_LIST = 'requests';

const requestsQuery = z.object({
  cursor: cursorField(REQUESTS_LIST, { description: 'The `nextCursor` of an earlier answer' }).optional(),
  limit: limitField('Requests per page'),
  requestId: textField({
    max: MAX_REQUEST_ID_CHARACTERS,
    description: 'Only requests with this `X-Request-Id`',
    example: '0f8fad5b-d9cb-469f-a165-70867728950e',
  }).optional(),
});

const request = namedObject('LoggedRequest', {
  requestId: z.string(),
  at: isoTime('ISO 8601'),
  method: z.string(),
  path: text('The route, without ids', '/api/esim/{esimId}'),
  status: z.number().int(),
  errorCode: z.string().nullable(),
  durationMs: z.number(),
  keyId: z.string(),
  key: maskedKey,
});

const requestsSchema = dataObject('RequestLog', {
  items: z.array(request),
  nextCursor: text('For the next page; null on the last').nullable(),
});

const hosts = z
  .array(
    textField({
      max: MAX_RETURN_HOST_CHARACTERS,
      description: 'A host name, with its port if it is not that of https',
      example: 'shop.example.com',
    }),
    { error: missingOr('must be a list') },
  )
  .max(MAX_RETURN_HOSTS, `must have at most ${MAX_RETURN_HOSTS}`);
const returnHostsBody = namedObject('ReturnHostsRequest', {
  hosts: hosts.describe(
    `At most ${MAX_RETURN_HOSTS} names of the public internet; in the sandbox also \`localhost\` and \`127.0.0.1\`. Empty: nobody is sent back`,
  ),
});
const returnHostsSchema = dataObject('ReturnHosts', { hosts: z.array(z.string()) });

const notAHost = (index: number, environment: Environment): DomainError =>
  new DomainError('VALIDATION_ERROR', 'Invalid request', {
    details: [
      `hosts.${index}: must be a host name such as shop.example.com${environment === 'test' ? ', or localhost' : ''}`,
    ],
  });

/** `createKey` also makes endpoints, which stand above accounts. */
type AccountCases = MemberCases & {
  createKey(
    member: Member,
    environment: Environment,
    key: Omit<z.output<typeof createKeyBody>, 'budget'> & { readonly budget?: KeyBudget | undefined },
  ): Promise<Data<typeof newKeySchema>>;
};

const MEMBERS = '/account/members';
const INVITATIONS = '/account/invitations';
const KEYS = '/account/keys';
const RETURN_HOSTS = '/account/return-hosts';
const KEY_BUDGET = `${KEYS}/{keyId}/budget` as const;

const forMember = routesWith<AccountCases, 'member'>('member', 'Account', {
  params: {
    userId: idParameter('user', 'The `userId` of a member', 'No such member'),
    invitationId: idParameter('invitation', 'The `invitationId` of an invitation', 'No such invitation'),
    keyId: idParameter('key', 'The `keyId` of a key', 'No such key'),
  },
});

export const ownAccountRoutes: readonly Route<AccountCases>[] = [
  forMember.get('/account', {
    memberPermission: 'read',
    answer: [200, 'The account', accountSchema],
    operationId: 'getAccount',
    summary: 'Read the account',
    description: 'The account that `Simway-Account` names. Both environments share it.',
    handle: ({ cases, member }) => cases.read(member),
  }),
  forMember.patch('/account', {
    memberPermission: 'members',
    body: changeAccountBody,
    answer: [200, 'The account after the change', accountSchema],
    operationId: 'changeAccount',
    summary: 'Change the account',
    description:
      'Changes only the given fields. A web server must answer at the website, outside private networks.',
    handle: ({ cases, member, environment, body }) => cases.change(member, environment, body),
  }),
  forMember.get(MEMBERS, {
    memberPermission: 'read',
    answer: [200, 'All members', listSchema(memberItem, 'MemberList')],
    operationId: 'listMembers',
    summary: 'List the members of the account',
    description: 'Who may act for the account, and as what.',
    handle: async ({ cases, member }) => ({ items: await cases.listMembers(member) }),
  }),
  forMember.patch(`${MEMBERS}/{userId}`, {
    confirmed: true,
    memberPermission: 'members',
    body: namedObject('ChangeMemberRequest', { role: roleField }),
    answer: [200, 'The member after the change', dataSchema(memberItem, 'MemberAnswer')],
    operationId: 'changeMember',
    summary: 'Change the role of a member',
    description: 'The last owner keeps the role: make another user an owner first.',
    handle: ({ cases, member, params, body }) => cases.changeMember(member, params.userId, body.role),
  }),
  forMember.delete(`${MEMBERS}/{userId}`, {
    confirmed: true,
    memberPermission: 'members',
    query: z.object({
      keepKeys: choiceField(['true', 'false'], {
        description:
          '`true`: the API keys and webhook endpoints that the member made stay. Otherwise they end, in both environments',
        example: 'true',
      }).optional(),
    }),
    answer: 'Removed',
    operationId: 'removeMember',
    summary: 'Remove a member',
    description:
      'At once; the user and their other accounts stay. The last owner cannot be removed. API keys and webhook endpoints that the member ' +
      'made end too, unless `keepKeys` is `true`.',
    handle: ({ cases, member, params, query }) =>
      cases.removeMember(member, params.userId, { keepKeys: query.keepKeys === 'true' }),
  }),
  forMember.get(`${MEMBERS}/{userId}/keys`, {
    memberPermission: 'members',
    answer: [200, 'Their working keys, the newest first', listSchema(keyItem, 'MemberKeyList')],
    operationId: 'listKeysOfMember',
    summary: 'List the API keys that a member made',
    description:
      'In both environments, without revoked and expired ones: the keys that end when you remove the member, unless you keep them.',
    handle: async ({ cases, member, params }) => ({
      items: (await cases.listKeysOfMember(member, params.userId)).map(({ company, ...key }) => ({
        ...key,
        companyName: company,
      })),
    }),
  }),
  forMember.post(`${MEMBERS}/{userId}/remove-second-factor`, {
    confirmed: true,
    memberPermission: 'members',
    answer: [200, 'Whether it is removed', dataObject('MemberRecovery', { outcome: recoveryOutcome })],
    operationId: 'recoverMember',
    summary: 'Remove a colleague’s lost second factor',
    description:
      'For a member who has lost the app and the recovery codes. Two other owners, members for a day, ask for it within 24 hours; then every ' +
      'session of the member ends, and the password alone signs in. With fewer owners, or for a member of several accounts, ask us.',
    handle: ({ cases, member, params }) => cases.recoverMember(member, params.userId),
  }),
  forMember.get(INVITATIONS, {
    memberPermission: 'read',
    answer: [200, 'Open invitations', listSchema(invitation, 'InvitationList')],
    operationId: 'listInvitations',
    summary: 'List open invitations',
    description: 'Those that were not accepted yet. Expired ones are left out.',
    handle: async ({ cases, member }) => ({ items: await cases.listInvitations(member) }),
  }),
  forMember.post(INVITATIONS, {
    confirmed: true,
    memberPermission: 'members',
    body: inviteBody,
    answer: [201, 'A mail with a link is on its way', invitationSchema],
    operationId: 'invite',
    summary: 'Invite a colleague',
    description:
      'Sends a mail with a link that is valid for 7 days. Inviting an address again replaces its earlier invitation. At most 50 are open.',
    handle: ({ cases, member, body, context }) => cases.invite(member, body, context),
  }),
  forMember.delete(`${INVITATIONS}/{invitationId}`, {
    memberPermission: 'members',
    answer: 'Its link works no more',
    operationId: 'withdrawInvitation',
    summary: 'Withdraw an invitation',
    description: 'Only while it is open; remove the member afterwards.',
    handle: ({ cases, member, params }) => cases.withdrawInvitation(member, params.invitationId),
  }),
  forMember.get(KEYS, {
    memberPermission: 'keys',
    answer: [200, 'All keys of this environment, the newest first', listSchema(ownKeyItem, 'ApiKeyList')],
    operationId: 'listKeys',
    summary: 'List API keys',
    description:
      'Of the environment that `Simway-Environment` names, with revoked and expired ones, and what is left of their budgets. No key is shown whole.',
    handle: async ({ cases, member, environment }) => ({ items: await cases.listKeys(member, environment) }),
  }),
  forMember.post(KEYS, {
    confirmed: true,
    memberPermission: 'keys',
    body: createKeyBody,
    errors: ['WEBHOOK_ENDPOINT_LIMIT'],
    answer: [201, 'The key, this once', newKeySchema],
    operationId: 'createKey',
    summary: 'Create an API key',
    description:
      'In the environment that `Simway-Environment` names. For a live key a web server must answer at the website, outside private networks. The key ' +
      'works at once, and only from the addresses that you name.',
    handle: ({ cases, member, environment, body: { budget, ...key } }) =>
      cases.createKey(member, environment, { ...key, budget: budget && budgetOf(budget) }),
  }),
  forMember.put(KEY_BUDGET, {
    confirmed: true,
    memberPermission: 'keys',
    body: budgetBody,
    answer: [200, 'The budget as it now is', budgetSchema],
    operationId: 'setKeyBudget',
    summary: 'Limit what an API key may spend',
    description:
      'In place of its earlier limits: one that you leave out does not exist any more. It counts for the next purchase, with what the key has ' +
      'spent already. Only a person can do this: no API key can change a budget.',
    handle: ({ cases, member, environment, params, body }) =>
      cases.changeBudget(member, environment, params.keyId, budgetOf(body)),
  }),
  forMember.delete(KEY_BUDGET, {
    confirmed: true,
    memberPermission: 'keys',
    answer: 'The key may spend what the wallet has',
    operationId: 'removeKeyBudget',
    summary: 'Remove the budget of an API key',
    description: 'Its next purchase is bounded by the wallet alone.',
    handle: ({ cases, member, environment, params }) =>
      cases.changeBudget(member, environment, params.keyId, null),
  }),
  forMember.delete(`${KEYS}/{keyId}`, {
    confirmed: true,
    memberPermission: 'keys',
    answer: 'Revoked',
    operationId: 'revokeKey',
    summary: 'Revoke an API key',
    description: 'It stops working within 5 seconds, for ever. Purchases that it began go on.',
    handle: ({ cases, member, environment, params }) => cases.revokeKey(member, environment, params.keyId),
  }),
  forMember.get(RETURN_HOSTS, {
    memberPermission: 'read',
    answer: [200, 'The hosts', returnHostsSchema],
    operationId: 'getReturnHosts',
    summary: 'Read where buyers may be sent back to',
    description:
      'The hosts that `successUrl` and `cancelUrl` may name in the environment that `Simway-Environment` names.',
    handle: async ({ cases, member, environment }) => ({
      hosts: [...(await cases.readReturnHosts(member, environment))],
    }),
  }),
  forMember.put(RETURN_HOSTS, {
    memberPermission: 'webhooks',
    body: returnHostsBody,
    answer: [200, 'The hosts as they now are', returnHostsSchema],
    operationId: 'setReturnHosts',
    summary: 'Set where buyers may be sent back to',
    description:
      'In place of the earlier hosts, for this environment. Only a person can do this: no API key can change the list. The owners get a mail. A host ' +
      'that is taken off is not linked any more, also for purchases that named it.',
    async handle({ cases, member, environment, body }) {
      const hosts = body.hosts.map((host, index) => {
        const known = returnHostOf(host, environment);
        if (known === undefined) throw notAHost(index, environment);
        return known;
      });
      return { hosts: [...(await cases.changeReturnHosts(member, environment, [...new Set(hosts)]))] };
    },
  }),
  forMember.get('/account/requests', {
    memberPermission: 'requests',
    query: requestsQuery,
    answer: [200, 'One page, the newest first', requestsSchema],
    operationId: 'listRequests',
    summary: 'List recent API requests',
    description:
      'Requests with keys of this environment: the last 1,000 of the last 7 days. A request appears within seconds. A crash of a process ' +
      'of ours may lose the last seconds.',
    handle: async ({ cases, member, environment, query }) => {
      const { cursor, limit, requestId } = query;
      const before = typeof cursor === 'bigint' ? cursor : undefined;
      const found = await cases.listRequests(member, environment, { before, limit, requestId });
      const nextCursor = found.nextBefore === null ? null : encodeCursor(REQUESTS_LIST, found.nextBefore);
      return { items: found.items, nextCursor };
    },
  }),
];
