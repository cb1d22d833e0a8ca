import type { z } from 'zod';
import type { Wire } from '../../platform/http/json.ts';
import type { LoggedRequest } from '../store/request-log.ts';
import type { AccountView, InvitationView, KeyView, MemberView } from '../members.ts';
import { MEMBER_PERMISSIONS, memberMay } from '../../domain/member-roles.ts';
import { mayPerform, OPERATOR_ACTIONS } from '../operators/action-table.ts';
import { may, PERMISSIONS } from '../../domain/operator-roles.ts';
import type { SandboxMail } from '../users/mails.ts';
import type { UserDescription } from '../users/users.ts';
import type {
  accountSchema,
  invitationSchema,
  keysSchema,
  membersSchema,
  requestsSchema,
} from './own-account-schema.ts';
import type { currentUserSchema, mailSentSchema } from './auth-schema.ts';

type Item<Schema extends z.ZodType> =
  Wire<z.output<Schema>> extends { readonly data: { readonly items: readonly (infer One)[] } } ? One : never;

export function presentMailSent(sandboxMail: SandboxMail | undefined): Wire<z.output<typeof mailSentSchema>> {
  return { success: true, data: { sandboxMail } };
}

export function presentCurrentUser(found: UserDescription): Wire<z.output<typeof currentUserSchema>> {
  const { session, memberships, environments } = found;
  const { operator } = session;
  return {
    success: true,
    data: {
      user: session.user,
      memberships: memberships.map(({ account, role }) => ({
        accountId: account.id,
        accountName: account.name,
        currency: account.currency,
        plan: account.plan,
        role,
        permissions: MEMBER_PERMISSIONS.filter((permission) => memberMay(role, permission)),
      })),
      operator: operator
        ? {
            personId: operator.person.personId,
            role: operator.person.role,
            permissions: PERMISSIONS.filter((permission) => may(operator.person.role, permission)),
            actions: OPERATOR_ACTIONS.filter((action) => mayPerform(operator.person.role, action)),
            mustChangePassword: operator.mustChangePassword,
          }
        : null,
      environments: [...environments],
      expiresAt: session.expiresAt.toISOString(),
    },
  };
}

export function presentAccount(view: AccountView): Wire<z.output<typeof accountSchema>> {
  return { success: true, data: { ...view, createdAt: view.createdAt.toISOString() } };
}

export function presentMember({ joinedAt, ...member }: MemberView): Item<typeof membersSchema> {
  return { ...member, joinedAt: joinedAt.toISOString() };
}

type Invitation = Wire<z.output<typeof invitationSchema>>['data']['invitation'];

export function presentInvitation({ createdAt, expiresAt, ...invitation }: InvitationView): Invitation {
  return { ...invitation, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}

export function presentKey(view: KeyView): Item<typeof keysSchema> {
  return {
    ...view,
    scopes: [...view.scopes],
    createdAt: view.createdAt.toISOString(),
    expiresAt: view.expiresAt?.toISOString() ?? null,
    revokedAt: view.revokedAt?.toISOString() ?? null,
    lastUsedAt: view.lastUsedAt?.toISOString() ?? null,
  };
}

export function presentRequest(request: LoggedRequest): Item<typeof requestsSchema> {
  const { requestId, at, method, path, status, errorCode, durationMs, keyId, key } = request;
  return { requestId, at: at.toISOString(), method, path, status, errorCode, durationMs, keyId, key };
}
