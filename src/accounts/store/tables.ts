import type { ColumnType, Generated } from 'kysely';
import type { AccountType, Environment, Plan, Scope } from '../../domain/account.ts';
import type { LogoType } from '../../domain/brand.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import type { NoticeKind } from '../../domain/notice-kinds.ts';
import type { MemberRole } from '../../domain/member-roles.ts';
import type { Role } from '../../domain/operator-roles.ts';

export interface OperatorsTable {
  user_id: string;
  role: Role;
  /** The user's password is a one-time password that expires then. */
  one_time_until: Date | null;
  disabled_at: Date | null;
  /** A login of the sandbox, whose role would take one. */
  second_factor_waived: Generated<boolean>;
  created_at: Generated<Date>;
  changed_at: Generated<Date>;
}

export interface DeviceLoginsTable {
  device_sha256: Buffer;
  code_sha256: Buffer;
  machine: string;
  address: string;
  created_at: Date;
  expires_at: Date;
  polled_at: Date | null;
  approved_by: string | null;
  session_until: Date | null;
}

/** Access that was given: at first, with another role, after being disabled, or by a new password. */
export interface AccessGrantsTable {
  id: Generated<bigint>;
  user_id: string;
  /** The person's; it never changes. */
  email: string;
  role: Role;
  given_by: string;
  given_at: Date;
  /** The second half of the one-time password, until it is shown to the person who confirms. */
  second_half: string | null;
  confirmed_by: string | null;
  confirmed_at: Date | null;
}

export interface AccountsTable {
  id: string;
  type: AccountType;
  name: string;
  email: string;
  currency: AccountCurrency;
  plan: Plan;
  enterprise_requests_per_minute: number | null;
  website_url: string | null;
  /** By an operator: until it is null again, keys and members of the account are refused. */
  disabled_at: Generated<Date | null>;
  /** What was agreed about returns of unused eSIMs; null: as the settings say. */
  returns_allowed: Generated<boolean | null>;
  return_window_days: Generated<number | null>;
  return_fee_bps: Generated<number | null>;
  /** What was agreed about replacements of eSIMs; null: as the settings say. */
  replacements_allowed: Generated<boolean | null>;
  replacement_window_days: Generated<number | null>;
  replacement_share_bps: Generated<number | null>;
  replacement_max: Generated<number | null>;
  created_at: Generated<Date>;
  changed_at: Generated<Date>;
}

export interface ApiKeysTable {
  id: string;
  account_id: string;
  environment: Environment;
  key_sha256: Buffer;
  display_prefix: string;
  last_four: string;
  scopes: Scope[];
  allowed_addresses: string[];
  company_name: string;
  website_url: string;
  name: Generated<string | null>;
  /** An e-mail address, or a name that was given on the command line. */
  created_by: string;
  /** The last role of the member who made it. Where they are a member still, the role there counts. */
  maker_role: Generated<MemberRole | null>;
  expires_at: Date | null;
  revoked_at: Date | null;
  /** Accurate to some minutes (src/accounts/keys/authenticate.ts). */
  last_used_at: Generated<Date | null>;
  created_at: Generated<Date>;
  changed_at: Generated<Date>;
}

/** What a key may spend, in the environment's schema; null: no such limit. */
export interface KeyBudgetsTable {
  key_id: string;
  account_id: string;
  daily_minor: bigint | null;
  order_minor: bigint | null;
  max_price_minor: bigint | null;
  max_purchases: number | null;
  countries: string[] | null;
  changed_at: Generated<Date>;
  changed_by: string;
}

export interface AuditLogTable {
  id: Generated<bigint>;
  at: Generated<Date>;
  actor: string;
  action: string;
  subject: string;
  detail: ColumnType<unknown, string, string>;
}

/** This and the next four are better-auth's; columns that only it reads are left out. */
export interface UsersTable {
  id: string;
  /** In lower case. */
  email: string;
  name: string;
  email_verified: Generated<boolean>;
  two_factor_enabled: Generated<boolean>;
  created_at: Generated<Date>;
}

export interface UserSessionsTable {
  id: string;
  token: string;
  user_id: string;
  /** What the session is for: the dashboard or a program. */
  user_agent: string | null;
  ip_address: string | null;
  device: string | null;
  confirmed_at: Generated<Date>;
  expires_at: Date;
  created_at: Date;
}

export interface UserCredentialsTable {
  id: string;
  account_id: string;
  provider_id: string;
  user_id: string;
  password: string | null;
}

export interface UserVerificationsTable {
  id: string;
  identifier: string;
  value: string;
  expires_at: Date;
}

export interface UserSecondFactorsTable {
  id: string;
  user_id: string;
  secret: string;
  locked_until: Date | null;
}

export interface SignInFailuresTable {
  user_id: string;
  /** Where they came from (users/devices.ts). */
  place: string;
  /** Wrong passwords in a row. */
  failed: Generated<number>;
  failed_at: Generated<Date>;
  locked_until: Date | null;
}

/** Before its address is confirmed there is no user. */
export interface SignUpsTable {
  token_sha256: Buffer;
  /** In lower case. */
  email: string;
  name: string;
  password: string;
  company_name: string;
  currency: AccountCurrency;
  wrong_passwords: Generated<number>;
  created_at: Generated<Date>;
  expires_at: Date;
}

export interface MembersTable {
  account_id: string;
  user_id: string;
  role: MemberRole;
  joined_at: Generated<Date>;
}

export interface InvitationsTable {
  id: string;
  account_id: string;
  /** In lower case. */
  email: string;
  role: MemberRole;
  token_sha256: Buffer;
  invited_by: string;
  created_at: Generated<Date>;
  expires_at: Date;
}

export interface ApiRequestsTable {
  id: Generated<bigint>;
  account_id: string;
  environment: Environment;
  request_id: string;
  at: Date;
  method: string;
  /** The template of the route. */
  path: string;
  status: number;
  error_code: string | null;
  duration_ms: number;
  key_id: string;
}

/** Codes of authenticator apps that were used a moment ago. */
export interface UsedCodesTable {
  user_id: string;
  code_sha256: Buffer;
  used_at: Date;
}

export interface UserNoticesTable {
  id: Generated<bigint>;
  user_id: string;
  kind: NoticeKind;
  facts: ColumnType<unknown, string, string>;
  attempts: Generated<number>;
  next_attempt_at: Generated<Date>;
  created_at: Generated<Date>;
}

export interface MailsToTable {
  address_sha256: Buffer;
  since: Date;
  count: number;
}

/**
 * A request of one of two people, one for each person: to reset, disable or demote an administrator, or to
 * remove a second factor.
 */
export interface AdminRemovalsTable {
  user_id: string;
  change: string;
  asked_by: string;
  asked_at: Date;
}

/** Where buyers of an account may be sent back to. */
export interface ReturnHostsTable {
  account_id: string;
  hosts: string[];
  changed_at: Date;
  changed_by: string;
}

/** How a shop looks to its travellers, and what it offers them. */
export interface BrandsTable {
  account_id: string;
  shop_name: string | null;
  accent_color: string | null;
  support_email: string | null;
  support_url: string | null;
  support_phone: string | null;
  logo_bytes: Buffer | null;
  logo_type: LogoType | null;
  logo_hash: string | null;
  auto_top_up_price_text: string | null;
  auto_top_up_max: number | null;
  changed_at: Date;
  changed_by: string;
}

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    brands: BrandsTable;
    key_budgets: KeyBudgetsTable;
    return_hosts: ReturnHostsTable;
  }
  interface AccountsDatabase {
    mails_to: MailsToTable;
    user_notices: UserNoticesTable;
    used_codes: UsedCodesTable;
    api_requests: ApiRequestsTable;
    invitations: InvitationsTable;
    members: MembersTable;
    sign_in_failures: SignInFailuresTable;
    sign_ups: SignUpsTable;
    user_credentials: UserCredentialsTable;
    user_second_factors: UserSecondFactorsTable;
    user_sessions: UserSessionsTable;
    user_verifications: UserVerificationsTable;
    users: UsersTable;
    access_grants: AccessGrantsTable;
    admin_removals: AdminRemovalsTable;
    accounts: AccountsTable;
    api_keys: ApiKeysTable;
    audit_log: AuditLogTable;
    device_logins: DeviceLoginsTable;
    operators: OperatorsTable;
  }
}
