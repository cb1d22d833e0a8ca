import type { paths } from 'simway-client/generated/ops.ts';
import { useQuery, useSuspenseQuery, queryOptions } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import {
  type PathIn,
  type ParamsOf,
  readOps,
  type AnswerOf,
  type OpsSchemas as Schemas,
} from '../api/client.ts';
import { currentUserQuery, type CurrentUser } from '../app/session.ts';
import type { Environment } from '../ui/address.ts';
import { type HowToRead, useReading, usePaging } from '../ui/use-reading.ts';

export type StuckItem = Schemas['StuckItem'];
export type ListedStuckItem = Schemas['ListedStuckItem'];
export type PurchaseTimeline = Schemas['PurchaseTimeline']['data'];
export type ActionRecord = Schemas['ActionRecord'];
export type PurchaseActions = Schemas['Actions']['data'];
export type Action = ActionRecord['action'];
export type Difference = Schemas['Difference'];
export type Person = Schemas['Person'];
export type Role = Person['role'];
export type Rates = Schemas['Rates']['data'];
export type Prices = Schemas['Prices']['data'];
export type HeldPrice = Schemas['HeldPrices']['data']['items'][number];
export type PriceTerms = Schemas['PreviewPricesRequest'];
export type PricePreview = Schemas['PricePreview']['data'];
export type PriceRule = Schemas['PriceRule'];
export type PriceRuleRequest = Schemas['PreviewPriceRuleRequest'];
export type PriceRulePreview = Schemas['PriceRulePreview']['data'];
export type OnSale = Schemas['OnSale']['data'];
export type StuckClass = StuckItem['class'];
export type BatchRepair = Schemas['BatchRepair'];
export type BatchRepairDetails = Schemas['BatchRepairDetails']['data'];
export type BatchRepairPlan = Schemas['BatchRepairPreview']['data'];
export type BatchRepairAction = BatchRepair['action'];
export type AuditLine = Schemas['AuditLine'];
export type ListedAccount = Schemas['ListedAccount'];
export type AccountOverview = Schemas['AccountOverview']['data'];
export type Found = Schemas['Found'];
export type Overview = Schemas['Overview']['data'];
export type WaitsFor = NonNullable<Overview['waiting']>['lines'][number]['waitsFor'];
export type LedgerClass = Schemas['TrialBalance']['data']['lines'][number]['class'];
export type LedgerKind = Schemas['TrialBalance']['data']['lines'][number]['kind'];
export type ListedAlert = Schemas['Alert'];
export type AlertChannel = Schemas['AlertChannel'];
export type Availability = Schemas['Availability']['data'];
export type AccountMember = Schemas['AccountMember'];
export type AccountKey = Schemas['AccountKey'];
export type AccountEndpoint = Schemas['AccountEndpoint'];
export type AccountMessage = Schemas['AccountMessage'];

export const inPath = <Path>(environment: Environment, path: Path) => ({
  params: { path, query: { environment } },
});

export const operatorQuery = queryOptions({
  queryKey: ['ops', 'me'],
  queryFn: () => readOps('/ops/me', {}),
  staleTime: Infinity,
});

export type Permission = NonNullable<CurrentUser['operator']>['permissions'][number];

export const useEnvironment = (): Environment => useParams({ from: '/operators/$environment' }).environment;

type OpsParams<Path extends PathIn<paths>> = Omit<ParamsOf<paths, Path>, 'query'> & {
  readonly query?: Omit<NonNullable<ParamsOf<paths, Path>['query']>, 'environment'>;
};

/** A read of one environment, whose name is part of its key. */
export const opsQuery = <Path extends PathIn<paths>>(
  environment: Environment,
  path: Path,
  params: OpsParams<Path>,
) => ({
  queryKey: ['ops', environment, path, params],
  queryFn: () => readOps(path, { ...params, query: { ...params.query, environment } } as never),
});

export const useOps = <Path extends PathIn<paths>>(
  path: Path,
  params: OpsParams<Path>,
  how?: HowToRead<AnswerOf<paths, Path>>,
) => useReading({ ...opsQuery(useEnvironment(), path, params), ...how });

export function useOpsPages<Page extends { readonly nextCursor: string | null }>(
  key: readonly unknown[],
  ask: (at: { readonly environment: Environment; readonly after: string | undefined }) => Promise<Page>,
  how?: Pick<HowToRead<Page>, 'keepsOld'>,
) {
  const environment = useEnvironment();
  return usePaging(['ops', environment, ...key], (after) => ask({ environment, after }), how);
}

/** Lists that others change beside the reader are read again this soon. */
export const LIVE = { everyMs: () => 15_000 } as const;

/** The service decides again with every request. Only below OperatorLayout. */
export function useOperator() {
  const {
    data: { user, operator, environments },
  } = useSuspenseQuery(currentUserQuery);
  if (!operator) throw new Error('These pages are for people who operate the service');
  const { permissions, role } = operator;
  return {
    ...{ email: user.email, name: user.name, role, environments },
    may: (permission: Permission) => permissions.includes(permission),
    mayRepair: (action: BatchRepairAction) =>
      action === 'replay' ? permissions.includes('replay') : operator.actions.includes(action),
  };
}

/** The address of this environment's namespace in the Temporal UI; null where it is not configured. */
export function useTemporalUi(): string | null {
  const environment = useEnvironment();
  const { data } = useQuery(operatorQuery);
  const ui = data?.temporalUi;
  const namespace = ui?.namespaces[environment] ?? null;
  return ui && namespace !== null ? `${ui.url}/namespaces/${namespace}` : null;
}
