import type { z } from 'zod';
import type { Environment } from '../../domain/account.ts';
import type { Member } from '../../domain/callers.ts';
import { isId } from '../../domain/ids.ts';
import { encodeCursor } from '../../platform/http/cursor.ts';
import { toJson } from '../../platform/http/json.ts';
import { doneSchema } from '../../platform/http/answer-fields.ts';
import {
  routesFor,
  type PathParameter,
  type Route,
  type RouteDefinition,
} from '../../platform/http/route.ts';
import type { MemberPermission } from '../../domain/member-roles.ts';
import type { MemberCases } from '../members.ts';
import {
  accountSchema,
  changeAccountBody,
  changeMemberBody,
  createKeyBody,
  invitationSchema,
  invitationsSchema,
  inviteBody,
  keysSchema,
  memberSchema,
  membersSchema,
  newKeySchema,
  REQUESTS_LIST,
  requestsQuery,
  requestsSchema,
} from './own-account-schema.ts';
import {
  presentAccount,
  presentInvitation,
  presentKey,
  presentMember,
  presentRequest,
} from './present-users.ts';

/** `createKey` also makes endpoints, which stand above accounts. */
type AccountCases = MemberCases & {
  createKey(member: Member, environment: Environment, key: z.output<typeof createKeyBody>): Promise<object>;
};

const defineRoute = routesFor<AccountCases>();

const TAG = 'Account';
const MEMBERS = '/account/members';
const INVITATIONS = '/account/invitations';
const KEYS = '/account/keys';

const userId: PathParameter = {
  description: 'The `userId` of a member',
  example: 'user-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('user', text),
  notFound: { code: 'NOT_FOUND', message: 'No such member' },
};
const invitationId: PathParameter = {
  description: 'The `invitationId` of an invitation',
  example: 'inv-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('invitation', text),
  notFound: { code: 'NOT_FOUND', message: 'No such invitation' },
};
const keyId: PathParameter = {
  description: 'The `keyId` of a key',
  example: 'key-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('key', text),
  notFound: { code: 'NOT_FOUND', message: 'No such key' },
};

type Defaults = 'scope' | 'shapes' | 'errors' | 'key';
type Definition<Query extends z.ZodObject | undefined, Body extends z.ZodObject | undefined> = Omit<
  RouteDefinition<'member', Query, Body, AccountCases>,
  Defaults
> & {
  readonly memberPermission: MemberPermission;
  readonly errors?: RouteDefinition<'member', Query, Body, AccountCases>['errors'];
};

const forMember = <
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodObject | undefined = undefined,
>(
  definition: Definition<Query, Body>,
): Route<AccountCases> =>
  defineRoute<'member', Query, Body>({
    errors: [],
    ...definition,
    key: 'member',
    scope: undefined,
    shapes: ['general'],
  });

const DONE = toJson({ success: true, data: { done: true } });
const list = (items: readonly object[]): string => toJson({ success: true, data: { items } });

const readRoute = forMember({
  method: 'GET',
  path: '/account',
  memberPermission: 'read',
  responses: { 200: { description: 'The account', schema: accountSchema } },
  docs: {
    operationId: 'getAccount',
    tag: TAG,
    summary: 'Read the account',
    description: 'The account that `Simway-Account` names. Both environments share it.',
  },
  async handle({ cases, member }) {
    return { status: 200, body: toJson(presentAccount(await cases.read(member))) };
  },
});

const changeRoute = forMember({
  method: 'PATCH',
  path: '/account',
  memberPermission: 'members',
  body: changeAccountBody,
  responses: { 200: { description: 'The account after the change', schema: accountSchema } },
  docs: {
    operationId: 'changeAccount',
    tag: TAG,
    summary: 'Change the account',
    description:
      'Changes only the given fields. A web server must answer at the website, outside private networks.',
  },
  async handle({ cases, member, environment, body }) {
    const changed = await cases.change(member, environment, body);
    return { status: 200, body: toJson(presentAccount(changed)) };
  },
});

const membersRoute = forMember({
  method: 'GET',
  path: MEMBERS,
  memberPermission: 'read',
  responses: { 200: { description: 'All members', schema: membersSchema } },
  docs: {
    operationId: 'listMembers',
    tag: TAG,
    summary: 'List the members of the account',
    description: 'Who may act for the account, and as what.',
  },
  async handle({ cases, member }) {
    return { status: 200, body: list((await cases.listMembers(member)).map(presentMember)) };
  },
});

const changeMemberRoute = forMember({
  method: 'PATCH',
  path: `${MEMBERS}/{userId}`,
  memberPermission: 'members',
  params: { userId },
  body: changeMemberBody,
  errors: ['NOT_FOUND'],
  responses: { 200: { description: 'The member after the change', schema: memberSchema } },
  docs: {
    operationId: 'changeMember',
    tag: TAG,
    summary: 'Change the role of a member',
    description: 'The last owner keeps the role: make another user an owner first.',
  },
  async handle({ cases, member, params, body }) {
    const changed = await cases.changeMember(member, params['userId'] ?? '', body.role);
    return { status: 200, body: toJson({ success: true, data: presentMember(changed) }) };
  },
});

const removeMemberRoute = forMember({
  method: 'DELETE',
  path: `${MEMBERS}/{userId}`,
  memberPermission: 'members',
  params: { userId },
  errors: ['NOT_FOUND'],
  responses: { 200: { description: 'Removed', schema: doneSchema } },
  docs: {
    operationId: 'removeMember',
    tag: TAG,
    summary: 'Remove a member',
    description: 'At once; the user and their other accounts stay. The last owner cannot be removed.',
  },
  async handle({ cases, member, params }) {
    await cases.removeMember(member, params['userId'] ?? '');
    return { status: 200, body: DONE };
  },
});

const invitationsRoute = forMember({
  method: 'GET',
  path: INVITATIONS,
  memberPermission: 'read',
  responses: { 200: { description: 'Open invitations', schema: invitationsSchema } },
  docs: {
    operationId: 'listInvitations',
    tag: TAG,
    summary: 'List open invitations',
    description: 'Those that were not accepted yet. Expired ones are left out.',
  },
  async handle({ cases, member }) {
    const open = await cases.listInvitations(member);
    return { status: 200, body: list(open.map(presentInvitation)) };
  },
});

const inviteRoute = forMember({
  method: 'POST',
  path: INVITATIONS,
  memberPermission: 'members',
  body: inviteBody,
  responses: { 201: { description: 'A mail with a link is on its way', schema: invitationSchema } },
  docs: {
    operationId: 'invite',
    tag: TAG,
    summary: 'Invite a colleague',
    description:
      'Sends a mail with a link that is valid for 7 days. Inviting an address again replaces its earlier invitation. At most 50 are open.',
  },
  async handle({ cases, member, body, context }) {
    const { invitation, sandboxMail } = await cases.invite(member, body, context);
    const data = { invitation: presentInvitation(invitation), sandboxMail };
    return { status: 201, body: toJson({ success: true, data }) };
  },
});

const withdrawRoute = forMember({
  method: 'DELETE',
  path: `${INVITATIONS}/{invitationId}`,
  memberPermission: 'members',
  params: { invitationId },
  errors: ['NOT_FOUND'],
  responses: { 200: { description: 'Its link works no more', schema: doneSchema } },
  docs: {
    operationId: 'withdrawInvitation',
    tag: TAG,
    summary: 'Withdraw an invitation',
    description: 'Only while it is open; remove the member afterwards.',
  },
  async handle({ cases, member, params }) {
    await cases.withdrawInvitation(member, params['invitationId'] ?? '');
    return { status: 200, body: DONE };
  },
});

const keysRoute = forMember({
  method: 'GET',
  path: KEYS,
  memberPermission: 'keys',
  responses: { 200: { description: 'All keys of this environment, the newest first', schema: keysSchema } },
  docs: {
    operationId: 'listKeys',
    tag: TAG,
    summary: 'List API keys',
    description:
      'Of the environment that `Simway-Environment` names, with revoked and expired ones. No key is shown whole.',
  },
  async handle({ cases, member, environment }) {
    const keys = await cases.listKeys(member, environment);
    return { status: 200, body: list(keys.map(presentKey)) };
  },
});

const createKeyRoute = forMember({
  method: 'POST',
  path: KEYS,
  memberPermission: 'keys',
  body: createKeyBody,
  errors: ['WEBHOOK_ENDPOINT_LIMIT'],
  responses: { 201: { description: 'The key, this once', schema: newKeySchema } },
  docs: {
    operationId: 'createKey',
    tag: TAG,
    summary: 'Create an API key',
    description:
      'In the environment that `Simway-Environment` names. A web server must answer at the website, outside private networks. The key ' +
      'works at once, and only from the addresses that you name.',
  },
  async handle({ cases, member, environment, body }) {
    const made = await cases.createKey(member, environment, body);
    return { status: 201, body: toJson({ success: true, data: made }) };
  },
});

const revokeKeyRoute = forMember({
  method: 'DELETE',
  path: `${KEYS}/{keyId}`,
  memberPermission: 'keys',
  params: { keyId },
  errors: ['NOT_FOUND'],
  responses: { 200: { description: 'Revoked', schema: doneSchema } },
  docs: {
    operationId: 'revokeKey',
    tag: TAG,
    summary: 'Revoke an API key',
    description: 'It stops working within 5 seconds, for ever. Purchases that it began go on.',
  },
  async handle({ cases, member, environment, params }) {
    await cases.revokeKey(member, environment, params['keyId'] ?? '');
    return { status: 200, body: DONE };
  },
});

const requestsRoute = forMember({
  method: 'GET',
  path: '/account/requests',
  memberPermission: 'requests',
  query: requestsQuery,
  responses: { 200: { description: 'One page, the newest first', schema: requestsSchema } },
  docs: {
    operationId: 'listRequests',
    tag: TAG,
    summary: 'List recent API requests',
    description:
      'Requests with keys of this environment: the last 1,000 of the last 7 days. A request appears within seconds. A crash of a process ' +
      'of ours may lose the last seconds.',
  },
  async handle({ cases, member, environment, query }) {
    const { cursor, limit, requestId } = query;
    const before = typeof cursor === 'bigint' ? cursor : undefined;
    const found = await cases.listRequests(member, environment, {
      ...{ before, limit, requestId },
    });
    const nextCursor = found.nextBefore === null ? null : encodeCursor(REQUESTS_LIST, found.nextBefore);
    return {
      status: 200,
      body: toJson({ success: true, data: { items: found.items.map(presentRequest), nextCursor } }),
    };
  },
});

export const ownAccountRoutes: readonly Route<AccountCases>[] = [
  readRoute,
  changeRoute,
  membersRoute,
  changeMemberRoute,
  removeMemberRoute,
  invitationsRoute,
  inviteRoute,
  withdrawRoute,
  keysRoute,
  createKeyRoute,
  revokeKeyRoute,
  requestsRoute,
];
