/** Where the reader is and who they are: read by every page of operators. */
import type { paths } from 'simway-client/generated/ops.ts';
import { useQuery, useSuspenseQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { notifications } from '@mantine/notifications';
import { type PathIn, type ParamsOf, readOps, type AnswerOf } from '../api/client.ts';
import { currentUserQuery, type CurrentUser } from '../app/session.ts';
import type { Environment } from '../ui/environment.ts';
import { type HowToRead, useReading, usePaging } from '../ui/use-reading.ts';
import { operatorQuery, type BatchRepairAction } from './data.ts';

export type Permission = NonNullable<CurrentUser['operator']>['permissions'][number];

/** The environment in the address. */
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

/** What this path answers. */
export const useOps = <Path extends PathIn<paths>>(
  path: Path,
  params: OpsParams<Path>,
  how?: HowToRead<AnswerOf<paths, Path>>,
) => useReading({ ...opsQuery(useEnvironment(), path, params), ...how });

/** The same for lists that are read page by page. */
export function useOpsPages<Page extends { readonly nextCursor: string | null }>(
  key: readonly unknown[],
  ask: (at: { readonly environment: Environment; readonly after: string | undefined }) => Promise<Page>,
  how?: Pick<HowToRead<Page>, 'keepsOld'>,
) {
  const environment = useEnvironment();
  return usePaging(['ops', environment, ...key], (after) => ask({ environment, after }), how);
}

/** Reads again what the page shows, after a change. */
export function useRefresh() {
  const environment = useEnvironment();
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['ops', environment] });
}

/** Says that something is changed, and has the page read again. */
export function useSayChanged() {
  const refresh = useRefresh();
  return async (message: string) => {
    notifications.show({ message, color: 'green' });
    await refresh();
  };
}

/** Lists that others change beside the reader are read again this soon. */
export const LIVE = { everyMs: () => 15_000 } as const;

/**
 * Who is signed in, and what their role may do. The service decides again with every request. Only below
 * OperatorLayout.
 */
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
